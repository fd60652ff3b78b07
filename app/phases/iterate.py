"""Iterate: re-open what conflicts blame, within limits; go back when it got worse; stop when nothing is left to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.conflicts.order import blocking, in_order, merged, resolvable
from app.model.base import changed
from app.model.conflicts import BuildConflict, Suggestion
from app.model.construction import ConstructProgress
from app.model.names import Effort, Trigger
from app.model.state import Attempt, BuildState, Elimination, Snapshot
from app.model.sub_problems import Constraint
from app.model.wishes import WishState, lost
from app.phases.base import PhaseContext, PhaseResult
from app.phases.validate.caveats import with_caveats
from app.phases.validate.guide import measured_guide
from app.phases.validate.judgement import measured_afresh

MOST_ITERATIONS = 5
ROUNDS: Mapping[Effort, int] = {Effort.QUICK: 2, Effort.NORMAL: MOST_ITERATIONS, Effort.DEEP: 8}
"""Rounds of improvement that a build gets at most; a draft (quick) only while something asked for is missed."""

MOST_STOPS = 2
"""Emergency stops in a row after which the best build is handed over."""

Pick = tuple[BuildConflict, Suggestion]


@dataclass(frozen=True)
class IteratePhase:
    """One step: judge whether the last attempt helped, then re-open what the next attempt needs, or give up.

    `most`: rounds of improvement that a build gets, None = as many as its effort allows.
    """

    most: int | None = None

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Return the state with questions re-opened (`reopened`), or the best build with caveats (`gave_up`)."""
        state = changed(ctx.state, conflicts=merged(ctx.state.conflicts))
        worse = got_worse(state)
        state = changed(state, attempts=[*state.attempts, *Attempt.of(state)])
        if worse:
            state = restored(state)
        state = changed(state, emergency_stops=state.emergency_stops + 1 if worse else 0)
        most = ROUNDS[ctx.request.effort] if self.most is None else self.most
        reason = _why_stop(state, most, ctx.request.effort)
        picks = [] if reason else await self._picks(ctx, state)
        if not picks:
            return await _give_up(ctx, state, reason or "Nothing is left to try.")
        again = _reopened(state, picks)
        if not worse or again.blueprint is None:
            return PhaseResult(again, Trigger.REOPENED)
        async with ctx.engine.session() as session:
            await session.build(again.blueprint)
            return PhaseResult(again, Trigger.REOPENED, xml=await session.export())

    async def _picks(self, ctx: PhaseContext, state: BuildState) -> list[Pick]:
        """Ask the reasoner which way to go for each conflict; what it must not pick is replaced by the next in line."""
        possible = resolvable(in_order(state.conflicts))
        if not possible:
            return []
        answer = await ctx.reasoner.resolve(replace(ctx, state=state).reasoning(), possible)
        chosen = {conflict.id: pick for conflict, pick in answer.picks}
        picks = [(c, pick) for c in possible if (pick := _allowed(c, chosen.get(c.id))) is not None]
        return least_disruptive(picks)


def least_disruptive(picks: list[Pick]) -> list[Pick]:
    """Return the picks to begin with: those that change only what they name, when there are any.

    What a repair leaves unsolved is there again afterwards, and often it takes more with it than its own conflict.
    """
    return [(conflict, pick) for conflict, pick in picks if pick.local] or picks


def got_worse(state: BuildState) -> bool:
    """Say whether more conflicts block than in the best build of an earlier iteration, or a wish it met is lost."""
    best = state.best
    if best is None or best.iteration == state.iteration:
        return False
    return len(blocking(state.conflicts)) > best.blocking or bool(lost(best.wishes, state.wishes))


def restored(state: BuildState) -> BuildState:
    """Return the state back at its best build: decisions, notes, figures and conflicts of then, all tries charged."""
    assert state.best is not None
    best = state.best
    text = f"iteration {state.iteration} had {len(blocking(state.conflicts))} blocking conflicts, not {best.blocking}"
    if gone := lost(best.wishes, state.wishes):
        text = f"{text}, and no longer met: {', '.join(gone)}"
    charged = [_charged(conflict, state, best) for conflict in best.conflicts]
    back = taken_back(state, best.iteration, text)
    return changed(
        back,
        blueprint=best.blueprint,
        stats=best.stats,
        inspection=None,
        conflicts=charged,
        wishes=best.wishes,
        construction=ConstructProgress(notes=changed(state.construction.notes.joined(best.notes), reopened=[])),
    )


