"""Construct: decided choices become a concrete build, one stage per step, measured in a fresh session at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from app.conflicts.case import Rule, case_of
from app.conflicts.requirements import requirements_met, supports_affordable, unusable
from app.conflicts.resources import main_skill_sustained, spirit_within_pool
from app.conflicts.strength import damage, effective_hit_points, resistances
from app.conflicts.wishes import wishes_of
from app.core.spans import SpanKind, span
from app.engine.base import Session
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.conflicts import BuildConflict
from app.model.construction import Advice, ConstructProgress, StageNotes
from app.model.memory import MemoryKey
from app.model.moves import Trial
from app.model.names import Effort, Mode, Severity, SubProblemName, Trigger
from app.model.race import CompletedBuild
from app.model.state import BuildState
from app.model.stats import DPS, Inspection, Stats
from app.model.wishes import WishState
from app.phases.base import PhaseContext, PhaseResult, search_context
from app.phases.memory import begun_with, digest_with, habits, situation_of, used
from app.reasoning.base import Idea
from app.search.base import Plan, SearchContext, StageResult, begun_of, completed_of, plan_of
from app.search.choices import hold_choices
from app.search.effort import DIALOGUE, left_to_share
from app.search.experiments import MoveExperimenter
from app.search.incumbent import flask_mana, required_attributes
from app.search.look import last_look
from app.search.objective import objective_for
from app.search.passives.weapon_sets import in_one_set
from app.search.sessions import USUAL, Sharing, open_parallel
from app.search.stages.foundation import is_founded
from app.search.stages.table import (
    BEGUN,
    BY_EFFORT,
    COMPLETED,
    MENDING,
    RECOLLECT,
    REMEMBERING,
    STAGES,
    SearchStage,
    repairs_for,
    stages_for,
    warm_stages,
)

ADVICE = "advice"
"""The stage that asks the reasoner for ideas; its note says which were kept and why others were not."""

CHOICES = "choices"
"""The stage before it: what the reasoner chose by name is held in the build."""

LOOK = "look"
"""The stage after it, of every build: it takes those evaluations that ideas have left."""

_BEFORE = ("groups", "finish")


HOLD = SearchStage(CHOICES, "holding what was chosen", frozenset(), frozenset(), hold_choices)


def with_ideas(stages: Sequence[str], *, advised: bool, looks: bool) -> list[str]:
    """Return the stages with choices and advice, and a last look, before what only fills places that are left."""
    at = next((stages.index(name) for name in _BEFORE if name in stages), len(stages))
    return [*stages[:at], *((CHOICES, ADVICE) if advised else ()), *((LOOK,) if looks else ()), *stages[at:]]


MOST_IN_VAIN = 2
"""Turns in a row without a gain after which it is not asked again: one to see why, one to do better."""


def _advice(idea: Idea, trial: Trial) -> Advice:
    return Advice(
        idea=idea.name,
        reason=idea.reason,
        refused_because=trial.problem,
        gain=trial.gain,
        parts=dict(trial.parts),
        figures=dict(trial.figures),
    )


async def unmet_wishes(ctx: PhaseContext, session: Session, blueprint: Blueprint) -> set[str]:
    """Return what the user asked for and the build in the session does not have, in words."""
    stats, inspection = await session.stats(), await session.inspect()
    now = changed(ctx.state, blueprint=blueprint, stats=stats, inspection=inspection)
    case = await case_of(ctx.engine, ctx.demands, ctx.invariants, now)
    return {f"the user asked for {one.wish}" for one in wishes_of(case) if one.state is WishState.UNMET}


def advice_stage(ctx: PhaseContext) -> SearchStage:
    """Return the stage for the reasoner of this step."""

    async def advise(search: SearchContext) -> StageResult:
        unmet = partial(unmet_wishes, ctx, search.session)
        experimenter = await MoveExperimenter.open(search, left_to_share(search.notes), unmet)
        told: list[Advice] = []
        in_vain = 0
        for _ in range(DIALOGUE[ctx.request.effort].turns if experimenter.left else 0):
            notes = changed(ctx.state.construction.notes, advice=told)
            progress = changed(ctx.state.construction, notes=notes)
            build = experimenter.incumbent.blueprint
            state = changed(ctx.state, blueprint=build, stats=None, construction=progress)
            ideas = await ctx.reasoner.advise(replace(ctx, state=state).reasoning(), experimenter)
            now = [_advice(idea, await experimenter.keep(idea.moves)) for idea in ideas]
            told += now
            in_vain = 0 if any(not one.refused_because for one in now) else in_vain + 1
            if not now or in_vain == MOST_IN_VAIN or not experimenter.left:
                break
            experimenter.reader.forget()
        kept = [note.idea for note in told if not note.refused_because]
        label = f"advice: {', '.join(kept)}" if kept else f"advice: none of {len(told)} ideas helps" if told else ""
        notes = StageNotes(advice=told, for_ideas=search.notes.for_ideas + experimenter.spent)
        return StageResult(experimenter.incumbent.blueprint, notes=notes, label=label or "no advice")

    return SearchStage(ADVICE, "taking advice", frozenset(), frozenset(), advise)


def look_stage(ctx: PhaseContext) -> SearchStage:
    """Return the last look for the wishes of this build."""

    async def look(search: SearchContext) -> StageResult:
        return await last_look(search, partial(unmet_wishes, ctx, search.session))

    return SearchStage(LOOK, "taking a last look", frozenset(), frozenset(), look)


GEAR = "gear"
"""The stage after which everything is there for the first time. Gaps are looked for after the next one, which the race
never does, while others still follow that may cover them."""

_GAPS: tuple[Rule, ...] = (
    resistances,
    requirements_met,
    supports_affordable,
    spirit_within_pool,
    main_skill_sustained,
    effective_hit_points,
    damage,
)


async def with_gaps(ctx: PhaseContext, session: Session, result: StageResult) -> StageResult:
    """Return the stage's result with what is missing now.

    What would block becomes a provisional conflict, which validate confirms by finding it again, or drops; what is
    within tolerance becomes a note.
    """
    stats, inspection = await session.stats(), await session.inspect()
    now = changed(ctx.state, blueprint=result.blueprint, stats=stats, inspection=inspection)
    case = await case_of(ctx.engine, ctx.demands, ctx.invariants, now)
    found = [conflict for rule in _GAPS for conflict in rule(case)]
    gaps = [conflict for conflict in found if conflict.severity is Severity.BLOCKING]
    fine = [conflict.message for conflict in found if conflict.severity is not Severity.BLOCKING]
    return replace(result, conflicts=(*result.conflicts, *gaps), notes=changed(result.notes, tolerated=fine))


def confirmed(conflicts: list[BuildConflict]) -> list[BuildConflict]:
    """Return what is left when construction halts: nothing was validated, so nothing provisional is known."""
    return [conflict for conflict in conflicts if not conflict.provisional]


MEASURE = "measure"


class ConstructPhase:
    """One stage per call; `sharing` says between how many engine sessions a stage may share its trials."""

    def __init__(self, sharing: Sharing = USUAL, stages: Sequence[SearchStage] = STAGES) -> None:
        self._sharing = sharing
        self._by_effort = {**BY_EFFORT, Effort.NORMAL: tuple(stages)}
        every = (stage for table in self._by_effort.values() for stage in table)
        self._named = {stage.name: stage for stage in (*REMEMBERING, *MENDING, *every, *stages, HOLD)}

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Run the next stage, or measure the build when none is left.

        Raises:
            InvalidTransition: a question is not decided.
            EngineError: the engine failed beyond retry.
        """
        plan = plan_of(ctx.state.sub_problems)
        progress = ctx.state.construction
        if not progress.pending:
            if ctx.state.blueprint is not None:  # stages improve the passives of one set; the last one parts them
                ctx = replace(ctx, state=changed(ctx.state, blueprint=in_one_set(ctx.state.blueprint)))
            before = ctx.state.construction.notes
            founded = is_founded(ctx.state.blueprint, plan, ctx.demands.level)
            known = before.reopened if before.reopened and founded else None
            stages = self._by_effort[ctx.request.effort]
            chosen = _chosen(stages, ctx.state, known)
            chosen = with_ideas(chosen, advised=_is_advised(ctx), looks=known is None and _looks(ctx))
            tried = StageNotes(evaluations=before.evaluations, for_ideas=before.for_ideas, for_look=before.for_look)
            notes = tried if known is None else changed(before, reopened=[])
            progress = ConstructProgress(pending=[*chosen, MEASURE], notes=notes)
            if ctx.state.iteration == 0 and ctx.request.mode is Mode.INITIAL:
                ctx, progress = await self._remembering(ctx, plan, progress)
                ctx, progress = _going_on(ctx, plan, progress)
        if progress.pending[0] == MEASURE:
            return await self._measure(ctx, plan, progress)
        return await self._advance(ctx, plan, progress)

    async def _remembering(
        self, ctx: PhaseContext, plan: Plan, progress: ConstructProgress
    ) -> tuple[PhaseContext, ConstructProgress]:
        """Read memory, once: what it said goes into the notes, so it is the same after a crash."""
        key = MemoryKey.of(plan.delivery.skill_id, ctx.demands.goal, ctx.engine.version)
        here = situation_of(plan, ctx.invariants, ctx.demands, ctx.request.effort)
        usual = habits(await ctx.memory.wishes(ctx.owner), ctx.invariants)
        ctx = replace(ctx, state=changed(ctx.state, habits=usual))
        recalled = await ctx.memory.recall(key, ctx.owner)
        ctx = replace(ctx, state=changed(ctx.state, memory_digest=digest_with(ctx.state, recalled)))
        found = begun_with(recalled, here)
        if found is None or ctx.request.effort is Effort.QUICK:
            return ctx, progress
        chosen = warm_stages(self._by_effort[ctx.request.effort], whole=bool(found.whole))
        chosen = with_ideas(chosen, advised=_is_advised(ctx), looks=_looks(ctx))
        notes = changed(progress.notes, remembered=found)
        return ctx, changed(progress, pending=[*chosen, MEASURE], notes=notes)

    async def _advance(self, ctx: PhaseContext, plan: Plan, progress: ConstructProgress) -> PhaseResult:
        name = progress.pending[0]
        made = {ADVICE: advice_stage, LOOK: look_stage}
        stage = made[name](ctx) if name in made else self._named[name]
        blueprint = ctx.state.blueprint or Blueprint(
            class_name=plan.ascendancy.class_name, ascendancy=plan.ascendancy.ascendancy, level=ctx.demands.level
        )
        alone = name in (ADVICE, CHOICES)
        sharing = Sharing(1) if alone else self._sharing
        async with open_parallel(ctx.engine, None if stage.founds else blueprint, sharing) as panel:
            with span(name, SpanKind.SEARCH):
                result = await stage.run(search_context(ctx, plan, panel, blueprint, progress.notes))
            if progress.done[-1:] == [GEAR]:
                result = await with_gaps(ctx, panel, result)
        evaluations = progress.notes.evaluations + panel.trials
        if name == RECOLLECT:
            progress = _recollected(self._by_effort[ctx.request.effort], progress, result.notes)
        return PhaseResult(_after_stage(ctx.state, stage, progress, result, evaluations))

    async def _measure(self, ctx: PhaseContext, plan: Plan, progress: ConstructProgress) -> PhaseResult:
        """Measure in a session that has held nothing else: the engine's numbers drift with what it held before."""
        assert ctx.state.blueprint is not None, "stages ran, so there is a blueprint"
        async with ctx.engine.session() as session:
            await session.build(ctx.state.blueprint)
            stats, inspection = await session.stats(), await session.inspect()
            xml = await session.export()
            search = search_context(ctx, plan, session, ctx.state.blueprint)
            notes = changed(progress.notes, flask_mana=await flask_mana(search))
        broken = broken_assumption(ctx.state.blueprint, stats, inspection)
        notes = changed(notes, objective=_worth(search, notes.flask_mana, stats, inspection))
        done = ConstructProgress(done=[*progress.done, MEASURE], notes=notes)
        state = changed(
            ctx.state,
            stats=stats,
            inspection=inspection,
            construction=done,
            conflicts=[*confirmed(ctx.state.conflicts), broken] if broken else ctx.state.conflicts,
            done=len(done.done),
            total=len(done.done),
            progress_label="measured in a fresh session",
        )
        trigger = Trigger.ASSUMPTION_FAILED if broken else Trigger.CONSTRUCTED
        return PhaseResult(state, trigger, xml=None if broken else xml)


