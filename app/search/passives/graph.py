"""The passive tree as a graph: who is next to whom, and what can be bought from where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import hypot

from app.engine.base import Facts
from app.knowledge.exclusions import granting
from app.knowledge.gems import can_be_cut
from app.knowledge.weapons import held_by, weapon_words
from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, Blueprint, PassiveNode
from app.model.facts import ClassFact, NodeFact
from app.model.names import Attribute
from app.search.base import SearchContext


@dataclass(frozen=True)
class Route:
    """A way to a passive that is not allocated: the passives to buy, the target last."""

    target: int
    nodes: tuple[int, ...]

    @property
    def points(self) -> int:
        """Return what the route costs."""
        return len(self.nodes)


class PassiveGraph:
    """The part of the tree that one character can walk: the main tree, or one ascendancy.

    `roots` are given, not bought. Passives that others must unlock are walkable once those are owned.
    """

    def __init__(self, nodes: Iterable[NodeFact], roots: Iterable[int], closed: Iterable[int] = ()) -> None:
        self.roots = frozenset(roots)
        barred = set(closed)
        self.nodes: dict[int, NodeFact] = {n.id: n for n in nodes if n.id not in barred}
        self._free = frozenset(n.id for n in self.nodes.values() if n.choice_of is None and not n.unlocked_by)
        edges: dict[int, set[int]] = {node: set() for node in self.nodes}
        for node in self.nodes.values():
            for other in node.neighbours:
                if other in edges:  # in both directions: facts may name an edge at one end only
                    edges[node.id].add(other)
                    edges[other].add(node.id)
        self.neighbours: dict[int, tuple[int, ...]] = {node: tuple(sorted(others)) for node, others in edges.items()}

    def without(self, nodes: frozenset[int]) -> PassiveGraph:
        """Return the graph in which these passives are walls."""
        return PassiveGraph(self.nodes.values(), self.roots, nodes) if nodes else self

    def only(self, nodes: Collection[int]) -> PassiveGraph:
        """Return the graph of these passives and the roots."""
        return PassiveGraph([self.nodes[n] for n in sorted({*nodes, *self.roots} & self.nodes.keys())], self.roots)

    @cached_property
    def bought(self) -> frozenset[int]:
        """Return the passives that cost a point."""
        return frozenset(n.id for n in self.nodes.values() if n.cost and n.id not in self.roots)

    @cached_property
    def choices(self) -> frozenset[int]:
        """Return the passives that give an attribute of choice."""
        return frozenset(n.id for n in self.nodes.values() if n.kind == "attribute")

    @cached_property
    def sockets(self) -> frozenset[int]:
        """Return the sockets for jewels."""
        return frozenset(n.id for n in self.nodes.values() if n.kind == "socket")

    def is_large(self, node: int) -> bool:
        """Say whether the passive is more than a small one, which stands on the way to another."""
        return self.nodes[node].kind != "normal"

    def routes(
        self, owned: frozenset[int], reach: int, value: Callable[[int], float] = lambda _: 0.0
    ) -> dict[int, Route]:
        """Return the shortest route to every passive within `reach` points of what is owned.

        Between equally short routes the one whose passives are worth more (`value`) wins, then the lower id.
        """
        ways, _ = self.ways(owned, reach, value)
        return {node: Route(node, way) for node, way in sorted(ways.items()) if way}

    def ways(
        self, owned: frozenset[int], reach: int, value: Callable[[int], float]
    ) -> tuple[dict[int, tuple[int, ...]], dict[int, float]]:
        """Return the passives of each shortest route, as `routes` does, and what they are worth together.

        What is owned is in there too, with an empty route.
        """
        ways: dict[int, tuple[int, ...]] = dict.fromkeys((owned | self.roots) & self.nodes.keys(), ())
        total: dict[int, float] = dict.fromkeys(ways, 0.0)
        edge = sorted(ways)
        for _ in range(reach):
            found = self._next_ring(edge, ways, total, owned)
            for node, parent in found.items():
                ways[node] = (*ways[parent], node)
                total[node] = total[parent] + value(node)
            edge = sorted(found)
        return ways, total

    def _next_ring(
        self,
        edge: Sequence[int],
        ways: Mapping[int, tuple[int, ...]],
        total: Mapping[int, float],
        owned: frozenset[int],
    ) -> dict[int, int]:
        """Return the passives one point beyond the edge, each with the neighbour that it is reached from best."""
        parents: dict[int, int] = {}
        free = self._free
        for parent in edge:
            for node in self.neighbours[parent]:
                if node in ways:
                    continue
                if node not in free:
                    fact = self.nodes[node]
                    if fact.choice_of is not None or not owned.issuperset(fact.unlocked_by):
                        continue
                if node not in parents or total[parent] > total[parents[node]]:
                    parents[node] = parent
        return parents

    def connected(self, owned: frozenset[int]) -> frozenset[int]:
        """Return the owned passives that hang together with a root."""
        seen = {root for root in self.roots if root in self.nodes}
        todo = list(seen)
        neighbours = self.neighbours
        while todo:
            for node in neighbours[todo.pop()]:
                if node in owned and node not in seen:
                    seen.add(node)
                    todo.append(node)
        return frozenset(seen & owned)

    def touch(self, nodes: Iterable[int], owned: frozenset[int]) -> bool:
        """Return whether any of the passives is next to an owned one or a root."""
        return any(n in owned or n in self.roots for node in nodes for n in self.neighbours[node])

    def hang_on_one(self, nodes: frozenset[int], others: frozenset[int]) -> bool:
        """Return whether at most one of the others (or roots) is next to these: what is left holds without them."""
        near = {n for node in nodes for n in self.neighbours[node] if n in others or n in self.roots}
        return len(near) <= 1

    def ways_to(self, targets: frozenset[int], owned: frozenset[int]) -> frozenset[int]:
        """Return the owned passives on the shortest ways from the roots to the targets, these included."""
        before: dict[int, int] = {}
        edge = sorted(self.roots & self.nodes.keys())
        while edge:
            reached = {n: at for at in reversed(edge) for n in self.neighbours[at] if n in owned and n not in before}
            before |= reached
            edge = sorted(reached)
        found: set[int] = set()
        for node in sorted(targets & owned):
            while node in before and node not in found:
                found.add(node)
                node = before[node]
        return frozenset(found)

    def in_order(self, nodes: frozenset[int], owned: frozenset[int] = frozenset()) -> list[int]:
        """Return the passives in an order in which each connects to what came before, then those that never do."""
        seen, ordered = owned | self.roots, list[int]()
        edge = sorted(seen)
        while edge:
            near = sorted({n for at in edge if at in self.neighbours for n in self.neighbours[at] if n in nodes} - seen)
            ordered += near
            seen |= set(near)
            edge = near
        return [*ordered, *sorted(nodes - seen)]

    def branch_of(self, node: int, owned: frozenset[int]) -> frozenset[int]:
        """Return what is lost when the passive is removed: itself and all that hung on it."""
        return owned - self.connected(owned - {node})

    def branches(self, owned: frozenset[int]) -> list[frozenset[int]]:
        """Return `cut_by` of every owned passive that hangs together with a root, in one walk.

        Depth first with low points: a passive takes those children with it that reach nothing above it.
        """
        order, parent = self._walk(owned)
        place = {node: i for i, node in enumerate(order)}
        low: dict[int, int] = {}
        hanging: dict[int, list[int]] = {node: [node] for node in order}
        lost: dict[int, list[int]] = {node: [node] for node in order}
        for node in reversed(order):
            over = parent[node]
            above = [place.get(n, -1) for n in self.neighbours[node] if n in place or n in self.roots]
            beyond = above if over is None else [at for at in above if at != place[over]]
            low[node] = min([place[node], low.get(node, place[node]), *beyond])
            if over is not None:
                low[over] = min(low.get(over, place[over]), low[node])
                hanging[over] += hanging[node]
                if low[node] >= place[over]:
                    lost[over] += hanging[node]
        return [frozenset(lost[node]) for node in order]

    def _walk(self, owned: frozenset[int]) -> tuple[list[int], dict[int, int | None]]:
        """Return the owned passives in the order of a depth-first walk from the roots, and whence each was reached."""
        parent: dict[int, int | None] = {}
        order: list[int] = []
        todo = [(node, None) for root in sorted(self.roots) for node in self.neighbours[root] if node in owned]
        stack: list[tuple[int, int | None]] = list(reversed(todo))
        while stack:
            node, over = stack.pop()
            if node in parent:
                continue
            parent[node] = over
            order.append(node)
            stack += [(n, node) for n in reversed(self.neighbours[node]) if n in owned and n not in parent]
        return order, parent


def reached(
    graph: PassiveGraph, wanted: Collection[frozenset[int]], points: int
) -> tuple[frozenset[int], frozenset[int]]:
    """Return which of the wanted passives the points reach, and all passives that lead to them, these included.

    `wanted`: per wish the passives that would fulfil it. The nearest is taken first, ties go to the lower id; what is
    too far away is left out.
    """
    targets: frozenset[int] = frozenset()
    owned: frozenset[int] = frozenset()
    left = [options & graph.nodes.keys() for options in wanted]
    while left:
        routes = graph.routes(owned, points - len(owned))
        near = [(routes[n].points, n) for options in left for n in options if n in routes]
        if not near:
            break
        owned |= set(routes[min(near)[1]].nodes)
        targets |= {n for options in left for n in options & owned}
        left = [options for options in left if not options & owned]
    return targets, owned


JEWEL_REACH = 2000.0
"""Tree units beyond which no jewel with a radius reaches."""


def within_reach(node: NodeFact, socket: NodeFact) -> bool:
    """Return whether some jewel in the socket may reach the passive."""
    return hypot(node.x - socket.x, node.y - socket.y) <= JEWEL_REACH


def near_jewels(graph: PassiveGraph, blueprint: Blueprint) -> frozenset[int]:
    """Return the passives that a jewel with a radius may reach: there, passives with the same text may differ."""
    filled = [slot.removeprefix(JEWEL_SLOT) for slot, item in blueprint.items.items() if item.has_radius]
    sockets = [graph.nodes[int(spot)] for spot in filled if spot.isdigit() and int(spot) in graph.nodes]
    return frozenset(n.id for n in graph.nodes.values() if any(within_reach(n, socket) for socket in sockets))


def with_sockets(
    graph: PassiveGraph, wanted: Sequence[frozenset[int]], held: Sequence[int], count: int, points: int
) -> list[frozenset[int]]:
    """Return the wishes and one more for each of `count` jewels: a socket that is held, then the nearest others."""
    sockets = frozenset(node.id for node in graph.nodes.values() if node.kind == "socket") - frozenset(held)
    found = [*wanted, *(frozenset({node}) for node in held[:count])]
    for _ in range(count - len(held)):
        found.append(sockets - reached(graph, found, points)[0])
    return found


def levelling_order(
    graph: PassiveGraph, owned: frozenset[int], worth: Callable[[int], float], first: Sequence[int] = ()
) -> list[int]:
    """Return the owned passives so that every prefix is a connected tree; `first` are taken already.

    Each step takes the way, through owned passives only, whose `worth` per point is highest; ties go to the shorter
    way, then to the lower id.
    """
    worth = cache(worth)
    inside = graph.only(owned)
    order = list(first)
    while True:
        routes = inside.routes(frozenset(order), len(owned), worth)
        if not routes:
            return [*order, *sorted(owned - set(order))]
        rank = {r.target: (-sum(map(worth, r.nodes)) / r.points, r.points, r.target) for r in routes.values()}
        order += min(routes.values(), key=lambda r: rank[r.target]).nodes


def ordered(blueprint: Blueprint, first: list[int]) -> Blueprint:
    """Return the blueprint with these passives first, in this order, and the others after them as they were."""
    place = {node: i for i, node in enumerate(first)}
    nodes = sorted(blueprint.nodes, key=lambda n: place.get(n.id, len(place)))
    return changed(blueprint, nodes=nodes)


async def class_fact(ctx: SearchContext) -> ClassFact:
    """Return the facts of the plan's class."""
    classes = await ctx.engine.facts.classes()
    return next(c for c in classes if c.name == ctx.plan.ascendancy.class_name)


