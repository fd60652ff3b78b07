"""What "better" means in a refinement: the wished figure rises, the other one hardly falls, nothing else gets worse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from app.model.base import changed
from app.model.constraints import bounds
from app.model.demands import ELEMENTAL_RESISTANCE_CAP, Floor, Floors, without_defences
from app.model.experiments import Wish
from app.model.stats import DPS, EHP, MOVEMENT
from app.search.objective import Guard, Objective

WORSE = {Guard.RESISTANCE: 4.0, Guard.SUSTAIN: 4.0, Guard.SPIRIT: 8.0, Guard.ATTRIBUTES: 4.0}
"""What a demand costs that the parent meets and the child would not."""

STEEP = 8.0
"""Worth of one e-fold of the other figure below what may be lost; far above any gain."""

SIDE = 0.01
"""Worth of one e-fold of the other figure otherwise: breaks ties between ways to the wish."""

TIE = SIDE / 20
"""The same where something is to be mended: being stronger is no reason there to exchange what is fine."""

ENOUGH = 1.5
"""Once the gain is this multiple of the wish, more of it counts for little: fewer changes are worth more."""

SLOW = 0.3
KEPT = (MOVEMENT,)
"""What a player feels at once and no wish is about."""

PAYABLE = 0.15
"""Shortfall of a demand below which it is a warning at most: pool and flask last a fight, or a trifle is missing."""

CAUTION = 0.7
"""The search may lose only this share of what the user allows, because a fresh session counts a little differently."""


@dataclass(frozen=True)
class RefineObjective(Objective):
    """Scores against the parent's figures; 0 = the parent. `gaps`: the parent's unmet demands, which cost nothing.

    The inherited floors shape what gear search aims for: steep where the wish is, steep below what may be lost.
    """

    wish: Wish = field(default_factory=lambda: Wish(direction="balanced"))
    base: Mapping[str, float] = field(default_factory=dict)
    gaps: Mapping[Guard, float] = field(default_factory=dict)

    def score(self, outputs: Mapping[str, float]) -> float:
        """Return the score, or minus infinity when the candidate could not be tried."""
        if not outputs:
            return -math.inf
        damage, life = self.change(outputs, DPS), self.change(outputs, EHP)
        lacking = self.shortfalls(outputs)
        worse = {g: max(0.0, lacking[g] - self.gaps.get(g, 0.0)) for g in sorted(self.guards)}
        price = sum(WORSE[g] * gap for g, gap in worse.items()) + self.missed(outputs)
        match self.wish.direction:
            case "damage":
                wished = self._gain(damage) + self._kept(life)
            case "survivability":
                wished = self._gain(life) + self._kept(damage)
            case "resistances" | "sustain" | "repair":
                wished = self.mended(outputs) + self._kept(damage) + self._kept(life)
            case "balanced":
                wished = self._gain(damage) + self._gain(life) + self._kept(damage) + self._kept(life)
        return wished - price

    def mended(self, outputs: Mapping[str, float]) -> float:
        """Return how much of the parent's unmet demands is met now, of those that the wish is about."""
        about = {"resistances": [Guard.RESISTANCE], "sustain": [Guard.SUSTAIN], "repair": sorted(self.guards)}
        lacking = self.shortfalls(outputs)
        return sum(self.gaps.get(guard, 0.0) - lacking[guard] for guard in about.get(self.wish.direction, []))

    def change(self, outputs: Mapping[str, float], key: str) -> float:
        """Return the natural logarithm of how many times the parent's figure this is; 0 when the parent has none."""
        before = self.base.get(key, 0.0)
        return math.log(max(outputs.get(key, 0.0), 1e-9) / before) if before > 0 else 0.0

    def _gain(self, value: float) -> float:
        enough = math.log(1 + self.wish.gain * ENOUGH)
        return min(value, enough + SLOW * (value - enough)) if value > enough else value

    def _kept(self, value: float) -> float:
        least = math.log(1 - self.wish.loss * CAUTION)
        side = TIE if self.wish.mends else SIDE
        return side * value - STEEP * max(0.0, least - value)

    def reached(self, outputs: Mapping[str, float]) -> bool:
        """Return whether the wish is fulfilled: the gain is there and no more is lost than allowed."""
        gain, least = math.log(1 + self.wish.enough), math.log(1 - self.wish.loss)
        damage, life = self.change(outputs, DPS), self.change(outputs, EHP)
        match self.wish.direction:
            case "damage":
                return damage >= gain and life >= least
            case "survivability":
                return life >= gain and damage >= least
            case "resistances":
                return self.shortfalls(outputs)[Guard.RESISTANCE] <= 0 and min(damage, life) >= least
            case "sustain":
                return self.shortfalls(outputs)[Guard.SUSTAIN] <= PAYABLE and min(damage, life) >= least
            case "repair":
                # What else the rules find does not show in figures; who made the changes looks at that.
                return min(damage, life) >= least
            case "balanced":
                return damage + life >= gain and min(damage, life) >= least

    def enough(self, outputs: Mapping[str, float]) -> bool:
        """Return whether the search may stop: the wish is fulfilled with something to spare."""
        if self.short_of(outputs):
            return False
        if self.wish.direction == "repair" and any(gap > PAYABLE for gap in self.shortfalls(outputs).values()):
            return False
        roomier = changed(self.wish, gain=self.wish.gain * 1.2, loss=self.wish.loss * 0.9, least=None)
        return replace(self, wish=roomier).reached(outputs)


def refine_objective(
    wish: Wish, base: Mapping[str, float], floors: Floors, asked: Mapping[str, float] = MappingProxyType({})
) -> RefineObjective:
    """Return the objective of a wish about a parent with these figures; what must not be lost weighs twice the wish.

    `asked`: what else was asked for, by stat: a target, or a ceiling.
    """
    least = 1 - wish.loss * CAUTION
    match wish.direction:
        case "damage":
            (damage, more_damage), (life, more_life) = (1.0, 2.0), (2.0, least)
        case "survivability":
            (damage, more_damage), (life, more_life) = (2.0, least), (1.0, 2.0)
        case "resistances" | "sustain" | "repair":
            (damage, more_damage), (life, more_life) = (1.0, least), (1.0, least)
        case "balanced":
            (damage, more_damage), (life, more_life) = (1.0, 2.0), (1.0, 2.0)
    dps, ehp = max(base.get(DPS, 0.0), 1.0) * more_damage, max(base.get(EHP, 0.0), 1.0) * more_life
    # Who asks for resistances wants them capped, whatever is tolerated at the level.
    capped = Floor(least=ELEMENTAL_RESISTANCE_CAP, good=ELEMENTAL_RESISTANCE_CAP)
    targets, ceilings = bounds({stat: value for stat, value in asked.items() if stat not in (DPS, EHP)})
    return RefineObjective(
        floors=changed(
            without_defences(floors),
            dps=Floor(least=dps, good=dps),
            ehp=Floor(least=ehp, good=ehp),
            resistance=capped if wish.direction == "resistances" else floors.resistance,
        ),
        damage_weight=damage,
        ehp_weight=life,
        minima={key: base[key] for key in KEPT if key in base},
        targets=targets,
        ceilings=ceilings,
        wish=wish,
        base=dict(base),
    )
