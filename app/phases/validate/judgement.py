"""Validate: judge the constructed build by the rule table and remember the best build so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from textwrap import shorten

from app.conflicts.case import Case, case_of
from app.conflicts.order import blocking, by_hand, caveats, not_understood
from app.conflicts.order import merged as newest
from app.conflicts.strength import UNEXPLAINED, UNMODELLED
from app.conflicts.table import find_conflicts, related
from app.conflicts.wishes import wishes_of
from app.engine.base import Engine
from app.knowledge.styles import layer_targets, style_targets
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.conflicts import BuildConflict
from app.model.demands import Floors
from app.model.experiments import Refinement
from app.model.names import Outcome, Trigger
from app.model.state import BuildState, Snapshot
from app.model.stats import EHP, Inspection, Stats
from app.model.wishes import WishOutcome, WishState, lost
from app.phases.base import PhaseContext, PhaseResult
from app.phases.validate.guide import measured_guide


@dataclass(frozen=True)
class ValidatePhase:
    """One step: measure if nothing is measured yet, apply the rules, ask the reasoner, keep the best build.

    Triggers `validated` when nothing blocks (warnings become caveats), else `conflicts_found`; when to stop trying is
    iterate's decision.
    """

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Judge `ctx.state.blueprint`; a state without one is our bug and raises ValueError."""
        if ctx.state.blueprint is None:
            raise ValueError("there is nothing to validate before construct has made a build")
        state = await _measured(ctx.engine, ctx.state, ctx.state.blueprint)
        case = await case_of(ctx.engine, ctx.demands, ctx.invariants, state)
        assessed = await ctx.reasoner.assess(replace(ctx, state=state).reasoning())
        result = judged(state, case, assessed)
        if result.trigger is not Trigger.VALIDATED:
            return result
        granted = case.stats.granted
        guide = await measured_guide(ctx.engine, case.blueprint, ctx.demands, ctx.request.effort, granted)
        return replace(result, state=changed(result.state, guide=guide))


async def measured_afresh(engine: Engine, blueprint: Blueprint) -> tuple[Stats, Inspection, bytes]:
    """Return figures, findings and file of the build, from a session that has held nothing else."""
    async with engine.session() as session:
        await session.build(blueprint)
        return await session.stats(), await session.inspect(), await session.export()


async def _measured(engine: Engine, state: BuildState, blueprint: Blueprint) -> BuildState:
    """Return the state with figures; a fresh session measures what construct has not."""
    if state.stats is not None and state.inspection is not None:
        return state
    async with engine.session() as session:
        await session.build(blueprint)
        return changed(state, stats=await session.stats(), inspection=await session.inspect())


def _merge(
    found: list[BuildConflict], assessed: list[BuildConflict], before: list[BuildConflict]
) -> list[BuildConflict]:
    """Add what the reasoner saw and keep the history of a conflict that is still there.

    Provisional conflicts of construct are confirmed by being found again, or dropped. What the reasoner says of the
    decisions against a wish is left to the wish's own rule, which looks at the file.
    """
    assessed = [conflict for conflict in assessed if conflict.subject not in _JUDGED_ON_THE_FILE]
    merged = {conflict.id: conflict for conflict in [*assessed, *found]}
    history = {conflict.id: conflict for conflict in newest(before)}
    ordered = [merged[key] for key in dict.fromkeys(conflict.id for conflict in [*found, *assessed])]
    return related([_with_history(conflict, history.get(conflict.id)) for conflict in ordered])


_JUDGED_ON_THE_FILE = frozenset({"class_choice", "style", "damage_type", "weapon", "exclude", "defence"})


def _with_history(conflict: BuildConflict, past: BuildConflict | None) -> BuildConflict:
    now = changed(conflict, provisional=False)
    return now if past is None else changed(now, attempts=past.attempts, tried=past.tried)


def judged(state: BuildState, case: Case, assessed: list[BuildConflict]) -> PhaseResult:
    """Return the measured state as the rules, and whoever assessed it besides, find it."""
    conflicts = _merge(find_conflicts(case), assessed, state.conflicts)
    count = len(blocking(conflicts))
    fine = "checked: every rule holds"
    state = changed(
        state,
        conflicts=conflicts,
        wishes=wishes_of(case),
        best=better(state.best, _snapshot(state, conflicts, case), case.demands.floors),
        progress_label=f"checked: {count} blocking, {len(conflicts) - count} warnings" if conflicts else fine,
        done=1,
        total=1,
    )
    if count:
        return PhaseResult(state, Trigger.CONFLICTS_FOUND)
    return PhaseResult(concluded(state, caveats(conflicts)), Trigger.VALIDATED)


def concluded(state: BuildState, told: list[str]) -> BuildState:
    """Return the state as judged: validated when nothing blocks, no wish is unmet, every word was understood.

    Damage has to be measured, and explained where it is beyond what is plausible.
    """
    missed = any(wish.state in (WishState.UNMET, WishState.NOT_UNDERSTOOD) for wish in state.wishes)
    unproven = any(found.subject in (UNEXPLAINED, UNMODELLED) for found in state.conflicts)
    fine = not (blocking(state.conflicts) or missed or unproven)
    outcome = Outcome.VALIDATED if fine else Outcome.CAVEATS
    return changed(state, outcome=outcome, caveats=[*not_understood(state.wishes), *told, *by_hand(state.conflicts)])