async def main_graph(ctx: SearchContext) -> PassiveGraph:
    """Return the main tree as the plan's class sees it; other classes' starts are walls."""
    start = (await class_fact(ctx)).start_node
    nodes = [n for n in await ctx.engine.facts.nodes() if n.ascendancy is None]
    closed = {n.id for n in nodes if n.kind in ("start", "ascendancy_start") and n.id != start}
    return PassiveGraph(nodes, [start], closed)


async def needed_passives(ctx: SearchContext) -> tuple[frozenset[int], ...]:
    """Return what the plan's main skill cannot do without: per need the passives that meet it, one of which is enough.

    The keystone by which it is used so armed, and the passive that grants it, where it is cut from no gem.
    """
    skill = next((gem for gem in await ctx.engine.facts.gems() if gem.id == ctx.plan.delivery.skill_id), None)
    needs = [await for_hands(ctx)]
    if skill is not None and not can_be_cut(skill):
        here, nodes = (None, ctx.plan.ascendancy.ascendancy), await ctx.engine.facts.nodes()
        needs.append(frozenset(node.id for node in granting(nodes, skill.name) if node.ascendancy in here))
    return tuple(filter(None, needs))


def passive(blueprint: Blueprint, graph: PassiveGraph, node: int) -> PassiveNode:
    """Return the passive; one that gives an attribute gives what most others give, until attributes are settled."""
    given = [one.attribute for one in blueprint.nodes if one.attribute is not None]
    usual = max(Attribute, key=lambda a: (given.count(a), a.value))
    return PassiveNode(id=node, attribute=usual if graph.nodes[node].kind == "attribute" else None)


