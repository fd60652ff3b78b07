"""All that a build wears: plain bases to start with, flasks and charms, then the joint choice over all slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.knowledge.named import named_in
from app.knowledge.weapons import word_of
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.blueprint import (
    CHARM_SLOTS,
    JEWEL_SLOT,
    MAIN_HAND,
    OFF_HAND,
    AffixRoll,
    Blueprint,
    Change,
    Equip,
    GearItem,
    Unequip,
)
from app.model.construction import StageNotes
from app.model.facts import BaseFact
from app.model.names import Demand
from app.model.stats import DPS
from app.search.base import SearchContext, StageResult
from app.search.effort import LIMITS
from app.search.gear.bases import (
    ARMOUR_SLOTS,
    FLASK_SLOTS,
    JEWEL_BASES,
    JEWELLERY_SLOTS,
    TWO_HANDED,
    armour_options,
    best_first,
    charm_slots,
    jewellery_options,
    named_rings,
    usable,
    weapon_pairs,
)
from app.search.gear.pool import SlotPool, best_tiers, plain_item, slot_pool, wording
from app.search.gear.search import GearSearch, UniqueSelection, as_item, measured_alone, wearable
from app.search.gear.unique_jewels import alike_anywhere, holds_named
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.attributes import AttributeSearch
from app.search.passives.graph import main_graph, way_for_hands
from app.search.skills.gems import mentions
from app.search.skills.secondary import usable_with


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
    items += [plain_item(slot, base, level) for slot, base in held.items()]
    named = await named_uniques(ctx)
    taken = await taken_slots(ctx, named)
    items = [*(item for item in items if item.slot not in taken), *named]
    gear = [slot for slot in sorted(ctx.blueprint.items) if not slot.startswith(("Flask", "Charm", JEWEL_SLOT))]
    empty = [slot for slot in gear if slot not in {item.slot for item in items}]
    return [*(Unequip(slot=slot) for slot in empty), *(Equip(item=item) for item in items)]


def _first_of(options: dict[str, list[BaseFact]]) -> dict[str, BaseFact]:
    return {slot: bases[0] for slot, bases in options.items() if bases}


async def _slot_bases(ctx: SearchContext, bases: Sequence[BaseFact]) -> dict[str, list[BaseFact]]:
    """Return the bases that compete for each slot of armour and jewellery, the best first."""
    mitigation = ctx.plan.survivability.mitigation
    found = {slot: armour_options(bases, slot, mitigation) for slot in ARMOUR_SLOTS}
    rings = named_rings(bases, ctx)
    return found | {slot: jewellery_options(bases, slot) for slot in JEWELLERY_SLOTS} | rings


async def _best_hands(
    ctx: SearchContext, bases: Sequence[BaseFact], others: Sequence[Change]
) -> dict[str, list[BaseFact]]:
    """Return the bases for both hands: the way to arm that deals most damage, the plan's order between equals."""
    skill = {gem.id: gem for gem in await ctx.engine.facts.gems()}.get(ctx.plan.delivery.skill_id)
    # a base that the user named but the main skill cannot be used with is left alone
    any_base = usable(await ctx.engine.facts.bases(), ctx, as_named=False)
    large = bool(await way_for_hands(ctx))
    ways = weapon_pairs(ctx, bases, skill, large) or weapon_pairs(ctx, any_base, skill, large)
    if not ways:
        return {}
    level = ctx.demands.floors.gear.max_affix_level
    trials = [(way, base) for way in ways for base in way.main]
    candidates: list[list[Change]] = []
    for way, base in trials:
        off = Equip(item=plain_item(OFF_HAND, way.off[0], level)) if way.off else Unequip(slot=OFF_HAND)
        candidates.append([*others, Equip(item=plain_item(MAIN_HAND, base, level)), off])
    damage = [outputs.get(DPS, 0.0) for outputs in await ctx.session.what_if(candidates, [DPS])]
    best = max(range(len(trials)), key=lambda index: (damage[index], -index))
    way = trials[best][0]
    first = [base for index, (_, base) in enumerate(trials) if index == best]
    main = first + [base for base in way.main if base != first[0]]
    return {MAIN_HAND: main, OFF_HAND: list(way.off)}


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
    # The amulet is anointed when all else is chosen: until then no other one would be compared fairly with it.
    if anointed := [item for item in ctx.blueprint.items.values() if item.anoint]:
        await incumbent.commit([Equip(item=changed(item, anoint="")) for item in anointed])
    await incumbent.learn_requirements()
    before, old_score = incumbent.blueprint, incumbent.score
    pools = await pools_of(ctx)
    named = await named_uniques(ctx)
    gone: list[Change] = [Unequip(slot=slot) for slot in sorted(await taken_slots(ctx, named)) if slot in before.items]
    worn_first = (
        [*gone, *(Equip(item=item) for item in named)] if any(i not in before.items.values() for i in named) else []
    )
    await incumbent.commit([*worn_first, *plainly(incumbent.blueprint, pools)])
    limits = LIMITS[ctx.effort]
    await AttributeSearch(incumbent, await main_graph(ctx), limits.at_once).run()
    search = GearSearch(incumbent, pools, unwanted(ctx), limits.gear_gap)
    await search.start()
    sockets = [pool.slot for pool in search.pools if pool.slot.startswith(JEWEL_SLOT)]
    uniques = await wearable(ctx, search.pools) if limits.uniques else []
    uniques += await alike_anywhere(ctx, incumbent, sockets) if limits.uniques else []
    known, alone = await measured_alone(incumbent, uniques)
    await search.craft(limits.gear_rounds if thorough else limits.gear_again)
    selection = UniqueSelection(search, known, alone)
    if known:
        await selection.run(ctx.demands.floors.gear.max_uniques)
    if thorough and selection.worn:
        await search.recraft(limits.gear_again)
    if thorough:
        await search.exchange()
    crafted = any(item.rarity == "RARE" and (item.prefixes or item.suffixes) for item in before.items.values())
    if incumbent.score < old_score - EPSILON and crafted and not worn_first:
        await incumbent.rewind(before)
    bases = usable(await ctx.engine.facts.bases(), ctx)
    await incumbent.commit(await charm_changes(ctx, bases, incumbent.blueprint.items))
    worn = sorted(item.title for item in incumbent.blueprint.items.values() if item.rarity == "UNIQUE")
    label = f"{len(pools)} items, {incumbent.trials} trials; uniques: {', '.join(worn) or 'none that helps'}"
    return StageResult(incumbent.blueprint, StageNotes(gear_made=True), label=label)