def _going_on(ctx: PhaseContext, plan: Plan, progress: ConstructProgress) -> tuple[PhaseContext, ConstructProgress]:
    """Go on with what the race began or completed by this plan, unless memory has something better to begin with."""
    begun = begun_of(ctx.state.race, plan)
    if begun is None or progress.notes.remembered is not None:
        return ctx, progress
    whole = completed_of(ctx.state.race, plan) if ctx.request.effort is Effort.NORMAL else None
    names = {stage.name for stage in (*BEGUN, *(COMPLETED if whole else ()))}
    left = [name for name in progress.pending if name not in names]
    done = [name for name in progress.pending if name in names]
    made = whole or CompletedBuild(blueprint=begun)
    notes = changed(progress.notes.joined(made.notes), gear_made=True)
    return (
        replace(ctx, state=changed(ctx.state, blueprint=made.blueprint)),
        changed(progress, pending=left, done=done, notes=notes),
    )


def _chosen(stages: Sequence[SearchStage], state: BuildState, reopened: list[SubProblemName] | None) -> list[str]:
    """Return the stages to run: all, those that the reopened questions concern, or mere repairs."""
    now = state.demanded(state.iteration)
    if reopened is not None and now and all(constraint.local for constraint in now):
        return repairs_for(stages, [constraint.demand for constraint in now])
    return stages_for(stages, reopened)


