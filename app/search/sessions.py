"""Several sessions that hold the same build and share the trials between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise

from app.engine.base import Engine, Outputs, Session
from app.model.blueprint import Blueprint, Change
from app.model.stats import BuildReport, Inspection, Stats

SMALLEST_SHARE = 4
"""Fewer trials than this are not worth another session's round trip."""

LARGEST_SHARE = 32
"""More trials than this are asked in several calls."""


class ParallelSession:
    """A `Session` made of sessions: changes go to all, trials are split, questions go to the first.

    Results do not depend on the number of sessions: every session calculates the same numbers, and trials are merged
    in the order they were asked.
    """

    def __init__(self, sessions: Sequence[Session]) -> None:
        self._sessions = list(sessions)
        self.trials = 0

    async def build(self, blueprint: Blueprint) -> BuildReport:
        """Load the blueprint everywhere."""
        return (await asyncio.gather(*(s.build(blueprint) for s in self._sessions)))[0]

    async def load(self, xml: bytes) -> BuildReport:
        """Load the file everywhere."""
        return (await asyncio.gather(*(s.load(xml) for s in self._sessions)))[0]

    async def apply(self, changes: Sequence[Change]) -> BuildReport:
        """Commit the changes everywhere."""
        return (await asyncio.gather(*(s.apply(changes) for s in self._sessions)))[0]

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Try the candidates, in parts that whichever session is free takes next; return the outputs in their order.

        Small parts keep every session busy to the end and no single call long.
        """
        self.trials += len(candidates)
        parts = _shares(candidates, len(self._sessions))
        answers: list[list[Outputs]] = [[] for _ in parts]
        waiting = iter(range(len(parts)))

        async def work(session: Session) -> None:
            for index in waiting:
                answers[index] = await session.what_if(parts[index], metrics)

        await asyncio.gather(*(work(session) for session in self._sessions[: len(parts)]))
        return [outputs for answer in answers for outputs in answer]

    async def stats(self) -> Stats:
        """Return the first session's numbers."""
        return await self._sessions[0].stats()

    async def inspect(self) -> Inspection:
        """Return the first session's inspection."""
        return await self._sessions[0].inspect()

    async def blueprint(self) -> Blueprint:
        """Return the first session's blueprint."""
        return await self._sessions[0].blueprint()

    async def export(self) -> bytes:
        """Return the first session's export."""
        return await self._sessions[0].export()


def _shares(candidates: Sequence[Sequence[Change]], sessions: int) -> list[Sequence[Sequence[Change]]]:
    """Return the candidates in parts of about the same size, as many for every session."""
    rounds = -(-len(candidates) // (LARGEST_SHARE * sessions))
    parts = max(1, min(sessions * rounds, len(candidates) // SMALLEST_SHARE))
    size, extra = divmod(len(candidates), parts)
    bounds = [i * size + min(i, extra) for i in range(parts + 1)]
    return [candidates[a:b] for a, b in pairwise(bounds)]


@asynccontextmanager
async def open_parallel(
    engine: Engine, blueprint: Blueprint | None, sessions: int, patience_s: float = 0.5
) -> AsyncIterator[ParallelSession]:
    """Open up to `sessions` sessions holding the blueprint (None: nothing yet).

    The first is waited for; a further one only `patience_s`, because a build that keeps one session while it waits
    for more could otherwise block another build that does the same.
    """
    async with AsyncExitStack() as stack:
        opened: list[Session] = [await stack.enter_async_context(engine.session())]
        for _ in range(sessions - 1):
            try:
                async with asyncio.timeout(patience_s):
                    opened.append(await stack.enter_async_context(engine.session()))
            except TimeoutError:
                break
        parallel = ParallelSession(opened)
        if blueprint is not None:
            await parallel.build(blueprint)
        yield parallel
