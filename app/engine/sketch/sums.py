"""Adding up: which stats count for a quantity, and how much they come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from app.engine.sketch.pack import Effect, Pack

Stats = dict[str, float]
Kind = Literal["flat", "inc"]
NOTHING: frozenset[str] = frozenset()
DAMAGE_TYPES = ("physical", "fire", "cold", "lightning", "chaos")
ELEMENTS = ("fire", "cold", "lightning")


class Sums:
    """Sums over aggregated stats; which stat counts is worked out once per question."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._keys: dict[tuple[str, str, frozenset[str], str], tuple[tuple[str, int], ...]] = {}

    def total(self, stats: Stats, quantity: str, kind: Kind, flags: frozenset[str] = NOTHING, type_: str = "") -> float:
        """Return the sum of all stats of a kind for a quantity, a skill's flags and a damage type."""
        question = (quantity, kind, flags, type_)
        keys = self._keys.get(question)
        if keys is None:
            keys = self._keys[question] = self._matching(*question)
        found = 0.0
        for key, sign in keys:
            if key in stats:
                found += sign * stats[key]
        return found

    def scaled(self, stats: Stats, quantity: str, base: float = 0.0) -> float:
        """Return (base + flat) x (1 + increased), the game's rule for a pool or rating."""
        flat = base + self.total(stats, quantity, "flat")
        return flat * (1 + self.total(stats, quantity, "inc") / 100)

    def _matching(self, quantity: str, kind: str, flags: frozenset[str], type_: str) -> tuple[tuple[str, int], ...]:
        return tuple(
            (key, -1 if stat.less else 1)
            for key, stat in self._pack.by_quantity.get((quantity, kind), ())
            if stat.flags <= flags and (not stat.types or type_ in stat.types)
        )


def add(into: Stats, more: Stats) -> None:
    """Add stats to stats."""
    for key, value in more.items():
        into[key] = into.get(key, 0.0) + value


def matching(effects: Iterable[Effect], quantity: str, flags: frozenset[str], type_: str = "") -> list[Effect]:
    """Return the effects on a quantity that count for a skill's flags and a damage type."""
    return [e for e in effects if e.to == quantity and e.flags <= flags and (not e.types or type_ in e.types)]


def more(effects: Iterable[Effect]) -> float:
    """Return the product of all more/less effects as a factor."""
    factor = 1.0
    for effect in effects:
        factor *= 1 + effect.more / 100
    return factor


def at_level(samples: tuple[float, ...], levels: tuple[float, ...], level: float) -> float:
    """Return a value between sampled levels: linear, and continued beyond the last by its last slope."""
    if len(samples) == 1 or level <= levels[0]:
        return samples[0]
    for i in range(1, len(levels)):
        if level <= levels[i] or i == len(levels) - 1:
            share = (level - levels[i - 1]) / (levels[i] - levels[i - 1])
            return samples[i - 1] + share * (samples[i] - samples[i - 1])
    return samples[-1]
