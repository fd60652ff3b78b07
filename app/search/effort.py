"""How far searches go for each effort; bounds count evaluations and rounds, so that results are the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.model.names import Effort
from app.search.passives.tree import TreeLimits


@dataclass(frozen=True)
class SearchLimits:
    """Bounds of the stages.

    `growing`, `polishing`: the tree before and after there is gear. `gear_rounds`, `gear_again`: choices of all slots
    together, when gear is fitted for good and when it is drafted. `width`: sets of ascendancy passives that are kept
    per point. `exchanges`: whether supports are exchanged once a set is full. `uniques`: whether unique items that
    nobody named are tried. `at_once`: whether attribute passives are switched together.
    """

    growing: TreeLimits
    polishing: TreeLimits
    gear_rounds: int = 4
    gear_again: int = 2
    width: int = 10
    exchanges: bool = True
    uniques: bool = True
    at_once: bool = False


LIMITS: Mapping[Effort, SearchLimits] = {
    Effort.QUICK: SearchLimits(
        growing=TreeLimits(reach=4, rounds=5, trials=0),
        polishing=TreeLimits(reach=4, rounds=1, trials=0),
        gear_rounds=1,
        gear_again=1,
        width=2,
        exchanges=False,
        uniques=False,
        at_once=True,
    ),
    Effort.NORMAL: SearchLimits(growing=TreeLimits(trials=2000), polishing=TreeLimits(reach=10, trials=4000)),
    Effort.DEEP: SearchLimits(
        growing=TreeLimits(trials=4000),
        polishing=TreeLimits(reach=12, trials=12_000, chain=36, offers=64, shakes=(8, 16, 24, 32)),
        gear_rounds=6,
        gear_again=3,
        width=16,
    ),
}
"""Before there is gear a rough tree is enough; afterwards trades may look further than spending does."""
