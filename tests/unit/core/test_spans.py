"""Spans: nested, side by side, waited for, and cheap."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.core.spans import SpanKind, SpanTotal, Trace, span


def child(total: SpanTotal, name: str) -> SpanTotal:
    (found,) = (one for one in total.children.values() if one.name == name)
    return found


async def test_what_is_inside_is_covered_and_added_up() -> None:
    trace = Trace()
    for _ in range(3):
        with span("stage", SpanKind.SEARCH):
            with span("call", SpanKind.ENGINE) as call:
                call.add_cpu(7.0)
                await asyncio.sleep(0.01)
            time.sleep(0.01)  # noqa: ASYNC251 - own work of the stage
    root = trace.close()
    stage = child(root, "stage")
    call_total = child(stage, "call")
    assert (stage.calls, call_total.calls, root.calls) == (3, 3, 1)
    assert stage.covered_ms == pytest.approx(call_total.wall_ms, abs=1.0)
    assert stage.wall_ms - stage.covered_ms >= 28
    assert root.wall_ms >= stage.wall_ms
    assert 21 <= call_total.cpu_ms < 60, "the other process's time is the call's"
    assert stage.cpu_ms >= 21


async def test_what_runs_side_by_side_is_covered_once() -> None:
    async def work(name: str) -> None:
        with span(name, SpanKind.ENGINE):
            await asyncio.sleep(0.05)

    trace = Trace()
    with span("stage", SpanKind.SEARCH):
        await asyncio.gather(work("a"), work("b"))
    stage = child(trace.close(), "stage")
    assert child(stage, "a").wall_ms + child(stage, "b").wall_ms >= 98
    assert stage.covered_ms <= stage.wall_ms < 95


async def test_what_outlives_its_surroundings_is_no_part_of_them() -> None:
    async def late() -> None:
        with span("late", SpanKind.ENGINE):
            await asyncio.sleep(0.05)

    trace = Trace()
    with span("short", SpanKind.SEARCH):
        task = asyncio.create_task(late())
        await asyncio.sleep(0.01)
    await task
    short = child(trace.close(), "short")
    assert short.covered_ms <= short.wall_ms < 45


async def test_waits_are_told_to_whoever_waits() -> None:
    trace = Trace()
    with span("attempt", SpanKind.ENGINE) as attempt, span("waiting", SpanKind.WAIT):
        await asyncio.sleep(0.02)
    trace.close()
    assert attempt.waited_ms >= 19


async def test_a_cut_begins_anew_and_an_error_ends_its_span() -> None:
    trace = Trace()
    with pytest.raises(ValueError, match="no"), span("a", SpanKind.SEARCH):
        raise ValueError("no")
    first = trace.cut()
    with span("b", SpanKind.SEARCH):
        pass
    assert [one.name for one in first.children.values()] == ["a"]
    assert [one.name for one in trace.close().children.values()] == ["b"]


def test_nothing_is_traced_outside_unless_always() -> None:
    with span("a", SpanKind.SEARCH) as alone, span("b", SpanKind.SEARCH, always=True) as always:
        pass
    assert alone.total is None
    assert always.total is not None
    assert always.total.calls == 1