async def pools_of(ctx: SearchContext) -> list[SlotPool]:
    """Return the pools of all slots that are worn, and of the jewel sockets that are allocated, in a fixed order.

    A socket with a jewel that the user named has none.
    """
    bases = usable(await ctx.engine.facts.bases(), ctx)
    options = await _slot_bases(ctx, bases)
    options |= await _best_hands(ctx, bases, [])
    jewels = sorted((b for b in bases if b.name in JEWEL_BASES), key=lambda base: base.name)
    sockets = {node.id for node in await ctx.engine.facts.nodes() if node.kind == "socket"}
    allocated = sorted(node.id for node in ctx.blueprint.nodes if node.id in sockets)
    allocated = [node for node in allocated if not holds_named(ctx, ctx.blueprint, f"{JEWEL_SLOT}{node}")]
    options |= {f"{JEWEL_SLOT}{node}": jewels for node in allocated}
    taken = await taken_slots(ctx, await named_uniques(ctx))
    pools = [
        await slot_pool(ctx, slot, options[slot]) for slot in sorted(options) if options[slot] and slot not in taken
    ]
    words = ctx.plan.scaling.keywords
    if LIMITS[ctx.effort].all_jewels or not words:
        return pools
    return [
        pool.without({key for key, fact in pool.affixes.items() if not mentions(fact.lines, words)})
        if pool.slot.startswith(JEWEL_SLOT)
        else pool
        for pool in pools
    ]


