"""What a refinement's prompt asks for besides what is to become better: constraints, a figure to aim at, lost words."""

from __future__ import annotations

from collections.abc import Mapping

from app.model.base import changed
from app.model.constraints import Invariant, InvariantSet
from app.model.experiments import Direction, Wish
from app.model.names import Provenance
from app.model.stats import DPS, EHP
from app.phases.base import PhaseContext
from app.reasoning.base import RefineReading

LEAST_GAIN, MOST_GAIN = 0.01, 3.0
"""Bounds of what a refinement aims at, as a share of the parent's figure."""


def aimed(wish: Wish, said: InvariantSet, outputs: Mapping[str, float]) -> Wish:
    """Return the wish with the gain that a figure asked for takes; without another wish, that figure is the wish."""
    directions: tuple[tuple[Direction, str, str], ...] = (("damage", "dps", DPS), ("survivability", "ehp", EHP))
    for direction, field, metric in directions:
        now, target = outputs.get(metric, 0.0), said.get(field)
        if now > 0 and isinstance(target, (int, float)) and (wish.direction == direction or not wish.said):
            gain = min(MOST_GAIN, max(LEAST_GAIN, float(target) / now - 1.0))
            return changed(wish, direction=direction, gain=gain, said=True)
    return wish


async def said(ctx: PhaseContext, reading: RefineReading) -> InvariantSet:
    """Return what the prompt says outright, apart from what it keeps."""
    fields = ctx.request.overrides
    says_much = len(reading.rest) >= 3
    if not says_much and ctx.request.level is None and ctx.request.gear is None and not fields:
        return InvariantSet()
    asked = changed(ctx.request, prompt=reading.rest) if says_much else ctx.request
    found = await ctx.reasoner.extract(asked, ctx.engine)
    left = _LEFT_TO_LOCKS - set(fields)
    stated = [i for i in found.invariants if i.provenance is Provenance.EXPLICIT and i.field not in left]
    # What a refinement can wish for is no word of a new build's prompt.
    lost = [words for words in found.not_understood if says_much and not reading.covers(words)]
    return InvariantSet(invariants=stated, not_understood=lost)


_LEFT_TO_LOCKS = frozenset({"weapon", "defence", "style", "with", "content", "budget"})
"""Words of these fields in a refinement say what to improve, not what to be."""


def merged(before: InvariantSet, said: InvariantSet) -> InvariantSet:
    """Return the parent's constraints with what is said now in their place; nothing else changes."""
    new: Mapping[str, Invariant] = {i.field: i for i in said.invariants}
    kept = [new.get(i.field, i) for i in before.invariants]
    added = [i for i in said.invariants if before.find(i.field) is None]
    lost = list(dict.fromkeys([*before.not_understood, *said.not_understood]))
    return changed(before, invariants=[*kept, *added], not_understood=lost, question=None)
