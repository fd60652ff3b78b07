"""Constraints of a child that is decided anew: what the parent's owner said holds unless it is said otherwise now."""

from __future__ import annotations

from app.model.invariants import InvariantSet, InvariantValue
from app.model.names import Provenance
from app.phases.base import PhaseContext

_REPLACED = {
    "class": ("ascendancy",),
    "skill": ("damage_type", "weapon", "style", "with"),
    "damage_type": ("skill",),
}
"""Fields of the parent that a new value of the key makes pointless."""


async def inherit(ctx: PhaseContext, found: InvariantSet, before: InvariantSet) -> InvariantSet:
    """Return the constraints with the parent's stated ones kept, made to fit by reading the prompt with them set."""
    stated = {i.field for i in found.invariants if i.provenance is Provenance.EXPLICIT}
    changed = {field for field in stated if before.get(field) != found.get(field)}
    dropped = stated | {other for field in changed for other in _REPLACED.get(field, ())}
    kept = {i.field: i for i in before.invariants if i.provenance is Provenance.EXPLICIT and i.field not in dropped}
    if not kept:
        return found
    overrides = {**{field: _value(i.value) for field, i in kept.items()}, **ctx.request.overrides}
    asked = ctx.request.model_copy(update={"overrides": overrides})
    again = await ctx.reasoner.extract(asked, ctx.engine)
    merged = [kept[i.field] if i.field in kept and kept[i.field].value == i.value else i for i in again.invariants]
    return again.model_copy(update={"invariants": merged})


def _value(value: InvariantValue) -> str | int | float | bool | list[str]:
    return "" if value is None else value
