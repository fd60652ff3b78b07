"""How a build begins: a quick draft of everything, for what is chosen before there is gear is chosen again with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from app.model.names import Effort
from app.search.base import SearchContext, StageResult
from app.search.gear.loadout import draft_gear
from app.search.stages.passives import ascend, grow_tree
from app.search.stages.skills import found, main_supports

Work = Callable[[SearchContext], Awaitable[StageResult]]


def roughly(work: Work) -> Work:
    """Return the work with the bounds of a quick build.

    A tree that is searched thoroughly while the build wears plain items suits plain items, and later trades hardly
    lead from there: on builds of level 90 the thorough way ended lower, for more evaluations (docs/explore.md).
    """

    async def rough(ctx: SearchContext) -> StageResult:
        return await work(replace(ctx, effort=Effort.QUICK))

    return rough


async def in_turn(ctx: SearchContext, works: Sequence[Work], label: str = "") -> StageResult:
    """Do the works one after another in the context's session; the label is told of them all."""
    notes, blueprint = ctx.notes, ctx.blueprint
    for work in works:
        result = await work(replace(ctx, blueprint=blueprint, notes=notes))
        blueprint, notes = result.blueprint, notes.joined(result.notes)
    return StageResult(blueprint, notes, label=label)


FIRST: tuple[Work, ...] = (found, *map(roughly, (main_supports, ascend, grow_tree, draft_gear)))
"""What a build begins with, in order: plain gear, supports, ascendancy, passives, then gear chosen together."""

AGAIN: tuple[Work, ...] = FIRST[-2:]
"""What of it depends on how the build is kept alive."""
