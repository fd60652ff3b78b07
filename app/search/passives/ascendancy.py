"""Ascendancy points: the best connected set of passives, searched layer by layer of points spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.model.blueprint import Allocate, Change, Deallocate, PassiveNode
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.skills.gems import mentions

WIDTH = 10
"""Sets kept per number of points spent."""

WANTED = 0.05
"""Worth of a passive that the plan asks for: decides where the calculator sees little."""

SPOKEN = 1e-4
Owned = frozenset[int]


@dataclass(frozen=True)
class AscendancySelection:
    """Searches the ascendancy's passives on an incumbent; `wanted` are the plan's, `keywords` break ties."""

    incumbent: Incumbent
    graph: PassiveGraph
    wanted: tuple[int, ...] = ()
    keywords: tuple[str, ...] = ()
    banned: frozenset[int] = frozenset()

    async def run(self, points: int) -> Owned:
        """Replace the allocated ascendancy passives by the best set of `points` points and return what is allocated.

        A set that scores no better than the old one, at the same number of points, does not replace it, unless the
        old one has a banned passive.
        """
        before, score = self.incumbent.blueprint, self.incumbent.score
        old = [n.id for n in before.nodes if n.id in self.graph.nodes]
        if old:
            await self.incumbent.commit([Deallocate(nodes=old)])
        layers: dict[int, dict[Owned, float]] = {0: {frozenset(): 0.0}}
        for cost in range(points + 1):
            kept = self._top(layers.get(cost, {}))
            for owned, gain in (await self._measured(self._extensions(kept, points - cost))).items():
                layers.setdefault(self._cost(owned), {})[owned] = gain
        best = self._top(layers[max(c for c in layers if c <= points)])[0]
        if best:
            await self.incumbent.commit([self._purchase(best)])
        allowed = self.banned.isdisjoint(old) and self._cost(frozenset(old)) >= self._cost(best)
        if old and allowed and self.incumbent.score <= score + EPSILON:
            await self.incumbent.rewind(before)
            return frozenset(old)
        return best

    def _cost(self, owned: Owned) -> int:
        return len(owned & self.graph.bought)

    def _top(self, layer: dict[Owned, float]) -> list[Owned]:
        return sorted(layer, key=lambda owned: (-layer[owned], sorted(owned)))[:WIDTH]

    def _extensions(self, kept: Iterable[Owned], points: int) -> list[Owned]:
        found: dict[Owned, None] = {}
        for owned in kept:
            for route in self.graph.routes(owned, points).values():
                if self.banned.isdisjoint(route.nodes):
                    grown = owned | set(route.nodes)
                    found.update(dict.fromkeys(self._with_choices(grown, route.target)))
        return list(found)

    def _with_choices(self, owned: Owned, target: int) -> list[Owned]:
        """Return the set with each exclusive option of the target, or the set alone when it has none."""
        options = [n.id for n in self.graph.nodes.values() if n.choice_of == target]
        return [owned | {option} for option in sorted(options)] or [owned]

    async def _measured(self, sets: list[Owned]) -> dict[Owned, float]:
        gains = await self.incumbent.gains([[self._purchase(owned)] for owned in sets])
        return {owned: gain + self._hint(owned) for owned, gain in zip(sets, gains, strict=True)}

    def _hint(self, owned: Owned) -> float:
        spoken = sum(mentions(self.graph.nodes[node].mods, self.keywords) for node in owned)
        return WANTED * len(owned & set(self.wanted)) + SPOKEN * spoken

    def _purchase(self, owned: Owned) -> Change:
        return Allocate(nodes=[PassiveNode(id=node) for node in self._in_order(owned)])

    def _in_order(self, owned: Owned) -> list[int]:
        """Return the passives in an order in which each connects to what came before, options last."""
        ordered: list[int] = []
        while True:
            reachable = self.graph.routes(frozenset(ordered), 1)
            following = [node for node in sorted(owned) if node in reachable]
            if not following:
                return [*ordered, *sorted(owned - set(ordered))]
            ordered.append(following[0])
