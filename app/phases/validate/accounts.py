"""The accounts of a finished build: every decision says what it takes, and what its next unit would be worth."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.conflicts.case import case_of
from app.core.errors import EngineError
from app.model.base import changed
from app.model.experiments import Spending
from app.model.moves import Locks
from app.model.names import Effort, SubProblemName, Trigger
from app.model.state import BuildState
from app.model.stats import DPS, EHP
from app.model.sub_problems import Decision, Option, SubProblem
from app.phases.base import PhaseContext, PhaseResult, PhaseStep, search_context
from app.phases.validate.story import as_built, grounds_in, read_with_grounds, with_grounds, with_story
from app.search.base import plan_of
from app.search.incumbent import Incumbent, strongest_group, trial_prefix
from app.search.opportunity_cost import NextBest, marginal_values, spending_of, with_marginals
from app.search.passives.graph import loaded_graph
from app.search.sessions import USUAL, LoadedSession, open_parallel

_log = logging.getLogger(__name__)
_ENDS = frozenset({Trigger.VALIDATED, Trigger.GAVE_UP})
_ABOUT_LIFE = frozenset({SubProblemName.SURVIVABILITY, SubProblemName.STAT_REQUIREMENTS})
_WORDS = {DPS: "damage", EHP: "effective hit points"}


@dataclass(frozen=True)
class WithAccounts:
    """Runs a step and, when the build ends with it, writes what every decision spent and what the file has of it.

    An engine that fails at this leaves the build as it is: accounts and story are advice, not part of the build.
    """

    inner: PhaseStep

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do the step, then the accounts if it was the last one."""
        result = await self.inner.run(ctx)
        ended = result.trigger in _ENDS and result.state.blueprint is not None and result.state.stats is not None
        if not ended:
            return result
        last = replace(
            ctx,
            state=result.state,
            invariants=result.invariants or ctx.invariants,
            xml=ctx.xml if result.xml is None else result.xml,
        )
        state, known = result.state, result.invariants
        try:
            state = await accounted(last)
            if state.inspection is not None:
                case = await case_of(ctx.engine, ctx.demands, last.invariants, state)
                if ctx.reasoner.model is not None:
                    grounds = await grounds_in(ctx.engine, case, ctx.request.prompt, state.race)
                    state = with_grounds(state, grounds)
                    known = read_with_grounds(last.invariants, grounds)
                known = as_built(known or last.invariants, case)
                state = with_story(state, case)
        except EngineError as error:
            _log.warning("no accounts: %s", error.code, extra={"build_id": ctx.build_id})
        return replace(result, state=state, invariants=known)


async def accounted(ctx: PhaseContext) -> BuildState:
    """Return the state with spending and the next-best use in every decision."""
    state = ctx.state
    if ctx.xml is None or state.inspection is None or any(s.decision is None for s in state.sub_problems.values()):
        return state
    assert state.blueprint is not None
    assert state.stats is not None
    own_group = state.blueprint.main_group
    values, main = ({}, own_group) if ctx.request.effort is Effort.QUICK else await _measured(ctx)
    gems = {gem.id: gem for gem in await ctx.engine.facts.gems()}
    rows = spending_of(state.blueprint, state.stats, state.inspection, ctx.demands.floors, gems, main)
    subs = {name: _told(sub, rows.get(name, []), values) for name, sub in state.sub_problems.items()}
    return changed(state, sub_problems=subs)


async def _measured(ctx: PhaseContext) -> tuple[dict[str, list[NextBest]], int]:
    """Measure one more unit of each budget on the finished file, and return the group whose damage counts."""
    state = ctx.state
    assert ctx.xml is not None
    assert state.blueprint is not None
    graph = await loaded_graph(ctx.engine.facts, state.blueprint)
    async with open_parallel(ctx.engine, None, USUAL) as session:
        await session.load(ctx.xml)
        main = await strongest_group(session, state.blueprint)
        loaded = LoadedSession(
            session, ctx.xml, state.blueprint, Locks(), trial_prefix=trial_prefix(main, state.blueprint)
        )
        searching = search_context(ctx, plan_of(state.sub_problems), loaded, state.blueprint)
        incumbent = await Incumbent.open(searching)
        return await marginal_values(searching, incumbent, graph, main), main


def _told(sub: SubProblem, rows: Sequence[Spending], values: Mapping[str, Sequence[NextBest]]) -> SubProblem:
    assert sub.decision is not None
    metric = EHP if sub.name in _ABOUT_LIFE else DPS
    spending = with_marginals(rows, values, metric)
    # Put the best use that was given up among the alternatives, one per budget.
    others = [option for option in sub.decision.alternatives if not option.name.startswith(_ONE_MORE)]
    given_up = [_given_up(sub.decision, row) for row in spending if row.next_best]
    return changed(sub, decision=changed(sub.decision, spending=list(spending), alternatives=[*others, *given_up]))


_ONE_MORE = "one more of "


def _given_up(decision: Decision, row: Spending) -> Option:
    gain, metric = row.marginal or 0.0, _WORDS.get(row.metric or "", row.metric or "")
    budget = row.budget.replace("_", " ")
    left = row.available is None or row.spent < row.available
    why = "not taken: it is spent on what helps more, or kept free" if left else f"all {budget} are spent"
    return Option(
        name=f"{_ONE_MORE}{budget}: {row.next_best}",
        choice=decision.choice,
        score=row.marginal,
        reason=f"measured on the finished build: {gain:+.2%} {metric} per unit",
        rejected_because=why,
    )
