"""The accounts of a finished build: every decision says what it takes, and what its next unit would be worth."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.conflicts.case import case_of
from app.core.errors import EngineError
from app.model.base import changed
from app.model.construction import OtherTree
from app.model.experiments import Spending
from app.model.moves import Locks
from app.model.names import Effort, SubProblemName, Trigger
from app.model.state import BuildState
from app.model.stats import DPS, EHP, Stats
from app.model.sub_problems import Decision, Option, SubProblem
from app.phases.base import PhaseContext, PhaseResult, PhaseStep, search_context
from app.phases.validate.story import (
    ONE_MORE,
    OTHER_PASSIVES,
    as_built,
    grounds_in,
    read_with_grounds,
    with_grounds,
    with_story,
)
from app.search.base import plan_of
from app.search.incumbent import Incumbent, strongest_group, trial_prefix
from app.search.opportunity_cost import NextBest, marginal_values, relative_gains, spending_of, with_marginals
from app.search.passives.graph import loaded_graph
from app.search.sessions import USUAL, LoadedSession, open_parallel
from app.search.stages.passives import AIMS, alternatives_now

_log = logging.getLogger(__name__)
_ENDS = frozenset({Trigger.VALIDATED, Trigger.GAVE_UP})
_ABOUT_LIFE = frozenset({SubProblemName.SURVIVABILITY, SubProblemName.STAT_REQUIREMENTS})
_ABOUT_TREES = {DPS: SubProblemName.DAMAGE_SCALING, EHP: SubProblemName.SURVIVABILITY}
"""The question whose answer a tree is another one to, by the number that is higher with it."""

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
                state = with_story(state, case, ctx.request.effort)
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
    found = Measures({}, [], own_group) if ctx.request.effort is Effort.QUICK else await _measured(ctx)
    gems = {gem.id: gem for gem in await ctx.engine.facts.gems()}
    rows = spending_of(state.blueprint, state.stats, state.inspection, ctx.demands.floors, gems, found.main)
    notes = changed(state.construction.notes, tree_alternatives=found.trees)
    subs = {name: _told(sub, rows.get(name, []), found, state.stats) for name, sub in state.sub_problems.items()}
    return changed(state, sub_problems=subs, construction=changed(state.construction, notes=notes))


@dataclass(frozen=True)
class Measures:
    """What was measured on the finished file: `values` of one more unit by budget, other trees that are better at one
    thing, and `main`, the 1-based group whose damage counts.
    """

    values: Mapping[str, Sequence[NextBest]]
    trees: list[OtherTree]
    main: int


async def _measured(ctx: PhaseContext) -> Measures:
    """Measure one more unit of each budget and the other trees on the finished file."""
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
        trees = await alternatives_now(incumbent, state.construction.notes.tree_alternatives)
        return Measures(await marginal_values(searching, incumbent, graph, main), trees, main)


def _told(sub: SubProblem, rows: Sequence[Spending], found: Measures, stats: Stats) -> SubProblem:
    assert sub.decision is not None
    metric = EHP if sub.name in _ABOUT_LIFE else DPS
    spending = with_marginals(rows, found.values, metric)
    # Put the best use that was given up among the alternatives, one per budget.
    others = [one for one in sub.decision.alternatives if not one.name.startswith((ONE_MORE, OTHER_PASSIVES))]
    given_up = [_given_up(sub.decision, row) for row in spending if row.next_best]
    trees = [tree for tree in found.trees if _ABOUT_TREES[AIMS[tree.aim][0]] is sub.name]
    given_up += [_other_passives(sub.decision, tree, stats) for tree in trees]
    return changed(sub, decision=changed(sub.decision, spending=list(spending), alternatives=[*others, *given_up]))


def _given_up(decision: Decision, row: Spending) -> Option:
    gain, metric = row.marginal or 0.0, _WORDS.get(row.metric or "", row.metric or "")
    budget = row.budget.replace("_", " ")
    left = row.available is None or row.spent < row.available
    why = "not taken: it is spent on what helps more, or kept free" if left else f"all {budget} are spent"
    return Option(
        name=f"{ONE_MORE}{budget}: {row.next_best}",
        choice=decision.choice,
        score=row.marginal,
        reason=f"measured on the finished build: {gain:+.2%} {metric} per unit",
        rejected_because=why,
    )


def _other_passives(decision: Decision, tree: OtherTree, stats: Stats) -> Option:
    bought, given_back = (", ".join(names) or "small ones" for names in (tree.bought, tree.given_back))
    damage, life = relative_gains(stats.values, {DPS: tree.dps, EHP: tree.ehp})
    return Option(
        name=f"{OTHER_PASSIVES}{tree.aim}: {bought} instead of {given_back}",
        choice=decision.choice,
        reason=f"measured on the finished build: {damage:+.1%} damage, {life:+.1%} effective hit points",
        rejected_because=f"{damage:+.1%} damage with {life:+.1%} effective hit points is worth less as a whole",
    )
