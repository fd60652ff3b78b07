"""Secrets of the environment stay where they are: not in output, files, the store, nor a child's environment."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SECRETS = {
    "BUILDWRIGHT_LLM_API_KEY": "sk-canary-11aa22bb33cc",
    "BUILDWRIGHT_API_TOKENS": "canary-token-44dd,canary-token-55ee",
    "SOME_OTHER_PASSWORD": "canary-password-66ff",
}
MARK = b"canary"


def children(pid: int) -> list[int]:
    """Return the pids of all descendants of a process; one that ends meanwhile has none."""
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for word in task.read_text().split():
                found += [int(word), *children(int(word))]
    return found


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start a build with secrets all around it, its output going to files."""
    settings = {"LOG_LEVEL": "DEBUG", "ENGINE": "sketch", "DATA_DIR": str(folder / "data")}
    with (folder / "out.txt").open("wb") as out, (folder / "err.txt").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "app", "build", "lightning sorceress for mapping", "--level", "12"],
            env={**os.environ, **SECRETS, **{f"BUILDWRIGHT_{name}": value for name, value in settings.items()}},
            cwd=folder,
            stdout=out,
            stderr=err,
        )


def test_no_secret_leaves_the_process(tmp_path: Path) -> None:
    looked_at = 0
    with start(tmp_path) as process:
        while process.poll() is None:
            for child in children(process.pid):
                looked_at += assert_clean(child)
            time.sleep(0.2)
    assert process.returncode in (0, 3)
    assert looked_at > 0
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.suffix == ".db" for file in written)
    assert [file.name for file in written if MARK in file.read_bytes()] == []


def assert_clean(pid: int) -> int:
    """Check the environment and the arguments of a process; 0 when it has gone already."""
    try:
        environment, arguments = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
    except OSError:
        return 0
    assert MARK not in environment
    assert MARK not in arguments
    return 1
