"""The Reasoner port: who understands prompts and decides. Adapters: `rules` (deterministic) and `llm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.base import Engine
from app.model.blueprint import Blueprint, SkillGroup
from app.model.conflicts import BuildConflict, Suggestion
from app.model.constraints import InvariantSet
from app.model.dialogue import Turn
from app.model.experiments import Wish
from app.model.facts import BaseFact, GemFact, NodeFact
from app.model.memory import RaceMemory
from app.model.moves import Locks, Move, Trial
from app.model.names import SubProblemName
from app.model.race import Contender
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.stats import Inspection, Stats
from app.model.sub_problems import Decision, Discovery, SubProblem


class Drafts(Protocol):
    """Drafts of ways to build on which moves can be tried before anything is decided; asking changes nothing."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the drafts, the best first."""
        ...

    @property
    def left(self) -> int:
        """Return how many evaluations may still be made."""
        ...

    async def experiment(self, draft: str, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        """Try each variant on the draft by itself, in order.

        Raises:
            UnknownFact: there is no such draft.
        """
        ...


@dataclass(frozen=True)
class ReasoningContext:
    """What a reasoner may look at: the request, the constraints, the state so far and the engine's facts.

    `drafts`: what it may try moves on before there is a build, None = nothing was drafted. `races`: what earlier builds
    of the owner measured of ways to build, where memory is used.
    """

    request: BuildRequest
    invariants: InvariantSet
    state: BuildState
    engine: Engine
    drafts: Drafts | None = None
    races: Sequence[RaceMemory] = ()


@dataclass(frozen=True)
class RefineReading:
    """What a refinement's prompt says: the wish, what stays with the words for it, the prompt without those words.

    `covers`: whether words of the prompt are about a wish of this kind, so that nothing of them is lost. `other`:
    constraints ("skill", "ascendancy") that are to have another value than now, whichever, with the words for it.
    `more`: figures that are to be higher than now, however much, likewise.
    """

    wish: Wish
    locks: Locks
    kept: tuple[str, ...]
    rest: str
    covers: Callable[[str], bool] = bool
    other: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundBuild:
    """A loaded build with the facts about its parts.

    Its main group deals the damage. `instead_of`: the 1-based group that the file has chosen where that is another one
    (0 = none, or what an item or passive grants).
    """

    blueprint: Blueprint
    stats: Stats
    inspection: Inspection
    gems: Mapping[str, GemFact]
    bases: Mapping[str, BaseFact]
    nodes: Mapping[int, NodeFact]
    instead_of: int | None = None

    @property
    def main(self) -> GemFact | None:
        """The main skill, or None."""
        return self.leader(self.blueprint.main_group)

    def leader(self, index: int) -> GemFact | None:
        """Return the first known active gem of the 1-based group, or None."""
        group = self.blueprint.group_at(index) or SkillGroup(gems=[])
        known = (self.gems.get(gem.gem_id) for gem in group.gems)
        return next((fact for fact in known if fact is not None and fact.kind == "active"), None)


@dataclass(frozen=True)
class Conclusion:
    """The answer to one question."""

    decision: Decision
    domain_gaps: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decomposition:
    """The seven questions with their dependencies; those that the prompt answers are already decided."""

    sub_problems: dict[SubProblemName, SubProblem]
    assumptions: tuple[str, ...] = ()
    domain_gaps: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resolution:
    """Which suggestion to follow for which conflict; empty = nothing left to try."""

    picks: tuple[tuple[BuildConflict, Suggestion], ...] = ()


@dataclass(frozen=True)
class Remarks:
    """What went otherwise than asked during a step: questions left to the rules, knowledge that is missing.

    `caveats` hold whatever becomes of the build. `turns`: what a language model was asked.
    """

    degraded: tuple[str, ...] = ()
    domain_gaps: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Idea:
    """Moves that belong together and could make a build better."""

    name: str
    moves: tuple[Move, ...]
    reason: str


class Experimenter(Protocol):
    """What a reasoner may ask while a build is being constructed; asking changes nothing."""

    @property
    def left(self) -> int | None:
        """Return how many evaluations may still be made, None = they are not counted."""
        ...

    async def read_stats(self) -> Mapping[str, float]:
        """Return the figures of the build as it is."""
        ...

    def worth(self) -> Mapping[str, float]:
        """Return what each thing that is looked at adds to the score of the build as it is."""
        ...

    async def names(self) -> set[str]:
        """Return the comparable names of all gems, passives, items and bases that the build has now."""
        ...

    async def experiment(self, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        """Try each variant by itself, in order."""
        ...

    async def rank_supports(self, skill: str) -> list[tuple[str, Trial]]:
        """Return the supports that the skill can have, the most helpful on top of its present ones first.

        Raises:
            UnknownFact: the build has no such skill.
        """
        ...

    async def optimise_tree(self) -> list[tuple[str, Trial]]:
        """Return the passives that would pay most per point, with their way, best first."""
        ...


class Reasoner(Protocol):
    """Understands and decides; never writes, never calculates by itself."""

    @property
    def name(self) -> str:
        """Return `rules` or `llm`."""
        ...

    @property
    def model(self) -> str | None:
        """Return the language model's name, or None."""
        ...

    @property
    def advises(self) -> bool:
        """Return whether `advise` has anything to say, so that a build that was searched should be shown to it."""
        ...

    @property
    def remarks(self) -> Remarks:
        """Return what went otherwise than asked since this reasoner was made for a step."""
        ...

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        """Turn the prompt into constraints, with at most one question."""
        ...

    async def read_refinement(self, prompt: str) -> RefineReading:
        """Return what a refinement's prompt wishes and locks; without a wish everything may become better."""
        ...

    async def recognise(self, found: FoundBuild) -> tuple[InvariantSet, dict[SubProblemName, SubProblem]]:
        """Return the constraints that a finished build sets, and the seven questions as it answers them."""
        ...

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions."""
        ...

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        """Return up to `most` ways to build that the user's words allow, the likeliest first: who starts in a race."""
        ...

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect the facts that the question needs, before deciding."""
        ...

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer one question whose dependencies are decided; honour its constraints and prior attempts."""
        ...

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer a question of a finished build again, under the constraint that a wish puts on it.

        The last of its prior attempts is the answer that the build has; it stands unless the wish speaks against it.
        """
        ...

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Judge what rules cannot: goal fit and coherence. May return nothing."""
        ...

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Choose how to go on for the conflicts given (already ordered, blocking roots first)."""
        ...

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Think about the constructed build; each idea is kept only if the engine finds the build better with it.

        Asked again while something is kept; the notes of construction tell what became of the ideas so far.
        """
        ...