def _snapshot(state: BuildState, conflicts: list[BuildConflict], case: Case) -> Snapshot:
    return Snapshot(
        iteration=state.iteration,
        blueprint=case.blueprint,
        stats=case.stats,
        blocking=len(blocking(conflicts)),
        conflicts=conflicts,
        wishes=wishes_of(case),
        notes=state.construction.notes.of_build(),
    )


def score(stats: Stats, floors: Floors) -> float:
    """Return log(DPS / good) + log(EHP / good): how the figures compare with the demands; higher is better."""
    dps, ehp = stats.dps or 1.0, max(stats.get(EHP), 1.0)
    return log(dps / floors.dps.good) + log(ehp / floors.ehp.good)


def better(best: Snapshot | None, new: Snapshot, floors: Floors) -> Snapshot:
    """Return the snapshot with fewer blocking conflicts, then more wishes, then nearer ones, then the better score.

    Else the earlier one. One that loses a wish is never the better one: what was asked for is not exchanged for
    something else. One that meets another may miss a demand of ours for it, which nobody asked for.
    """
    if best is None:
        return new
    if lost(best.wishes, new.wishes):
        return best
    if new.blocking != best.blocking:
        return new if new.blocking < best.blocking else best
    gained = bool(lost(new.wishes, best.wishes))
    nearer = _nearness(new) - _nearness(best)
    if not gained and abs(nearer) >= NEARER:
        return new if nearer > 0 else best
    return new if gained or score(new.stats, floors) > score(best.stats, floors) else best


NEARER = 0.1
"""Share of what is asked for, by which one build must be nearer to it than another to be preferred for that."""


def _nearness(snapshot: Snapshot) -> float:
    """Return how much of what the unmet wishes ask for is there: 1 for each that is nearly met, 0 where nothing is.

    Wishes are those for styles, layers of defence and figures, which may be bounds from below or from above.
    """
    unmet = [wish for wish in snapshot.wishes if wish.state is WishState.UNMET]
    asked = style_targets((str(wish.target) for wish in unmet if wish.kind == "style"), snapshot.blueprint.level)
    asked |= layer_targets([str(wish.target) for wish in unmet if wish.kind == "defence"])
    pairs = [(wish.reached, wish.target) for wish in unmet]
    figures = [(have, want) for have, want in pairs if isinstance(have, float) and isinstance(want, float)]
    styles = sum(min(1.0, snapshot.stats.get(stat) / target) for stat, target in asked.items())
    return styles + sum(min(have / want, want / have) for have, want in figures if have > 0 < want)


@dataclass(frozen=True)
class RefineValidate:
    """One step of a refinement: rule table and reasoner over the child, as over a new build.

    Old faults are told as the parent's, not repaired. What was refined for is a wish like the others.
    """

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Judge the child."""
        state = ctx.state
        assert state.refinement is not None
        case = await case_of(ctx.engine, ctx.demands, ctx.invariants, state)
        assessed = await ctx.reasoner.assess(ctx.reasoning())
        conflicts = _merge(find_conflicts(case), assessed, [])
        best = _snapshot(state, conflicts, case)
        wishes = [*refined_for(state.refinement, ctx.request.prompt), *best.wishes]
        judged = changed(state, conflicts=conflicts, wishes=wishes, best=changed(best, wishes=wishes), done=1, total=1)
        return PhaseResult(concluded(judged, _told(state, conflicts)), Trigger.VALIDATED)


def refined_for(refinement: Refinement, prompt: str) -> list[WishOutcome]:
    """Return what became of a refinement's own wish and of what it was to keep, which no change may touch."""
    wish, words = refinement.wish, shorten(prompt, MOST_WORDS, placeholder=" ...")
    reached = not refinement.left if wish.direction == "repair" else bool(refinement.reached)
    left = f" Left: {' '.join(refinement.left)}" if wish.direction == "repair" and refinement.left else ""
    nearest = f"{refinement.verdict.rstrip('.')}.{left}"
    own = WishOutcome(
        wish=wish.text,
        words=words,
        kind=REFINED_FOR,
        target=None,
        reached=refinement.verdict,
        state=WishState.MET if reached else WishState.UNMET,
        nearest=None if reached else nearest,
    )
    kept = [
        WishOutcome(wish="left as it is", words=said, kind=KEPT, target=None, reached="untouched", state=WishState.MET)
        for said in refinement.kept
    ]
    return [*([own] if wish.said else []), *kept]


REFINED_FOR, KEPT = "refinement", "kept"
"""Kinds of wishes that only a refinement has."""

MOST_WORDS = 80
"""Characters of the prompt that are quoted for a refinement's wish."""


def _told(state: BuildState, conflicts: list[BuildConflict]) -> list[str]:
    """Return the verdict of no change, new faults, then old ones."""
    assert state.refinement is not None
    known = {conflict.id for conflict in state.conflicts}
    new = caveats([conflict for conflict in conflicts if conflict.id not in known])
    old = [f"As in the parent: {line}" for line in caveats([c for c in conflicts if c.id in known])]
    verdict = [] if state.refinement.reached else [state.refinement.verdict]
    return [*verdict, *new, *old]
