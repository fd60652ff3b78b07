"""What a build must reach: said once, for everyone who plans, searches or judges.

Floors go by level, gear tier, goal and hardcore; the search works towards them and validate holds builds against them.

The figures of damage and defence are quartiles of real players' builds (`app.model.anchors`): those of the column that
the gear tier is calibrated on, or of the level's own column where that asks for less.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import accumulate
from typing import TypeVar

from pydantic import Field

from app.model.anchors import Anchors, Column, Quartiles, column_at, column_of
from app.model.base import Model, changed
from app.model.constraints import INVARIANTS, InvariantSet
from app.model.names import GearTier, Goal, UniqueTier
from app.model.record import BuildRequest

E = TypeVar("E", bound=StrEnum)


class Floor(Model):
    """Blocking below `least`, a warning below `good`."""

    least: float
    good: float

    def short_of(self, value: float) -> float:
        """Return what a figure that may be negative lacks to `least`; nothing where nobody asks for any of it."""
        return max(0.0, self.least - value) if self.least > 0 else 0.0


NO_FLOOR = Floor(least=0.0, good=0.0)
"""Of a figure that nobody asks for."""


class GearLimits(Model):
    """What items of a tier may have.

    `max_affixes`: lines of a rare that may serve the build; what else is on it is left to chance.
    `rarest_unique`: the last tier of uniques that its owner comes by; `gone_uniques`: also those that cannot
    be obtained any more, which only somebody who has one can wear. `named`: names of what the user asked for, uniques
    among it: these may be worn whatever the tier, and do not count. `emotions`: how many of `EMOTIONS`, the commonest
    first, anoint an amulet; 0 = it is not anointed.
    """

    max_affixes: int
    max_affix_level: int
    max_uniques: int
    rarest_unique: UniqueTier = UniqueTier.COMMON
    gone_uniques: bool = False
    named: list[str] = Field(default_factory=list)
    emotions: int = 0


class Floors(Model):
    """All quantitative demands on one build.

    Resistances in percent: `resistance` that of each element; hits in hit points: the largest physical hit that is
    survived, and the largest of the element that hurts most; `recovery` in hit points per second.
    """

    dps: Floor
    ehp: Floor
    physical_hit: Floor = NO_FLOOR
    elemental_hit: Floor = NO_FLOOR
    recovery: Floor = NO_FLOOR
    chaos_resistance: Floor = NO_FLOOR
    resistance: Floor
    ascendancy_points: int
    gear: GearLimits
    passive_points: int
    weapon_set_points: int


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
    goal, hardcore = _member(Goal, invariants, "goal"), invariants.get("hardcore") is True
    floors = floors_for(level, gear, goal, hardcore)
    worn = changed(floors.gear, named=invariants.listed("with"))
    return Demands(level=level, gear=gear, goal=goal, hardcore=hardcore, floors=changed(floors, gear=worn))


def _member(kind: type[E], invariants: InvariantSet, field: str) -> E:
    said = invariants.text(field)
    return kind(said if said in set(kind) else str(INVARIANTS[field].default))


_GEAR = {
    GearTier.STARTER: (3, 40, 0),
    GearTier.MID: (3, 55, 2),
    GearTier.ENDGAME: (5, 75, 4),
    GearTier.MIRROR: (6, 82, 4),
}
"""Lines of a rare item, highest affix level, unique items.