def taken_back(state: BuildState, iteration: int, reason: str) -> BuildState:
    """Return the state with every question answered as it was in an iteration.

    Answers that were found later in answer to a conflict are eliminated for good.
    """
    subs = {name: sub.as_of(iteration) for name, sub in state.sub_problems.items()}
    gone = {(known.sub_problem, known.option) for known in state.eliminated}
    failed = [
        Elimination(sub_problem=name, option=sub.decision.name, reason=reason)
        for name, sub in state.sub_problems.items()
        if sub.decision is not None and any(c.strategy is not None for c in sub.since(iteration))
        if subs[name].decision != sub.decision and (name, sub.decision.name) not in gone
    ]
    return changed(state, sub_problems=subs, eliminated=[*state.eliminated, *failed])


def _charged(conflict: BuildConflict, state: BuildState, best: Snapshot) -> BuildConflict:
    """Return a conflict of the best build with the attempts made since then."""
    now = next((c for c in state.conflicts if c.id == conflict.id), conflict)
    since = [
        (c.strategy, c.iteration)
        for sub in state.sub_problems.values()
        for c in sub.constraints
        if c.conflict_id == conflict.id and c.strategy is not None and c.iteration > best.iteration
    ]
    tried = list(dict.fromkeys([*conflict.tried, *now.tried, *(strategy for strategy, _ in since)]))
    attempts = max(now.attempts, conflict.attempts + len({iteration for _, iteration in since}))
    return changed(conflict, tried=tried, attempts=attempts)


def _why_stop(state: BuildState, most: int, effort: Effort) -> str | None:
    if state.emergency_stops >= MOST_STOPS:
        return "The last two attempts made the build worse, so this is the best one that was found."
    if not most:
        return "This build is not improved in rounds; these demands are not met."
    if effort is Effort.QUICK and all(wish.state is not WishState.UNMET for wish in state.wishes):
        return "A first draft is improved for what was asked for only; these demands are not met."
    if state.iteration >= most:
        return f"After {most} rounds of improvement some demands are still not met."
    return None


def _allowed(conflict: BuildConflict, pick: Suggestion | None) -> Suggestion | None:
    """Return the pick when it is one of the conflict's untried suggestions, else the next of those."""
    fine = pick is not None and pick in conflict.suggested_solutions and pick.strategy not in conflict.tried
    return pick if fine else conflict.next_suggestion


def _reopened(state: BuildState, picks: list[Pick]) -> BuildState:
    iteration = state.iteration + 1
    tried = {conflict.id: pick.strategy for conflict, pick in picks}
    state = changed(
        state,
        iteration=iteration,
        conflicts=[_attempted(c, tried.get(c.id)) for c in state.conflicts],
        construction=ConstructProgress(notes=state.construction.notes),
    )
    for name in dict.fromkeys(pick.sub_problem for _, pick in picks):
        own = [_constraint(c, pick, iteration) for c, pick in picks if pick.sub_problem is name]
        state = state.reopened(name, own)
    names = ", ".join(dict.fromkeys(pick.sub_problem.value.replace("_", " ") for _, pick in picks))
    return changed(state, progress_label=f"iteration {iteration}: thinking again about {names}")


def _attempted(conflict: BuildConflict, strategy: str | None) -> BuildConflict:
    if strategy is None:
        return conflict
    return changed(conflict, attempts=conflict.attempts + 1, tried=[*conflict.tried, strategy])


def _constraint(conflict: BuildConflict, pick: Suggestion, iteration: int) -> Constraint:
    return Constraint(
        conflict_id=conflict.id,
        demand=pick.demand,
        values=pick.values,
        text=pick.text or conflict.message,
        strategy=pick.strategy,
        iteration=iteration,
    )


async def _give_up(ctx: PhaseContext, state: BuildState, reason: str) -> PhaseResult:
    """Finish with the best build there was."""
    best = state.best
    if best is not None and best.blueprint != state.blueprint:
        state = restored(state)
    finished = await _guided(ctx, with_caveats(state, reason))
    if finished.blueprint is None or finished.blueprint == ctx.state.blueprint:
        return PhaseResult(finished, Trigger.GAVE_UP)
    stats, inspection, xml = await measured_afresh(ctx.engine, finished.blueprint)
    return PhaseResult(changed(finished, stats=stats, inspection=inspection), Trigger.GAVE_UP, xml=xml)


async def _guided(ctx: PhaseContext, state: BuildState) -> BuildState:
    if state.blueprint is None:
        return state
    granted = state.stats.granted if state.stats is not None else []
    guide = await measured_guide(ctx.engine, state.blueprint, ctx.demands, ctx.request.effort, granted)
    return changed(state, guide=guide)
