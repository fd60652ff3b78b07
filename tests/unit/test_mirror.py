"""The tests are where the code is: a stranger finds them by the name of the package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_folder_of_tests_is_named_after_a_package() -> None:
    folders = {path.parent.relative_to(ROOT / "tests" / "unit") for path in Path(__file__).parent.rglob("test_*.py")}
    assert [str(folder) for folder in sorted(folders) if not (ROOT / "app" / folder).is_dir()] == []
