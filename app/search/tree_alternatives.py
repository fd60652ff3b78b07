"""What else the same points could buy: trees that trade damage for effective hit points, and the other way round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from app.model.stats import DPS
from app.search.atlas import Atlas
from app.search.tree import TreeSearch

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
