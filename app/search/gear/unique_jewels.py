"""Unique jewels: which are worn, with which of the lines that they may have, and where named ones sit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf, isfinite

from app.knowledge.named import named_in
from app.knowledge.uniques import helps_at_times
from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, Blueprint, Equip, GearItem
from app.model.facts import UniqueFact
from app.search.base import SearchContext
from app.search.gear.legality import is_named, unobtainable
from app.search.gear.search import as_item
from app.search.incumbent import EPSILON, Incumbent

MOST_CHOSEN = 2
"""A jewel with more lines of choice than this that all serve a build is one that nobody finds."""

SHORT_LIST = 6
"""Lines of choice that are tried in every socket, after all were tried in one."""

PAID_WITH_A_LOSS = frozenset({"Flesh Crucible"})
"""Jewels whose lines of choice come in pairs, a good one and its price, which the engine does not know."""

_REACH = re.compile(r"allocate", re.IGNORECASE)
"""Stands in lines that change which passives there are to take: worth nothing until the tree is grown around them."""

_SKILL_LEVEL = re.compile(r"to Level of all (.+) Skills$")


async def named_jewels(ctx: SearchContext) -> list[list[UniqueFact]]:
    """Return per unique jewel that the user named its facts, one per base; what the engine does not calculate has none.

    Left out as well is what is above the character's level.
    """
    bases = {base.name for base in await ctx.engine.facts.bases() if base.type == "Jewel"}
    options = (await named_in(ctx.engine.facts, ctx.invariants)).uniques
    found = [[fact for fact in facts if fact.base in bases and fact.level <= ctx.demands.level] for facts in options]
    return [facts for facts in found if facts]


async def jewels_to_try(ctx: SearchContext) -> list[UniqueFact]:
    """Return the unique jewels that may be worn for what they do, sorted by name and base.

    Left out: what the tier has not or the level does not allow, what the user excluded or named (that is worn anyway),
    what the engine does not read or reads without counting it, what helps only who is not hit, and what serves only a
    tree grown around it.
    """
    limits, excluded = ctx.demands.floors.gear, ctx.exclusions
    bases = {base.name: base for base in await ctx.engine.facts.bases() if base.type == "Jewel"}
    found = []
    for fact in await ctx.engine.facts.uniques():
        base = bases.get(fact.base)
        if base is None or fact.unparsed or fact.level > ctx.demands.level or unobtainable(fact, limits) is not None:
            continue
        if fact.chosen > MOST_CHOSEN or fact.name in PAID_WITH_A_LOSS or any(map(_REACH.search, fact.lines)):
            continue
        if helps_at_times(fact.lines):
            continue
        ruled_out = excluded.item(fact.name, base, unique=True, lines=fact.lines)
        if not ruled_out and not is_named(as_item(fact, JEWEL_SLOT), limits):
            found.append(fact)
    return sorted(found, key=lambda fact: (fact.name, fact.base))


async def alike_anywhere(ctx: SearchContext, incumbent: Incumbent, slots: Sequence[str]) -> list[GearItem]:
    """Return the unique jewels without a radius, for the first of the sockets: they do the same in every other.

    So they can be chosen together with all other gear, which pays for what they cost: a skill of a higher level costs
    more. None where the tier allows no uniques.
    """
    if not slots or ctx.demands.floors.gear.max_uniques == 0:
        return []
    facts = [fact for fact in await jewels_to_try(ctx) if not as_item(fact, JEWEL_SLOT).has_radius]
    return [item for fact in facts for item in await versions(incumbent, fact, sorted(slots)[:1])]


async def versions(incumbent: Incumbent, fact: UniqueFact, slots: Sequence[str]) -> list[GearItem]:
    """Return the jewel for each of the slots, with those of its lines of choice that are worth most there.

    Of lines that are worth the same, those come first that the engine shows it with; so of a jewel with more lines than
    anybody chooses from, none is tried.
    """
    if not fact.choices:
        return [as_item(fact, slot) for slot in slots]
    if fact.chosen > MOST_CHOSEN or not slots:
        return [_with(fact, [line for line in fact.choices if line in fact.text][: fact.chosen], s) for s in slots]
    shown = sorted(sensible(fact, incumbent.blueprint), key=lambda line: line not in fact.text.split("\n"))
    short = (await _best(incumbent, fact, slots[0], shown))[: max(SHORT_LIST, fact.chosen)]
    return [_with(fact, (await _best(incumbent, fact, slot, short))[: fact.chosen], slot) for slot in slots]


def sensible(fact: UniqueFact, blueprint: Blueprint) -> list[str]:
    """Return the lines of choice but for the levels of skills that the build does not have; all where none is left."""
    skills = {gem.name for group in blueprint.groups for gem in group.gems}
    found = [line for line in fact.choices if (skill := _SKILL_LEVEL.search(line)) is None or skill[1] in skills]
    return found or fact.choices


async def _best(incumbent: Incumbent, fact: UniqueFact, slot: str, lines: Sequence[str]) -> list[str]:
    """Return the lines, the one first that is worth most alone."""
    gains = await incumbent.gains([[Equip(item=_with(fact, [line], slot))] for line in lines])
    rank = [-round(gain / EPSILON) if isfinite(gain) else inf for gain in gains]
    return [lines[i] for i in sorted(range(len(lines)), key=lambda i: (rank[i], i))]


def _with(fact: UniqueFact, lines: Sequence[str], slot: str) -> GearItem:
    return changed(as_item(fact, slot), text=fact.text_with(lines))


async def allocated_sockets(ctx: SearchContext, blueprint: Blueprint) -> list[str]:
    """Return the slots of the allocated jewel sockets that hold no jewel which the user named, sorted."""
    sockets = {node.id for node in await ctx.engine.facts.nodes() if node.kind == "socket"}
    slots = [f"{JEWEL_SLOT}{node.id}" for node in sorted(blueprint.nodes, key=lambda n: n.id) if node.id in sockets]
    return [slot for slot in slots if not holds_named(ctx, blueprint, slot)]


def holds_named(ctx: SearchContext, blueprint: Blueprint, slot: str) -> bool:
    """Return whether the user named what the slot holds."""
    item = blueprint.items.get(slot)
    return item is not None and is_named(item, ctx.demands.floors.gear)


async def seat_named(ctx: SearchContext, incumbent: Incumbent) -> list[str]:
    """Put each unique jewel that the user named into the allocated socket where it measures best; return their names.

    It goes in whatever it costs, in place of a jewel that nobody named. One that sits in an allocated socket stays.
    """
    seated: list[str] = []
    for facts in await named_jewels(ctx):
        owned = {f"{JEWEL_SLOT}{node.id}" for node in incumbent.blueprint.nodes}
        worn = [item.title for slot, item in incumbent.blueprint.items.items() if slot in owned]
        slots = await allocated_sockets(ctx, incumbent.blueprint)
        if facts[0].name in worn or not slots:
            continue
        items = [item for fact in facts for item in await versions(incumbent, fact, slots)]
        gains = await incumbent.gains([[Equip(item=item)] for item in items])
        await incumbent.commit([Equip(item=items[max(range(len(items)), key=lambda i: (gains[i], -i))])])
        seated.append(facts[0].name)
    return seated
