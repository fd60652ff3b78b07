"""The plain way to spend passive points, to compare with: before every purchase, try every route within reach."""

from __future__ import annotations

from dataclasses import dataclass

from app.model.blueprint import Allocate, Change, PassiveNode
from app.model.floors import Floor, floors_for
from app.model.names import Attribute, GearTier
from app.search.atlas import Atlas, Route
from app.search.objective import Objective
from app.search.workbench import Workbench

REACH = 7
AIMS = frozenset({"notable", "keystone", "socket", "normal"})
"""Kinds of passives that a route may end in; attribute passives are on the way."""


def balanced() -> Objective:
    """Return the objective of the comparison: the logarithm of damage plus that of effective hit points."""
    wide = Floor(least=1, good=1e12)
    floors = floors_for(90, GearTier.MID).model_copy(update={"dps": wide, "ehp": wide})
    return Objective(floors, guards=frozenset())


@dataclass(frozen=True)
class FullScan:
    """Buys the route with the best gain per point, trying all of them anew each time."""

    bench: Workbench
    atlas: Atlas
    attribute: Attribute

    async def spend(self, points: int) -> int:
        """Spend the points and return how many are left."""
        while points > 0:
            routes = self._routes(min(REACH, points))
            gains = await self.bench.gains([self._purchase(route) for route in routes])
            ranked = sorted(zip(gains, routes, strict=True), key=lambda p: (-p[0] / p[1].points, p[1].target))
            if not ranked:
                return points
            await self.bench.commit(self._purchase(ranked[0][1]))
            points -= ranked[0][1].points
        return points

    def _routes(self, reach: int) -> list[Route]:
        owned = frozenset(n.id for n in self.bench.blueprint.nodes if n.id in self.atlas.nodes)
        return [r for r in self.atlas.routes(owned, reach).values() if self.atlas.nodes[r.target].kind in AIMS]

    def _purchase(self, route: Route) -> list[Change]:
        travel = {n for n in route.nodes if self.atlas.nodes[n].kind == "attribute"}
        return [
            Allocate(nodes=[PassiveNode(id=n, attribute=self.attribute if n in travel else None) for n in route.nodes])
        ]
