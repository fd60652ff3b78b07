"""`llm record` and `llm replay` as a shell sees them, with real files and a scripted model over real HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from app.console.exits import Exit
from app.console.transcripts import record_build, replay_file
from app.model.names import Effort
from app.model.record import BuildRequest
from tests.fakes.llm_bench import KEY, PROMPT, llm_settings
from tests.fakes.llm_player import Player, recorded
from tests.fakes.llm_server import Asked, LlmServer, Reaction, Status
from tests.fakes.shell import run

MODEL = {"BUILDWRIGHT_LLM_MODEL": "scripted-1", "BUILDWRIGHT_LLM_API_KEY": KEY, "BUILDWRIGHT_ENGINE": "sketch"}


def record(folder: Path, url: str, file: str = "one.jsonl") -> CompletedProcess[str]:
    said = ("llm", "record", PROMPT, "--level", "12", "--out", str(folder / file), "--json")
    return run(*said, **MODEL, BUILDWRIGHT_LLM_BASE_URL=url, BUILDWRIGHT_DATA_DIR=str(folder))


def replay(folder: Path, file: Path, *more: str) -> CompletedProcess[str]:
    """Replay where no model is set up, so that nothing can be asked."""
    return run("llm", "replay", str(file), *more, BUILDWRIGHT_DATA_DIR=str(folder))


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def write(file: Path, told: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in told))
    return file


def failing_once(player: Player) -> Any:
    faults: list[Reaction] = [Status(500)]

    def react(asked: Asked) -> Reaction:
        return faults.pop() if faults and asked.step == "explore-damage_delivery" else player(asked)

    return react


@pytest.mark.slow
async def test_a_build_is_recorded_and_made_again_without_a_model(tmp_path: Path) -> None:
    async with LlmServer(failing_once(Player(recorded("lightning_sorceress")))) as server:
        done = await asyncio.to_thread(record, tmp_path, f"{server.url}/v1")
        asked = len(server.requests)
        again = await asyncio.to_thread(record, tmp_path, f"{server.url}/v1")
        assert (again.returncode, len(server.requests)) == (2, asked)
        assert "is there already" in again.stderr
    assert done.returncode in (0, 3), done.stderr
    file = tmp_path / "one.jsonl"
    told = lines(file)
    assert (told[0]["origin"], told[0]["schema_version"], told[0]["request"]["engine"]) == ("recorded", 1, "sketch")
    assert len(told) == asked + 2
    assert sum(one.get("failure") is not None for one in told) == 1
    assert KEY not in file.read_text()

    same = await asyncio.to_thread(replay, tmp_path, file, "--json")
    assert same.returncode == 0, same.stdout + same.stderr
    report = json.loads(same.stdout)
    assert (report["requests"], report["first"], report["unused"]) == (asked, None, [])
    assert report["now"] == report["was"] == told[-1]
    check_spending(report["spending"], asked)
    await asyncio.to_thread(check_difference, tmp_path, told)


@pytest.mark.pob
async def test_a_replay_on_pob_asks_and_ends_as_recorded(tmp_path: Path, pob_path: Path) -> None:
    player = Player(recorded("lightning_sorceress"))
    del player.answers["explore-spirit_allocation"]
    request = BuildRequest(prompt=PROMPT, level=12, effort=Effort.QUICK, engine="pob", reasoner="llm")
    own: dict[str, Any] = {"engine": "pob", "pob_path": pob_path, "data_dir": tmp_path}
    async with LlmServer(player) as server:
        settings = llm_settings(f"{server.url}/v1", tmp_path, **own)
        assert await record_build(settings, request, tmp_path / "t.jsonl", False) in (Exit.OK, Exit.CAVEATS)
    alone = llm_settings(None, tmp_path, **own, llm_model=None)
    assert await replay_file(alone, tmp_path / "t.jsonl", False) is Exit.OK


def check_spending(rows: list[dict[str, Any]], asked: int) -> None:
    """Check that the rows add up, and that later turns of a question are counted as sent before."""
    total = rows.pop()
    assert (total["step"], total["requests"]) == ("total", asked)
    assert total["tokens"] == sum(row["tokens"] for row in rows)
    assert 0 < total["again"] < total["tokens"]
    assert total["input"] is None, "the failed request reported nothing"
    construct = next(row for row in rows if row["step"] == "construct")
    assert construct["requests"] == 4, "the first proposal with its tools, and the turns after it"
    assert construct["again"] > 0.5 * construct["tokens"]


def check_difference(folder: Path, told: list[dict[str, Any]]) -> None:
    """Check that a prompt which was another when it was recorded is shown, and the answers are still given."""
    place = next(number for number, one in enumerate(told) if one.get("step") == "explore-damage_scaling")
    system = told[place]["request"]["messages"][0]
    system["content"] = system["content"].replace("# ", "# An older word for ", 1)
    done = replay(folder, write(folder / "older.jsonl", told))
    assert done.returncode == 1, done.stderr
    assert f"The first that differs: request {place}, explore-damage_scaling" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("-# An older word for ")]
    assert ", as recorded" in done.stdout


HEAD = {"kind": "buildwright-transcript", "schema_version": 1, "model": "m", "request": {"prompt": PROMPT}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "Cannot read"),
        ("", "line 1: this is not JSON"),
        ("not json\n", "line 1: this is not JSON"),
        ("[1]\n", "line 1: this is no JSON object"),
        ('{"kind": "buildwright-results"}\n', "is no transcript"),
        (json.dumps({**HEAD, "schema_version": 2}), "has schema 2; this version reads up to 1"),
        (json.dumps({**HEAD, "schema_version": "1"}), "does not say its schema_version"),
        (json.dumps({**HEAD, "request": {"prompt": ""}}), "line 1: head.request.prompt"),
        (json.dumps(HEAD) + '\n{"step": "explore"}\n{"stepp": 1}\n', "line 3: exchanges.1.step"),
        (json.dumps(HEAD) + "\n\n{oops\n", "line 2: this is not JSON"),
        (json.dumps({**HEAD, "models": {"no step": "m"}}), "line 1: head.models.no step"),
    ],
)
def test_what_is_no_transcript_is_refused(text: str | None, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    if text is not None:
        file.write_text(text)
    done = replay(tmp_path, file)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_recording_needs_a_model_and_a_place(tmp_path: Path) -> None:
    file = tmp_path / "none.jsonl"
    done = run("llm", "record", PROMPT, "--out", str(file), BUILDWRIGHT_DATA_DIR=str(tmp_path))
    assert (done.returncode, "reasoner_missing" in done.stderr, file.exists()) == (2, True, False)
    lost = run("llm", "record", PROMPT, "--out", str(tmp_path / "no" / "x"), **MODEL)
    assert (lost.returncode, "Cannot write" in lost.stderr) == (2, True)
