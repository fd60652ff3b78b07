"""Extract: the prompt becomes constraints; the first step of every build that has none."""

from __future__ import annotations

from app.phases.base import PhaseContext, PhaseResult
from app.phases.inheriting import inherit


def is_due(ctx: PhaseContext) -> bool:
    """Say whether the build has no constraints yet."""
    return not ctx.invariants.invariants


async def extract(ctx: PhaseContext) -> PhaseResult:
    """Return the constraints of the request; the state changes only in what it tells people."""
    found = await ctx.reasoner.extract(ctx.request, ctx.engine)
    if ctx.state.inherited is not None:
        found = await inherit(ctx, found, ctx.state.inherited)
    label = "understood the prompt" if found.question is None else "understood the prompt, with one question"
    state = ctx.state.model_copy(update={"progress_label": label, "done": 1, "total": 2})
    return PhaseResult(state, invariants=found)