async def named_uniques(ctx: SearchContext) -> list[GearItem]:
    """Return the unique items that the user named and the character can wear, each in the first slot that is left.

    Left out: what is above the level, weapons that the main skill cannot be used with, jewels (they are put into
    sockets when there are any), and what a conflict wants gone for a line on it. Of one name the one that the engine
    reads best is taken.
    """
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    skill = next((gem for gem in await ctx.engine.facts.gems() if gem.id == ctx.plan.delivery.skill_id), None)
    needed = [words for words in (skill.weapon_types if skill else []) if not usable_with(words, frozenset({"Shield"}))]
    barred = {c.values.slot for c in ctx.plan.constraints if c.demand is Demand.REPLACE_ITEM and c.values.line}
    found: list[GearItem] = []
    for options in (await named_in(ctx.engine.facts, ctx.invariants)).uniques:
        for fact in sorted(options, key=lambda one: (one.unparsed, -one.level, one.base)):
            base = bases.get(fact.base)
            if (
                base is None
                or base.type == "Jewel"
                or max(fact.level, base.requirements.get("level", 0)) > ctx.demands.level
            ):
                continue
            held = frozenset({word_of(base)})
            suits = not needed or MAIN_HAND not in base.slots or any(usable_with(words, held) for words in needed)
            free = [slot for slot in base.slots if slot not in {*barred, *(item.slot for item in found)}]
            if free and suits:
                found.append(as_item(fact, free[0]))
                break
    return found


async def taken_slots(ctx: SearchContext, named: Sequence[GearItem]) -> frozenset[str]:
    """Return the slots of these items, and the other hand's where one takes both."""
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    large = any(item.slot == MAIN_HAND and bases[item.base].type in TWO_HANDED - {"Bow"} for item in named)
    both = large and not await way_for_hands(ctx)
    return frozenset({item.slot for item in named} | ({OFF_HAND} if both else set()))


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
    wished = [name for name in known if phrase(name) in {phrase(one) for one in ctx.invariants.listed("with")}]
    order = dict.fromkeys([*sorted(wished), *CHARM_PREFERENCE])
    chosen = [known[name] for name in order if name in known][: min(slots, len(CHARM_SLOTS))]
    return [await _magic(ctx, slot, base, CHARM_LINES) for slot, base in zip(CHARM_SLOTS, chosen, strict=False)]


async def charm_changes(ctx: SearchContext, bases: Sequence[BaseFact], worn: Mapping[str, GearItem]) -> list[Change]:
    """Return the changes that fill the charm slots of the worn belt and empty those that it does not have."""
    belt = worn.get("Belt")
    base = next((base for base in bases if belt is not None and base.name == belt.base), None)
    wanted = {item.slot: item for item in await charms(ctx, bases, charm_slots(base))}
    unique = {item.slot: item for item in await named_uniques(ctx) if item.slot in CHARM_SLOTS}
    wanted |= unique
    gone: list[Change] = [Unequip(slot=slot) for slot in CHARM_SLOTS if slot in worn and slot not in wanted]
    return [*gone, *(Equip(item=item) for slot, item in sorted(wanted.items()) if worn.get(slot) != item)]


async def _magic(ctx: SearchContext, slot: str, base: BaseFact, wanted: Sequence[str]) -> GearItem:
    """Return the item with the best tier of each wanted line that the gear tier allows; plain without any.

    It is not switched on: an engine takes what is on as always on, and pays for "while using a charm" all the time.
    """
    limits = ctx.demands.floors.gear
    item = changed(plain_item(slot, base, limits.max_affix_level), active=False)
    tiers = best_tiers(await ctx.engine.facts.affixes(base.name), limits.max_affix_level)
    chosen = {fact.side: fact.id for fact in tiers if wording(fact.lines) in wanted}
    if not chosen:
        return item
    rolls = {f"{side}es": [AffixRoll(id=name)] for side, name in sorted(chosen.items())}
    return changed(item, rarity="MAGIC", **rolls)
