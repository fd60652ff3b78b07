"""Gear: plain bases to start with, then the joint choice of bases, affixes and runes over all slots."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.blueprint import JEWEL_SLOT, MAIN_HAND, OFF_HAND, Blueprint, Change, Equip, Unequip
from app.model.construction import StageNotes
from app.model.facts import BaseFact
from app.model.names import Demand
from app.model.stats import DPS
from app.search.base import SearchContext, StageResult
from app.search.gear.bases import (
    ARMOUR_SLOTS,
    JEWEL_BASES,
    JEWELLERY_SLOTS,
    armour_options,
    charm_slots,
    jewellery_options,
    usable,
)
from app.search.gear.exchange import ROUNDS, ROUNDS_AGAIN, GearSearch
from app.search.gear.flasks import charm_changes, charms, flasks
from app.search.gear.pool import SlotPool, plain_item, slot_pool
from app.search.gear.uniques import UniqueSearch, measured_alone, wearable
from app.search.gear.weapons import Hands, ways_to_arm
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.attributes import AttributeSearch
from app.search.passives.graph import main_graph


async def starting_gear(ctx: SearchContext) -> list[Change]:
    """Return changes that put plain items into every slot: the best bases for level, tier, plan and main skill."""
    bases = usable(await ctx.engine.facts.bases(), ctx)
    level = ctx.demands.floors.gear.max_affix_level
    worn = _first_of(await _slot_bases(ctx, bases))
    belt = worn.get("Belt")
    items = [plain_item(slot, base, level) for slot, base in worn.items()]
    items += await flasks(ctx, bases) + await charms(ctx, bases, charm_slots(belt))
    hands = await _best_hands(ctx, bases, [Equip(item=item) for item in items])
    held = _first_of(hands)
    empty = [slot for slot in sorted(ctx.blueprint.items) if slot not in {*worn, *held} and _is_gear(slot)]
    items += [plain_item(slot, base, level) for slot, base in held.items()]
    return [*(Unequip(slot=slot) for slot in empty), *(Equip(item=item) for item in items)]


def _is_gear(slot: str) -> bool:
    return not slot.startswith(("Flask", "Charm", JEWEL_SLOT))


def _first_of(options: dict[str, list[BaseFact]]) -> dict[str, BaseFact]:
    return {slot: bases[0] for slot, bases in options.items() if bases}


async def _slot_bases(ctx: SearchContext, bases: Sequence[BaseFact]) -> dict[str, list[BaseFact]]:
    """Return the bases that compete for each slot of armour and jewellery, the best first."""
    mitigation = ctx.plan.survivability.mitigation
    found = {slot: armour_options(bases, slot, mitigation) for slot in ARMOUR_SLOTS}
    return found | {slot: jewellery_options(bases, slot) for slot in JEWELLERY_SLOTS}


async def _best_hands(
    ctx: SearchContext, bases: Sequence[BaseFact], others: Sequence[Change]
) -> dict[str, list[BaseFact]]:
    """Return the bases for both hands: the way to arm that deals most damage, the plan's order between equals."""
    gems = {gem.id: gem for gem in await ctx.engine.facts.gems()}
    ways = ways_to_arm(ctx, bases, gems.get(ctx.plan.delivery.skill_id))
    if not ways:
        return {}
    level = ctx.demands.floors.gear.max_affix_level
    trials = [(way, base) for way in ways for base in way.main]
    candidates = [[*others, *_arming(way, base, level)] for way, base in trials]
    damage = [outputs.get(DPS, 0.0) for outputs in await ctx.session.what_if(candidates, [DPS])]
    best = max(range(len(trials)), key=lambda index: (damage[index], -index))
    way = trials[best][0]
    first = [base for index, (_, base) in enumerate(trials) if index == best]
    main = first + [base for base in way.main if base != first[0]]
    return {MAIN_HAND: main, OFF_HAND: list(way.off)}


def _arming(way: Hands, main: BaseFact, level: int) -> list[Change]:
    off = [Equip(item=plain_item(OFF_HAND, way.off[0], level))] if way.off else [Unequip(slot=OFF_HAND)]
    return [Equip(item=plain_item(MAIN_HAND, main, level)), *off]


