"""The Reasoner port: who understands prompts and decides. Adapters: `rules` (deterministic) and `llm`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.base import Engine
from app.model.conflicts import BuildConflict, Suggestion
from app.model.constraints import InvariantSet
from app.model.moves import Move, Trial
from app.model.names import SubProblemName
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import Decision, Discovery, SubProblem


@dataclass(frozen=True)
class ReasoningContext:
    """What a reasoner may look at: the request, the constraints, the state so far and the engine's facts."""

    request: BuildRequest
    invariants: InvariantSet
    state: BuildState
    engine: Engine


@dataclass(frozen=True)
class Exploration:
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

    `caveats` hold whatever becomes of the build.
    """

    degraded: tuple[str, ...] = ()
    domain_gaps: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Idea:
    """Moves that belong together and could make a build better."""

    name: str
    moves: tuple[Move, ...]
    reason: str


class Experimenter(Protocol):
    """What a reasoner may ask while a build is being constructed; asking changes nothing."""

    async def read_stats(self) -> Mapping[str, float]:
        """Return the figures of the build as it is."""
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

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions."""
        ...

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect the facts that the question needs, before deciding."""
        ...

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Exploration:
        """Answer one question whose dependencies are decided; honour its constraints and prior attempts."""
        ...

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Judge what rules cannot: goal fit and coherence. May return nothing."""
        ...

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Choose how to go on for the conflicts given (already ordered, blocking roots first)."""
        ...

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Think about the constructed build; each idea is kept only if the engine finds the build better with it."""
        ...
