"""One build from the shell: files, streams, exit codes, interruption."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from app.model.state import BuildState
from tests.fakes import shell

pytestmark = pytest.mark.slow
PROMPT = "lightning sorceress for mapping"


def environment(folder: Path) -> dict[str, str]:
    """Return settings for the estimator on a data directory of its own."""
    return {
        "BUILDWRIGHT_ENGINE": "sketch",
        "BUILDWRIGHT_DATA_DIR": str(folder / "data"),
        "BUILDWRIGHT_POB_PATH": str(folder / "no-pob"),
    }


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command line with the estimator."""
    return subprocess.Popen(
        [sys.executable, "-m", "app", *arguments],
        env={**os.environ, **environment(folder)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run the command line to its end."""
    with start(folder, *arguments) as process:
        out, err = process.communicate(timeout=1800)
    return process.returncode, out, err


def test_a_sentence_becomes_files(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "build", PROMPT)
    assert code in (0, 3), err
    for phase in ("decompose", "explore", "construct", "validate"):
        assert f"== {phase}\n" in err
    xml = next((tmp_path / "builds").glob("*.xml"))
    share, state = xml.with_suffix(".code.txt"), xml.with_suffix(".state.yaml")
    assert zlib.decompress(base64.urlsafe_b64decode(share.read_text())) == xml.read_bytes()
    assert BuildState.from_yaml(state.read_text()).outcome is not None
    for part in ("ESTIMATE", "Decisions:", "Ascendancy:", str(xml.relative_to(tmp_path))):
        assert part in out
    check_reading(tmp_path, xml)


def check_reading(folder: Path, xml: Path) -> None:
    """What was written can be read again, through every command that reads."""
    build_id = xml.stem

    def read(*arguments: str) -> str:
        done = shell.run(*arguments, **environment(folder))
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(read("show", build_id, "--json"))["id"] == build_id
    assert read("export", build_id).encode() == xml.read_bytes()
    assert build_id in read("list")
    assert "construct" in read("metrics", build_id)
    read("db", "check")


def test_json_is_what_the_api_returns_and_equal_prompts_give_equal_bytes(tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        code, out, _ = run(tmp_path, "build", PROMPT, "--json", "--out", name, "--level", "24", "--gear", "starter")
        view = json.loads(out)
        assert code == {"validated": 0, "caveats": 3}[view["outcome"]]
        assert {"level": 24, "gear": "starter"}.items() <= {i["field"]: i["value"] for i in view["invariants"]}.items()
        files.append((tmp_path / name / f"{view['id']}.xml").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_and_keeps_what_is_valid(tmp_path: Path, number: int) -> None:
    with start(tmp_path, "build", PROMPT) as process:
        assert process.stderr is not None
        line = ""
        while "construct" not in line:
            line = process.stderr.readline()
            assert line, "ended before it was interrupted"
        process.send_signal(number)
        out, err = process.communicate(timeout=180)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert "cancelled" in out
    _, listed, _ = run(tmp_path, "list")
    assert "cancelled" in listed
