"""Which unique items a build may wear, and in which slots they compete."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from app.model.blueprint import JEWEL_SLOT, GearItem
from app.model.facts import BaseFact, UniqueFact
from app.search.base import SearchContext
from app.search.gear_pool import SlotPool
from app.search.legality import slot_fits, unobtainable

WEAPON_SLOTS = ("Weapon 1", "Weapon 2")
LEAST_SPEED = 15
"""Percent of movement speed below which boots are no boots."""

_SPEED = re.compile(r"(\d+)% increased Movement Speed$")
_OTHER_DAMAGE = re.compile(r"damage converted to|you deal no|deal no ", re.IGNORECASE)
_EXCLUDED = "unique"


async def wearable(ctx: SearchContext, pools: Sequence[SlotPool]) -> list[GearItem]:
    """Return the unique items that may be worn, one per slot it fits, sorted by slot and name.

    Left out: what is above the character's level or cannot be got at the tier, what the engine reads only in part,
    boots without speed, weapons of another kind than the build's, what changes the damage type, and all of them where
    the tier or the user allows none.
    """
    if ctx.floors.gear.max_uniques == 0 or refused(ctx):
        return []
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    facts = [
        fact
        for fact in await ctx.engine.facts.uniques()
        if _is_sound(fact, bases, ctx.level) and unobtainable(fact, ctx.floors.gear) is None
    ]
    found = [
        as_item(fact, pool.slot)
        for pool in pools
        for fact in facts
        if not pool.slot.startswith(JEWEL_SLOT) and _competes(fact, bases[fact.base], pool)
    ]
    return sorted(found, key=lambda item: (item.slot, item.title, item.base))


def refused(ctx: SearchContext) -> bool:
    """Return whether the user wants no unique items."""
    excluded = ctx.invariants.get("exclude")
    words = excluded if isinstance(excluded, list) else [excluded]
    return any(str(word).casefold().startswith(_EXCLUDED) for word in words)


def as_item(fact: UniqueFact, slot: str) -> GearItem:
    """Return the unique as an item in the slot."""
    return GearItem(slot=slot, base=fact.base, rarity="UNIQUE", title=fact.name, text=fact.text)


def _is_sound(fact: UniqueFact, bases: Mapping[str, BaseFact], level: int) -> bool:
    base = bases.get(fact.base)
    if base is None or fact.unparsed or max(fact.level, base.requirements.get("level", 0)) > level:
        return False
    return not any(_OTHER_DAMAGE.search(line) for line in fact.lines)


def _competes(fact: UniqueFact, base: BaseFact, pool: SlotPool) -> bool:
    if not slot_fits(base, pool.slot):
        return False
    if pool.slot in WEAPON_SLOTS and not _same_kind(base, pool.bases.values()):
        return False
    return pool.slot != "Boots" or _speed(fact) >= LEAST_SPEED


def _same_kind(base: BaseFact, others: Iterable[BaseFact]) -> bool:
    """A shield may be of another mix of defences; a staff for casting is no quarterstaff."""
    exact = base.type == "Staff"
    return any(base.type == other.type and (not exact or base.sub_type == other.sub_type) for other in others)


def _speed(fact: UniqueFact) -> int:
    return max((int(match[1]) for line in fact.lines if (match := _SPEED.search(line))), default=0)
