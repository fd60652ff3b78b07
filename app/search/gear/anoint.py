"""Which notable the amulet is anointed with: one that the tree has not, chosen by measurement when all else is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.knowledge.named import named_in
from app.model.base import changed
from app.model.blueprint import Allocate, Change, Equip, PassiveNode
from app.model.facts import NodeFact
from app.search.base import SearchContext
from app.search.effort import LIMITS
from app.search.gear.legality import can_anoint, can_pay, recipes_of
from app.search.incumbent import Incumbent
from app.search.skills.gems import mentions

AMULET = "Amulet"
FINALISTS = 3
"""Notables that are measured on the amulet itself, after all were measured as if they were allocated."""

LEAST_GAIN = 0.002
"""What emotions are spent for raises the score by this at least, a fifth of a percent of damage."""

SURVIVAL = ("maximum life", "energy shield", "armour", "evasion", "resistance", "damage taken", "block", "recover")
"""Words of lines that keep any character alive, beside the plan's own."""


async def anoint(ctx: SearchContext, incumbent: Incumbent, banned: frozenset[int]) -> str:
    """Anoint the amulet with the notable that raises the score most, and return its name; "" where none does.

    A notable that the user named and the tree does not reach goes before all others, whatever it gains. `banned`
    passives are none. What stands in the text of an imported item stays.
    """
    amulet = incumbent.blueprint.items.get(AMULET)
    if amulet is None or not ctx.demands.floors.gear.emotions or set(amulet.allocated) - {amulet.anoint}:
        return ""
    possible = await _possible(ctx, incumbent, banned)
    asked = await _asked(ctx, incumbent, possible)
    if amulet.anoint:
        await incumbent.commit([Equip(item=changed(amulet, anoint=""))])
    shortlist = [asked] if asked else await _best(ctx, incumbent, possible)
    ways: list[list[Change]] = [[Equip(item=changed(amulet, anoint=node.name))] for node in shortlist]
    gains = await incumbent.gains(ways)
    best = max(range(len(ways)), key=lambda index: (gains[index], -index), default=None)
    if best is None or (gains[best] <= LEAST_GAIN and not asked):
        return ""
    await incumbent.commit(ways[best])
    return shortlist[best].name


async def offers(ctx: SearchContext, incumbent: Incumbent, banned: frozenset[int]) -> list[tuple[str, Equip]]:
    """Return the most helpful notables for a worn amulet that is not anointed: name, and the change that does it."""
    amulet = incumbent.blueprint.items.get(AMULET)
    if amulet is None or amulet.allocated or not ctx.demands.floors.gear.emotions:
        return []
    found = await _best(ctx, incumbent, await _possible(ctx, incumbent, banned))
    return [(node.name, Equip(item=changed(amulet, anoint=node.name))) for node in found]


def renewed(ctx: SearchContext, slot: str, nodes: Iterable[NodeFact]) -> str:
    """Return what another amulet is anointed with in place of the worn one: the same, where that can be paid again."""
    worn = ctx.blueprint.items.get(slot)
    if slot != AMULET or worn is None or not worn.allocated:
        return ""
    return worn.allocated[0] if can_anoint(worn.allocated[0], recipes_of(nodes), ctx.demands.floors.gear) else ""


async def _possible(ctx: SearchContext, incumbent: Incumbent, banned: frozenset[int]) -> list[NodeFact]:
    owned, limits = {node.id for node in incumbent.blueprint.nodes}, ctx.demands.floors.gear
    known = recipes_of(await ctx.engine.facts.nodes()).values()
    return [node for node in known if node.id not in owned | banned and can_pay(node.recipe, limits)]


async def _asked(ctx: SearchContext, incumbent: Incumbent, possible: Sequence[NodeFact]) -> NodeFact | None:
    """Return the first notable that the user named, that is not allocated and that can be had in this way."""
    by_id, owned = {node.id: node for node in possible}, {node.id for node in incumbent.blueprint.nodes}
    for options in (await named_in(ctx.engine.facts, ctx.invariants)).passives:
        if not any(node.id in owned for node in options):
            found = [by_id[node.id] for node in options if node.id in by_id]
            if found:
                return found[0]
    return None


async def _best(ctx: SearchContext, incumbent: Incumbent, possible: Sequence[NodeFact]) -> list[NodeFact]:
    """Return those that gain most when they are allocated out of reach: the same effect, without making an item."""
    words = ctx.plan.scaling.keywords
    rank = {node.id: (-mentions(node.mods, words), -mentions(node.mods, SURVIVAL), node.id) for node in possible}
    tried = sorted(possible, key=lambda node: rank[node.id])[: LIMITS[ctx.effort].anoints]
    gains = await incumbent.gains([[Allocate(nodes=[PassiveNode(id=node.id)])] for node in tried])
    order = sorted(range(len(tried)), key=lambda index: (-gains[index], tried[index].id))
    return [tried[index] for index in order[:FINALISTS] if gains[index] > LEAST_GAIN]
