"""Explore in refinement mode: understand the wish, then compare a few realistic ways to it by experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from app.conflicts.case import Case, case_of
from app.conflicts.order import blocking, caveats
from app.conflicts.table import find_conflicts
from app.conflicts.wishes import wishes_of
from app.core.errors import InvalidTransition
from app.engine.base import Session
from app.engine.files.loadouts import without_levelling
from app.model.base import changed
from app.model.constraints import InvariantSet
from app.model.construction import ConstructProgress, Hint, ParentFigures, StageNotes
from app.model.experiments import Experiment, Refinement, Variant
from app.model.names import Mode, Phase, Provenance, SubProblemName, Trigger
from app.model.state import BuildState
from app.model.stats import DPS, EHP
from app.model.sub_problems import Constraint, Decision, Option
from app.model.wishes import WishState
from app.phases.base import BUDGETS, PhaseContext, PhaseResult, search_context, spent
from app.phases.decompose import inherit
from app.phases.explore.wish import aimed, beside, identified, merged, on_top, said, stronger, unnamed
from app.reasoning.base import RefineReading
from app.search.base import SearchContext, plan_of
from app.search.refine.search import Parent, open_work, order, read_parent, screen
from app.search.refine.work import Candidate, Work
from app.search.sessions import USUAL, Sharing

VARIANTS = BUDGETS[Mode.REFINEMENT].variants_allowed
"""Options that are compared per question."""

FUNDAMENTAL = ("class", "ascendancy", "skill", "level")
"""A wish that changes one of these is not a refinement any more but another build; nor is one for another
gear tier and nothing else."""

MADE_WITH = frozenset({"with", "exclude", "weapon", "style", "damage_type", "defence", "gear"})
"""Wishes that a build is made with from its beginning; where the parent misses one, they ask for another build."""


_TITLES = {
    "damage": "more damage",
    "survivability": "more effective hit points",
    "resistances": "capped resistances",
    "sustain": "a main skill that is paid for",
    "repair": "a build without faults",
}
KEPT = "Kept from the parent: "
"""Begins the reason of an answer that the wish does not concern."""


@dataclass(frozen=True)
class RefineExplore:
    """Two kinds of steps: read the wish and answer what it does not concern, then one step per question that it opens.

    Those are asked of the reasoner again; how to get there is compared by experiment.
    """

    sharing: Sharing = USUAL

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do the step that is due."""
        if ctx.state.refinement is None:
            return await understand(ctx)
        name = next((name for name in SubProblemName if not ctx.state.sub_problems[name].is_decided), None)
        if name is None:
            return PhaseResult(ctx.state, Trigger.EXPLORED)
        return await self._answer(ctx, ctx.state.refinement, name)

    async def _answer(self, ctx: PhaseContext, refinement: Refinement, name: SubProblemName) -> PhaseResult:
        parent = await parent_of(ctx)
        ctx, because = await _reconsidered(ctx, name)
        levers = ctx.state.construction.notes.levers
        if levers is not None:
            # The experiment that the first question led to answers the others too.
            return PhaseResult(_decided(ctx.state, name, ctx.state.experiments[-1], levers, because))
        async with open_work(work_context(ctx), parent, refinement.wish, refinement.locks, [], self.sharing) as work:
            screened = await screen(work)
            levers = order(screened, refinement.wish.direction == "damage")
            state = _answered(ctx.state, work, parent, name, screened, levers, because)
        return PhaseResult(state)


async def _reconsidered(ctx: PhaseContext, name: SubProblemName) -> tuple[PhaseContext, str]:
    """Ask the reasoner again; return the context with its answer as the last one, and the reason where it is new.

    The search plans with the last answer until the question is decided.
    """
    asked = ctx.reasoning()
    found = await ctx.reasoner.gather(asked, name)
    answer = await ctx.reasoner.reconsider(asked, name, found)
    state, sub = ctx.state, ctx.state.sub_problems[name]
    is_new = answer.decision != sub.prior_attempts[-1]
    if is_new:
        sub = changed(sub, prior_attempts=[*sub.prior_attempts, answer.decision])
    old = [known for known in state.discoveries if known.sub_problem is not name]
    state = changed(
        state,
        sub_problems={**state.sub_problems, name: sub},
        discoveries=[*old, *found],
        domain_gaps=list(dict.fromkeys([*state.domain_gaps, *answer.domain_gaps])),
        degraded=list(dict.fromkeys([*state.degraded, *answer.degraded])),
    )
    return replace(ctx, state=state), answer.decision.reason if is_new else ""


