from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from app.engine.base import Outputs
from app.model.base import changed
from app.model.blueprint import Allocate, Change, PassiveNode
from app.model.stats import EngineVersion
from app.search.sessions import JOINED_FOR, ParallelSession, Sharing, open_parallel
from tests.fakes.arithmetic import ArithmeticEngine, ArithmeticSession, World, active, node
from tests.unit.search.conftest import START

WORLD = World(
    nodes=[node(1, *range(2, 30), kind="start"), *(node(i, mods=[f"{i} inc"]) for i in range(2, 30))],
    gems=[active("zap")],
)
CANDIDATES = [[Allocate(nodes=[PassiveNode(id=i)])] for i in range(2, 30)]


class NarrowEngine(ArithmeticEngine):
    """So many sessions at a time, as when other builds hold the rest; it notes how many trials each was asked for."""

    def __init__(self, world: World, sessions: int = 1) -> None:
        super().__init__(world)
        self._free = asyncio.Semaphore(sessions)
        self.asked: list[list[int]] = []

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ArithmeticSession]:
        asked: list[int] = []

        class Slow(ArithmeticSession):
            async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
                asked.append(len(candidates))
                await asyncio.sleep(0)
                return await super().what_if(candidates, metrics)

        async with self._free:
            self.asked.append(asked)
            yield Slow(self)


@pytest.mark.parametrize("sessions", [1, 2, 3, 4, 7])
async def test_the_number_of_sessions_changes_nothing(sessions: int) -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(1)) as alone:
        expected = await alone.what_if(CANDIDATES, ["DPS"])
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(sessions)) as parallel:
        assert await parallel.what_if(CANDIDATES, ["DPS"]) == expected
        assert parallel.trials == len(CANDIDATES)


@pytest.mark.parametrize(("least", "calls"), [(1, 3), (4, 3), (6, 2), (12, 1), (32, 1)])
async def test_a_session_is_asked_only_from_so_many_trials_on(least: int, calls: int) -> None:
    asked: list[int] = []

    class Counting(ArithmeticSession):
        async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
            asked.append(len(candidates))
            return await super().what_if(candidates, metrics)

    engine = ArithmeticEngine(WORLD)
    parallel = ParallelSession([Counting(engine) for _ in range(3)], least)
    await parallel.build(START)
    assert len(await parallel.what_if([[]] * 12, ["DPS"])) == 12
    assert (len(asked), sum(asked)) == (calls, 12)


async def test_changes_reach_every_session() -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(3)) as parallel:
        await parallel.apply(CANDIDATES[0])
        outputs = await parallel.what_if([[]] * 12, ["DPS"])
    assert {found["DPS"] for found in outputs} == {102.0}


async def test_figures_of_what_was_committed_are_those_of_an_empty_trial() -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(3)) as parallel:
        report = await parallel.apply(CANDIDATES[0], ["DPS"])
        assert parallel.trials == 1
        assert [report.outputs] == await parallel.what_if([[]], ["DPS"])
        assert (await parallel.apply(CANDIDATES[0])).outputs is None


async def test_goes_on_with_fewer_sessions_than_asked() -> None:
    async with asyncio.timeout(5), open_parallel(NarrowEngine(WORLD), START, Sharing(4), patience_s=0.01) as parallel:
        assert len(await parallel.what_if(CANDIDATES, ["DPS"])) == len(CANDIDATES)


class EstimatingEngine(ArithmeticEngine):
    """An estimator, which notes how many trials it was asked for at once."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.asked: list[int] = []

    @property
    def version(self) -> EngineVersion:
        return changed(super().version, estimate=True)

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ArithmeticSession]:
        asked = self.asked

        class Counting(ArithmeticSession):
            async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
                asked.append(len(candidates))
                return await super().what_if(candidates, metrics)

        self.opened += 1
        yield Counting(self)


@pytest.mark.parametrize(("trials", "calls"), [(28, [28]), (90, [90]), (201, [101, 100])])
async def test_an_estimator_is_asked_everything_at_once_in_one_session(trials: int, calls: list[int]) -> None:
    candidates, engine = (CANDIDATES * 8)[:trials], EstimatingEngine(WORLD)
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(3)) as shared:
        expected = await shared.what_if(candidates, ["DPS"])
    async with open_parallel(engine, START, Sharing(3)) as alone:
        assert await alone.what_if(candidates, ["DPS"]) == expected
    assert (engine.opened, engine.asked) == (1, calls)


async def test_nothing_to_try_is_nothing() -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(3)) as parallel:
        assert await parallel.what_if([], ["DPS"]) == []


MANY = (CANDIDATES * 8)[: JOINED_FOR + 1]


async def test_a_session_joins_when_nobody_else_wants_it_and_holds_the_same_build() -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, Sharing(1)) as alone:
        await alone.apply(CANDIDATES[0])
        await alone.apply(CANDIDATES[1])
        expected = await alone.what_if(MANY, ["DPS"])
    engine = NarrowEngine(WORLD, 2)
    async with open_parallel(engine, START, Sharing(1, joining=3)) as parallel:
        await parallel.apply(CANDIDATES[0])
        async with engine.session():  # a work beside it
            assert await parallel.what_if(CANDIDATES, ["DPS"])
            await parallel.what_if(MANY, ["DPS"])
            assert len(engine.asked) == 2
        await parallel.apply(CANDIDATES[1])
        await parallel.what_if(MANY[: JOINED_FOR - 1], ["DPS"])
        assert len(engine.asked) == 2
        assert await parallel.what_if(MANY, ["DPS"]) == expected
        first, _, joined = engine.asked
        assert sum(first[-2:]) + sum(joined) == len(MANY)
        assert joined
        await parallel.apply(CANDIDATES[2])
        outputs = await parallel.what_if([[]] * 12, ["DPS"])  # both know of what came later
        assert len({found["DPS"] for found in outputs}) == 1
        assert len(engine.asked) == 3
    async with asyncio.timeout(1), engine.session(), engine.session():  # both were given back
        pass


async def test_nobody_joins_what_asks_for_one_session() -> None:
    engine = NarrowEngine(WORLD, 2)
    async with open_parallel(engine, START, Sharing(1)) as parallel:
        await parallel.what_if(MANY, ["DPS"])
    assert len(engine.asked) == 1
