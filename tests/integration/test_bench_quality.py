"""`bench quality`: reports what was built, and leaves the files where it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bench import quality
from app.core.config import Settings
from app.core.errors import InputError


async def test_the_builds_are_left_in_the_folder(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", engine="sketch")
    report = await quality.measure(settings, ["warrior_70"], tmp_path / "made")
    assert [run["name"] for run in report["runs"]] == ["warrior_70"]
    assert report["totals"]["ended"] == 1
    assert sorted(file.name for file in (tmp_path / "made").iterdir()) == ["quality.json", "warrior_70.xml"]
    assert all(report["runs"][0][name] is not None for name in quality.BESIDE)
    again = await quality.measure(settings, ["warrior_70"], tmp_path / "made")
    assert again["runs"] == report["runs"]  # kept, seconds and all
    assert (tmp_path / "made" / "warrior_70.xml").read_bytes().startswith(b"<?xml")


async def test_a_name_that_is_not_in_the_suite(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        await quality.measure(Settings(data_dir=tmp_path), ["nobody"])
