"""The stages about passives: ascendancy, tree, polishing, attributes, and the finishing sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.engine.base import Outputs
from app.knowledge.named import named_in
from app.knowledge.roles import SECOND
from app.knowledge.uniques import helps_at_times
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, Change, SetGroup
from app.model.construction import OtherTree, StageNotes
from app.model.facts import NodeFact
from app.model.groups import GroupRole
from app.model.names import Effort
from app.model.stats import DPS, EHP
from app.search.base import SearchContext, StageResult
from app.search.effort import LIMITS
from app.search.gear.anoint import anoint
from app.search.gear.jewels import JewelChoice, JewelSearch, JewelSockets
from app.search.gear.unique_jewels import holds_named, named_jewels, seat_named
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import LEFT_TO_GEAR, Objective, objective_for
from app.search.passives.ascendancy import AscendancySelection
from app.search.passives.attributes import AttributeSearch
from app.search.passives.effects import Sockets
from app.search.passives.graph import (
    PassiveGraph,
    ascendancy_graph,
    main_graph,
    near_jewels,
    needed_passives,
    ordered,
    passive_points,
    reached,
    with_sockets,
)
from app.search.passives.large_moves import LargeMoves
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.passives.weapon_sets import for_second_skill
from app.search.skills.further import labelled, left_out, measured_roles, without_unpaid
from app.search.skills.gems import by_id
from app.search.stages.skills import named_skills

AIMS: Mapping[str, tuple[str, float, float]] = {
    "more damage": (DPS, 2.5, 1.0),
    "more effective hit points": (EHP, 1.0, 2.5),
}
"""By name, the number that must grow, and how much more damage and effective hit points count."""

WORTH_NAMING = 1.02
"""An alternative must raise its number at least this much."""

_NAMED = frozenset({"notable", "keystone", "socket"})


async def alternatives(search: TreeSearch) -> list[OtherTree]:
    """Return measured trees of the same cost that are better in one way and not chosen; the search's tree stays."""
    found: list[OtherTree] = []
    for aim in AIMS:
        variant = await search.variant(_aimed(search.incumbent.objective, aim))
        if variant is None or not _is_worth_naming(aim, variant[1], search.incumbent.outputs):
            continue
        draft, outputs = variant
        found.append(
            OtherTree(
                aim=aim,
                dps=outputs.get(DPS, 0.0),
                ehp=outputs.get(EHP, 0.0),
                given_back=_names(search.graph, search.owned - draft.owned),
                bought=_names(search.graph, draft.owned - search.owned),
                changes=search.changes_to(draft),
            )
        )
    return found


async def alternatives_now(incumbent: Incumbent, trees: Sequence[OtherTree]) -> list[OtherTree]:
    """Return those of the trees that can still be had, with what they come to now.

    They are better at their aim, as they were when they were found, and worth less as a whole.
    """
    found: list[OtherTree] = []
    for tree, now in zip(trees, await incumbent.outputs_of([tree.changes for tree in trees]), strict=True):
        aimed = _aimed(incumbent.objective, tree.aim)
        is_better = bool(now) and aimed.score(now) > aimed.score(incumbent.outputs)
        is_better = is_better and incumbent.objective.score(now) < incumbent.score
        if is_better and _is_worth_naming(tree.aim, now, incumbent.outputs):
            found.append(changed(tree, dps=now.get(DPS, 0.0), ehp=now.get(EHP, 0.0)))
    return found


def _aimed(objective: Objective, aim: str) -> Objective:
    _, damage, life = AIMS[aim]
    damage_weight, ehp_weight = objective.damage_weight * damage, objective.ehp_weight * life
    return replace(objective, damage_weight=damage_weight, ehp_weight=ehp_weight)


def _is_worth_naming(aim: str, other: Outputs, now: Outputs) -> bool:
    metric, _, _ = AIMS[aim]
    return other.get(metric, 0.0) >= WORTH_NAMING * now.get(metric, 0.0) > 0


def _names(graph: PassiveGraph, nodes: Iterable[int]) -> list[str]:
    return [graph.nodes[n].name for n in sorted(nodes) if graph.nodes[n].kind in _NAMED]


