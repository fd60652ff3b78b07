"""Construct in refinement mode: one lever per step, each checked in a fresh session before it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.conflicts.case import case_of
from app.conflicts.order import blocking, caveats
from app.conflicts.table import find_conflicts
from app.model.base import changed
from app.model.blueprint import Change, apply_changes
from app.model.conflicts import BuildConflict
from app.model.construction import ConstructProgress
from app.model.experiments import ChangeRow, Experiment, Refinement, Variant
from app.model.names import ConflictType, Trigger
from app.model.state import BuildState
from app.model.stats import DPS, EHP
from app.phases.base import PhaseContext, PhaseResult, exhausted, spent
from app.phases.construct.rows import gains, rows_of
from app.phases.construct.stages import ADVICE
from app.phases.explore.refinement import parent_of, work_context
from app.search.experiments import MoveExperimenter
from app.search.moves import MoveReader
from app.search.refine.objective import RefineObjective
from app.search.refine.search import FAULTS, Checked, Parent, check, improve, open_work
from app.search.refine.work import SAME, Candidate, Commit, Work
from app.search.sessions import USUAL, Sharing

MEASURE = "measure"
TRIES = 3
"""How many shorter lists of changes are checked when the whole list breaks something."""

OF_STRENGTH = frozenset({ConflictType.DAMAGE_GAP, ConflictType.SURVIVABILITY_GAP})
"""How strong the build is, is what the wish is about; floors do not forbid what the user allows to be lost."""


@dataclass(frozen=True)
class RefineConstruct:
    """Pulls the levers in their order until the wish is fulfilled, the levers or the budget end."""

    sharing: Sharing = USUAL

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Pull the next lever, or settle what comes of the refinement."""
        assert ctx.state.refinement is not None
        progress = ctx.state.construction
        if not progress.pending and MEASURE not in progress.done:
            levers = progress.notes.levers or []
            advice = [ADVICE] if levers and ctx.reasoner.advises else []
            progress = changed(progress, pending=[*advice, *levers, MEASURE])
        if progress.pending[0] == MEASURE:
            return await self._settled(ctx, ctx.state.refinement, progress)
        return await self._pulled(ctx, ctx.state.refinement, progress)

    async def _settled(self, ctx: PhaseContext, refinement: Refinement, progress: ConstructProgress) -> PhaseResult:
        """Keep the changes when they fulfil the wish; otherwise the child is its parent, byte for byte."""
        parent = await parent_of(ctx)
        objective = await _objective(ctx, parent, refinement)
        checked = await check(ctx.engine, parent, ctx.state.committed, objective.metrics)
        reached = bool(ctx.state.committed) and objective.reached(checked.outputs)
        now = await conflicts_of(ctx, parent, ctx.state.committed, checked) if reached else ctx.state.conflicts
        mended = mended_of(blocking(ctx.state.conflicts), now)
        told = gains(parent.outputs, checked.outputs)
        if refinement.wish.direction == "repair":
            told = f"{len(mended)} of {len(refinement.faults)} faults mended; {told}"
            reached = bool(mended)
        done = ConstructProgress(done=[*progress.done, MEASURE])
        if not reached:
            return PhaseResult(_unchanged(ctx.state, refinement, done, told), Trigger.CONSTRUCTED)
        count = len(refinement.changes)
        counted = "1 change" if count == 1 else f"{count} changes"
        verdict = f"{told}; {counted}"
        state = changed(
            ctx.state,
            blueprint=apply_changes(parent.blueprint, ctx.state.committed),
            stats=checked.stats,
            inspection=checked.inspection,
            refinement=changed(
                refinement,
                after=_two(checked.outputs),
                reached=True,
                verdict=verdict,
                left=caveats(blocking(now)),
                mended=mended,
            ),
            construction=done,
            progress_label=f"refined: {told}",
        )
        return PhaseResult(state, Trigger.CONSTRUCTED, xml=checked.xml)

    async def _pulled(self, ctx: PhaseContext, refinement: Refinement, progress: ConstructProgress) -> PhaseResult:
        name, state = progress.pending[0], ctx.state
        parent = await parent_of(ctx)
        hints = [Candidate(hint.name, tuple(hint.changes), {}, 0.0) for hint in progress.notes.hints.get(name, [])]
        made = state.committed
        async with open_work(work_context(ctx), parent, refinement.wish, refinement.locks, made, self.sharing) as work:
            objective, before = work.objective, dict(work.incumbent.outputs)
            entries = await (_advised(ctx, work) if name == ADVICE else improve(work, name, hints))
            trials, asides = work.incumbent.trials, list(work.asides)
        kept, checked = await _kept(ctx, parent, objective, entries, name in FAULTS)
        found = await rows_of(ctx.engine.facts, kept)
        trial = _Trial(name, entries, kept, checked, before, trials, asides)
        return PhaseResult(_after(state, refinement, progress, trial, found, objective))