All lines that the search chooses serve the build. Of the five or six that a player's rare carries by far not all do, so
a tier has fewer; the tiers were set with `bench gear`, which puts our rares on players' builds.
"""
_RAREST = {
    GearTier.STARTER: UniqueTier.COMMON,
    GearTier.MID: UniqueTier.COMMON,
    GearTier.ENDGAME: UniqueTier.RARE,
    GearTier.MIRROR: UniqueTier.CHASE,
}
"""The hardest uniques that the tier's owner comes by. How many are worn says `_GEAR`: real players wear none at the
median at level 60 to 75 and hardly one at 76 to 89, so `starter` has none of its own accord."""

EMOTIONS = (
    "Ire", "Guilt", "Greed", "Paranoia", "Envy", "Disgust", "Despair", "Fear", "Suffering", "Isolation",
)  # fmt: skip
"""What amulets are anointed with, three at a time, from the commonest to the rarest; a few passives ask for others, and
the search leaves those alone. Source: Path of Building 0.20 lists them in this order (Classes/NotableDBControl.lua)."""

_EMOTIONS = {GearTier.STARTER: 6, GearTier.MID: 8, GearTier.ENDGAME: 10, GearTier.MIRROR: 10}
"""How many of them the tier can pay. Of real players one at level 71 used the sixth, one at 89 the eighth, and of seven
from level 85 on five the ninth or tenth (their files, amulets only)."""

ANOINTED_FROM = 65
"""Emotions come from maps: before this level there are hardly any."""

QUEST_PASSIVE_POINTS = 24
"""What twelve quests give, two weapon set points each (they can be spent as plain points): in act 1 The Crowbell and
Una's Lute, in act 2 Kabala and The Final Letter, in act 3 Mighty Silverfist and Blood Sacrifice, in act 4 Blind Beast
and Hinekora, in the interludes Oswin, Clearing The Way and Abominable Yeti, then Siege Of Oriath. Source: Path of
Building 0.20, Data/QuestRewards.lua, all rows with `questPoints`."""

QUEST_LEVELS = (10, 12, 25, 28, 34, 44, 51, 51, 61, 62, 62, 64)
"""Level of the area of each of those quests, about that of a character who does it; two points each. Same source."""

QUESTS_OF_ACTS = (2, 2, 2, 2, 3, 1)
"""How many of those quests each act has. Same source."""

QUEST_REWARDS = {
    "questAct 1ClearfellBeira": 2,
    "questAct 1FreythornKing In The Mists": 11,
    "questAct 1Ogham ManorCandlemass": 15,
    "questAct 2Spires of DesharSisters of Garukhan Shrine": 30,
    "questAct 3Azak BogIgnagduk": 36,
    "questAct 3Jiquani's MachinariumBlackjaw": 37,
    "questAct 4Eye of HinekoraSilent Hall": 51,
    "questInterlude 2Khari CrossingMolten Shrine": 61,
    "questInterlude 3Kriar VillageLythara": 61,
}
"""Path of Building's options for the quests that give Spirit, life, mana or a resistance, and their areas' levels:
unless told otherwise it counts all of them at any level, but nothing that a player may choose. Same source."""

QUEST_SPIRIT = {
    "questAct 1FreythornKing In The Mists": 30.0,
    "questAct 3Azak BogIgnagduk": 30.0,
    "questInterlude 3Kriar VillageLythara": 40.0,
}
"""The Spirit that those of them give that give any. Same source."""

UNLISTED_PASSIVE_POINTS = 1
"""What characters of the current game have besides: 31 of 46 real ones have spent level + 24 points, none of an older
tree. Those with both weapon sets full have it as a plain point. Neither the quests that Path of Building 0.20 lists nor
the passives of tree 0_5 give it, so a plan of ours does not count on it, and a file that has it is not at fault."""
ELEMENTAL_RESISTANCE_CAP = 75
ATTRIBUTE_PER_SUPPORT = 5
"""Attribute that each support of a colour asks for, over the whole build (game rule)."""

FIRST_COLUMN = 60
"""The level at which the players' figures begin."""

CAPPED_FROM = 76
"""The level from which elemental resistances below the cap block a build."""

FIGHT_S = 20.0
"""A fight without a pause for which mana pool and a full flask must make up what recovery does not, in seconds."""


def floors_for(level: int, gear: GearTier, goal: Goal = Goal.ALL_ROUND, hardcore: bool = False) -> Floors:
    """Return the demands on a build of this level, tier and goal.

    A floor is the lower quartile and the median of the column. Defences begin higher for bosses, whose hits are larger,
    and highest in hardcore, where the first death is the last. Below level 60 there are no player figures; those of
    level 60 to 75 are scaled by (level / 60) squared, the elemental resistances too (who is on the way has not filled
    them: a Warrior of level 12 was told that 75 % is wanted), and no chaos resistance is asked for.
    """
    column = column_for(level, gear)
    scale = growth(level)

    def defence(figures: Quartiles) -> Floor:
        return _scaled(_raised(figures, goal, hardcore), scale)

    return Floors(
        dps=_scaled(Floor(least=column.dps.lower, good=column.dps.median), scale),
        ehp=defence(column.ehp),
        physical_hit=defence(column.physical_hit),
        elemental_hit=defence(column.fire_hit),
        recovery=defence(column.recovery),
        chaos_resistance=_raised(column.chaos_resistance, Goal.ALL_ROUND, hardcore) if scale == 1.0 else NO_FLOOR,
        resistance=_resistance(level),
        ascendancy_points=_ascendancy_points(level),
        gear=gear_limits(gear, level),
        passive_points=points_by(level),
        weapon_set_points=quest_points(level),
    )


def points_by(level: int) -> int:
    """Return the passive points of a character of the level: those of its levels and of the quests up to there."""
    return level - 1 + quest_points(level)


def earned_points(level: int, told: Mapping[str, int]) -> int:
    """Return the passive points of a character of the level, with those that its passives grant as the engine tells."""
    return points_by(level) + told.get("granted", 0)


def is_level_of_points(level: int) -> bool:
    """Return whether Path of Building takes who has spent all points of the level to be of it.

    The points of an act's quests count there from the last of its areas on (`EstimatePlayerProgress`), so within some
    acts it is another level.
    """
    points = points_by(level)
    reckoned = points + 1
    for quests in accumulate(QUESTS_OF_ACTS):
        last = QUEST_LEVELS[quests - 1]
        if reckoned <= last:
            break
        reckoned = max(points + 1 - 2 * quests, last)
    return reckoned == level