async def for_hands(ctx: SearchContext) -> frozenset[int]:
    """Return the passives of which the plan's skill needs one to be used so armed; empty where it needs none."""
    delivery = ctx.plan.delivery
    skill = next((gem for gem in await ctx.engine.facts.gems() if gem.id == delivery.skill_id), None)
    if skill is None or not delivery.weapon_types:
        return frozenset()
    keystones = held_by(delivery.weapon_types[0], delivery.off_hand, weapon_words(skill))
    if not keystones:
        return frozenset()
    return frozenset(node.id for node in await ctx.engine.facts.nodes() if node.name in keystones)


async def way_for_hands(ctx: SearchContext) -> frozenset[int]:
    """Return the passives that lead to one of `for_hands`, itself included; empty where none is needed or in reach."""
    wanted = await for_hands(ctx)
    if not wanted:
        return frozenset()
    return reached(await main_graph(ctx), [wanted], await passive_points(ctx, ctx.blueprint))[1]


async def passive_points(ctx: SearchContext, blueprint: Blueprint) -> int:
    """Return the passive points there are: those of the level, and those that allocated passives grant."""
    held = blueprint.passives
    granted = sum(node.granted_points for node in await ctx.engine.facts.nodes() if node.id in held)
    return ctx.demands.floors.passive_points + granted


