from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.model.blueprint import Allocate, PassiveNode
from app.search.sessions import open_parallel
from tests.fakes.arithmetic import ArithmeticEngine, ArithmeticSession, World, active, node
from tests.unit.search.conftest import START

WORLD = World(
    nodes=[node(1, *range(2, 30), kind="start"), *(node(i, mods=[f"{i} inc"]) for i in range(2, 30))],
    gems=[active("zap")],
)
CANDIDATES = [[Allocate(nodes=[PassiveNode(id=i)])] for i in range(2, 30)]


class NarrowEngine(ArithmeticEngine):
    """At most one session at a time, as when another build holds the rest."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._free = asyncio.Semaphore(1)

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ArithmeticSession]:
        async with self._free:
            yield ArithmeticSession(self)


@pytest.mark.parametrize("sessions", [1, 2, 3, 4, 7])
async def test_the_number_of_sessions_changes_nothing(sessions: int) -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, 1) as alone:
        expected = await alone.what_if(CANDIDATES, ["DPS"])
    async with open_parallel(ArithmeticEngine(WORLD), START, sessions) as parallel:
        assert await parallel.what_if(CANDIDATES, ["DPS"]) == expected
        assert parallel.trials == len(CANDIDATES)


async def test_changes_reach_every_session() -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, 3) as parallel:
        await parallel.apply(CANDIDATES[0])
        outputs = await parallel.what_if([[]] * 12, ["DPS"])
    assert {found["DPS"] for found in outputs} == {102.0}


async def test_goes_on_with_fewer_sessions_than_asked() -> None:
    async with asyncio.timeout(5), open_parallel(NarrowEngine(WORLD), START, 4, patience_s=0.01) as parallel:
        assert len(await parallel.what_if(CANDIDATES, ["DPS"])) == len(CANDIDATES)


async def test_nothing_to_try_is_nothing() -> None:
    async with open_parallel(ArithmeticEngine(WORLD), START, 3) as parallel:
        assert await parallel.what_if([], ["DPS"]) == []
