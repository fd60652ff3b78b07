"""Flasks and charms: magic ones of the highest usable level, with the lines that help any build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.model.blueprint import CHARM_SLOTS, LIFE_FLASK, MANA_FLASK, AffixRoll, Change, Equip, GearItem, Unequip
from app.model.facts import BaseFact
from app.search.base import SearchContext
from app.search.gear.bases import best_first, charm_slots
from app.search.gear.pool import best_tiers, plain_item, wording

FLASK_SLOTS = {LIFE_FLASK: "Life", MANA_FLASK: "Mana"}
CHARM_PREFERENCE = ("Thawing Charm", "Stone Charm", "Staunching Charm", "Antidote Charm", "Dousing Charm")
"""Charms against what stops or kills a character at once. Charms of resistance are left out: they last seconds, and
the engine would count them as always there."""

FLASK_LINES = ("#% increased amount recovered", "gains # charges per second")
CHARM_LINES = ("#% increased duration", "gains # charges per second")
"""What flasks and charms should say, prefix and suffix: more of the same, and charges without killing."""


async def flasks(ctx: SearchContext, bases: Sequence[BaseFact]) -> list[GearItem]:
    """Return the best life and mana flask."""
    found = []
    for slot in sorted(FLASK_SLOTS):
        kind = [base for base in bases if slot in base.slots and base.sub_type == FLASK_SLOTS[slot]]
        found += [await _magic(ctx, slot, base, FLASK_LINES) for base in best_first(kind)[:1]]
    return found


async def charms(ctx: SearchContext, bases: Sequence[BaseFact], slots: int) -> list[GearItem]:
    """Return as many different charms as the belt has room for, the preferred ones first."""
    known = {base.name: base for base in bases if base.type == "Charm"}
    chosen = [known[name] for name in CHARM_PREFERENCE if name in known][: min(slots, len(CHARM_SLOTS))]
    return [await _magic(ctx, slot, base, CHARM_LINES) for slot, base in zip(CHARM_SLOTS, chosen, strict=False)]


async def charm_changes(ctx: SearchContext, bases: Sequence[BaseFact], worn: Mapping[str, GearItem]) -> list[Change]:
    """Return the changes that fill the charm slots of the worn belt and empty those that it does not have."""
    belt = worn.get("Belt")
    base = next((base for base in bases if belt is not None and base.name == belt.base), None)
    wanted = {item.slot: item for item in await charms(ctx, bases, charm_slots(base))}
    gone: list[Change] = [Unequip(slot=slot) for slot in CHARM_SLOTS if slot in worn and slot not in wanted]
    return [*gone, *(Equip(item=item) for slot, item in sorted(wanted.items()) if worn.get(slot) != item)]


async def _magic(ctx: SearchContext, slot: str, base: BaseFact, wanted: Sequence[str]) -> GearItem:
    """Return the item with the best tier of each wanted line that the gear tier allows; plain without any.

    It is not switched on: an engine takes what is on as always on, and pays for "while using a charm" all the time.
    """
    limits = ctx.demands.floors.gear
    item = plain_item(slot, base, limits.max_affix_level).model_copy(update={"active": False})
    tiers = best_tiers(await ctx.engine.facts.affixes(base.name), limits.max_affix_level)
    chosen = {fact.side: fact.id for fact in tiers if wording(fact.lines) in wanted}
    if not chosen:
        return item
    rolls = {f"{side}es": [AffixRoll(id=name)] for side, name in sorted(chosen.items())}
    return item.model_copy(update={"rarity": "MAGIC", **rolls})