async def draft_gear(ctx: SearchContext) -> StageResult:
    """Choose gear as `optimise_gear` does, but only well enough to see what the tree is worth with it.

    What comes after starts from plain items again, so polish would be lost.
    """
    return await optimise_gear(ctx, thorough=False)


async def optimise_gear(ctx: SearchContext, thorough: bool = True) -> StageResult:
    """Choose base, affixes and runes of every slot together, and jewels for the sockets that are allocated.

    Starts from plain items each time, so the result depends on the build and not on what it wore before; when that
    ends worse than what was worn, the old gear stays.
    """
    incumbent = await Incumbent.open(ctx)
    await incumbent.learn_requirements()
    before, old_score = incumbent.blueprint, incumbent.score
    pools = await pools_of(ctx)
    await incumbent.commit(plainly(incumbent.blueprint, pools))
    await AttributeSearch(incumbent, await main_graph(ctx)).run()
    await _dress(incumbent, GearSearch(incumbent, pools, unwanted(ctx)), ctx, thorough)
    if incumbent.score < old_score - EPSILON and _is_crafted(before):
        await incumbent.rewind(before)
    bases = usable(await ctx.engine.facts.bases(), ctx)
    await incumbent.commit(await charm_changes(ctx, bases, incumbent.blueprint.items))
    label = (
        f"{len(pools)} items, {incumbent.trials} trials; uniques: {_uniques(incumbent.blueprint) or 'none that helps'}"
    )
    return StageResult(incumbent.blueprint, StageNotes(gear_made=True), label=label)


async def _dress(incumbent: Incumbent, search: GearSearch, ctx: SearchContext, thorough: bool) -> None:
    """Craft, try unique items, and exchange single affixes."""
    await search.start()
    known, alone = await measured_alone(incumbent, await wearable(ctx, search.pools))
    await search.craft(ROUNDS if thorough else ROUNDS_AGAIN)
    uniques = UniqueSearch(search, known, alone)
    if known:
        await uniques.run(ctx.demands.floors.gear.max_uniques)
    if not thorough:
        return
    if uniques.worn:
        await search.recraft()
    await search.exchange()


def _uniques(blueprint: Blueprint) -> str:
    return ", ".join(sorted(item.title for item in blueprint.items.values() if item.rarity == "UNIQUE"))


def _is_crafted(blueprint: Blueprint) -> bool:
    return any(item.rarity == "RARE" and (item.prefixes or item.suffixes) for item in blueprint.items.values())


async def pools_of(ctx: SearchContext) -> list[SlotPool]:
    """Return the pools of all slots that are worn, and of all allocated jewel sockets, in a fixed order."""
    bases = usable(await ctx.engine.facts.bases(), ctx)
    options = await _slot_bases(ctx, bases)
    options |= await _best_hands(ctx, bases, [])
    jewels = sorted((b for b in bases if b.name in JEWEL_BASES), key=lambda base: base.name)
    options |= {f"{JEWEL_SLOT}{node}": jewels for node in await _sockets(ctx)}
    return [await slot_pool(ctx, slot, options[slot]) for slot in sorted(options) if options[slot]]


async def _sockets(ctx: SearchContext) -> list[int]:
    sockets = {node.id for node in await ctx.engine.facts.nodes() if node.kind == "socket"}
    return sorted(node.id for node in ctx.blueprint.nodes if node.id in sockets)


def plainly(blueprint: Blueprint, pools: Sequence[SlotPool]) -> list[Change]:
    """Return changes to plain items in every pool's slot: the base that is worn, or the pool's first."""
    changes: list[Change] = []
    for pool in pools:
        worn = blueprint.items.get(pool.slot)
        base = pool.bases.get(worn.base) if worn is not None else None
        changes.append(Equip(item=plain_item(pool.slot, base or next(iter(pool.bases.values())), pool.item_level)))
    return changes


def unwanted(ctx: SearchContext) -> dict[str, list[str]]:
    """Return per slot the lines that earlier conflicts asked to replace."""
    found: dict[str, list[str]] = {}
    for constraint in ctx.plan.constraints:
        slot, line = constraint.values.slot, constraint.values.line
        if constraint.demand is Demand.REPLACE_ITEM and slot is not None and line is not None:
            found.setdefault(slot, []).append(line)
    return found
