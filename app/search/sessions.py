"""Sessions over sessions: several that share the trials of one build, and one that keeps to a file and its locks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from app.core.errors import InvalidTransition
from app.engine.base import Engine, Outputs, Session
from app.model.blueprint import Blueprint, Change, Deallocate, Unequip, apply_changes
from app.model.moves import Locks
from app.model.stats import BuildReport, Inspection, Stats

T = TypeVar("T")

LARGEST_SHARE, LARGEST_ESTIMATE = 32, 200
"""More trials than this are asked in several calls: of an engine that calculates, and of one that estimates."""

JOINED_FOR = 64
"""With so many trials at once another session is worth bringing to the build: that takes as long as half of them."""


@dataclass(frozen=True)
class Sharing:
    """Between how many sessions a stage may share its trials, and with how many trials a session is worth a call.

    `joining`: how many more may join while it works, whenever nobody else wants them: of works side by side the last
    has the engines of those that are done. Results are the same with any; only calls and time differ.
    """

    sessions: int = 4
    least: int = 4
    joining: int = 0


USUAL = Sharing()
BESIDE_OTHERS = Sharing(sessions=1, joining=USUAL.sessions - 1)
"""For one of several works at once."""


class ParallelSession:
    """A `Session` made of sessions: changes go to all, trials are split, questions go to the first.

    Results do not depend on the number of sessions: every session calculates the same numbers, and trials are merged
    in the order they were asked. `another` gives one more session when nobody else wants it, None otherwise; it is told
    what the others were, so it holds the same build in the same way.
    """

    def __init__(
        self,
        sessions: Sequence[Session],
        least: int = Sharing.least,
        largest: int = LARGEST_SHARE,
        another: Callable[[], Awaitable[Session | None]] | None = None,
    ) -> None:
        self._sessions = list(sessions)
        self._least = least
        self._largest = largest
        self._another = another
        self._told: list[Callable[[Session], Awaitable[BuildReport]]] = []
        self.trials = 0

    async def build(self, blueprint: Blueprint) -> BuildReport:
        """Load the blueprint everywhere."""
        return await self._loaded(lambda session: session.build(blueprint))

    async def load(self, xml: bytes) -> BuildReport:
        """Load the file everywhere."""
        return await self._loaded(lambda session: session.load(xml))

    async def _loaded(self, load: Callable[[Session], Awaitable[BuildReport]]) -> BuildReport:
        reports = await asyncio.gather(*map(load, self._sessions))
        self._told = [load]
        return reports[0]

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        """Commit the changes everywhere; the first session's figures are told."""
        made = list(changes)
        first, *others = self._sessions
        reports = await asyncio.gather(first.apply(made, metrics), *(s.apply(made) for s in others))
        self._told.append(lambda session: session.apply(made))
        self.trials += bool(metrics)
        return reports[0]

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Try the candidates, in parts that whichever session is free takes next; return the outputs in their order.

        Small parts keep every session busy to the end and no single call long.
        """
        self.trials += len(candidates)
        enough = max(JOINED_FOR, self._least * (len(self._sessions) + 1))  # so that there is a part for it
        new = await self._another() if self._another is not None and len(candidates) >= enough else None
        sessions = [*self._sessions, *([new] if new is not None else [])]
        # parts of about the same size, as many for every session
        rounds = -(-len(candidates) // (self._largest * len(sessions)))
        count = max(1, min(len(sessions) * rounds, len(candidates) // self._least))
        size, extra = divmod(len(candidates), count)
        bounds = [i * size + min(i, extra) for i in range(count + 1)]
        parts = [candidates[a:b] for a, b in pairwise(bounds)]
        answers: list[list[Outputs]] = [[] for _ in parts]
        waiting = iter(range(len(parts)))

        async def work(session: Session) -> None:
            if session is new:
                for tell in self._told:
                    await tell(session)
            for index in waiting:
                answers[index] = await session.what_if(parts[index], metrics)

        await asyncio.gather(*(work(session) for session in sessions[: len(parts)]))
        self._sessions = sessions
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


@asynccontextmanager
async def open_parallel(
    engine: Engine, blueprint: Blueprint | None, sharing: Sharing, patience_s: float = 0.5
) -> AsyncIterator[ParallelSession]:
    """Open as many sessions as may share the trials, holding the blueprint (None: nothing yet).

    The first is waited for; a further one only `patience_s`, because a build that keeps one session while it waits
    for more could otherwise block another build that does the same. Of an engine that estimates there is one: to tell
    a second session of every change, and to ask it, takes longer than its share of the trials.
    """
    async with AsyncExitStack() as stack:
        opened: list[Session] = [await stack.enter_async_context(engine.session())]
        estimate = engine.version.estimate
        joining = 0 if estimate else sharing.joining

        async def further(seconds: float) -> Session | None:
            try:
                async with asyncio.timeout(seconds):
                    return await stack.enter_async_context(engine.session())
            except TimeoutError:
                return None

        async def another() -> Session | None:
            nonlocal joining
            found = await further(0) if joining else None
            joining -= found is not None
            return found

        for _ in range(0 if estimate else sharing.sessions - 1):
            if (found := await further(patience_s)) is None:
                break
            opened.append(found)
        parallel = ParallelSession(opened, sharing.least, LARGEST_ESTIMATE if estimate else LARGEST_SHARE, another)
        if blueprint is not None:
            await parallel.build(blueprint)
        yield parallel


async def seated(works: Sequence[Callable[[], Awaitable[T]]], seats: int) -> list[T]:
    """Return what the works give, in their order, so many at once: each opens sessions of its own."""
    free = asyncio.Semaphore(max(1, seats))

    async def one(work: Callable[[], Awaitable[T]]) -> T:
        async with free:
            return await work()

    return await asyncio.gather(*(one(work) for work in works))


class LoadedSession:
    """A `Session` over another one, which has been given a file instead of a blueprint.

    A file says more than a blueprint (chosen skill parts, notes, item sets), so going back means loading it again.
    A candidate that touches what is locked cannot be tried; committing one is our bug. `trial_prefix` is put before
    every trial and never committed.
    """

    def __init__(
        self,
        inner: Session,
        xml: bytes,
        blueprint: Blueprint,
        locks: Locks,
        ascendancy: Collection[int] = (),
        trial_prefix: Sequence[Change] = (),
    ) -> None:
        self._inner = inner
        self._xml = xml
        self._locks = locks
        self._ascendancy = ascendancy
        self._trial_prefix = list(trial_prefix)
        self._blueprint = blueprint
        self._made: list[Change] = []
        self._known: list[tuple[Blueprint, int]] = [(blueprint, 0)]

    @property
    def made(self) -> list[Change]:
        """The changes committed so far."""
        return list(self._made)

    async def open(self, made: Sequence[Change] = ()) -> None:
        """Load the file and commit changes that were made earlier."""
        await self._inner.load(self._xml)
        if made:
            await self._inner.apply(made)
            self._commit(made)

    def _commit(self, changes: Sequence[Change]) -> None:
        self._made += changes
        self._blueprint = apply_changes(self._blueprint, changes)
        self._known.append((self._blueprint, len(self._made)))

    async def build(self, blueprint: Blueprint) -> BuildReport:
        """Go back to a blueprint that this session has held.

        Raises:
            InvalidTransition: it has never held it.
        """
        count = next((n for known, n in reversed(self._known) if known == blueprint), None)
        if count is None:
            raise InvalidTransition("a loaded file can only go back to where it has been")
        self._made = self._made[:count]
        self._known = [(known, n) for known, n in self._known if n <= count]
        self._blueprint = blueprint
        report = await self._inner.load(self._xml)
        return await self._inner.apply(self._made) if self._made else report

    async def load(self, xml: bytes) -> BuildReport:
        """Refuse: the file is given once.

        Raises:
            InvalidTransition: always.
        """
        raise InvalidTransition("the file of a refinement is its parent's")

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        """Commit the changes; passives that the engine drops are gone for good.

        Where trials are made under a prefix, there are no figures without it: the report holds none.

        Raises:
            InvalidTransition: they touch what must stay.
        """
        if self._forbidden(changes):
            raise InvalidTransition("a refinement must not touch what is locked")
        report = await self._inner.apply(changes, () if self._trial_prefix else metrics)
        dropped = [Deallocate(nodes=report.dropped_nodes)] if report.dropped_nodes else []
        self._commit([*changes, *dropped])
        return report

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        """Return the metrics of each candidate; a candidate that touches what is locked gives an empty dict."""
        open_ones = [i for i, candidate in enumerate(candidates) if not self._forbidden(candidate)]
        found = await self._inner.what_if([[*self._trial_prefix, *candidates[i]] for i in open_ones], metrics)
        outputs: list[Outputs] = [{} for _ in candidates]
        for index, answer in zip(open_ones, found, strict=True):
            outputs[index] = answer
        return outputs

    def _forbidden(self, changes: Sequence[Change]) -> bool:
        """Nothing is taken off without something in its place, and passives of one weapon set stay with it."""
        apart = {node.id for node in self._blueprint.nodes if node.weapon_set}
        for change in changes:
            if isinstance(change, Unequip):
                return True
            if isinstance(change, Deallocate) and apart & set(change.nodes):
                return True
            if self._locks.forbid(change, self._blueprint, self._ascendancy):
                return True
        return False

    async def stats(self) -> Stats:
        """Return the numbers of the build after a full recalculation."""
        return await self._inner.stats()

    async def inspect(self) -> Inspection:
        """Return the findings about the build."""
        return await self._inner.inspect()

    async def blueprint(self) -> Blueprint:
        """Return the build as a blueprint."""
        return self._blueprint

    async def export(self) -> bytes:
        """Return the canonical PoB XML."""
        return await self._inner.export()