async def understand(ctx: PhaseContext) -> PhaseResult:
    """Read wish and locks; a wish that is another build is handed over to a full decomposition."""
    reading = await ctx.reasoner.read_refinement(ctx.request.prompt)
    found = await said(ctx, reading)
    before = ctx.state.inherited or ctx.invariants
    own = unnamed(ctx.state, reading)
    whole = merged(own, found)
    other_now = {i.field for i in found.invariants if before.get(i.field) != i.value}
    if other_now & set(FUNDAMENTAL) or ("gear" in other_now and not reading.wish.said):
        return await _strategic(ctx, reading, found, own)
    asked = beside(whole, reading)
    after = merged(before, asked)
    parent = await parent_of(ctx)
    # By the wishes of today: what the prompt asks for, the parent may lack already.
    today = replace(ctx, invariants=after, state=changed(ctx.state, inspection=parent.inspection))
    known = ctx.state.conflicts
    if today.state.stats is not None:
        case = await case_of(today.engine, today.demands, after, today.state)
        if not (reading.locks.parts or reading.locks.slots) and _lacks(case, asked):
            return await _strategic(ctx, reading, found, own)
        known = find_conflicts(case)
    wished = aimed(reading.wish, asked, parent.outputs)
    refinement = changed(_refinement(reading, parent), wish=wished, faults=caveats(blocking(known)))
    state = _opened(changed(ctx.state, conflicts=known), refinement, parent)
    hopeless = await _hopeless(ctx, reading, parent)
    if hopeless is not None:
        # The state with nothing to pull.
        experiment = Experiment(
            id="screen-none",
            question="What can be measured?",
            sub_problem=SubProblemName.DAMAGE_SCALING,
            stage="screen",
            metric=DPS,
            verdict=f"no change recommended: {hopeless}",
        )
        state = changed(
            state,
            construction=ConstructProgress(notes=changed(state.construction.notes, levers=[])),
            assumptions=list(dict.fromkeys([*state.assumptions, f"{hopeless[0].upper()}{hopeless[1:]}."])),
            experiments=[*state.experiments, experiment],
        )
    label = f"understood: {_TITLES.get(reading.wish.direction, 'improve damage and effective hit points')}"
    return PhaseResult(changed(state, progress_label=label), invariants=after)


async def _hopeless(ctx: PhaseContext, reading: RefineReading, parent: Parent) -> str | None:
    """Return why nothing can be measured that the wish is about, or None."""
    if ctx.engine.version.estimate and ctx.xml is not None:
        async with ctx.engine.session() as session:
            report = await session.load(ctx.xml)
        if report.problems:
            return "the estimator does not know all of this file; refining it needs Path of Building"
    if reading.wish.direction == "damage" and parent.outputs.get(DPS, 0.0) <= 0:
        return "the engine shows no damage for any skill of the build, so more of it cannot be measured"
    return None


def _lacks(case: Case, asked: InvariantSet) -> bool:
    """Say whether something is asked for that a build is made with, and this one is not."""
    new = {(i.field, words) for i in asked.invariants if i.field in MADE_WITH for _, words in i.told}
    return any(w.state is WishState.UNMET and (w.kind, w.words) in new for w in wishes_of(case))


async def _strategic(ctx: PhaseContext, reading: RefineReading, found: InvariantSet, own: InvariantSet) -> PhaseResult:
    """Have everything decided anew, with what the prompt says, what else was asked of the parent, and its skill.

    `found` is read in the words of the prompt, `own` has no value there.
    """
    before = ctx.state.inherited or ctx.invariants
    kept = merged(await identified(ctx, before, merged(own, found)), own)
    kept = merged(kept, InvariantSet(invariants=stronger(ctx, reading, found)))
    asked = replace(ctx, request=changed(ctx.request, prompt=reading.rest)) if reading.rest else ctx
    after = await inherit(asked, found, kept)
    whole = [on_top(i, ctx.state.stats) for i in after.invariants]
    lost = [words for words in after.not_understood if not reading.covers(words)]
    after = changed(after, invariants=whole, not_understood=[*lost, *reading.kept])
    text = "The wish changes what the build is, so it is thought through anew."
    if reading.kept:
        text += f" So nothing is kept as it was: {', '.join(reading.kept)}."
    state = BuildState(
        phase=ctx.state.phase,
        inherited=before,
        assumptions=[text],
        exploration=changed(BUDGETS[Mode.STRATEGIC], entry=Phase.EXPLORE),
        progress_label="a fundamental change: deciding everything anew",
    )
    return PhaseResult(state, invariants=after)


def _refinement(reading: RefineReading, parent: Parent) -> Refinement:
    group = parent.blueprint.groups[parent.strongest - 1] if parent.strongest else None
    elsewhere = group is not None and parent.strongest != parent.blueprint.main_group and bool(group.gems)
    return Refinement(
        wish=reading.wish,
        locks=reading.locks,
        kept=list(reading.kept),
        measured_with=group.gems[0].name if group is not None and elsewhere else None,
        before=_figures(parent.outputs),
    )


def _figures(outputs: Mapping[str, float]) -> dict[str, float]:
    return {key: outputs[key] for key in (DPS, EHP) if key in outputs}


