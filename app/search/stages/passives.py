"""The stages about passives: ascendancy, tree, polishing, attributes, and the finishing sweep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from app.model.blueprint import JEWEL_SLOT, Change, SetGroup
from app.model.facts import NodeFact
from app.model.stats import DPS
from app.search.base import SearchContext, StageResult
from app.search.gear.jewels import JewelSearch, JewelSeats
from app.search.incumbent import Workbench
from app.search.objective import Guard, objective_for
from app.search.passives.ascendancy import AscendancySearch
from app.search.passives.atlas import Atlas, ascendancy_atlas, main_atlas
from app.search.passives.attributes import AttributeSearch
from app.search.passives.effects import Seats
from app.search.passives.tree import TreeLimits, TreeSearch, ordered

AIMS = (("more damage", DPS, 2.5, 1.0), ("more effective hit points", "TotalEHP", 1.0, 2.5))
"""Name, the number that must grow, and how much more damage and effective hit points count."""

WORTH_NAMING = 1.02
"""An alternative must raise its number at least this much."""

_NAMED = frozenset({"notable", "keystone", "socket"})


async def alternatives(search: TreeSearch) -> list[dict[str, Any]]:
    """Return measured trees of the same cost that are better in one way and not chosen; the search's tree stays.

    Each has `aim`, `dps` (per second), `ehp` (hit points), and the names of what is given back and bought.
    """
    found: list[dict[str, Any]] = []
    objective, now = search.bench.objective, search.bench.outputs
    for aim, metric, damage, life in AIMS:
        damage_weight, ehp_weight = objective.damage_weight * damage, objective.ehp_weight * life
        variant = await search.variant(replace(objective, damage_weight=damage_weight, ehp_weight=ehp_weight))
        if variant is None or variant[1].get(metric, 0.0) < WORTH_NAMING * now.get(metric, 0.0):
            continue
        owned, outputs = variant
        found.append(
            {
                "aim": aim,
                "dps": outputs.get(DPS, 0.0),
                "ehp": outputs.get("TotalEHP", 0.0),
                "without": _names(search.atlas, search.owned - owned),
                "with": _names(search.atlas, owned - search.owned),
            }
        )
    return found


def _names(atlas: Atlas, nodes: Iterable[int]) -> list[str]:
    return [atlas.nodes[n].name for n in sorted(nodes) if atlas.nodes[n].kind in _NAMED]


CHAOS_INOCULATION = "Chaos Inoculation"
"""Sets life to 1: never for a build whose pool is life."""

LIFE_COST = "converted to life cost"
"""Pays with what a build on energy shield hardly recovers, and cannot pay at all once its life cannot change."""


GROWING = TreeLimits(trials=2000)
POLISHING = TreeLimits(reach=10, trials=4000)
"""Before there is gear a rough tree is enough; afterwards trades may look further than spending does."""

ALTERNATIVES = "tree_alternatives"
"""The note of trees that were not chosen: better in one way, worse in another."""


async def ascend(ctx: SearchContext) -> StageResult:
    """Spend the ascendancy points of the level."""
    atlas = await ascendancy_atlas(ctx)
    bench = await _opened(ctx)
    if atlas is None or ctx.floors.ascendancy_points == 0:
        return StageResult(bench.blueprint, label="no ascendancy points")
    banned = frozenset(ctx.plan.scaling.excluded_nodes)
    wanted = tuple(ctx.plan.ascendancy.notables)
    search = AscendancySearch(bench, atlas, wanted, tuple(ctx.plan.scaling.keywords), banned)
    owned = await search.run(ctx.floors.ascendancy_points)
    names = ", ".join(atlas.nodes[n].name for n in sorted(owned) if atlas.nodes[n].kind in ("notable", "keystone"))
    return StageResult(bench.blueprint, label=f"{ctx.plan.ascendancy.ascendancy}: {names}")


async def grow_tree(ctx: SearchContext) -> StageResult:
    """Spend the passive points; a tree that is there already is thought over as well."""
    bench = await _opened(ctx)
    search = await _search(ctx, bench, GROWING)
    await search.fit(ctx.floors.passive_points)
    await search.improve()
    return StageResult(bench.blueprint, label=f"{search.spent} of {ctx.floors.passive_points} passive points spent")


async def _opened(ctx: SearchContext) -> Workbench:
    """Return a workbench that minds resistances and attributes once there is gear, which sees to most of them."""
    if not ctx.notes.get("gear_made"):
        return await Workbench.open(ctx, objective_for(ctx).without(Guard.RESISTANCE, Guard.ATTRIBUTES))
    bench = await Workbench.open(ctx)
    await bench.learn_requirements()
    return bench


async def polish_tree(ctx: SearchContext) -> StageResult:
    """Give back the worst passives and spend the points better, now that gear and supports are known."""
    bench = await _opened(ctx)
    jewel = await JewelSearch(ctx, bench, await main_atlas(ctx)).best()
    search = await _search(ctx, bench, POLISHING, JewelSeats(bench, jewel))
    await search.fit(ctx.floors.passive_points)
    helped = await search.improve()
    jewels = sum(1 for slot in bench.blueprint.items if slot.startswith(JEWEL_SLOT))
    notes = {ALTERNATIVES: await alternatives(search)}
    return StageResult(bench.blueprint, notes, label=f"passive tree improved {helped} times, {jewels} jewels")


async def settle_attributes(ctx: SearchContext) -> StageResult:
    """Let attribute passives give what requirements and support colours need."""
    bench = await Workbench.open(ctx)
    met = await AttributeSearch(bench, await main_atlas(ctx)).run()
    return StageResult(
        bench.blueprint, label="all attribute requirements met" if met else "attribute requirements not all met"
    )


async def finish(ctx: SearchContext) -> StageResult:
    """Drop gems without effect, spend points that are left, settle attributes a last time, and put all in order."""
    bench = await Workbench.open(ctx)
    inspection = await bench.learn_requirements()
    idle = {(finding.group, finding.gem) for finding in inspection.idle_gems if finding.gem > 1}
    await _drop_gems(bench, idle)
    search = await _search(ctx, bench, POLISHING)
    await search.fit(ctx.floors.passive_points)
    await AttributeSearch(bench, search.atlas).run()
    order = await search.levelling()
    await bench.rewind(ordered(bench.blueprint, order))
    return StageResult(bench.blueprint, label=f"{len(idle)} idle supports dropped" if idle else "nothing left to do")


async def _drop_gems(bench: Workbench, idle: set[tuple[int, int]]) -> None:
    changes: list[Change] = []
    for index in sorted({group for group, _ in idle}):
        group = bench.blueprint.groups[index - 1]
        kept = [gem for place, gem in enumerate(group.gems, start=1) if (index, place) not in idle]
        changes.append(SetGroup(index=index, group=group.model_copy(update={"gems": kept})))
    if changes:
        await bench.commit(changes)


async def _search(ctx: SearchContext, bench: Workbench, limits: TreeLimits, seats: Seats | None = None) -> TreeSearch:
    atlas = await main_atlas(ctx)
    banned = banned_nodes(ctx, atlas)
    return TreeSearch(bench, atlas, ctx.plan.scaling.keywords, banned, limits=limits, seats=seats or _empty(bench))


def _empty(bench: Workbench) -> Seats:
    return JewelSeats(bench, None)


def banned_nodes(ctx: SearchContext, atlas: Atlas) -> frozenset[int]:
    """Return what is never bought: excluded passives, and keystones that break the plan's life pool."""
    broken = {n.id for n in atlas.nodes.values() if _breaks(ctx, n)}
    return frozenset(broken | set(ctx.plan.scaling.excluded_nodes))


def _breaks(ctx: SearchContext, node: NodeFact) -> bool:
    pool = ctx.plan.survivability.pool
    costs_life = any(LIFE_COST in line.lower() for line in node.mods)
    return (node.name == CHAOS_INOCULATION and pool == "life") or (costs_life and pool == "energy_shield")
