"""The levers of passives: points that are left, exchanges of branches, attribute passives, ascendancy points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from app.model.blueprint import JEWEL_SLOT, Blueprint
from app.model.facts import NodeFact
from app.model.moves import Part
from app.search.passives.ascendancy import AscendancySelection
from app.search.passives.attributes import AttributeSearch
from app.search.passives.effects import Sockets
from app.search.passives.graph import PassiveGraph, ascendancy_graph
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.passives.weapon_sets import anchors
from app.search.refine.work import WORTHWHILE, Candidate, Work
from app.search.stages.passives import banned_nodes

MOST_ASTRAY = 0.1
"""With a larger share of passives that do not connect, the file's tree is another one than the engine's facts."""

SHOWN = 4
EXCHANGES = 4
LIMITS = TreeLimits(reach=6, rounds=3, chain=12, offers=16, shakes=(8, 16), trials=2500)
JEWEL_REACH = 2000.0
"""Tree units beyond which no radius jewel reaches."""


def loaded_graph(nodes: Sequence[NodeFact], start: int, owned: frozenset[int]) -> PassiveGraph | None:
    """Return the main tree as the owner of these passives sees it, None when his tree is another one.

    Passives that a jewel allows to be allocated apart from the tree are islands: owned, and leading nowhere.
    """
    main = [node for node in nodes if node.ascendancy is None]
    closed = {node.id for node in main if node.kind in ("start", "ascendancy_start") and node.id != start}
    graph = PassiveGraph(main, [start], closed)
    here = owned & graph.nodes.keys()
    astray = here - graph.connected(here)
    if len(astray) > MOST_ASTRAY * max(1, len(here)):
        return None
    islands = PassiveGraph(main, [start, *astray], closed)
    islands.neighbours = {
        node: () if node in astray else tuple(other for other in others if other not in astray)
        for node, others in islands.neighbours.items()
    }
    return islands


def near_radius_jewels(blueprint: Blueprint, graph: PassiveGraph) -> frozenset[int]:
    """Return the passives that a socketed jewel may reach: there, passives with the same text may differ."""
    spots = [slot.removeprefix(JEWEL_SLOT) for slot in blueprint.items if slot.startswith(JEWEL_SLOT)]
    sockets = [graph.nodes[int(spot)] for spot in spots if spot.isdigit() and int(spot) in graph.nodes]
    reached = {n.id for n in graph.nodes.values() for s in sockets if hypot(n.x - s.x, n.y - s.y) <= JEWEL_REACH}
    return frozenset(reached)


def tree_search(work: Work, limits: TreeLimits) -> TreeSearch:
    """Return a search that keeps sockets, islands, and what belongs to one weapon set or leads there."""
    blueprint = work.incumbent.blueprint
    owned = owned_of(blueprint) & work.graph.nodes.keys()
    apart = frozenset(n.id for n in blueprint.nodes if n.weapon_set and n.id in work.graph.nodes)
    sockets = frozenset(node for node in owned if work.graph.nodes[node].kind == "socket")
    islands = owned & work.graph.roots
    return TreeSearch(
        work.incumbent,
        work.graph,
        work.ctx.plan.scaling.keywords,
        banned=banned_nodes(work.ctx, work.graph),
        fixed=sockets | islands | apart | anchors(work.graph, owned, apart),
        local=near_radius_jewels(blueprint, work.graph),
        limits=limits,
        sockets=_NoNewSockets(),
    )


class _NoNewSockets(Sockets):
    """Jewels stay where they are, and a socket without a jewel is no aim."""

    def is_worth_buying(self, node: int) -> bool:
        """Return False: another lever fills sockets."""
        return False


@dataclass(frozen=True)
class PointLever:
    """Spends passive points that the level gives and the build has not used."""

    name: str = "unspent passive points"
    parts: tuple[Part, ...] = (Part.TREE,)

    async def propose(self, work: Work) -> list[Candidate]:
        """Return the best routes that the points can pay."""
        search = tree_search(work, LIMITS)
        routes = [route for route in await search.promising(SHOWN) if route.points <= work.points]
        named = [(work.nodes[route.target].name, search.purchase(route)) for route in routes]
        return [found for found in await work.proposals(named) if found.gain > 0]

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Spend the points."""
        work.points = await tree_search(work, LIMITS).spend(work.points)


@dataclass(frozen=True)
class TreeLever:
    """Gives back the branches that matter least for the wish and buys what matters most."""

    name: str = "passive tree"
    parts: tuple[Part, ...] = (Part.TREE,)

    async def propose(self, work: Work) -> list[Candidate]:
        """Return the passives with the best gain per point; they still have to be paid for with others."""
        search = tree_search(work, LIMITS)
        named = [(work.nodes[r.target].name, search.purchase(r)) for r in await search.promising(SHOWN)]
        return [found for found in await work.proposals(named) if found.gain > WORTHWHILE]

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Trade branches while that pays and the wish is open."""
        search = tree_search(work, LIMITS)
        for _ in range(EXCHANGES):
            if work.done() or not await search.improve(1):
                return


@dataclass(frozen=True)
class AttributeLever:
    """Lets attribute passives give what is needed and what helps."""

    name: str = "attribute passives"
    parts: tuple[Part, ...] = (Part.ATTRIBUTES,)

    async def propose(self, work: Work) -> list[Candidate]:
        """Return nothing: what it brings is known only once it is done, and it costs nothing to take back."""
        return []

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Switch attribute passives."""
        await AttributeSearch(work.incumbent, work.graph).run()


@dataclass(frozen=True)
class AscendancyLever:
    """Spends ascendancy points that the level gives and the build has not used."""

    name: str = "unspent ascendancy points"
    parts: tuple[Part, ...] = (Part.ASCENDANCY,)

    async def propose(self, work: Work) -> list[Candidate]:
        """Return nothing: the points are spent together or not at all."""
        return []

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Choose the best passives for all ascendancy points."""
        graph = await ascendancy_graph(work.ctx)
        if graph is None or work.ascendancy_points <= 0:
            return
        spent = sum(node.id in graph.bought for node in work.incumbent.blueprint.nodes)
        await AscendancySelection(work.incumbent, graph).run(spent + work.ascendancy_points)


def owned_of(blueprint: Blueprint) -> frozenset[int]:
    """Return the ids of the allocated passives."""
    return frozenset(node.id for node in blueprint.nodes)
