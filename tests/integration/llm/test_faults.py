"""Every way in which a model's service can misbehave: bounded time, exact retries, a typed outcome, the rules' answer.

Each row is one step over real HTTP on loopback; `test_builds.py` shows that whole builds still end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.model.events import CallOutcome
from app.model.names import Demand
from app.model.sub_problems import Constraint
from tests.fakes.llm_bench import DELIVERY, KEY, LlmBench, llm_bench
from tests.fakes.llm_server import (
    Asked,
    Cut,
    Drip,
    Hang,
    Huge,
    LlmServer,
    Raw,
    Reaction,
    Say,
    Status,
    answer,
    gzip_bomb,
)

OK, ERROR, TIMEOUT = CallOutcome.OK, CallOutcome.ERROR, CallOutcome.TIMEOUT
MOST_S = 20.0
"""More than any of them takes on a busy machine, and far less than what a service may ask to wait for."""
GOOD = {"skill": "Spark", "weapon_types": ["Wand"], "off_hand": "Focus", "reason": "It fits."}
INVENTED = {**GOOD, "skill": "Thunderclap of Doom"}


@dataclass(frozen=True)
class Row:
    """A fault and what it must come to: the requests' outcomes in order, the entry in `degraded`."""

    name: str
    react: Callable[[Asked], Reaction]
    outcomes: list[CallOutcome]
    error: str | None
    degraded: str | None


def always(reaction: Reaction) -> Callable[[Asked], Reaction]:
    return lambda asked: reaction


def unknown_tool(asked: Asked) -> Reaction:
    return answer(GOOD) if asked.turn else Say(calls=[("rm_rf", {"path": "/"}), ("craft_item", {"slot": "Helmet"})])


def for_ever(asked: Asked) -> Reaction:
    return Say(calls=[("search_gems", {"query": f"round {asked.turn}"})])


LIMITED, DOWN, LATE, BAD = "llm_rate_limited", "llm_unavailable", "llm_timeout", "llm_bad_output"
FAULTS = [
    Row("429", always(Status(429)), [ERROR] * 3, LIMITED, LIMITED),
    Row("429 retry-after", always(Status(429, {"Retry_After": "1"})), [ERROR] * 3, LIMITED, LIMITED),
    Row("429 for an hour", always(Status(429, {"Retry_After": "3600"})), [ERROR], LIMITED, LIMITED),
    Row("500", always(Status(500)), [ERROR] * 3, DOWN, DOWN),
    Row("529", always(Status(529)), [ERROR] * 3, DOWN, DOWN),
    Row("401", always(Status(401)), [ERROR], "llm_rejected", "llm_rejected"),
    Row("hang before headers", always(Hang()), [TIMEOUT] * 3, LATE, LATE),
    Row("one byte now and then", always(Drip(0.2)), [TIMEOUT] * 3, LATE, LATE),
    Row("cut body", always(Cut()), [ERROR] * 3, DOWN, DOWN),
    Row("200 with HTML", always(Raw(b"<html>Log in</html>")), [ERROR], BAD, BAD),
    Row("invalid UTF-8", always(Raw(b'{"choices": "\xff\xfe"}')), [ERROR], BAD, BAD),
    Row("not the format", always(Raw(b'{"choices": []}')), [ERROR], BAD, BAD),
    Row("50 MB", always(Huge()), [ERROR], BAD, BAD),
    Row("gzip bomb", always(gzip_bomb()), [ERROR], BAD, BAD),
    Row("truncated YAML", always(Say("skill: [Spark,")), [ERROR] * 2, None, BAD),
    Row("cut at the limit", always(Say("skill: Spark", finish="length")), [ERROR] * 2, None, BAD),
    Row("wrong schema twice", always(answer({"spell": "Spark"})), [ERROR] * 2, None, BAD),
    Row("invented gem", always(answer(INVENTED)), [ERROR] * 2, None, BAD),
    Row("unknown tool", unknown_tool, [OK] * 2, None, None),
    Row("12 tool rounds", for_ever, [OK] * 11, None, "budget_exceeded"),
    Row("refusal text", always(Say("I can't help with that.")), [ERROR] * 2, None, BAD),
    Row("refusal", always(Say("No.", finish="content_filter")), [ERROR], None, "llm_refused"),
]  # fmt: skip


@pytest.fixture
async def elsewhere() -> AsyncIterator[LlmServer]:
    async with LlmServer(always(answer(GOOD))) as server:
        yield server


async def explored(bench: LlmBench) -> Any:
    return await bench.reasoner.explore(bench.ctx, DELIVERY, [])


async def check(bench: LlmBench, row: Row, caplog: pytest.LogCaptureFixture) -> None:
    """Run the step and compare everything with the row."""
    caplog.set_level(logging.DEBUG)
    began = time.monotonic()
    got = await explored(bench)
    assert time.monotonic() - began < MOST_S
    assert got.decision.name == "Spark with wand and focus"
    outcomes = await bench.outcomes()
    assert [outcome for _, outcome, _ in outcomes] == row.outcomes
    if row.error is not None:
        assert outcomes == [(i, row.outcomes[0], row.error) for i in range(1, len(row.outcomes) + 1)]
    degraded = bench.reasoner.remarks.degraded
    assert [line.split(": ")[:2] for line in degraded] == (
        [["explore-damage_delivery", row.degraded]] if row.degraded else []
    )
    assert KEY not in caplog.text
    assert KEY not in repr([event.model_dump() for event in await bench.events()]) + repr(bench.reasoner.remarks)


