"""`eval run --reasoner llm`: each build is held against what every build must be, and beside the one by the rules."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from app.bench.reasoners import AgainstRules, RunFigures, against_text
from tests.fakes.llm_bench import KEY
from tests.fakes.llm_liar import Liar
from tests.fakes.llm_server import LlmServer
from tests.fakes.shell import run

SUITE = """
- {name: easy, prompt: lightning sorceress for mapping, level: 12, gear: starter}
- {name: greedy, prompt: lightning sorceress with 90 million dps, level: 12, gear: starter}
"""
CHECKS = ["the build ends", "castable", "wishes met", "plan is the build", "no unfounded claim"]


@pytest.mark.slow
async def test_a_model_is_held_against_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(SUITE)
    said = ("eval", "run", str(file), "--reasoner", "llm", "--engine", "sketch", "--label", "one")
    own = {"BUILDWRIGHT_LLM_MODEL": "scripted-1", "BUILDWRIGHT_LLM_API_KEY": KEY, "BUILDWRIGHT_DATA_DIR": str(tmp_path)}
    own["BUILDWRIGHT_LLM_PRICES"] = '{"scripted-1": {"input": "1", "output": "2"}}'
    async with LlmServer(Liar(use_tools=False)) as server:
        address = {"BUILDWRIGHT_LLM_BASE_URL": f"{server.url}/v1"}
        done = await asyncio.to_thread(run, *said, "--json", **own, **address)
        assert server.requests
        again = await asyncio.to_thread(run, *said, "--resume", **own, **address)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    runs = {row["task"]: row for row in told["runs"]}
    assert [check["name"] for check in runs["easy"]["checks"]] == CHECKS
    assert [check for check in runs["easy"]["checks"] if not check["passed"]] == []
    unmet = [check["name"] for check in runs["greedy"]["checks"] if not check["passed"]]
    assert unmet == ["wishes met"]
    assert "FAIL  greedy #1" in done.stderr
    for row in told["against_rules"]:
        assert (row["rules"]["tokens"], row["rules"]["usd"]) == (0, None)
        assert row["model"]["tokens"] > 5_000, "seven requests of 1,100 tokens or more"
        assert row["model"]["usd"] > 0
        assert row["rules"]["objective"] is not None
        assert row["model"]["wishes"] == row["rules"]["wishes"]
    assert "1 of 2 runs under one passed" in again.stdout
    assert "USD per valid build" in again.stdout
    labels = await asyncio.to_thread(run, "eval", "list", BUILDWRIGHT_DATA_DIR=str(tmp_path))
    assert "one-rules" in labels.stdout


async def test_without_a_model_nothing_is_built(tmp_path: Path) -> None:
    done = run("eval", "run", "classes", "--reasoner", "llm", "--engine", "sketch", BUILDWRIGHT_DATA_DIR=str(tmp_path))
    assert (done.returncode, "reasoner_missing" in done.stderr) == (2, True)
    assert "No evaluations yet." in run("eval", "list", BUILDWRIGHT_DATA_DIR=str(tmp_path)).stdout


def figures(objective: float | None, met: int, tokens: int = 0, usd: float | None = None) -> RunFigures:
    known = {"passed": met == 2, "validated": met == 2, "objective": objective}
    return RunFigures(**known, wishes=2, met=met, tokens=tokens, usd=usd)


def test_the_table_adds_both_sides_up() -> None:
    rows = [
        AgainstRules(task="a", trial=1, rules=figures(3.0, 2), model=figures(3.25, 2, 9_000, 0.03)),
        AgainstRules(task="b", trial=1, rules=figures(1.0, 1), model=figures(None, 1, 1_000, 0.01)),
    ]
    lines = against_text(rows)
    assert lines[1].split() == ["a", "3.000", "3.250", "+0.250", "2/2", "2/2", "9,000", "0.0300"]
    assert lines[2].split() == ["b", "1.000", "-", "-", "1/2", "1/2", "1,000", "0.0100"]
    assert lines[-2] == "rules: 1 of 2 passed, 1 validated, objective 2.000 on average, 3 of 4 wishes met"
    assert lines[-1] == (
        "model: 1 of 2 passed, 1 validated, objective 3.250 on average, 3 of 4 wishes met,"
        " 10,000 tokens, USD per valid build 0.0400"
    )
    assert against_text([]) == []