CHAOS_INOCULATION = "Chaos Inoculation"
"""Sets life to 1: never for a build whose pool is life, or that pays with life for something."""

LIFE_COST = "converted to life cost"
"""Pays with what a build on energy shield hardly recovers, and cannot pay at all once its life cannot change."""

PAID_WITH_LIFE = (LIFE_COST, "gain a base life cost")
"""What lines of passives say under which a skill takes life at each use."""


async def ascend(ctx: SearchContext, width: int | None = None) -> StageResult:
    """Spend the ascendancy points of the level; `width` sets are kept per point, None = as many as the effort has."""
    graph = await ascendancy_graph(ctx)
    incumbent = await _opened(ctx)
    if graph is None or ctx.demands.floors.ascendancy_points == 0:
        return StageResult(incumbent.blueprint, label="no ascendancy points")
    named = await _named(ctx)
    banned = await banned_nodes(ctx, graph)
    wanted = tuple(ctx.plan.ascendancy.notables)
    keywords, width = tuple(ctx.plan.scaling.keywords), width or LIMITS[ctx.effort].width
    search = AscendancySelection(incumbent, graph, wanted, keywords, banned, named, width)
    owned = await search.run(ctx.demands.floors.ascendancy_points)
    names = ", ".join(graph.nodes[n].name for n in sorted(owned) if graph.nodes[n].kind in ("notable", "keystone"))
    return StageResult(incumbent.blueprint, label=f"{ctx.plan.ascendancy.ascendancy}: {names}")


async def grow_tree(ctx: SearchContext) -> StageResult:
    """Spend the passive points; a tree that is there already is thought over as well."""
    search, _ = await spend(ctx, LIMITS[ctx.effort].growing)
    points = await passive_points(ctx, search.incumbent.blueprint)
    return StageResult(search.incumbent.blueprint, label=f"{search.spent} of {points} passive points spent")


async def spend(ctx: SearchContext, limits: TreeLimits) -> tuple[TreeSearch, frozenset[int]]:
    """Spend the level's points and trade them; return the search and what trades have bought."""
    search = await tree_search(ctx, await _opened(ctx), limits)
    await search.fit(await passive_points(ctx, search.incumbent.blueprint))
    before = search.owned
    await search.improve()
    return search, search.owned - before


async def _opened(ctx: SearchContext) -> Incumbent:
    """Return an incumbent that minds resistances and attributes once there is gear, which sees to most of them."""
    if not ctx.notes.gear_made:
        return await Incumbent.open(ctx, objective_for(ctx).without(*LEFT_TO_GEAR))
    incumbent = await Incumbent.open(ctx)
    await incumbent.learn_requirements()
    return incumbent


async def polish_tree(ctx: SearchContext) -> StageResult:
    """Give back the worst passives and spend the points better, now that gear and supports are known."""
    incumbent = await _opened(ctx)
    jewel = await JewelSearch(ctx, incumbent, await main_graph(ctx)).best()
    search = await tree_search(ctx, incumbent, LIMITS[ctx.effort].polishing, JewelSockets(incumbent, jewel))
    await search.fit(await passive_points(ctx, search.incumbent.blueprint))
    helped = await LargeMoves(search, search.limits.moves).improve()
    await seat_named(ctx, incumbent)
    jewels = sum(1 for slot in incumbent.blueprint.items if slot.startswith(JEWEL_SLOT))
    return StageResult(incumbent.blueprint, label=f"passive tree improved {helped} times, {jewels} jewels")


async def trade_passives(ctx: SearchContext) -> StageResult:
    """Trade passives once more for the gear that was fitted to them: it gives what some of them were taken for.

    Not where the engine estimates: there a normal build came out above a deep one, which stays where it is.
    """
    if ctx.engine.version.estimate:
        return StageResult(ctx.blueprint, label="passives stay: the engine estimates")
    search, new = await spend(ctx, LIMITS[ctx.effort].trading)
    label = f"better passives: {', '.join(_names(search.graph, new)) or 'small ones'}" if new else "no better passives"
    notes = StageNotes(tree_alternatives=await alternatives(search))
    return StageResult(search.incumbent.blueprint, notes, label=label)


