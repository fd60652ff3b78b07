"""A refinement under way: the file's build with a record of its commits, and what an improvement works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.engine.base import Outputs
from app.model.blueprint import Blueprint, Change
from app.model.facts import BaseFact, GemFact, NodeFact
from app.model.moves import Locks, Part
from app.search.base import SearchContext
from app.search.incumbent import Incumbent
from app.search.objective import Objective
from app.search.passives.graph import PassiveGraph
from app.search.refine.objective import RefineObjective
from app.search.sessions import LoadedSession

SAME = 1e-6
"""Scores and figures that differ by less are the same."""

WORTHWHILE = 0.005
"""A change must raise the score by this (half a per cent) to be worth the trouble of making it."""


@dataclass(frozen=True)
class Commit:
    """What was committed at once: the build before, the changes, the figures before and after, and what for."""

    build: Blueprint
    changes: tuple[Change, ...]
    before: Outputs
    after: Outputs
    reason: str = ""


class RecordedIncumbent(Incumbent):
    """An incumbent on a loaded file, which keeps a record of its commits; `reason`: what the next ones are for."""

    def __init__(self, session: LoadedSession, blueprint: Blueprint, objective: Objective) -> None:
        super().__init__(session, blueprint, objective)
        self.loaded = session
        self.reason = ""
        self.commits: list[Commit] = []

    async def commit(self, changes: Sequence[Change]) -> float:
        """Commit the changes, note them and return the gain."""
        build, before, made = self.blueprint, dict(self.outputs), len(self.loaded.made)
        gain = await super().commit(changes)
        done = tuple(self.loaded.made[made:])
        self.commits.append(Commit(build, done, before, dict(self.outputs), self.reason))
        return gain

    async def rewind(self, blueprint: Blueprint) -> None:
        """Go back to an earlier blueprint and forget what was committed since then."""
        await super().rewind(blueprint)
        at = next((i for i, commit in enumerate(self.commits) if commit.build == blueprint), None)
        if at is not None:
            del self.commits[at:]


@dataclass(frozen=True)
class Candidate:
    """Something that could be done: changes that go together, the measured figures and the gain in score."""

    name: str
    changes: tuple[Change, ...]
    figures: Outputs
    gain: float


@dataclass
class Work:
    """A refinement under way.

    `strongest`: the 1-based group whose damage counts. `points`, `ascendancy_points`: what is not spent. `asides`: what
    the user should know about improvements that could not be made.
    """

    ctx: SearchContext
    incumbent: RecordedIncumbent
    locks: Locks
    graph: PassiveGraph
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
        objective = self.incumbent.objective
        assert isinstance(objective, RefineObjective)
        return objective

    def now(self) -> SearchContext:
        """Return the search context with the build as it stands."""
        return replace(self.ctx, blueprint=self.incumbent.blueprint)

    def done(self) -> bool:
        """Return whether the wish is fulfilled with something to spare."""
        return self.objective.enough(self.incumbent.outputs)

    async def tried(self, named: Sequence[tuple[str, Sequence[Change]]]) -> list[Candidate]:
        """Try what is named and return it, best first."""
        outputs = await self.incumbent.outputs_of([changes for _, changes in named])
        found = [
            Candidate(name, tuple(changes), figures, self.objective.score(figures) - self.incumbent.score)
            for (name, changes), figures in zip(named, outputs, strict=True)
        ]
        return sorted(found, key=lambda p: (-p.gain, p.name))


class Improvement(Protocol):
    """One way to improve a build."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def parts(self) -> tuple[Part, ...]:
        """What it touches."""
        ...

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return what this improvement would do first, best first; nothing when it cannot help."""
        ...

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Commit what helps until the wish is fulfilled or nothing worthwhile is left; `known` was found before."""
        ...
