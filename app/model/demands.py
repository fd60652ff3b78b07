"""What a build must reach: said once, for everyone who plans, searches or judges.

Floors go by level and gear tier; the search works towards them and validate holds builds against them.

The damage and EHP figures are the lower quartile and the median of real players' builds per level band; `mid` gear
is expected to reach 0.6 of them and `starter` gear 0.35.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from app.model.base import Model
from app.model.constraints import INVARIANTS, InvariantSet
from app.model.names import GearTier, Goal
from app.model.record import BuildRequest

E = TypeVar("E", bound=StrEnum)


class Floor(Model):
    """Blocking below `least`, a warning below `good`."""

    least: float
    good: float


class GearLimits(Model):
    """What items of a tier may have.

    `rare_uniques`: also those that only one boss drops or hardly anybody finds; `gone_uniques`: also those that cannot
    be obtained any more, which only somebody who has one can wear.
    """

    max_affixes: int
    max_affix_level: int
    max_uniques: int
    rare_uniques: bool = False
    gone_uniques: bool = False


class Floors(Model):
    """All quantitative demands on one build. Resistances in percent."""

    dps: Floor
    ehp: Floor
    resistance: Floor
    ascendancy_points: int
    gear: GearLimits
    passive_points: int
    weapon_set_points: int = 24


class Demands(Model):
    """What is demanded of one build: how far the character is, what it wears, what for, and the floors of all that."""

    level: int
    gear: GearTier
    goal: Goal
    hardcore: bool
    floors: Floors


def demands_of(invariants: InvariantSet, asked: BuildRequest | None = None) -> Demands:
    """Return the demands: a field of the request, else the constraint, else the default (90, mid, all-round, softcore).

    A build that was imported has its file's level as a constraint.
    """
    known, said = INVARIANTS["level"], invariants.number("level")
    level = (asked.level if asked is not None else None) or min(known.most, max(known.least, said))
    gear = (asked.gear if asked is not None else None) or _member(GearTier, invariants, "gear")
    return Demands(
        level=level,
        gear=gear,
        goal=_member(Goal, invariants, "goal"),
        hardcore=invariants.get("hardcore") is True,
        floors=floors_for(level, gear),
    )


def _member(kind: type[E], invariants: InvariantSet, field: str) -> E:
    said = invariants.text(field)
    return kind(said if said in set(kind) else str(INVARIANTS[field].default))


_BANDS: list[tuple[int, Floor, Floor]] = [
    (90, Floor(least=28_000, good=102_000), Floor(least=18_000, good=23_000)),
    (76, Floor(least=7_000, good=14_000), Floor(least=6_000, good=7_500)),
    (60, Floor(least=2_200, good=3_600), Floor(least=3_300, good=4_100)),
]
_SHARE = {GearTier.STARTER: 0.35, GearTier.MID: 0.6, GearTier.ENDGAME: 1.0, GearTier.MIRROR: 1.0}
_GEAR = {
    GearTier.STARTER: (4, 45, 0),
    GearTier.MID: (5, 65, 2),
    GearTier.ENDGAME: (6, 82, 4),
    GearTier.MIRROR: (6, 82, 4),
}
QUEST_PASSIVE_POINTS = 24
ELEMENTAL_RESISTANCE_CAP = 75
ATTRIBUTE_PER_SUPPORT = 5
"""Attribute that each support of a colour asks for, over the whole build (game rule)."""

FIGHT_S = 20.0
"""A fight without a pause for which mana pool and a full flask must make up what recovery does not, in seconds."""


def floors_for(level: int, gear: GearTier) -> Floors:
    """Return the demands on a build of this level and tier.

    Below level 60 there are no player figures; the 60-75 band is scaled by (level / 60) squared.
    """
    dps, ehp = _band(level)
    share = _SHARE[gear]
    affixes, affix_level, uniques = _GEAR[gear]
    capped = level >= 76
    return Floors(
        dps=Floor(least=dps.least * share, good=dps.good * share),
        ehp=Floor(least=ehp.least * share, good=ehp.good * share),
        resistance=Floor(least=ELEMENTAL_RESISTANCE_CAP if capped else 60, good=ELEMENTAL_RESISTANCE_CAP),
        ascendancy_points=_ascendancy_points(level),
        gear=GearLimits(
            max_affixes=affixes,
            max_affix_level=min(level, affix_level),
            max_uniques=uniques,
            rare_uniques=gear.has_rarities,
        ),
        passive_points=level - 1 + QUEST_PASSIVE_POINTS,
    )


def _band(level: int) -> tuple[Floor, Floor]:
    for start, dps, ehp in _BANDS:
        if level >= start:
            return dps, ehp
    scale = (level / 60) ** 2
    _, dps, ehp = _BANDS[-1]
    return (
        Floor(least=dps.least * scale, good=dps.good * scale),
        Floor(least=ehp.least * scale, good=ehp.good * scale),
    )


def _ascendancy_points(level: int) -> int:
    """Two points per trial; the trials are usually done near these levels (8 points from 75 by the rule table)."""
    return 8 if level >= 75 else 6 if level >= 65 else 4 if level >= 45 else 2 if level >= 25 else 0
