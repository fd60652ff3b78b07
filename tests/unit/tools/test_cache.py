"""Answers that are given again: from memory, from the store, from whoever asks first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from app.core.errors import EngineCrashed, EngineRefused, StorageError
from app.metrics.efficiency import measure
from app.model.blueprint import Blueprint, PassiveNode, SetConfig
from app.model.events import CacheUse, CallOutcome, ToolKind
from app.storage.base import KeptResult
from app.tools.cache import Cacheable, CachedResult, CachePolicy, ResultCache, cache_key, json_codec
from app.tools.engine import RecordedEngine
from app.tools.runner import ToolRunner
from tests.fakes.attempts import Bench
from tests.fakes.calculators import FakeEngine

WITCH = Blueprint(class_name="Witch", ascendancy=None, level=90)
NUMBERS = Cacheable(json_codec(list[float]), "fingerprint")


class Counted:
    """Something worth keeping, that counts how often it is done."""

    def __init__(self, *failures: Exception) -> None:
        self.done = 0
        self._failures = list(failures)
        self.began = asyncio.Semaphore(0)
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self) -> list[float]:
        self.done += 1
        self.began.release()
        await self.go.wait()
        if self._failures:
            raise self._failures.pop(0)
        return [0.1 + 0.2, float(self.done)]


def runner(bench: Bench, policy: CachePolicy | None = None) -> tuple[ToolRunner, ResultCache]:
    cache = ResultCache(bench.storage.results, policy, bench.clock)
    return ToolRunner(bench.storage.events, bench.clock, cache=cache), cache


async def ask(tools: ToolRunner, bench: Bench, fn: Counted, cacheable: Cacheable = NUMBERS, n: int = 1) -> list[float]:
    return await tools.call(
        bench.scope, ToolKind.POB, "pob.sum", {"n": n}, fn, version="1", deterministic=True, cacheable=cacheable
    )


async def test_an_equal_call_is_answered_without_being_executed(bench: Bench) -> None:
    tools, _ = runner(bench)
    fn = Counted()
    answers = []
    for n in (1, 1, 2):
        answers.append(await ask(tools, bench, fn, n=n))
        bench.clock.passed_ms += 1
    first, second, other = answers
    assert first == second == [0.1 + 0.2, 1.0]
    assert other == [0.1 + 0.2, 2.0]
    events = await bench.events()
    assert [(e.seq, e.cache, e.outcome) for e in events] == [
        (1, CacheUse.MISS, CallOutcome.OK),
        (2, CacheUse.HIT, CallOutcome.OK),
        (3, CacheUse.MISS, CallOutcome.OK),
    ]
    assert events[0].result_sha256 == events[1].result_sha256 != events[2].result_sha256
    assert events[0].result_preview == events[1].result_preview
    run = measure(events).run
    assert (run.cache_hit_rate, run.executed) == (1 / 3, 2)


async def test_an_answer_outlives_the_process(bench: Bench) -> None:
    tools, cache = runner(bench)
    fn = Counted()
    first = await ask(tools, bench, fn)
    await cache.close()
    again, _ = runner(bench)
    assert await ask(again, bench, fn) == first
    assert fn.done == 1


async def test_another_fingerprint_is_another_engine(bench: Bench) -> None:
    tools, _ = runner(bench)
    fn = Counted()
    await ask(tools, bench, fn)
    await ask(tools, bench, fn, Cacheable(NUMBERS.codec, "newer"))
    assert fn.done == 2


async def test_of_calls_at_once_one_is_executed(bench: Bench) -> None:
    tools, _ = runner(bench)
    fn = Counted()
    fn.go.clear()
    asking = [asyncio.create_task(ask(tools, bench, fn)) for _ in range(5)]
    await fn.began.acquire()
    fn.go.set()
    answers = await asyncio.gather(*asking)
    assert fn.done == 1
    assert answers == [[0.1 + 0.2, 1.0]] * 5
    answers[0].append(7.0)
    assert answers[1] == [0.1 + 0.2, 1.0]
    uses = [e.cache for e in await bench.events()]
    assert uses.count(CacheUse.MISS) == 1
    assert set(uses) <= {CacheUse.MISS, CacheUse.COALESCED, CacheUse.HIT}


async def test_who_asks_while_somebody_is_getting_it_waits_for_that(bench: Bench) -> None:
    cache = ResultCache(bench.storage.results)
    assert (await cache.seek("k")).leads
    joining = asyncio.create_task(cache.seek("k"))
    await asyncio.sleep(0)
    assert not (await cache.seek("k", join=False)).leads
    cache.settle("k", "pob.sum", CachedResult(b"[1]"))
    found = await joining
    assert (found.answer and found.answer.data, found.use) == (b"[1]", CacheUse.COALESCED)
    assert (await cache.seek("k")).use is CacheUse.HIT


async def test_who_must_not_wait_executes_at_once(bench: Bench) -> None:
    tools, _ = runner(bench)
    fn = Counted()
    fn.go.clear()
    alone = Cacheable(NUMBERS.codec, NUMBERS.fingerprint, join=False)
    asking = [asyncio.create_task(ask(tools, bench, fn, alone)) for _ in range(3)]
    for _ in range(3):
        await fn.began.acquire()
    fn.go.set()
    await asyncio.gather(*asking)
    await ask(tools, bench, fn, alone)
    assert fn.done == 3
    assert [e.cache for e in await bench.events()] == [CacheUse.MISS] * 3 + [CacheUse.HIT]


async def test_when_the_first_fails_or_is_cancelled_the_next_tries_itself(bench: Bench) -> None:
    tools, _ = runner(bench)
    fn = Counted(EngineRefused("no"))
    fn.go.clear()
    leading = asyncio.create_task(ask(tools, bench, fn))
    await fn.began.acquire()
    following = asyncio.create_task(ask(tools, bench, fn))
    await asyncio.sleep(0.05)
    fn.go.set()
    with pytest.raises(EngineRefused):
        await leading
    assert await following == [0.1 + 0.2, 2.0]

    slow = Counted()
    slow.go.clear()
    leading = asyncio.create_task(ask(tools, bench, slow, n=3))
    await slow.began.acquire()
    following = asyncio.create_task(ask(tools, bench, slow, n=3))
    await asyncio.sleep(0.05)
    leading.cancel()
    slow.go.set()
    with pytest.raises(asyncio.CancelledError):
        await leading
    assert await following == [0.1 + 0.2, 2.0]


async def test_failures_are_not_kept_and_retries_still_happen(bench: Bench) -> None:
    tools, _ = runner(bench)
    fn = Counted(EngineCrashed("gone"))
    assert await ask(tools, bench, fn) == [0.1 + 0.2, 2.0]
    assert [(e.attempt, e.cache) for e in await bench.events()] == [(1, CacheUse.MISS), (2, CacheUse.MISS)]
    assert await ask(tools, bench, fn) == [0.1 + 0.2, 2.0]


@pytest.mark.parametrize(
    "policy", [CachePolicy(skip=frozenset({"pob.sum"})), CachePolicy(memory_bytes=0, store_bytes=0)]
)
async def test_a_tool_can_be_left_out_and_the_cache_turned_off(bench: Bench, policy: CachePolicy) -> None:
    tools, _ = runner(bench, policy)
    fn = Counted()
    for _ in range(2):
        await ask(tools, bench, fn)
    assert fn.done == 2
    events = await bench.events()
    assert {e.cache for e in events} == {CacheUse.BYPASS}


async def test_answers_grow_old(bench: Bench) -> None:
    tools, cache = runner(bench, CachePolicy(ttl_s=60))
    fn = Counted()
    await ask(tools, bench, fn)
    await cache.close()
    bench.clock.passed_ms += 59_000
    await ask(tools, bench, fn)
    assert fn.done == 1
    bench.clock.passed_ms += 2_000
    await ask(tools, bench, fn)
    assert fn.done == 2


async def test_memory_is_bounded_and_the_store_still_knows(bench: Bench) -> None:
    tools, cache = runner(bench, CachePolicy(memory_bytes=60))
    fn = Counted()
    for n in range(10):
        await ask(tools, bench, fn, n=n)
    await cache.close()
    assert cache.bytes_in_memory <= 60
    await ask(tools, bench, fn, n=0)
    assert fn.done == 10


class Broken:
    """A store that fails."""

    async def find(self, key: str, since: datetime | None = None) -> list[KeptResult]:
        raise StorageError("broken")

    async def keep(self, results: Sequence[KeptResult], most_bytes: int) -> None:
        raise StorageError("broken")


async def test_a_broken_store_costs_nothing_but_answers(bench: Bench) -> None:
    cache = ResultCache(Broken(), None, bench.clock)
    tools = ToolRunner(bench.storage.events, bench.clock, cache=cache)
    fn = Counted()
    assert await ask(tools, bench, fn) == await ask(tools, bench, fn)
    await cache.close()
    assert fn.done == 1


async def play(engine: RecordedEngine, last: str) -> tuple[object, ...]:
    """Make a chain of calls that ends with one about `last`."""
    async with engine.session() as session:
        reports = [await session.build(WITCH), await session.apply([SetConfig(key="a", value=1)])]
        tried = await session.what_if([[], [SetConfig(key="b", value=2)]], ["Life"])
        reports.append(await session.apply([SetConfig(key=last, value=3)]))
        return (*reports, tried, await session.stats(), await session.export())


class Watched(FakeEngine):
    """Counts what really reaches the engine."""

    def __init__(self) -> None:
        super().__init__()
        self.executed: list[str] = []

    def fail(self, operation: str) -> None:
        self.executed.append(operation)
        super().fail(operation)


async def test_a_chain_known_already_never_reaches_the_engine(bench: Bench) -> None:
    tools, _ = runner(bench)
    first, second = Watched(), Watched()
    made = await play(RecordedEngine(first, tools, bench.scope, "f"), "c")
    again = await play(RecordedEngine(second, tools, bench.scope, "f"), "c")
    assert made == again
    assert (len(first.executed), second.executed) == (6, [])


async def test_a_miss_brings_the_engine_to_the_same_build_first(bench: Bench) -> None:
    tools, _ = runner(bench)
    await play(RecordedEngine(Watched(), tools, bench.scope, "f"), "c")
    engine = Watched()
    found = await play(RecordedEngine(engine, tools, bench.scope, "f"), "d")
    assert found == await play(RecordedEngine(FakeEngine(), bench.runner(), bench.scope), "d")
    assert engine.executed == ["build", "apply", "apply", "stats", "export"]


async def test_catching_up_survives_a_crash_on_the_way(bench: Bench) -> None:
    tools, _ = runner(bench)
    await play(RecordedEngine(Watched(), tools, bench.scope, "f"), "c")
    engine = Watched()
    engine.plan("apply", EngineCrashed("gone"))
    found = await play(RecordedEngine(engine, tools, bench.scope, "f"), "e")
    assert found == await play(RecordedEngine(FakeEngine(), bench.runner(), bench.scope), "e")
    assert engine.executed == ["build", "apply", "apply", "apply", "stats", "export"]


async def test_a_new_build_in_a_session_forgets_what_was_behind(bench: Bench) -> None:
    tools, _ = runner(bench)
    other = WITCH.model_copy(update={"nodes": [PassiveNode(id=1)]})
    await play(RecordedEngine(Watched(), tools, bench.scope, "f"), "c")
    engine = Watched()
    async with RecordedEngine(engine, tools, bench.scope, "f").session() as session:
        await session.build(WITCH)
        await session.apply([SetConfig(key="a", value=1)])
        await session.build(other)
        await session.stats()
    assert engine.executed == ["build", "stats"]


async def test_facts_are_kept_and_shared(bench: Bench) -> None:
    tools, _ = runner(bench)
    inner = FakeEngine()
    one = await RecordedEngine(inner, tools, bench.scope, "f").facts.classes()
    two = await RecordedEngine(inner, tools, bench.scope, "f").facts.classes()
    assert one == two
    assert inner.known.asked == 1
    one.clear()
    assert two


async def test_an_answer_that_cannot_be_read_is_gotten_again(bench: Bench) -> None:
    tools, cache = runner(bench)
    fn = Counted()
    await ask(tools, bench, fn)
    await cache.close()
    (event,) = await bench.events()
    key = cache_key(event.args_sha256, "fingerprint")
    await bench.storage.results.keep([KeptResult(key, "pob.sum", b"{broken", bench.clock.now())], 10**6)
    again, _ = runner(bench)
    assert await ask(again, bench, fn) == [0.1 + 0.2, 2.0]
    assert await ask(again, bench, fn) == [0.1 + 0.2, 2.0]
    assert fn.done == 2
