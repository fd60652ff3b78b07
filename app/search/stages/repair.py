"""Mending: stages that repair what a conflict names and leave everything else as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.model.base import changed
from app.model.blueprint import MAIN_HAND, OFF_HAND, Blueprint, Change, Equip, Unequip
from app.model.construction import StageNotes
from app.model.names import Demand
from app.model.sub_problems import Constraint
from app.search.base import SearchContext, StageResult
from app.search.effort import LIMITS
from app.search.gear.bases import usable
from app.search.gear.loadout import charm_changes, flasks, named_uniques, plainly, pools_of, unwanted
from app.search.gear.pool import SlotPool
from app.search.gear.search import GearSearch
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.attributes import AttributeSearch
from app.search.passives.graph import PassiveGraph, Route, main_graph, passive

REACH = 12
"""Points within which passives that lost their connection are joined again."""


def newest(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return the local constraints of the last iteration that put any."""
    last = max((c.iteration for c in constraints), default=0)
    return [c for c in constraints if c.local and c.iteration == last]


async def mend_tree(ctx: SearchContext) -> StageResult:
    """Join passives that are not connected any more; those that are too far away are left out."""
    lost = {node for c in newest(ctx.plan.constraints) for node in c.values.nodes}
    graph = await main_graph(ctx)
    owned = frozenset(node.id for node in ctx.blueprint.nodes if node.id in graph.nodes)
    joined = reconnected(graph, owned - lost, owned & lost)
    kept = [node for node in ctx.blueprint.nodes if node.id not in lost or node.id in joined]
    new = graph.in_order(joined - owned, owned & joined)
    blueprint = changed(ctx.blueprint, nodes=[*kept, *(passive(ctx.blueprint, graph, n) for n in new)])
    await ctx.session.build(blueprint)
    label = f"{len(owned & lost & joined)} passives connected again through {len(new)}"
    return StageResult(blueprint, label=label if lost else "every passive is connected")


def reconnected(graph: PassiveGraph, linked: frozenset[int], lost: frozenset[int]) -> frozenset[int]:
    """Return the connected passives with as many of the lost ones as new ones are worth buying for.

    The shortest way first; a way that buys more than it brings back is not taken.
    """
    while True:
        found = [(_joined(graph, linked, lost, route), route) for route in graph.routes(linked, REACH).values()]
        gains = [
            (sum(node not in lost for node in route.nodes), -len(all_of), route.target, all_of)
            for all_of, route in found
        ]
        fine = [g for g in gains if g[2] in lost and len(lost & g[3]) - len(lost & linked) > g[0]]
        if not fine:
            return linked
        linked = min(fine)[3]


def _joined(graph: PassiveGraph, linked: frozenset[int], lost: frozenset[int], route: Route) -> frozenset[int]:
    return graph.connected(linked | lost | set(route.nodes)) if route.target in lost else linked


@dataclass(frozen=True)
class Damage:
    """What is wrong with gear: slots whose item must go, and slots that have room for more."""

    gone: frozenset[str]
    room: frozenset[str]

    @classmethod
    def of(cls, constraints: Iterable[Constraint]) -> Damage:
        """Read the slots off the constraints; a main hand is chosen together with its off hand."""
        gone: set[str] = set()
        room: set[str] = set()
        for constraint in constraints:
            room |= set(constraint.values.slots)
            if constraint.demand is Demand.REPLACE_ITEM and constraint.values.slot is not None:
                gone.add(constraint.values.slot)
        hands = {MAIN_HAND, OFF_HAND} if MAIN_HAND in gone else set()
        return cls(frozenset(gone | hands), frozenset(room - gone - hands))


async def mend_gear(ctx: SearchContext) -> StageResult:
    """Replace the items that must go and fill the places that are free; all other items stay."""
    damage = Damage.of(newest(ctx.plan.constraints))
    incumbent = await Incumbent.open(ctx)
    await incumbent.learn_requirements()
    await _commit(incumbent, await _emptied(ctx, damage, incumbent.blueprint))
    await AttributeSearch(incumbent, await main_graph(ctx)).run()
    before, score = incumbent.blueprint, incumbent.score
    pools = await _pools(replace(ctx, blueprint=incumbent.blueprint), damage)
    if pools:
        await incumbent.commit(plainly(incumbent.blueprint, pools))
        search = GearSearch(incumbent, pools, unwanted(ctx))
        await search.start()
        await search.craft(LIMITS[ctx.effort].gear_rounds)
        await search.exchange()
    if not damage.gone and incumbent.score < score - EPSILON:
        await incumbent.rewind(before)
    await _commit(
        incumbent, await charm_changes(ctx, usable(await ctx.engine.facts.bases(), ctx), incumbent.blueprint.items)
    )
    slots = ", ".join(pool.slot for pool in pools)
    label = f"mended: {slots}" if slots else "no item to mend"
    return StageResult(incumbent.blueprint, StageNotes(gear_made=True), label=label)


async def _commit(incumbent: Incumbent, changes: Sequence[Change]) -> None:
    if changes:
        await incumbent.commit(changes)


async def _emptied(ctx: SearchContext, damage: Damage, blueprint: Blueprint) -> list[Change]:
    """Return the changes that take off what must go, and put on flasks and named uniques that are missing."""
    gone: list[Change] = [Unequip(slot=slot) for slot in sorted(damage.gone) if slot in blueprint.items]
    named = await named_uniques(ctx)
    filled = [*await flasks(ctx, usable(await ctx.engine.facts.bases(), ctx)), *named]
    missing = [item for item in filled if item.slot in damage.gone or item.slot not in blueprint.items]
    return [*gone, *(Equip(item=item) for item in missing)]


async def _pools(ctx: SearchContext, damage: Damage) -> list[SlotPool]:
    """Return the pools of the slots to mend: everything for an item that goes, additions for one with room."""
    found = []
    for pool in await pools_of(ctx):
        if pool.slot in damage.gone:
            found.append(pool)
        elif pool.slot in damage.room:
            found.append(_keeping(pool, ctx.blueprint))
    return found


def _keeping(pool: SlotPool, blueprint: Blueprint) -> SlotPool:
    """Return the pool for an item that keeps its base and those of its affixes that the pool has."""
    item = blueprint.items.get(pool.slot)
    if item is None:
        return pool
    kept = {roll.id for roll in (*item.prefixes, *item.suffixes) if item.base in pool.hosts.get(roll.id, ())}
    groups = {pool.affixes[affix].group for affix in kept}
    required = {affix for affix in pool.required if pool.affixes[affix].group not in groups}
    bases = {item.base: pool.bases[item.base]} if item.base in pool.bases else pool.bases
    return replace(pool, bases=bases, required=frozenset(kept | required))
