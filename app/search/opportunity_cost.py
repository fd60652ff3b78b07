"""Opportunity cost: what each answer takes from which budget, and what one more unit would be worth.

The spending is read from the finished build; what one more unit would be worth is measured on it (`marginal_values`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.model.base import changed
from app.model.blueprint import (
    JEWEL_SLOT,
    Allocate,
    Blueprint,
    Change,
    Equip,
    GearItem,
    Gem,
    PassiveNode,
    SetGroup,
    SkillGroup,
)
from app.model.demands import Floors
from app.model.experiments import Spending
from app.model.facts import GemFact, NodeFact
from app.model.names import Attribute, SubProblemName
from app.model.stats import ATTRIBUTE_METRICS, DPS, EHP, FREE_SPIRIT, Inspection, Stats
from app.search.base import SearchContext
from app.search.gear.pool import SlotPool, has_room, slot_pool, with_option
from app.search.incumbent import Incumbent, required_attributes
from app.search.passives.graph import PassiveGraph, ascendancy_graph
from app.search.skills.gems import gem, support_slots, usable_level, with_supports

MOST_NODES = 160
"""Neighbouring passives tried for the worth of one more point; there are about a hundred."""

LEAST = 1e-4
"""A relative gain below this is none."""

_NAMES = {Attribute.STRENGTH: "Strength", Attribute.DEXTERITY: "Dexterity", Attribute.INTELLIGENCE: "Intelligence"}
Named = tuple[str, float, list[Change]]
"""What is tried: its name, the units it takes, and the changes."""


@dataclass(frozen=True)
class NextBest:
    """The best use of one more unit: its name and the relative gains in damage and effective hit points."""

    name: str
    damage: float
    life: float
    units: float = 1.0

    def of(self, metric: str) -> float:
        """Return the relative gain of the metric per unit."""
        return (self.damage if metric == DPS else self.life) / max(self.units, 1.0)


async def marginal_values(
    ctx: SearchContext, incumbent: Incumbent, graph: PassiveGraph | None, main: int
) -> dict[str, list[NextBest]]:
    """Return per budget the best uses of one more unit, best first by the better of both gains."""
    nodes = {node.id: node for node in await ctx.engine.facts.nodes()}
    own = await ascendancy_graph(ctx)
    return {
        "passive_points": await _passives(incumbent, graph, nodes) if graph is not None else [],
        "ascendancy_points": await _passives(incumbent, own, nodes) if own is not None else [],
        "support_slots": await _supports(ctx, incumbent, main),
        "spirit": await _persistent(ctx, incumbent),
        "jewel_sockets": await _tried(incumbent, _jewels(incumbent, nodes)),
        **await _lines(ctx, incumbent),
        **await _attributes(incumbent, nodes),
    }


async def _tried(incumbent: Incumbent, named: Sequence[Named]) -> list[NextBest]:
    outputs = await incumbent.outputs_of([changes for _, _, changes in named])
    pairs = zip(named, outputs, strict=True)
    found = _useful([_best(incumbent, name, tried, units) for (name, units, _), tried in pairs if tried])
    return sorted(found, key=lambda best: (-max(best.of(DPS), best.of(EHP)), best.name))


def _best(incumbent: Incumbent, name: str, tried: Mapping[str, float], units: float) -> NextBest:
    return NextBest(name, *relative_gains(incumbent.outputs, tried), units)


def _useful(found: Sequence[NextBest]) -> list[NextBest]:
    return [best for best in found if max(best.damage, best.life) > LEAST]


def relative_gains(base: Mapping[str, float], tried: Mapping[str, float]) -> tuple[float, float]:
    """Return by how much damage and effective hit points are higher with what was tried; 0 where there was none."""
    damage, life = (tried.get(key, 0.0) / base[key] - 1 if base.get(key, 0.0) > 0 else 0.0 for key in (DPS, EHP))
    return damage, life


async def _passives(incumbent: Incumbent, graph: PassiveGraph, nodes: Mapping[int, NodeFact]) -> list[NextBest]:
    """Try the notables and small passives next to the tree, and short ways to notables."""
    owned = frozenset(node.id for node in incumbent.blueprint.nodes if node.id in graph.nodes)
    routes = [r for r in graph.routes(owned, 3).values() if nodes[r.target].kind in ("notable", "normal", "attribute")]
    near = [r for r in routes if r.points == 1 or nodes[r.target].kind == "notable"]
    near = sorted(near, key=lambda r: (r.points, r.target))[:MOST_NODES]
    named: list[Named] = []
    for route in near:
        given = {node: Attribute.STRENGTH if nodes[node].kind == "attribute" else None for node in route.nodes}
        bought = [PassiveNode(id=node, attribute=attribute) for node, attribute in given.items()]
        named.append((nodes[route.target].name, float(route.points), [Allocate(nodes=bought)]))
    return await _tried(incumbent, named)


async def _supports(ctx: SearchContext, incumbent: Incumbent, main: int) -> list[NextBest]:
    """Try every support that the main skill takes in one more socket."""
    groups = incumbent.blueprint.groups
    group = incumbent.blueprint.group_at(main)
    if group is None or not group.gems:
        return []
    facts = {fact.id: fact for fact in await ctx.engine.facts.gems()}
    if group.gems[0].gem_id not in facts or facts[group.gems[0].gem_id].kind != "active":
        return []
    held = {g.gem_id for each in groups for g in each.gems}
    families = {facts[i].family for i in held if i in facts} - {None}
    offered = [facts[i] for i in await ctx.engine.facts.supports_for(group.gems[0].gem_id) if i in facts]
    usable = [
        f for f in offered if f.id not in held and f.family not in families and usable_level(f, ctx.demands.level) > 0
    ]
    named: list[Named] = [
        (f.name, 1.0, [SetGroup(index=main, group=with_supports(group, [*group.gems[1:], gem(f, ctx.demands.level)]))])
        for f in usable
        if not f.lineage
    ]
    return await _tried(incumbent, named)


async def _persistent(ctx: SearchContext, incumbent: Incumbent) -> list[NextBest]:
    """Try every persistent skill at the level the character can use; gains count per point of Spirit."""
    held = {g.gem_id for group in incumbent.blueprint.groups for g in group.gems}
    facts = [f for f in await ctx.engine.facts.gems() if f.kind == "active" and f.spirit > 0 and f.id not in held]
    index = len(incumbent.blueprint.groups) + 1
    named: list[Named] = []
    for fact in facts:
        if not fact.weapon_types and (level := usable_level(fact, ctx.demands.level)) > 0:
            group = SkillGroup(label=fact.name, gems=[Gem(gem_id=fact.id, name=fact.name, level=level)])
            named.append((fact.name, fact.spirit, [SetGroup(index=index, group=group)]))
    return await _tried(incumbent, named)


async def _lines(ctx: SearchContext, incumbent: Incumbent) -> dict[str, list[NextBest]]:
    """Try one more affix, and one more rune, on every item that was made here."""
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    affixes: list[Named] = []
    runes: list[Named] = []
    for slot, item in sorted(incumbent.blueprint.items.items()):
        if item.text is None and item.rarity == "RARE" and item.base in bases:
            pool = await slot_pool(ctx, slot, [bases[item.base]])
            runes += _further(item, pool, "rune")
            if not slot.startswith(JEWEL_SLOT):
                affixes += [*_further(item, pool, "prefix"), *_further(item, pool, "suffix")]
    found = {"affix_slots": affixes, "rune_sockets": runes}
    return {budget: await _tried(incumbent, named) for budget, named in found.items() if named}


def _further(item: GearItem, pool: SlotPool, kind: str) -> list[Named]:
    """Return the item with each one more of the kind that could be on it, were there room within the gear tier."""
    options = [o for o in pool.options() if o.kind == kind and (kind == "rune" or has_room(item, o, pool))]
    said = {o: o.id if kind == "rune" else "; ".join(pool.affixes[o.id].lines) for o in options}
    return [(f"{said[o]} ({item.slot})", 1.0, [Equip(item=with_option(item, o, pool))]) for o in options]


def _jewels(incumbent: Incumbent, nodes: Mapping[int, NodeFact]) -> list[Named]:
    """Return each different jewel but the unique ones once more, in a socket that is not allocated."""
    owned = {node.id for node in incumbent.blueprint.nodes}
    free = sorted(n.id for n in nodes.values() if n.kind == "socket" and n.ascendancy is None and n.id not in owned)
    worn = [item for slot, item in sorted(incumbent.blueprint.items.items()) if slot.startswith(JEWEL_SLOT)]
    common = [item for item in worn if item.rarity != "UNIQUE"]
    different = {(item.base, str(item.prefixes), str(item.suffixes), item.text): item for item in common}
    if not free:
        return []
    bought = Allocate(nodes=[PassiveNode(id=free[0])])
    slot = f"{JEWEL_SLOT}{free[0]}"
    return [
        (
            f"another {item.base} like that in {item.slot}",
            1.0,
            [bought, Equip(item=changed(item, slot=slot))],
        )
        for item in different.values()
    ]


async def _attributes(incumbent: Incumbent, nodes: Mapping[int, NodeFact]) -> dict[str, list[NextBest]]:
    """Try an attribute passive more, wherever it is; gains count per point of the attribute."""
    owned = {node.id for node in incumbent.blueprint.nodes}
    free = sorted(node.id for node in nodes.values() if node.kind == "attribute" and node.id not in owned)
    if not free:
        return {}
    changes: list[list[Change]] = [[Allocate(nodes=[PassiveNode(id=free[0], attribute=a)])] for a in Attribute]
    found = {}
    for attribute, tried in zip(Attribute, await incumbent.outputs_of(changes), strict=True):
        metric = ATTRIBUTE_METRICS[attribute]
        points = tried.get(metric, 0.0) - incumbent.outputs.get(metric, 0.0)
        best = _best(incumbent, f"{points:g} more {_NAMES[attribute]}", tried, points)
        found[attribute.value] = _useful([best]) if points > 0 else []
    return found


Q = SubProblemName
AFFIXES = {"RARE": 6, "MAGIC": 2}


def spending_of(
    blueprint: Blueprint, stats: Stats, inspection: Inspection, floors: Floors, gems: Mapping[str, GemFact], main: int
) -> dict[SubProblemName, list[Spending]]:
    """Return per question what its answer takes; `main`: the 1-based group whose damage counts."""

    def row(budget: str, spent: float, available: float | None) -> Spending:
        return Spending(budget=budget, spent=float(spent), available=None if available is None else float(available))

    used, told = inspection.points.get("used", 0), inspection.points.get("available", 0)
    points = floors.passive_points if used <= floors.passive_points else max(told, floors.passive_points)
    passives = row("passive_points", used, points)
    ascendancy = row("ascendancy_points", inspection.points.get("ascendancy_used", 0), floors.ascendancy_points)

    group = blueprint.group_at(main) or SkillGroup(gems=[])
    held = sum(1 for g in group.gems if g.gem_id in gems and gems[g.gem_id].kind == "support")
    supports = row("support_slots", held, max(held, support_slots(blueprint.level)))

    jewels = [item for slot, item in blueprint.items.items() if slot.startswith(JEWEL_SLOT)]
    worn = [item for slot, item in blueprint.items.items() if not slot.startswith(JEWEL_SLOT)]
    made = [item for item in worn if item.text is None and item.rarity in AFFIXES]
    lines = sum(len(item.prefixes) + len(item.suffixes) for item in made)
    affixes = row("affix_slots", lines, sum(AFFIXES[item.rarity] for item in made))
    socketed = [item for item in blueprint.items.values() if item.sockets]
    filled = sum(len([rune for rune in item.runes if rune != "None"]) for item in socketed)
    runes = row("rune_sockets", filled, sum(item.sockets for item in socketed))

    income = stats.get("ManaRegenRecovery") + stats.get("ManaLeechGainRate")
    mana = row("mana_per_second", round(stats.get("ManaPerSecondCost"), 1), round(income, 1))
    spirit = row("spirit", stats.get("Spirit") - stats.get(FREE_SPIRIT), stats.get("Spirit"))
    required = required_attributes(inspection)
    attributes = [row(a.value, required[a], stats.get(ATTRIBUTE_METRICS[a])) for a in Attribute]
    return {
        Q.ASCENDANCY: [ascendancy],
        Q.DAMAGE_DELIVERY: [supports],
        Q.DAMAGE_SCALING: [passives, supports, row("jewel_sockets", len(jewels), None)],
        Q.SURVIVABILITY: [passives, affixes, runes],
        Q.RESOURCE_SUSTAIN: [mana],
        Q.SPIRIT_ALLOCATION: [spirit],
        Q.STAT_REQUIREMENTS: [*attributes, affixes],
    }


def with_marginals(rows: Sequence[Spending], values: Mapping[str, Sequence[NextBest]], metric: str) -> list[Spending]:
    """Return the rows with the worth of one more unit, where it was measured.

    It is told for the metric, or for the other one where nothing more gains in it: a further jewel for defences is one.
    """
    found = []
    for row in rows:
        if row.budget not in values:
            found.append(row)
            continue
        told = {each: _highest(values[row.budget], each) for each in (metric, EHP if metric == DPS else DPS)}
        which = next((each for each, best in told.items() if best is not None), metric)
        best = told[which]
        marginal, next_best = (round(best.of(which), 6), best.name) if best else (0.0, "")
        found.append(changed(row, metric=which, marginal=marginal, next_best=next_best))
    return found


def _highest(values: Sequence[NextBest], metric: str) -> NextBest | None:
    """Return what gains most in the metric; None where nothing gains."""
    gaining = [best for best in values if best.of(metric) > 0]
    return min(gaining, key=lambda best: (-best.of(metric), best.name), default=None)
