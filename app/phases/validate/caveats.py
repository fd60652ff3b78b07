"""How a build ends that is not what was demanded: with caveats, or unfinished as far as it is."""

from __future__ import annotations

from app.conflicts.case import case_of
from app.conflicts.order import blocking, by_hand, caveats, not_understood
from app.conflicts.wishes import with_attempts
from app.model.base import changed
from app.model.names import Outcome, Trigger
from app.model.state import BuildState
from app.phases.base import PhaseContext, PhaseResult
from app.phases.validate.guide import guide_to
from app.phases.validate.judgement import judged, measured_afresh
from app.phases.validate.story import with_story


def has_partial(state: BuildState) -> bool:
    """Say whether there is something to measure although nothing was validated yet."""
    return state.best is None and state.blueprint is not None


async def measured_as_it_is(ctx: PhaseContext) -> PhaseResult:
    """Return the state with the figures of its blueprint and the file; nothing is judged, so it can go on later.

    Raises:
        EngineError: the engine failed beyond retry.
    """
    assert ctx.state.blueprint is not None
    stats, inspection, xml = await measured_afresh(ctx.engine, ctx.state.blueprint)
    return PhaseResult(changed(ctx.state, stats=stats, inspection=inspection), xml=xml)


async def unfinished(ctx: PhaseContext, reason: str) -> PhaseResult:
    """Return the build as it is, with what the rules find wrong with it; its outcome is never better than caveats.

    No language model is asked: what ended the build may be that nothing is left to pay one with.

    Raises:
        EngineError: the engine failed beyond retry.
    """
    measured = await measured_as_it_is(ctx)
    case = await case_of(ctx.engine, ctx.demands, ctx.invariants, measured.state)
    progress = ctx.state.construction
    left = f"Unfinished: {', '.join(progress.pending)} were still to come." if progress.pending else ""
    state = judged(measured.state, case, []).state
    told = with_caveats(state, " ".join(part for part in (reason, left) if part))
    state = with_story(told, case, ctx.request.effort)
    guide = await guide_to(ctx.engine.facts, case.blueprint, case.stats.granted)
    state = changed(state, guide=guide)
    return PhaseResult(changed(state, progress_label="unfinished"), Trigger.GAVE_UP, xml=measured.xml)


_MOST_BY_HAND = 2


def with_caveats(state: BuildState, reason: str) -> BuildState:
    """Return the state as finished: every conflict in words, what was tried, and what could be done by hand."""
    lines = [
        reason,
        *not_understood(state.wishes),
        *caveats(state.conflicts),
        *[f"Tried against it: {', '.join(c.tried_words)}." for c in blocking(state.conflicts) if c.tried],
        *[attempt.line for attempt in state.attempts if len(state.attempts) > 1],
        *by_hand(state.conflicts, _MOST_BY_HAND),
    ]
    told = list(dict.fromkeys(line for line in lines if line))
    return changed(
        state,
        outcome=Outcome.CAVEATS,
        caveats=told,
        wishes=with_attempts(state.wishes, state.conflicts),
        progress_label="finished with caveats",
    )
