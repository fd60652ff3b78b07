"""The rules reasoner behind the Reasoner port."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.engine.base import Engine
from app.model.conflicts import BuildConflict, Suggestion
from app.model.invariants import InvariantSet
from app.model.names import SubProblemName, SubProblemStatus
from app.model.request import BuildRequest
from app.model.subproblems import Decision, Discovery, SubProblem
from app.reasoning.base import Decomposition, Exploration, Idea, ReasoningContext, Remarks, Resolution, Workshop
from app.reasoning.rules.ascending import decide_ascendancy
from app.reasoning.rules.assessing import assess
from app.reasoning.rules.brief import Brief
from app.reasoning.rules.delivery import decide_delivery
from app.reasoning.rules.dependencies import dependencies_for, without_cycles
from app.reasoning.rules.extract import extract
from app.reasoning.rules.gathering import discoveries
from app.reasoning.rules.requiring import decide_requirements
from app.reasoning.rules.scaling import decide_scaling
from app.reasoning.rules.spirit import decide_spirit
from app.reasoning.rules.surviving import decide_survivability
from app.reasoning.rules.sustain import decide_sustain

Q = SubProblemName
_DECIDE: Mapping[SubProblemName, Callable[[Brief], Decision]] = {
    Q.ASCENDANCY: decide_ascendancy,
    Q.DAMAGE_DELIVERY: decide_delivery,
    Q.DAMAGE_SCALING: decide_scaling,
    Q.SURVIVABILITY: decide_survivability,
    Q.RESOURCE_SUSTAIN: decide_sustain,
    Q.SPIRIT_ALLOCATION: decide_spirit,
    Q.STAT_REQUIREMENTS: decide_requirements,
}
_NEEDS_NODES = frozenset({Q.ASCENDANCY, Q.DAMAGE_SCALING})
_NEEDS_BASES = frozenset({Q.DAMAGE_DELIVERY, Q.STAT_REQUIREMENTS})
_ANSWERED_BY = {Q.ASCENDANCY: "ascendancy", Q.DAMAGE_DELIVERY: "skill", Q.SURVIVABILITY: "defence"}


class RulesReasoner:
    """Understands by vocabulary, decides by scores over the engine's facts; the same input gives the same answer."""

    @property
    def name(self) -> str:
        """Return `rules`."""
        return "rules"

    @property
    def model(self) -> str | None:
        """Return None: there is no language model."""
        return None

    @property
    def advises(self) -> bool:
        """Return False: the search has done what the rules know."""
        return False

    @property
    def remarks(self) -> Remarks:
        """Return nothing: the rules never fall short of themselves."""
        return Remarks()

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        """Turn the prompt into constraints, with at most one question."""
        return await extract(request, engine)

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions; those that the user's own words answer are decided at once."""
        brief = await Brief.of(ctx, bases=True, nodes=True)
        wanted = dependencies_for(
            ascendancy_named=brief.explicit("ascendancy"),
            skill_named=brief.explicit("skill"),
        )
        depends_on, broken = without_cycles(wanted)
        subs = {name: self._question(brief, name, depends_on[name]) for name in Q}
        return Decomposition(subs, tuple(broken))

    def _question(self, brief: Brief, name: SubProblemName, depends_on: list[SubProblemName]) -> SubProblem:
        field = _ANSWERED_BY.get(name)
        if field is None or not brief.explicit(field):
            return SubProblem(name=name, depends_on=depends_on)
        decision = _DECIDE[name](brief)
        return SubProblem(name=name, status=SubProblemStatus.DECIDED, depends_on=depends_on, decision=decision)

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect what the engine's facts say about the question."""
        return discoveries(await self._brief(ctx, name), name)

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Exploration:
        """Answer one question from the facts; the discoveries were made from the same facts and add nothing."""
        return Exploration(_DECIDE[name](await self._brief(ctx, name)))

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Compare the decisions with what the user said."""
        return assess(await Brief.of(ctx))

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Pick for each conflict its first suggestion that was not tried yet."""
        picks = [(conflict, pick) for conflict in conflicts if (pick := next_suggestion(conflict)) is not None]
        return Resolution(tuple(picks))

    async def advise(self, ctx: ReasoningContext, workshop: Workshop) -> list[Idea]:
        """Return nothing."""
        return []

    async def _brief(self, ctx: ReasoningContext, name: SubProblemName) -> Brief:
        return await Brief.of(ctx, bases=name in _NEEDS_BASES, nodes=name in _NEEDS_NODES)


def next_suggestion(conflict: BuildConflict) -> Suggestion | None:
    """Return the first suggestion that was not tried yet, or None when all were."""
    return next((s for s in conflict.suggested_solutions if s.strategy not in conflict.tried), None)