async def _advised(ctx: PhaseContext, work: Work) -> Sequence[Commit]:
    """Ask the reasoner for ideas and keep those with which the build is better for the wish; locks hold."""
    if not work.graph.nodes:
        return []
    count, work.incumbent.reason = len(work.incumbent.commits), ADVICE
    search = work.now()
    experimenter = MoveExperimenter(search, work.incumbent, await MoveReader.of(search, work.incumbent))
    state = changed(ctx.state, blueprint=work.incumbent.blueprint, stats=None)
    for idea in await ctx.reasoner.advise(replace(ctx, state=state).reasoning(), experimenter):
        await experimenter.keep(idea.moves)
    return work.incumbent.commits[count:]


@dataclass(frozen=True)
class _Trial:
    """What came of one lever."""

    name: str
    entries: Sequence[Commit]
    kept: Sequence[Commit]
    checked: Checked | None
    before: dict[str, float]
    trials: int
    asides: list[str]


async def _kept(
    ctx: PhaseContext, parent: Parent, objective: RefineObjective, entries: Sequence[Commit], is_mending: bool
) -> tuple[Sequence[Commit], Checked | None]:
    """Return the longest of a few beginnings of the list that holds in a fresh session, with what that session says.

    What mends a fault need not bring anything else.
    """
    if not entries:
        return [], None
    start = await check(ctx.engine, parent, ctx.state.committed, objective.metrics)
    least = objective.score(start.outputs) - (2 * SAME if is_mending else 0.0)
    lengths = sorted({len(entries), (2 * len(entries)) // 3, len(entries) // 3} - {0}, reverse=True)[:TRIES]
    for length in lengths:
        changes = [*ctx.state.committed, *(change for entry in entries[:length] for change in entry.changes)]
        checked = await check(ctx.engine, parent, changes, objective.metrics)
        if objective.score(checked.outputs) > least and not await new_faults(ctx, parent, changes, checked):
            return entries[:length], checked
    return [], None


async def new_faults(
    ctx: PhaseContext, parent: Parent, changes: Sequence[Change], checked: Checked
) -> list[BuildConflict]:
    """Return the blocking conflicts that the parent does not have."""
    known = {conflict.id for conflict in ctx.state.conflicts}
    now = blocking(await conflicts_of(ctx, parent, changes, checked))
    return [conflict for conflict in now if conflict.id not in known and conflict.type not in OF_STRENGTH]


def mended_of(before: Sequence[BuildConflict], now: Sequence[BuildConflict]) -> list[str]:
    """Return the faults that block no more, with what is still to be said of them."""
    found = {conflict.id: conflict for conflict in now}
    blocks = {conflict.id for conflict in blocking(list(now))}
    rest = {one.id: f" Now: {found[one.id].message}" if one.id in found else "" for one in before}
    return [f"{one.message}{rest[one.id]}" for one in before if one.id not in blocks]


async def conflicts_of(
    ctx: PhaseContext, parent: Parent, changes: Sequence[Change], checked: Checked
) -> list[BuildConflict]:
    """Return the conflicts of the parent with the changes made."""
    blueprint = apply_changes(parent.blueprint, changes)
    measured = changed(ctx.state, blueprint=blueprint, stats=checked.stats, inspection=checked.inspection)
    case = await case_of(ctx.engine, ctx.demands, ctx.invariants, measured)
    return find_conflicts(case)


def _after(
    state: BuildState,
    refinement: Refinement,
    progress: ConstructProgress,
    trial: _Trial,
    found: Sequence[ChangeRow],
    objective: RefineObjective,
) -> BuildState:
    experiment = _experiment(refinement, trial)
    done = ConstructProgress(pending=progress.pending[1:], done=[*progress.done, trial.name], notes=progress.notes)
    exploration = spent(state.exploration, trial.trials, len(experiment.variants))
    reached = trial.checked is not None and objective.enough(trial.checked.outputs)
    if reached or exhausted(exploration):
        done = changed(done, pending=[MEASURE])
    return changed(
        state,
        committed=[*state.committed, *(change for entry in trial.kept for change in entry.changes)],
        experiments=[*state.experiments, experiment],
        exploration=exploration,
        construction=done,
        refinement=changed(refinement, changes=[*refinement.changes, *found]),
        assumptions=list(dict.fromkeys([*state.assumptions, *(f"{a}." for a in trial.asides)])),
        done=len(done.done),
        total=len(done.done) + len(done.pending),
        progress_label=f"{trial.name}: {experiment.verdict}",
    )


def _experiment(refinement: Refinement, trial: _Trial) -> Experiment:
    variants = [Variant(name="as it is", figures=_two(trial.before), gain=0.0)]
    if trial.entries:
        promised = trial.entries[-1].after
        variants.append(
            Variant(name=f"{trial.name}, tried", figures=_two(promised), note=f"{len(trial.entries)} changes")
        )
    if trial.checked is not None:
        note = f"{len(trial.kept)} changes, fresh session"
        variants.append(Variant(name=f"{trial.name}, checked", figures=_two(trial.checked.outputs), note=note))
    return Experiment(
        id=f"check-{trial.name.replace(' ', '-')}",
        question=f"Does changing {trial.name} help as promised, without a new fault?",
        sub_problem=next(iter(refinement.wish.opens)),
        stage="check",
        metric=EHP if refinement.wish.direction == "survivability" else DPS,
        baseline=_two(trial.before),
        variants=variants,
        chosen=variants[-1].name if trial.checked is not None else None,
        verdict=_verdict(trial),
        engine_calls=trial.trials,
    )


def _verdict(trial: _Trial) -> str:
    if trial.checked is not None:
        return f"kept: {gains(trial.before, trial.checked.outputs)}"
    if trial.entries:
        return "no change recommended: what it promised did not hold in a fresh session, or opened a new fault"
    return "no change recommended: nothing worthwhile was found"


def _two(outputs: dict[str, float]) -> dict[str, float]:
    return {key: outputs[key] for key in (DPS, EHP) if key in outputs}


async def _objective(ctx: PhaseContext, parent: Parent, refinement: Refinement) -> RefineObjective:
    async with open_work(work_context(ctx), parent, refinement.wish, refinement.locks, [], Sharing(1)) as work:
        return work.objective


def _unchanged(state: BuildState, refinement: Refinement, done: ConstructProgress, told: str) -> BuildState:
    wish = refinement.wish
    best = f" The best that was found: {told}." if state.committed else ""
    asked = f"a gain of {wish.enough:.0%}" if wish.enough > 0 else "what was asked for"
    asked += f" at no more than {wish.loss:.0%} lost"
    if wish.direction in ("resistances", "sustain"):
        asked = {"resistances": "capped resistances", "sustain": "a main skill that is paid for"}[wish.direction]
    if wish.direction == "repair":
        asked = "a build with fewer faults"
    text = f"No change recommended: {asked} was not found with what may be changed.{best}"
    if wish.direction == "repair" and not refinement.faults:
        text = "No change recommended: the rules find no fault."
    after = changed(
        refinement, after=refinement.before, reached=False, verdict=text, changes=[], left=refinement.faults
    )
    label = "no change recommended"
    return changed(state, refinement=after, committed=[], construction=done, progress_label=label)
