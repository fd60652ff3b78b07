"""What attempts wait for, and what is kept of cached answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.core.spans import SpanKind, span
from app.engine.base import Session
from app.model.events import CacheUse, ToolKind
from app.tools.cache import RAW, Cacheable, ResultCache
from app.tools.engine import RecordedEngine
from app.tools.runner import ToolRunner
from tests.fakes.attempts import Bench
from tests.fakes.calculators import FakeEngine


async def test_waiting_inside_and_before_an_attempt_is_written(bench: Bench) -> None:
    async def answer() -> bytes:
        with span("waiting for the session", SpanKind.WAIT):
            await asyncio.sleep(0.03)
        return b"x"

    runner = bench.runner()
    await runner.call(bench.scope, ToolKind.POB, "pob.stats", {}, answer)
    await runner.call(bench.scope, ToolKind.POB, "pob.stats", {}, answer, queued_ms=500.0)
    first, second = await bench.events()
    assert 25 <= (first.queue_ms or 0) < 400
    assert 525 <= (second.queue_ms or 0) < 900


async def test_a_cached_answer_remembers_what_making_it_took(bench: Bench) -> None:
    async def answer() -> bytes:
        bench.clock.passed_ms += 700
        return b"x"

    options: dict[str, Any] = {"cacheable": Cacheable(RAW, "f"), "deterministic": True, "results": 12}
    for _ in range(2):  # from memory, and by a new process from the store
        cache = ResultCache(bench.storage.results, clock=bench.clock)
        runner = ToolRunner(bench.storage.events, bench.clock, cache=cache)
        for _ in range(2):
            await runner.call(bench.scope, ToolKind.POB, "pob.what_if", {}, answer, **options)
        await cache.close()
    found = [(e.cache, e.original_ms, e.results) for e in await bench.events()]
    assert found == [(CacheUse.MISS, None, 12), *[(CacheUse.HIT, 700.0, 12)] * 3]


class SlowToOpen(FakeEngine):
    """An engine whose sessions are all in use for a while."""

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        await asyncio.sleep(0.03)
        async with super().session() as opened:
            yield opened


async def test_the_first_call_of_a_session_is_told_what_was_waited_for_it(bench: Bench) -> None:
    engine = RecordedEngine(SlowToOpen(), bench.runner(), bench.scope)
    async with engine.session() as session:
        await session.stats()
        await session.stats()
    first, second = await bench.events()
    assert (first.queue_ms or 0) >= 25
    assert (second.queue_ms or 0) < 20