def quest_points(level: int) -> int:
    """Return the passive points that quests have given by the level; each may belong to one weapon set."""
    return 2 * sum(area <= level for area in QUEST_LEVELS)


def quest_spirit(level: int) -> float:
    """Return the Spirit that quests have given a character of the level."""
    return sum(spirit for option, spirit in QUEST_SPIRIT.items() if QUEST_REWARDS[option] <= level)


def rewards_beyond(level: int) -> list[str]:
    """Return the options of the quests whose areas lie beyond the level."""
    return [option for option, area in QUEST_REWARDS.items() if area > level]


def growth(level: int) -> float:
    """Return what share of the figures of the first column a character of the level has; 1 from that column on."""
    return min(1.0, level / FIRST_COLUMN) ** 2


def _resistance(level: int) -> Floor:
    least = ELEMENTAL_RESISTANCE_CAP if level >= CAPPED_FROM else 60
    return Floor(least=round(least * growth(level)), good=round(ELEMENTAL_RESISTANCE_CAP * growth(level)))


def owned(demands: Demands) -> Demands:
    """Return the demands on somebody's own character: it need not have the chaos resistance of a plan of ours."""
    return changed(demands, floors=changed(demands.floors, chaos_resistance=NO_FLOOR))


def without_defences(floors: Floors) -> Floors:
    """Return floors that ask nothing of single hits, recovery and chaos resistance: somebody's build has its own."""
    return changed(floors, physical_hit=NO_FLOOR, elemental_hit=NO_FLOOR, recovery=NO_FLOOR, chaos_resistance=NO_FLOOR)


def gear_limits(gear: GearTier, level: int) -> GearLimits:
    """Return what items of the tier may have on a character of this level; no affix is above that."""
    affixes, affix_level, uniques = _GEAR[gear]
    return GearLimits(
        max_affixes=affixes,
        max_affix_level=min(level, affix_level),
        max_uniques=uniques,
        rarest_unique=_RAREST[gear],
        emotions=_EMOTIONS[gear] if level >= ANOINTED_FROM else 0,
    )


SHIELD_BESIDE_LIFE = 0.8
"""Most energy shield, as a share of the life that is wanted, of a build that is to rely on life."""


def asked_pool(invariants: InvariantSet, demands: Demands) -> tuple[dict[str, float], dict[str, float]]:
    """Return least and most of life and energy shield where the user asked to rely on one of them; else nothing.

    What is wanted of it is the life that players of the tier's column usually have.
    """
    pools = set(invariants.listed("defence")) & {"life", "energy_shield", "hybrid"}
    if not invariants.is_explicit("defence") or len(pools) != 1 or "hybrid" in pools:
        return {}, {}
    wanted = column_for(demands.level, demands.gear).life.median * growth(demands.level)
    if pools == {"life"}:
        return {"Life": wanted}, {"EnergyShield": SHIELD_BESIDE_LIFE * wanted}
    return {"EnergyShield": wanted}, {}


def column_for(level: int, gear: GearTier) -> Anchors:
    """Return the tier's column, or the level's where the character is not as far as those of the tier's.

    The best gear makes no more of an ordinary character than the ladder's: the picked ones were picked for damage.
    """
    own, ranks = column_at(level), list(Column)
    return min(own, column_of(gear), key=lambda anchors: ranks.index(anchors.column))


def _raised(figures: Quartiles, goal: Goal, hardcore: bool) -> Floor:
    """Return the floor of a defence: lower quartile and median, between those and the next, or the next."""
    if hardcore:
        return Floor(least=figures.median, good=figures.upper)
    if goal is Goal.BOSSING:
        return Floor(least=(figures.lower + figures.median) / 2, good=(figures.median + figures.upper) / 2)
    return Floor(least=figures.lower, good=figures.median)


def _scaled(floor: Floor, scale: float) -> Floor:
    return Floor(least=floor.least * scale, good=floor.good * scale)


def _ascendancy_points(level: int) -> int:
    """Two points per trial; the trials are usually done near these levels (8 points from 75 by the rule table)."""
    return 8 if level >= 75 else 6 if level >= 65 else 4 if level >= 45 else 2 if level >= 25 else 0


def level_demands(demands: Demands, level: int) -> Demands:
    """Return what is demanded at a level on the way: plain gear, an ordinary boss, the points there are by then."""
    tier = GearTier.STARTER if demands.gear is GearTier.STARTER else GearTier.MID
    floors = floors_for(level, demands.gear, demands.goal, demands.hardcore)
    floors = changed(floors, gear=changed(gear_limits(tier, level), max_uniques=0))
    return Demands(level=level, gear=GearTier.STARTER, goal=Goal.ALL_ROUND, hardcore=demands.hardcore, floors=floors)