def _opened(state: BuildState, refinement: Refinement, parent: Parent) -> BuildState:
    """Open the questions of the wish, and answer all others as the parent does."""
    kept = dict(state.sub_problems)
    why = f"{KEPT}the wish ({refinement.wish.text}) does not concern it. {_BEFORE}"
    for name, sub in state.sub_problems.items():
        if sub.decision is not None:
            own = sub.decision.reason
            own = own.rpartition(_BEFORE)[2] if own.startswith(KEPT) else own
            kept[name] = changed(sub, decision=changed(sub.decision, reason=f"{why}{own}"))
    state = changed(state, refinement=refinement, exploration=BUDGETS[Mode.REFINEMENT])
    open_ones = {name: state.sub_problems[name] for name in refinement.wish.opens}
    state = changed(state, sub_problems=kept | open_ones)
    for name, demand in refinement.wish.opens.items():
        asked = Constraint(conflict_id="wish", demand=demand, text=refinement.wish.reason)
        state = state.reopened(name, [asked])
    figures = ParentFigures(strongest=parent.strongest, outputs=dict(parent.outputs))
    progress = ConstructProgress(notes=StageNotes(parent=figures))
    return changed(state, construction=progress, inspection=parent.inspection)


_BEFORE = "There: "


def _answered(
    state: BuildState,
    work: Work,
    parent: Parent,
    name: SubProblemName,
    screened: Mapping[str, Sequence[Candidate]],
    levers: list[str],
    because: str,
) -> BuildState:
    hints = {
        key: [Hint(name=p.name, changes=list(p.changes)) for p in found[: VARIANTS * 3]]
        for key, found in screened.items()
        if key in levers
    }
    experiment = _screening(state, work, parent, name, screened, levers)
    notes = changed(state.construction.notes, levers=levers, hints=hints)
    state = changed(
        state,
        experiments=[*state.experiments, experiment],
        construction=ConstructProgress(notes=notes),
        exploration=spent(state.exploration, work.incumbent.trials, len(experiment.variants)),
        progress_label=f"{name.value.replace('_', ' ')}: {experiment.verdict}",
    )
    return _decided(state, name, experiment, levers, because)


def _screening(
    state: BuildState,
    work: Work,
    parent: Parent,
    name: SubProblemName,
    screened: Mapping[str, Sequence[Candidate]],
    levers: list[str],
) -> Experiment:
    assert state.refinement is not None
    promising = [(lever, screened[lever][0]) for lever in levers if screened.get(lever)]
    variants = [
        Variant(name=f"{lever}: {best.name}", figures=_figures(best.figures), gain=round(best.gain, 4))
        for lever, best in promising[:VARIANTS]
    ]
    chosen = variants[0].name if variants else None
    verdict = f"{levers[0]} first" if levers else "no change recommended: nothing that may change would help"
    return Experiment(
        id=f"screen-{name.value}",
        question=f"What brings {_TITLES.get(state.refinement.wish.direction, 'an all-round improvement')} soonest?",
        sub_problem=name,
        stage="screen",
        metric=EHP if name is SubProblemName.SURVIVABILITY else DPS,
        baseline=_figures(parent.outputs),
        variants=variants,
        chosen=chosen,
        verdict=verdict,
        engine_calls=work.incumbent.trials,
    )


def _decided(
    state: BuildState, name: SubProblemName, experiment: Experiment, levers: list[str], because: str
) -> BuildState:
    """Return the state with the question answered; `because`: what the reasoner says to that."""
    sub = state.sub_problems[name]
    last = sub.prior_attempts[-1]
    alternatives = [
        Option(
            name=variant.name,
            choice=last.choice,
            score=variant.gain,
            reason="measured without committing",
            rejected_because="promised less; tried after it while the wish is not fulfilled",
        )
        for variant in experiment.variants[1:]
    ]
    reason = f"{because} compared by experiment {experiment.id}: {experiment.verdict}".strip()
    decision = Decision(
        name=" then ".join(levers[:VARIANTS]) or "no change",
        choice=last.choice,
        reason=reason,
        provenance=Provenance.INFERRED,
        alternatives=alternatives,
    )
    done = sub.decide(decision)
    return changed(state, sub_problems={**state.sub_problems, name: done})


async def parent_of(ctx: PhaseContext) -> Parent:
    """Return the parent as it was loaded: until its own file is made, the child keeps the parent's."""
    state = ctx.state
    if ctx.xml is None or state.blueprint is None:
        raise InvalidTransition("a refinement starts from a build that has a file")
    known, xml = state.construction.notes.parent, without_levelling(ctx.xml)
    if known is None or state.inspection is None:
        return await read_parent(ctx.engine, xml, state.blueprint, state.inspection)
    return Parent(xml, state.blueprint, known.strongest, known.outputs, state.inspection)


def work_context(ctx: PhaseContext) -> SearchContext:
    """Return the search context of the child; the plan is what its questions were last answered with."""
    subs = {
        name: sub if sub.decision is not None else changed(sub, decision=sub.prior_attempts[-1])
        for name, sub in ctx.state.sub_problems.items()
    }
    assert ctx.state.blueprint is not None
    nothing_open = cast("Session", None)  # `open_work` puts its own session there
    return search_context(ctx, plan_of(subs), nothing_open, ctx.state.blueprint)
