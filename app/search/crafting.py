"""One item by itself: the affixes and runes that help most, one after the other, on a given base."""

from __future__ import annotations

from dataclasses import replace

from app.core.errors import UnknownFact
from app.model.blueprint import Equip, GearItem
from app.search.base import SearchContext
from app.search.bases import usable
from app.search.gear_pool import Option, SlotPool, has_room, plain_item, slot_pool, with_option
from app.search.legality import slot_fits
from app.search.workbench import EPSILON, Workbench


async def crafted(ctx: SearchContext, bench: Workbench, slot: str, base_name: str) -> tuple[GearItem, list[str]]:
    """Return the best item found for the slot on the base, within the gear tier, and its lines.

    Raises:
        UnknownFact: the base does not exist, does not fit the slot or cannot be had by this character.
    """
    known = usable(await ctx.engine.facts.bases(), ctx)
    base = next((b for b in known if b.name.casefold() == base_name.casefold() and slot_fits(b, slot)), None)
    if base is None:
        raise UnknownFact(f"{base_name} does not exist, or does not fit {slot} of this character")
    pool = await slot_pool(replace(ctx, blueprint=bench.blueprint), slot, [base])
    item = plain_item(slot, base, pool.item_level)
    for required in sorted(pool.required):
        fact = pool.affixes[required]
        item = with_option(item, Option(slot, fact.side, fact.id), pool)
    while (better := await _better(bench, pool, item)) is not None:
        item = better
    lines = [line for roll in (*item.prefixes, *item.suffixes) for line in pool.affixes[roll.id].lines]
    return item, [*lines, *item.runes]


async def _better(bench: Workbench, pool: SlotPool, item: GearItem) -> GearItem | None:
    """Return the item with the addition that helps most, None when none helps or nothing more fits."""
    options = [option for option in pool.options() if _fits(option, item, pool)]
    items = [with_option(item, option, pool) for option in options]
    gains = await bench.gains([[Equip(item=one)] for one in (item, *items)])
    best = max(range(1, len(gains)), key=lambda i: (gains[i], -i), default=0)
    return items[best - 1] if best and gains[best] > gains[0] + EPSILON else None


def _fits(option: Option, item: GearItem, pool: SlotPool) -> bool:
    if option.kind == "base":
        return False
    if option.kind == "rune":
        return len(item.runes) < item.sockets and item.base in pool.runes[option.id]
    return len(item.prefixes) + len(item.suffixes) < pool.total and has_room(item, option, pool)
