"""The parent of a refinement: its file, read and measured once, and what a search works with on it."""

from __future__ import annotations

from typing import cast

from app.core.errors import InvalidTransition
from app.engine.base import Session
from app.model.base import changed
from app.phases.base import PhaseContext, search_context
from app.search.base import SearchContext, plan_of
from app.search.refine.search import Parent, read_parent


async def parent_of(ctx: PhaseContext) -> Parent:
    """Return the parent as it was loaded: until its own file is made, the child keeps the parent's."""
    state = ctx.state
    if ctx.xml is None or state.blueprint is None:
        raise InvalidTransition("a refinement starts from a build that has a file")
    known = state.construction.notes.parent
    if known is None or state.inspection is None:
        return await read_parent(ctx.engine, ctx.xml, state.blueprint, state.inspection)
    return Parent(ctx.xml, state.blueprint, known.strongest, known.outputs, state.inspection)


def work_context(ctx: PhaseContext) -> SearchContext:
    """Return the search context of the child; the plan is what its questions were last answered with."""
    subs = {
        name: sub if sub.decision is not None else changed(sub, decision=sub.prior_attempts[-1])
        for name, sub in ctx.state.sub_problems.items()
    }
    assert ctx.state.blueprint is not None
    nothing_open = cast("Session", None)  # `open_work` puts its own session there
    return search_context(ctx, plan_of(subs), nothing_open, ctx.state.blueprint)
