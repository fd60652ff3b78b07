"""`expect`, `compare` and `metrics` from the shell, on a store that a build was recorded into."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.core.config import Settings
from app.model.events import CallOutcome
from app.storage.store import open_storage
from tests.fakes.samples import a_complete_record, an_event

ONE, TWO = a_complete_record(1), a_complete_record(2)


def shell(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def store() -> None:
    async def fill() -> None:
        async with open_storage(Settings().database) as opened:
            for record, calls in ((ONE, 3), (TWO, 1)):
                await opened.builds.insert(record)
                for number in range(1, calls + 1):
                    event = an_event(number, build_id=record.id, call_id=f"{record.id}-{number}", tool=f"pob.t{number}")
                    begun = await opened.events.start(event)
                    await opened.events.finish(begun.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 5.0}))

    asyncio.run(fill())


def test_expectations_in_yaml_and_json_are_met_or_not(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.json"
    good.write_text("required_tools: [pob.t1]\nexpect:\n  - tool: /pob\\.t[12]/\n    times: {min: 2, max: 2}\n")
    bad.write_text(json.dumps({"forbidden_tools": ["pob.t2"], "max_calls": 3}))
    assert shell("expect", str(good), ONE.id)[0] == 0
    code, out, _ = shell("expect", str(bad), ONE.id)
    assert code == 1
    assert "FAIL  forbidden pob.t2: called by [2] (calls 2)" in out
    assert "1 of 2 checks passed (score 0.500)" in out
    code, out, _ = shell("expect", str(bad), ONE.id, "--json")
    assert (code, json.loads(out)["score"]) == (1, 0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "at least one constraint"),
        ("", "valid dictionary"),
        ("expect: [", "is not YAML, nor JSON"),
        ("expect: [{tool: a, args: {x: {regex: '['}}}]", "invalid_matcher"),
        (None, "Cannot read"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_usage_error(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "expectations.yaml"
    if text is not None:
        file.write_text(text)
    code, out, err = shell("expect", str(file), ONE.id)
    assert (code, out) == (2, "")
    assert said in err


def test_builds_side_by_side() -> None:
    code, out, _ = shell("compare", ONE.id, TWO.id)
    assert code == 0
    assert "TOOL USE" in out
    assert f"{TWO.id} AGAINST {ONE.id}" in out
    assert [line.split()[-2:] for line in out.splitlines() if "total calls" in line] == [["3", "1"]]
    found = json.loads(shell("compare", ONE.id, TWO.id, "--json")[1])
    assert [row["total_calls"] for row in found["tool_use"]["rows"]] == [3, 1]


def test_attempts_come_out_one_per_line() -> None:
    code, out, _ = shell("metrics", ONE.id, "--events", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, [line["seq"] for line in lines]) == (0, [1, 2, 3])
    assert {line["schema_version"] for line in lines} == {"1.1"}
    assert shell("metrics", "nothing", "--events", "jsonl")[0] == 1
    assert shell("metrics", ONE.id, "--events", "xml")[0] == 2
    assert json.loads(shell("metrics", ONE.id, "--json")[1])["run"]["calls"] == 3


@pytest.mark.parametrize(("ids", "code"), [([ONE.id], 2), ([ONE.id, ONE.id], 2), ([ONE.id, "nothing"], 1)])
def test_what_cannot_be_compared(ids: list[str], code: int) -> None:
    assert shell("compare", *ids)[0] == code


@pytest.mark.parametrize("by", ["day", "owner", "model", "tool", "phase"])
def test_usage_from_the_shell(by: str) -> None:
    code, out, _ = shell("usage", "--by", by, "--since", "2000-01-01", "--json")
    found = json.loads(out)
    assert (code, found["by"], found["total"]["builds"], found["total"]["calls"]) == (0, by, 2, 4)
    assert sum(row["calls"] for row in found["rows"]) == 4
    code, out, _ = shell("usage", "--by", by, "--since", "2000-01-01")
    assert code == 0
    assert "slowest: pob.t1" in out


def test_usage_since_a_day_that_is_none() -> None:
    assert shell("usage", "--since", "yesterday")[0] == 2
    assert json.loads(shell("usage", "--since", "2100-01-01", "--json")[1])["rows"] == []