async def settle_attributes(ctx: SearchContext) -> StageResult:
    """Let attribute passives give what requirements and support colours need."""
    incumbent = await Incumbent.open(ctx)
    met = await AttributeSearch(incumbent, await main_graph(ctx)).run()
    return StageResult(
        incumbent.blueprint, label="all attribute requirements met" if met else "attribute requirements not all met"
    )


async def finish(ctx: SearchContext) -> StageResult:
    """Drop gems without effect, spend points that are left, settle attributes, choose jewels, anoint, put in order."""
    incumbent = await Incumbent.open(ctx)
    inspection = await incumbent.learn_requirements()
    idle = {(finding.group, finding.gem) for finding in inspection.idle_gems if finding.gem > 1}
    changes: list[Change] = []
    for index in sorted({group for group, _ in idle}):
        group = incumbent.blueprint.groups[index - 1]
        kept = [gem for place, gem in enumerate(group.gems, start=1) if (index, place) not in idle]
        changes.append(SetGroup(index=index, group=changed(group, gems=kept)))
    if changes:
        await incumbent.commit(changes)
    unpaid = await without_unpaid(incumbent, inspection, {fact.id for fact in await named_skills(ctx)})
    search = await tree_search(ctx, incumbent, LIMITS[ctx.effort].polishing)
    await search.fit(await passive_points(ctx, search.incumbent.blueprint))
    await AttributeSearch(incumbent, search.graph, LIMITS[ctx.effort].at_once).run()
    await seat_named(ctx, incumbent)
    jewels = await JewelChoice(ctx, incumbent, LIMITS[ctx.effort].jewels).run()
    anointed = await anoint(ctx, incumbent, await banned_nodes(ctx, search.graph))
    # neither order nor labels change a figure, and what is built is measured once more in a session of its own
    facts = by_id(await ctx.engine.facts.gems())
    blueprint = ordered(incumbent.blueprint, await search.levelling())
    roles = await measured_roles(ctx.session, blueprint, facts, ctx.demands.goal)
    incumbent.blueprint = labelled(blueprint, roles)
    notes = StageNotes(weapon_sets=await both_sets(ctx, incumbent, search.graph, roles))
    done = [f"{len(idle)} idle supports dropped"] if idle else []
    done += left_out(unpaid)
    done += [f"{jewel.title or jewel.base} put into a socket" for jewel in jewels]
    done += [f"amulet anointed with {anointed}"] if anointed else []
    return StageResult(incumbent.blueprint, notes, label=", ".join(done) or "nothing left to do")


async def both_sets(ctx: SearchContext, incumbent: Incumbent, graph: PassiveGraph, roles: Sequence[GroupRole]) -> str:
    """Spend weapon-set points for a second damage skill where that gains; say what came of it, or why it does not."""
    points = ctx.demands.floors.weapon_set_points
    if not points:
        return "There are no weapon-set points at this level: quests give them."
    alike = f"The {points} weapon-set points are spent as plain points, in both sets alike: "
    index = next((i for i, role in enumerate(roles, start=1) if role in SECOND), 0)
    hands = [item for slot, item in incumbent.blueprint.items.items() if slot in HAND_SLOTS]
    if ctx.effort is Effort.QUICK:
        return f"{alike}quick effort tries nothing else."
    if not index:
        return f"{alike}there is no second damage skill that could use others."
    if any(item.rarity == "UNIQUE" for item in hands):
        return f"{alike}weapon set 2 would need a second one of a unique item."
    second, name = incumbent.blueprint.groups[index - 1], incumbent.blueprint.groups[index - 1].gems[0].name
    found = await for_second_skill(incumbent, graph, index, points, await banned_nodes(ctx, graph))
    if found is None:
        return f"{alike}{name} gains too little from others of its own."
    before, warned = dict(incumbent.outputs), (await incumbent.session.inspect()).warnings
    labels = [
        changed(second, label=f"{second.label.rstrip(')')}, weapon set 2)") if group is second else group
        for group in found.blueprint.groups
    ]
    plain = incumbent.blueprint
    await incumbent.rewind(changed(found.blueprint, groups=labels))
    new = [line for line in (await incumbent.session.inspect()).warnings if line not in warned]
    if new or any(abs(incumbent.outputs.get(key, 0.0) - value) > EPSILON for key, value in before.items()):
        await incumbent.rewind(plain)
        return f"{alike}with a weapon in set 2 the engine calculates set 1 otherwise."
    main = incumbent.blueprint.main
    return (
        f"{found.points} passives are weapon set 1's own, for {main.gems[0].name if main else 'the main skill'}; "
        f"{found.points} others are weapon set 2's, for {name}, which deals {found.after:,.0f} damage per second with "
        f"them and {found.before:,.0f} without. Weapon set 2 holds a second weapon like the first."
    )