async def ascendancy_graph(ctx: SearchContext) -> PassiveGraph | None:
    """Return the plan's ascendancy, or None when it has none."""
    name = ctx.plan.ascendancy.ascendancy
    nodes = [n for n in await ctx.engine.facts.nodes() if name is not None and n.ascendancy == name]
    roots = [n.id for n in nodes if n.kind == "ascendancy_start"]
    return PassiveGraph(nodes, roots) if roots else None


MOST_ASTRAY = 0.1
"""With a larger share of passives that do not connect, a file's tree is another one than the engine's facts."""


async def loaded_graph(facts: Facts, blueprint: Blueprint) -> PassiveGraph | None:
    """Return the main tree as the owner of a file's passives sees it, None when his tree is another one.

    Passives that a jewel allows to be allocated apart from the tree are islands: owned, and leading nowhere.
    """
    start = next(c.start_node for c in await facts.classes() if c.name == blueprint.class_name)
    nodes = [node for node in await facts.nodes() if node.ascendancy is None]
    closed = {node.id for node in nodes if node.kind in ("start", "ascendancy_start") and node.id != start}
    graph = PassiveGraph(nodes, [start], closed)
    owned = frozenset(node.id for node in blueprint.nodes) & graph.nodes.keys()
    astray = owned - graph.connected(owned)
    if len(astray) > MOST_ASTRAY * max(1, len(owned)):
        return None
    islands = PassiveGraph(nodes, [start, *astray], closed)
    islands.neighbours = {
        node: () if node in astray else tuple(other for other in others if other not in astray)
        for node, others in islands.neighbours.items()
    }
    return islands
