"""What a lever works with, and what levers answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.engine.base import Outputs
from app.model.blueprint import Blueprint, Change
from app.model.facts import BaseFact, GemFact, NodeFact
from app.model.moves import Locks, Part
from app.search.base import SearchContext
from app.search.incumbent import Workbench
from app.search.objective import Objective
from app.search.passives.atlas import Atlas
from app.search.refine.objective import RefineObjective
from app.search.refine.session import LoadedSession


@dataclass(frozen=True)
class Entry:
    """One commit: the build before, the changes, and the figures before and after."""

    build: Blueprint
    changes: tuple[Change, ...]
    before: Outputs
    after: Outputs
    reason: str = ""


@dataclass
class Marks:
    """What the next commits are for."""

    reason: str = ""
    entries: list[Entry] = field(default_factory=list)


class Ledger(Workbench):
    """A workbench on a loaded file."""

    def __init__(self, session: LoadedSession, blueprint: Blueprint, objective: Objective) -> None:
        super().__init__(session, blueprint, objective)
        self.loaded = session
        self.marks = Marks()

    async def commit(self, changes: Sequence[Change]) -> float:
        """Commit the changes, note them and return the gain."""
        build, before, made = self.blueprint, dict(self.outputs), len(self.loaded.made)
        gain = await super().commit(changes)
        done = tuple(self.loaded.made[made:])
        self.marks.entries.append(Entry(build, done, before, dict(self.outputs), self.marks.reason))
        return gain

    async def rewind(self, blueprint: Blueprint) -> None:
        """Go back to an earlier blueprint and forget what was committed since then."""
        await super().rewind(blueprint)
        at = next((i for i, entry in enumerate(self.marks.entries) if entry.build == blueprint), None)
        if at is not None:
            del self.marks.entries[at:]


WORTHWHILE = 0.005
"""A change must raise the score by this (half a per cent) to be worth the trouble of making it."""


@dataclass(frozen=True)
class Proposal:
    """Something that could be done: changes that go together, the measured figures and the gain in score."""

    name: str
    changes: tuple[Change, ...]
    figures: Outputs
    gain: float


@dataclass
class Work:
    """A refinement under way.

    `strongest`: the 1-based group whose damage counts. `points`, `ascendancy_points`: what is not spent. `asides`: what
    the user should know about levers that could not be pulled.
    """

    ctx: SearchContext
    bench: Ledger
    locks: Locks
    atlas: Atlas
    gems: dict[str, GemFact]
    bases: dict[str, BaseFact]
    nodes: dict[int, NodeFact]
    strongest: int
    points: int = 0
    ascendancy_points: int = 0
    asides: list[str] = field(default_factory=list)

    @property
    def objective(self) -> RefineObjective:
        """The objective of the wish."""
        objective = self.bench.objective
        assert isinstance(objective, RefineObjective)
        return objective

    def now(self) -> SearchContext:
        """Return the search context with the build as it stands."""
        return replace(self.ctx, blueprint=self.bench.blueprint)

    def done(self) -> bool:
        """Return whether the wish is fulfilled with something to spare."""
        return self.objective.enough(self.bench.outputs)

    async def proposals(self, named: Sequence[tuple[str, Sequence[Change]]]) -> list[Proposal]:
        """Try what is named and return it, best first."""
        outputs = await self.bench.outputs_of([changes for _, changes in named])
        found = [
            Proposal(name, tuple(changes), figures, self.objective.score(figures) - self.bench.score)
            for (name, changes), figures in zip(named, outputs, strict=True)
        ]
        return sorted(found, key=lambda p: (-p.gain, p.name))


class Lever(Protocol):
    """One way to improve a build."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it touches."""
        ...

    async def propose(self, work: Work) -> list[Proposal]:
        """Return what this lever would do first, best first; nothing when it cannot help."""
        ...

    async def pull(self, work: Work, hints: Sequence[Proposal]) -> None:
        """Commit what helps until the wish is fulfilled or nothing worthwhile is left; `hints` were found before."""
        ...
