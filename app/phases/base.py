"""What a phase is: one step in, one result out. A phase never writes state and never triggers transitions itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from app.core.ids import BuildId
from app.engine.base import Engine, Session
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.constraints import InvariantSet
from app.model.construction import StageNotes
from app.model.demands import Demands, demands_of, owned
from app.model.experiments import Exploration
from app.model.names import LOCAL_OWNER, Effort, Mode, Phase, Trigger
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.reasoning.base import Reasoner, ReasoningContext
from app.search.base import Plan, SearchContext
from app.storage.memory_port import MemoryStore, NoMemory


@dataclass(frozen=True)
class PhaseContext:
    """Everything a step may use. `engine` and `reasoner` record every call they make as tool events.

    `xml` is the file of the last valid state, None until there is one; a refinement starts with its parent's.
    `memory` is what earlier builds taught: where to begin, never what to skip. `owner`: whose build it is.
    """

    build_id: BuildId
    request: BuildRequest
    invariants: InvariantSet
    state: BuildState
    engine: Engine
    reasoner: Reasoner
    xml: bytes | None = None
    memory: MemoryStore = field(default_factory=NoMemory)
    owner: str = LOCAL_OWNER

    @cached_property
    def demands(self) -> Demands:
        """What the build must reach."""
        demands = demands_of(self.invariants, self.request)
        return owned(demands) if self.state.origin == "imported" else demands

    def reasoning(self) -> ReasoningContext:
        """Return the part of the context that a reasoner sees."""
        return ReasoningContext(self.request, self.invariants, self.state, self.engine)


@dataclass(frozen=True)
class PhaseResult:
    """The outcome of one step.

    `trigger` None = the phase has more steps: the driver checkpoints and calls `run` again.
    `invariants` and `xml` are set only when the step changed them.
    """

    state: BuildState
    trigger: Trigger | None = None
    invariants: InvariantSet | None = None
    xml: bytes | None = None


class PhaseStep(Protocol):
    """A phase: `run` does exactly one resumable step; the same context gives the same result."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do one step and return what changed."""
        ...


BUDGETS = {
    Mode.INITIAL: Exploration(
        mode=Mode.INITIAL, entry=Phase.DECOMPOSE, experiments_allowed=0, variants_allowed=0, trials_allowed=None
    ),
    Mode.REFINEMENT: Exploration(
        mode=Mode.REFINEMENT, entry=Phase.EXPLORE, experiments_allowed=8, variants_allowed=4, trials_allowed=12_000
    ),
    Mode.STRATEGIC: Exploration(
        mode=Mode.STRATEGIC, entry=Phase.DECOMPOSE, experiments_allowed=2, variants_allowed=4, trials_allowed=None
    ),
}
"""Initial decides by rules and lets construction search; refinement compares two to four ways to a wish; strategic
compares whole ways of dealing damage and may rebuild everything. Construction's own trials are counted, not bounded."""


_SHARES = {Effort.QUICK: 0.25, Effort.NORMAL: 1.0, Effort.DEEP: 2.0}
"""How much of a mode's trials an effort allows."""


def with_budget(state: BuildState, mode: Mode, effort: Effort = Effort.NORMAL) -> BuildState:
    """Return the state with the exploration budget of mode and effort, unless it has one."""
    if state.exploration is not None:
        return state
    budget, share = BUDGETS[mode], _SHARES[effort]
    trials = None if budget.trials_allowed is None else int(budget.trials_allowed * share)
    return changed(state, exploration=changed(budget, trials_allowed=trials))


def spent(exploration: Exploration | None, trials: int, variants: int) -> Exploration | None:
    """Return the budget with one more experiment paid from it."""
    if exploration is None:
        return None
    return changed(
        exploration,
        experiments=exploration.experiments + 1,
        variants=exploration.variants + variants,
        trials=exploration.trials + trials,
    )


def exhausted(exploration: Exploration | None) -> bool:
    """Return whether the exploration budget is used up."""
    if exploration is None:
        return False
    return exploration.experiments >= exploration.experiments_allowed or (
        exploration.trials_allowed is not None and exploration.trials >= exploration.trials_allowed
    )


@dataclass(frozen=True)
class ByMode:
    """Runs `refining` for a refinement that is one, and `otherwise` for everything else.

    A refinement whose wish turned out to be another build has handed its questions over to a full decomposition; it
    goes on like a new build.
    """

    refining: PhaseStep
    otherwise: PhaseStep

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do one step."""
        step = self.refining if is_refinement(ctx) else self.otherwise
        return await step.run(ctx)


def is_refinement(ctx: PhaseContext) -> bool:
    """Return whether the build refines its parent's file."""
    handed_over = ctx.state.exploration is not None and ctx.state.exploration.mode is not Mode.REFINEMENT
    return ctx.request.mode is Mode.REFINEMENT and ctx.state.inherited is not None and not handed_over


def search_context(
    ctx: PhaseContext, plan: Plan, session: Session, blueprint: Blueprint, notes: StageNotes | None = None
) -> SearchContext:
    """Return what a stage works with."""
    return SearchContext(
        engine=ctx.engine,
        session=session,
        blueprint=blueprint,
        plan=plan,
        demands=ctx.demands,
        invariants=ctx.invariants,
        seed=ctx.request.seed,
        notes=notes or StageNotes(),
        effort=ctx.request.effort,
    )
