"""Ascendancy points: the best connected set of passives, searched layer by layer of points spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.model.blueprint import Allocate, Change, Deallocate, PassiveNode
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.skills.gems import mentions

WANTED = 0.05
"""Worth of a passive that the plan asks for: decides where the calculator sees little."""

SPOKEN = 1e-4

POINT = 0.015
"""Worth of a passive point that a passive grants: one more came to 0.011 to 0.028 on two finished trees of ours."""

NAMED = 100.0
"""Worth of a passive that the user named: more than anything that is measured."""

Owned = frozenset[int]


@dataclass(frozen=True)
class AscendancySelection:
    """Searches the ascendancy's passives on an incumbent; `wanted` are the plan's, `keywords` break ties.

    `named`: per passive that the user named the ids that fulfil it; one of each is taken before anything else. `width`:
    sets kept per number of points spent.
    """

    incumbent: Incumbent
    graph: PassiveGraph
    wanted: tuple[int, ...] = ()
    keywords: tuple[str, ...] = ()
    banned: frozenset[int] = frozenset()
    named: tuple[frozenset[int], ...] = ()
    width: int = 10

    async def run(self, points: int) -> Owned:
        """Replace the allocated ascendancy passives by the best set of `points` points and return what is allocated.

        A set that scores no better than the old one, at the same number of points, does not replace it, unless the
        old one has a banned passive or less of what was named.
        """
        before, score = self.incumbent.blueprint, self.incumbent.score
        old = [n.id for n in before.nodes if n.id in self.graph.nodes]
        if old:
            await self.incumbent.commit([Deallocate(nodes=old)])
        layers: dict[int, dict[Owned, float]] = {0: {frozenset(): 0.0}}
        for cost in range(points + 1):
            larger = self._extensions(self._top(layers.get(cost, {})), points - cost)
            gains = await self.incumbent.gains([[self._purchase(owned)] for owned in larger])
            for owned, gain in zip(larger, gains, strict=True):
                spoken = sum(mentions(self.graph.nodes[node].mods, self.keywords) for node in owned)
                hint = WANTED * len(owned & set(self.wanted)) + SPOKEN * spoken + NAMED * self._held(owned)
                hint += self._granted(owned)
                layers.setdefault(self._cost(owned), {})[owned] = gain + hint
        best = self._top(layers[max(c for c in layers if c <= points)])[0]
        if best:
            await self.incumbent.commit([self._purchase(best)])
        allowed = self.banned.isdisjoint(old) and self._cost(frozenset(old)) >= self._cost(best)
        allowed = allowed and self._held(frozenset(old)) >= self._held(best)
        more = self.incumbent.score + self._granted(best) - score - self._granted(frozenset(old))
        if old and allowed and more <= EPSILON:
            await self.incumbent.rewind(before)
            return frozenset(old)
        return best

    def _held(self, owned: Owned) -> int:
        return sum(not options.isdisjoint(owned) for options in self.named)

    def _granted(self, owned: Owned) -> float:
        return POINT * sum(self.graph.nodes[node].granted_points for node in owned)

    def _cost(self, owned: Owned) -> int:
        return len(owned & self.graph.bought)

    def _top(self, layer: dict[Owned, float]) -> list[Owned]:
        return sorted(layer, key=lambda owned: (-layer[owned], sorted(owned)))[: self.width]

    def _extensions(self, kept: Iterable[Owned], points: int) -> list[Owned]:
        """Return the sets with one route more, and with each exclusive option of its target if that has any.

        A small passive is on the way to another one, and the end of a way only where the points reach no other: of
        eleven players none has one that leads nowhere, while the calculator sees nothing in many a notable.
        """
        found: dict[Owned, None] = {}
        for owned in kept:
            open_ones = [
                route for route in self.graph.routes(owned, points).values() if self.banned.isdisjoint(route.nodes)
            ]
            leading = [route for route in open_ones if self.graph.is_large(route.target)]
            for route in leading or open_ones:
                larger = owned | set(route.nodes)
                options = sorted(n.id for n in self.graph.nodes.values() if n.choice_of == route.target)
                found.update(dict.fromkeys([larger | {option} for option in options] or [larger]))
        return list(found)

    def _purchase(self, owned: Owned) -> Change:
        """Return the purchase, in an order in which each passive connects to what came before, options last."""
        ordered: list[int] = []
        while True:
            reachable = self.graph.routes(frozenset(ordered), 1)
            following = [node for node in sorted(owned) if node in reachable]
            if not following:
                break
            ordered.append(following[0])
        nodes = [*ordered, *sorted(owned - set(ordered))]
        return Allocate(nodes=[PassiveNode(id=node) for node in nodes])
