"""Calls and what is written about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.core.errors import AppError, EngineCrashed, EngineGarbage, EngineHung, EngineRefused, ReasonerError
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import SubProblemName
from app.storage.events import SqlEventStore
from app.tools.runner import ToolRunner
from app.tools.scope import about, current_call
from tests.fakes.attempts import SECRET, Bench

POB = ToolKind.POB


class Script:
    """A call that does what its script says, attempt by attempt; each takes 10 ms."""

    def __init__(self, bench: Bench, *turns: Any) -> None:
        self._turns = list(turns)
        self._clock = bench.clock

    async def __call__(self) -> Any:
        self._clock.passed_ms += 10
        turn = self._turns.pop(0)
        if isinstance(turn, BaseException):
            raise turn
        return turn


async def test_a_good_call_leaves_one_complete_event(bench: Bench) -> None:
    with about(SubProblemName.ASCENDANCY):
        result = await bench.runner().call(
            bench.scope, POB, "pob.stats", {"n": 1}, Script(bench, {"Life": 5}), version="pob 1", deterministic=True
        )
    assert result == {"Life": 5}
    (event,) = await bench.events()
    assert (event.seq, event.attempt, event.outcome, event.duration_ms) == (1, 1, CallOutcome.OK, 10)
    assert (event.tool, event.tool_version, event.phase) == ("pob.stats", "pob 1", bench.scope.phase)
    assert (event.sub_problem, event.args, event.cache) == (SubProblemName.ASCENDANCY, {"n": 1}, CacheUse.BYPASS)
    assert (event.result_preview, event.bytes_in, event.bytes_out) == ('{"Life":5}', 7, 10)


async def test_the_event_is_there_before_the_call(bench: Bench) -> None:
    async def looking() -> list[ToolEvent]:
        return await bench.events()

    (during,) = await bench.runner().call(bench.scope, POB, "t", {}, looking)
    assert (during.outcome, during.duration_ms) == (CallOutcome.INCOMPLETE, None)


@pytest.mark.parametrize("error", [EngineCrashed("gone"), EngineGarbage("what?"), EngineHung("late")])
async def test_what_can_be_repeated_is_with_an_event_each(bench: Bench, error: AppError) -> None:
    assert await bench.runner().call(bench.scope, POB, "t", {}, Script(bench, error, error, "fine")) == "fine"
    events = await bench.events()
    bad = CallOutcome.TIMEOUT if isinstance(error, EngineHung) else CallOutcome.ERROR
    assert [(e.attempt, e.outcome) for e in events] == [(1, bad), (2, bad), (3, CallOutcome.OK)]
    assert len({e.call_id for e in events}) == 1
    assert (events[0].error_type, events[0].error_message) == (error.code, error.message)
    assert len(bench.pauses) == 2
    assert all(0 <= pause <= 0.05 * 2**n for n, pause in enumerate(bench.pauses))


async def test_the_last_attempt_raises(bench: Bench) -> None:
    with pytest.raises(EngineCrashed, match="third"):
        await bench.runner().call(
            bench.scope, POB, "t", {}, Script(bench, *map(EngineCrashed, ("first", "second", "third")))
        )
    assert len(await bench.events()) == 3


@pytest.mark.parametrize("error", [EngineRefused("no"), ReasonerError("no"), KeyError("bug")])
async def test_what_cannot_be_repeated_is_not(bench: Bench, error: Exception) -> None:
    with pytest.raises(type(error)):
        await bench.runner().call(bench.scope, POB, "t", {}, Script(bench, error))
    (event,) = await bench.events()
    assert event.outcome is CallOutcome.ERROR
    assert event.error_type == getattr(error, "code", type(error).__name__)


@pytest.mark.parametrize(("kind", "failure"), [(POB, EngineHung), (ToolKind.LLM, ReasonerError)])
async def test_a_call_that_takes_too_long_is_stopped(bench: Bench, kind: ToolKind, failure: type[AppError]) -> None:
    async def endless() -> None:
        await asyncio.sleep(3600)

    with pytest.raises(failure):
        await bench.runner().call(bench.scope, kind, "t", {}, endless, timeout_s=0.01, retries=1)
    (event,) = await bench.events()
    assert event.outcome is CallOutcome.TIMEOUT


async def test_a_timeout_inside_is_no_timeout_of_ours(bench: Bench) -> None:
    with pytest.raises(TimeoutError):
        await bench.runner().call(bench.scope, POB, "t", {}, Script(bench, TimeoutError()), timeout_s=60)


async def test_a_cancelled_call_is_completed_as_cancelled(bench: Bench) -> None:
    begun = asyncio.Event()

    async def endless() -> None:
        begun.set()
        await asyncio.sleep(3600)

    calling = asyncio.create_task(bench.runner().call(bench.scope, POB, "t", {}, endless))
    await begun.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    (event,) = await bench.events()
    assert event.outcome is CallOutcome.CANCELLED
    assert event.duration_ms is not None


async def test_a_cancellation_while_the_start_is_written_leaves_no_open_event(bench: Bench) -> None:
    for turns in range(12):
        calling = asyncio.create_task(bench.runner().call(bench.scope, POB, "t", {}, Script(bench, 1)))
        for _ in range(turns):
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait({calling})
    assert CallOutcome.INCOMPLETE not in {event.outcome for event in await bench.events()}


async def test_calls_inside_a_call_name_their_parent(bench: Bench) -> None:
    runner = bench.runner()

    async def outer() -> str | None:
        await runner.call(bench.scope, POB, "inner", {}, Script(bench, 1))
        return current_call()

    outer_id = await runner.call(bench.scope, ToolKind.OTHER, "outer", {}, outer)
    first, second = await bench.events()
    assert (first.tool, first.call_id, first.parent_call_id) == ("outer", outer_id, None)
    assert (second.tool, second.parent_call_id) == ("inner", outer_id)
    assert current_call() is None


class Broken(SqlEventStore):
    """A store whose disk is full."""

    async def start(self, event: ToolEvent) -> ToolEvent:
        raise OSError("disk full")


async def test_a_broken_recorder_never_fails_a_call(bench: Bench) -> None:
    runner = ToolRunner(Broken(bench.storage.database), bench.clock)
    assert await runner.call(bench.scope, POB, "t", {}, Script(bench, 1)) == 1
    assert runner.dropped_events == 1


async def test_a_late_runner_gets_its_answer_but_leaves_no_event(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    claims = [await bench.storage.builds.claim(bench.scope.build_id) for _ in range(2)]
    late, mine = (replace(bench.scope, epoch=claim.epoch) for claim in claims if claim)
    runner = bench.runner()
    assert await runner.call(late, POB, "late", {}, Script(bench, 1)) == 1
    assert await runner.call(mine, POB, "mine", {}, Script(bench, 2)) == 2
    assert [(event.seq, event.tool) for event in await bench.events()] == [(1, "mine")]
    assert runner.dropped_events == 0
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "a late tool event was refused: another runner owns this build, or it has ended"
    ]


async def test_secrets_reach_no_event(bench: Bench) -> None:
    args = {"note": f"key {SECRET}", "authorization": "Bearer abc", "keystones": ["x"]}
    with pytest.raises(ReasonerError):
        await bench.runner().call(bench.scope, POB, "t", args, Script(bench, ReasonerError(f"bad {SECRET}")))
    (event,) = await bench.events()
    assert SECRET not in event.model_dump_json()
    assert event.args == {"note": "key [redacted]", "authorization": "[redacted]", "keystones": ["x"]}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 2**53}, {"a": 2**53 + 1}, False),
        ({"a": float("nan")}, {"a": float("nan")}, True),
        ({"a": float("inf")}, {"a": float("-inf")}, False),
        ({"a": b"xml"}, {"a": b"xmm"}, False),
        ({"a": None}, {}, False),
    ],
)
async def test_equal_calls_have_equal_hashes(
    bench: Bench, one: dict[str, Any], other: dict[str, Any], equal: bool
) -> None:
    for args in (one, other):
        await bench.runner().call(bench.scope, POB, "t", args, Script(bench, 1))
    first, second = await bench.events()
    assert (first.args_sha256 == second.args_sha256) is equal


async def test_tool_and_version_are_part_of_the_hash(bench: Bench) -> None:
    for tool, version in (("t", "1"), ("t", "2"), ("u", "1")):
        await bench.runner().call(bench.scope, POB, tool, {}, Script(bench, 1), version=version)
    assert len({event.args_sha256 for event in await bench.events()}) == 3


@pytest.mark.parametrize("make", [lambda: "x" * 100_000, lambda: list(range(50_000)), lambda: b"\xff" * 100_000])
async def test_bulk_is_kept_as_hash_and_size(bench: Bench, make: Callable[[], Any]) -> None:
    await bench.runner().call(bench.scope, POB, "t", {"big": make(), "small": 1}, Script(bench, make()))
    (event,) = await bench.events()
    assert event.args is not None
    assert set(event.args["big"]) == {"sha256", "bytes"}
    assert event.args["small"] == 1
    assert event.bytes_out is not None
    assert event.bytes_out > 100_000
    assert len((event.result_preview or "").encode()) <= 2048
    assert event.result_sha256 is not None


async def test_a_caller_may_describe_its_result(bench: Bench) -> None:
    await bench.runner().call(
        bench.scope,
        ToolKind.LLM,
        "llm.explore",
        {},
        Script(bench, "text"),
        describe=lambda text: {"usage": {"input": len(text)}, "cost_usd": "0.01", "cost_source": "table"},
    )
    (event,) = await bench.events()
    assert (event.usage, event.cost_usd, event.cost_source) == ({"input": 4}, "0.01", "table")
    assert event.result_preview == '"text"'