def _recollected(stages: Sequence[SearchStage], progress: ConstructProgress, notes: StageNotes) -> ConstructProgress:
    """Return the progress with all stages to do when no whole build was taken: then there is none to improve."""
    if notes.recollected is not None and notes.recollected.part == "whole":
        return progress
    left = [stage.name for stage in stages if stage.name not in progress.done]
    left = with_ideas(left, advised=ADVICE in progress.pending, looks=LOOK in progress.pending)
    return changed(progress, pending=[progress.pending[0], *left, MEASURE])


def _is_advised(ctx: PhaseContext) -> bool:
    return ctx.reasoner.advises and _looks(ctx)


def _looks(ctx: PhaseContext) -> bool:
    return ctx.request.effort is not Effort.QUICK


def _worth(ctx: SearchContext, flask: float, stats: Stats, inspection: Inspection) -> float:
    """Return the score of the measured build: what every stage tried to raise."""
    figures = {**stats.values, DPS: stats.dps or 0.0}
    objective = replace(objective_for(ctx), flask_mana=flask)
    return round(objective.requiring(required_attributes(inspection)).score(figures), 6)


def _after_stage(
    state: BuildState, stage: SearchStage, progress: ConstructProgress, result: StageResult, evaluations: int
) -> BuildState:
    done = [*progress.done, stage.name]
    pending = progress.pending[1:]
    notes = changed(progress.notes.joined(result.notes), evaluations=evaluations)
    return changed(
        state,
        blueprint=result.blueprint,
        construction=ConstructProgress(pending=pending, done=done, notes=notes),
        conflicts=[*state.conflicts, *(changed(c, provisional=True) for c in result.conflicts)],
        done=len(done),
        total=len(done) + len(pending),
        progress_label=result.label or stage.label,
        memories=[*state.memories, *used(result.notes.recollected)],
    )


def broken_assumption(blueprint: Blueprint, stats: Stats, inspection: Inspection) -> BuildConflict | None:
    """Return the conflict of a main skill that cannot work at all, or None.

    That is a skill the engine disables, or one that deals no damage although the engine models it.
    """
    skill = blueprint.main.gems[0].name if blueprint.main is not None else "no main skill"
    reason = inspection.disabled_reason
    if reason is None and (stats.dps is not None or not inspection.modelled):
        return None
    return unusable(skill, reason or "it deals no damage although the engine models it")
