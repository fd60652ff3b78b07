"""A newcomer finds the place: each of the ten changes of docs/architecture.md touches the files that the page names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.changes import CHANGES, Change

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("app", "domain", "prompts", "migrations", "evals", "README.md", "pyproject.toml")


def told() -> dict[str, list[str]]:
    """Return the files of each change as the page names them."""
    page = (ROOT / "docs" / "architecture.md").read_text().partition("## Ten changes")[2]
    rows = re.findall(r"^\| ([A-Z][^|]+) \| ([^|]+) \|$", page, flags=re.MULTILINE)
    return {title.strip(): re.findall(r"`([^`]+)`", files) for title, files in rows}


def test_the_page_tells_the_ten_changes() -> None:
    assert told() == {change.title: change.files for change in CHANGES}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.title)
def test_a_change_in_these_files_alone_works(change: Change, tmp_path: Path) -> None:
    for part in PARTS:
        source, target = ROOT / part, tmp_path / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    assert seen(change, tmp_path).returncode != 0, "it works without the change, so the look proves nothing"
    for edit in change.edits:
        text = (tmp_path / edit.file).read_text()
        assert text.count(edit.before) == 1, (
            f"{edit.file}: {edit.before!r} stands there {text.count(edit.before)} times"
        )
        (tmp_path / edit.file).write_text(text.replace(edit.before, edit.after))
    done = seen(change, tmp_path)
    assert done.returncode == 0, done.stderr


def seen(change: Change, copy: Path) -> subprocess.CompletedProcess[str]:
    """Run the look in the copy."""
    env = {**os.environ, "PYTHONPATH": str(copy), "BUILDWRIGHT_DATA_DIR": str(copy / "data")}
    return subprocess.run(
        [sys.executable, "-B", "-c", change.seen],
        cwd=copy,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