async def tree_search(
    ctx: SearchContext, incumbent: Incumbent, limits: TreeLimits, sockets: Sockets | None = None
) -> TreeSearch:
    """Return the search over the incumbent's passives: what is named is secured, what is excluded never bought."""
    graph, named, points = await main_graph(ctx), await _named(ctx), await passive_points(ctx, incumbent.blueprint)
    banned = await banned_nodes(ctx, graph)
    held = _held_sockets(ctx, incumbent, graph)
    wanted = with_sockets(graph.without(banned), named, held, len(await named_jewels(ctx)), points)
    targets, _ = reached(graph.without(banned), wanted, points)
    return TreeSearch(
        incumbent,
        graph,
        ctx.plan.scaling.keywords,
        banned,
        targets,
        near_jewels(graph, incumbent.blueprint),
        limits=limits,
        sockets=sockets or JewelSockets(incumbent, None),
    )


def _held_sockets(ctx: SearchContext, incumbent: Incumbent, graph: PassiveGraph) -> list[int]:
    """Return the allocated jewel sockets, first those with a jewel that the user named."""
    held = [n.id for n in incumbent.blueprint.nodes if n.id in graph.nodes and graph.nodes[n.id].kind == "socket"]
    return sorted(held, key=lambda n: (not holds_named(ctx, incumbent.blueprint, f"{JEWEL_SLOT}{n}"), n))


async def _named(ctx: SearchContext) -> tuple[frozenset[int], ...]:
    """Return per passive that the user named, or the skill needs, the ids that fulfil it and that may stay."""
    named, gone = await named_in(ctx.engine.facts, ctx.invariants), set(ctx.plan.scaling.excluded_nodes)
    found = [frozenset(node.id for node in options if node.id not in gone) for options in named.passives]
    return tuple(ids for ids in (*found, *await needed_passives(ctx)) if ids)


async def banned_nodes(ctx: SearchContext, graph: PassiveGraph) -> frozenset[int]:
    """Return what is not to be had: passives that break the pool or help at times, unless named, and excluded ones."""
    pays = await _pays_with_life(ctx)
    broken = {n.id for n in graph.nodes.values() if _breaks(ctx, n, pays) or helps_at_times(n.mods)}
    return frozenset(broken | set(ctx.plan.scaling.excluded_nodes)).difference(*await _named(ctx))


async def _pays_with_life(ctx: SearchContext) -> bool:
    """Say whether skills beside the main one take life: trials see the main one's costs alone.

    A Blood Mage's curse stood in every figure while passives were traded for Chaos Inoculation; at the end it was lost.
    """
    owned, gems = {node.id for node in ctx.blueprint.nodes}, by_id(await ctx.engine.facts.gems())
    lines = [line.lower() for node in await ctx.engine.facts.nodes() if node.id in owned for line in node.mods]
    others = [group for group in ctx.blueprint.groups if group is not ctx.blueprint.main and group.enabled]
    led = [gems[group.gems[0].gem_id] for group in others if group.gems and group.gems[0].gem_id in gems]
    is_cast = any(not fact.spirit for fact in led)
    return is_cast and any(said in line for line in lines for said in PAID_WITH_LIFE)


def _breaks(ctx: SearchContext, node: NodeFact, pays_with_life: bool) -> bool:
    pool = ctx.plan.survivability.pool
    costs_life = any(LIFE_COST in line.lower() for line in node.mods)
    needs_life = pool == "life" or pays_with_life
    return (node.name == CHAOS_INOCULATION and needs_life) or (costs_life and pool == "energy_shield")
