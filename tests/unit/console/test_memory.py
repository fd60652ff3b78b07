"""`memory` as a shell sees it: sketch builds teach, what they taught is shown and forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.shell import run


def test_nothing_is_remembered_yet(tmp_path: Path) -> None:
    home = {"BUILDWRIGHT_DATA_DIR": str(tmp_path)}
    shown = run("memory", "show", **home)
    assert (shown.returncode, shown.stdout) == (0, "Nothing is remembered yet.\n")
    assert json.loads(run("memory", "show", "--json", **home).stdout) == {"items": [], "wishes": [], "races": []}
    forgotten = run("memory", "forget", "--all", **home)
    assert (forgotten.returncode, forgotten.stdout) == (0, "Forgot 0 builds.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [([], 2, "--all"), (["--skill", "Spark", "--all"], 2, "--all"), (["--skill", "Spork"], 1, "Spork")],
)
def test_forgetting_wants_one_thing_that_is_there(
    tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    done = run("memory", "forget", *arguments, BUILDWRIGHT_DATA_DIR=str(tmp_path))
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