@pytest.mark.parametrize("row", FAULTS, ids=lambda row: row.name)
async def test_every_fault_ends_in_the_rules_answer(row: Row, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seconds = 0.5 if row.degraded == LATE else 20
    async with LlmServer(row.react) as server, llm_bench(f"{server.url}/v1", tmp_path, llm_timeout_s=seconds) as bench:
        await check(bench, row, caplog)
        assert len(server.requests) == len(row.outcomes)


async def test_a_refused_connection(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with LlmServer(always(Hang())) as server:
        url = server.url
    row = Row("connection refused", always(Hang()), [ERROR] * 3, "llm_unavailable", "llm_unavailable")
    async with llm_bench(f"{url}/v1", tmp_path) as bench:
        await check(bench, row, caplog)


async def test_a_redirect_never_takes_the_key_elsewhere(
    tmp_path: Path, elsewhere: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    there = always(Status(307, {"Location": f"{elsewhere.url}/v1/chat/completions"}))
    row = Row("redirect", there, [ERROR], "llm_rejected", "llm_rejected")
    async with LlmServer(there) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        await check(bench, row, caplog)
    assert elsewhere.requests == []


async def test_a_service_that_puts_the_key_into_a_sound_answer_does_not_get_it_stored(tmp_path: Path) -> None:
    echo = answer({**GOOD, "reason": f"Because of {KEY}."})
    async with LlmServer(always(echo)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await explored(bench)
        assert got.decision.reason == "The model: Because of [secret]."
        assert KEY not in repr(await bench.events()) + repr(got) + repr(bench.reasoner.remarks)


async def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    replies = iter([Status(429, {"Retry_After": "1"}), answer(GOOD)])
    async with LlmServer(lambda _: next(replies)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        began = time.monotonic()
        await explored(bench)
        assert time.monotonic() - began >= 1.0
        assert [outcome for _, outcome, _ in await bench.outcomes()] == [ERROR, OK]
        assert bench.reasoner.remarks.degraded == ()


async def test_one_bad_answer_is_repaired_with_the_reason_quoted(tmp_path: Path) -> None:
    replies = iter([answer(INVENTED), answer({**GOOD, "skill": "Arc"})])
    async with LlmServer(lambda _: next(replies)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await explored(bench)
        assert got.decision.name == "Arc with wand and focus"
        assert bench.reasoner.remarks.degraded == ()
        assert "there is no skill called 'Thunderclap of Doom'" in server.requests[1].texts[-1]
        rejected, good = await bench.chats()
        assert (rejected.outcome, rejected.error_type, good.outcome) == (ERROR, "answer_rejected", OK)
        assert rejected.usage is not None
        assert rejected.cost_usd == good.cost_usd == "0.0012"


async def test_what_a_model_asks_for_is_recorded_in_order_with_its_refusals(tmp_path: Path) -> None:
    async with LlmServer(unknown_tool) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        await explored(bench)
        events = [e for e in await bench.events() if e.kind.value != "pob"]
        assert [(e.turn, e.tool, e.outcome.value, e.error_type, e.provider_call_id) for e in events] == [
            (0, "llm.explore", "ok", None, None),
            (1, "llm.chat", "ok", None, None),
            (1, "unknown_tool", "error", "tool_refused", "call_0_0"),
            (1, "unknown_tool", "error", "tool_refused", "call_0_1"),
            (2, "llm.chat", "ok", None, None),
        ]
        assert {e.parent_call_id for e in events[1:]} == {events[0].call_id}
        assert [(e.usage or {}).get("input") for e in events if e.tool == "llm.chat"] == [1000, 1000]
        assert {e.cost_usd for e in events if e.tool == "llm.chat"} == {"0.0012"}
        assert "there is no such tool" in str(server.requests[1].results)


async def test_after_two_failures_in_a_row_the_provider_is_left_alone(tmp_path: Path) -> None:
    async with LlmServer(always(Status(500))) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        for _ in range(4):
            await bench.next_step().explore(bench.ctx, DELIVERY, [])
        last = bench.next_step()
        await last.explore(bench.ctx, DELIVERY, [])
        assert len(server.requests) == 6
        assert last.remarks.degraded[0].startswith("explore-damage_delivery: llm_given_up")


@pytest.mark.parametrize(
    ("react", "degraded"), [(always(answer(GOOD)), False), (always(Status(401)), True)], ids=["answers", "refuses"]
)
async def test_a_question_of_a_finished_build_is_asked_again_and_its_answer_may_stand(
    react: Callable[[Asked], Reaction], degraded: bool, tmp_path: Path
) -> None:
    async with LlmServer(react) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        wish = Constraint(conflict_id="wish", demand=Demand.MORE_DAMAGE, text="more of it")
        state = bench.ctx.state.reopened(DELIVERY, [wish])
        known = state.sub_problems[DELIVERY].prior_attempts[-1]
        got = await bench.reasoner.reconsider(replace(bench.ctx, state=state), DELIVERY, [])
        assert (got.decision == known) is degraded
        assert got.decision.name == known.name
        assert bool(bench.reasoner.remarks.degraded) is degraded
        assert got.decision.reason == (known.reason if degraded else "The model: It fits.")
        assert {event.tool for event in await bench.events()} >= {"llm.reconsider", "llm.chat"}
