"""What real players have: quartiles of public builds by level, and the column that each gear tier is calibrated on.

Measured on 59 public builds of real characters, each calculated afresh by Path of Building with its author's
configuration. Damage counts the best skill where Path of Building gives a rate, a minion skill per minion. A level
below 60 has no figures of its own.
"""

from __future__ import annotations

from enum import StrEnum

from app.model.base import Model
from app.model.names import GearTier


class Column(StrEnum):
    """A set of characters that was measured; `PICKED` were chosen for their damage by a collection of guides."""

    LEVEL_60 = "level 60-75"
    LEVEL_76 = "level 76-89"
    LEVEL_90 = "level 90+"
    PICKED = "level 90+, picked for damage"


class Quartiles(Model):
    """The value that a quarter, half and three quarters of the characters stay below."""

    lower: float
    median: float
    upper: float


class Anchors(Model):
    """One column's figures.

    `count`: characters measured. Damage per second; effective hit points and hits in hit points; resistances in percent
    as they count (chaos: 100 with Chaos Inoculation); Spirit, passives, notables, jewels, groups, supports as counts.
    `elemental_resistances` are medians of fire, cold and lightning. `recovery`: hit points that come back per second by
    regeneration, leech and recharge, measured on 15 characters (3, 3 and 9 of the first three columns; the last has
    the third's).
    """

    column: Column
    count: int
    dps: Quartiles
    ehp: Quartiles
    physical_hit: Quartiles
    fire_hit: Quartiles
    recovery: Quartiles
    life: Quartiles
    life_and_shield: Quartiles
    elemental_resistances: tuple[float, float, float]
    chaos_resistance: Quartiles
    spirit: Quartiles
    notables: float
    keystones: float
    jewels: Quartiles
    skill_groups: Quartiles
    supports_on_main_skill: Quartiles
    uniques_worn: float
    rares_worn: float
    passives: Quartiles


def _quartiles(lower: float, median: float, upper: float) -> Quartiles:
    return Quartiles(lower=lower, median=median, upper=upper)


ANCHORS = {
    anchors.column: anchors
    for anchors in (
        Anchors(
            column=Column.LEVEL_60,
            count=9,
            dps=_quartiles(2_200, 3_300, 9_100),
            ehp=_quartiles(3_600, 4_100, 5_300),
            physical_hit=_quartiles(2_118, 2_218, 2_582),
            fire_hit=_quartiles(4_400, 5_700, 6_500),
            recovery=_quartiles(0, 0, 270),
            life=_quartiles(1_419, 1_439, 1_632),
            life_and_shield=_quartiles(1_758, 2_117, 2_218),
            elemental_resistances=(63, 50, 46),
            chaos_resistance=_quartiles(9, 19, 23),
            spirit=_quartiles(100, 140, 153),
            notables=20,
            keystones=0,
            jewels=_quartiles(1, 2, 2),
            skill_groups=_quartiles(8, 9, 10),
            supports_on_main_skill=_quartiles(3, 3, 4),
            uniques_worn=0,
            rares_worn=11,
            passives=_quartiles(90, 91, 94),
        ),
        Anchors(
            column=Column.LEVEL_76,
            count=8,
            dps=_quartiles(7_100, 14_000, 23_000),
            ehp=_quartiles(6_000, 7_500, 9_900),
            physical_hit=_quartiles(2_796, 3_276, 4_541),
            fire_hit=_quartiles(5_500, 8_200, 10_200),
            recovery=_quartiles(105, 116, 143),
            life=_quartiles(1_586, 2_052, 2_445),
            life_and_shield=_quartiles(2_156, 2_740, 3_750),
            elemental_resistances=(66, 68, 67),
            chaos_resistance=_quartiles(21, 32, 49),
            spirit=_quartiles(100, 107, 134),
            notables=22,
            keystones=0.5,
            jewels=_quartiles(1, 1.5, 2.2),
            skill_groups=_quartiles(8.5, 9, 9.2),
            supports_on_main_skill=_quartiles(2.5, 3.5, 4),
            uniques_worn=0.5,
            rares_worn=10,
            passives=_quartiles(103, 108, 114),
        ),
        Anchors(
            column=Column.LEVEL_90,
            count=26,
            dps=_quartiles(28_000, 102_000, 445_000),
            ehp=_quartiles(18_000, 34_000, 58_000),
            physical_hit=_quartiles(5_035, 6_394, 8_818),
            fire_hit=_quartiles(14_500, 18_800, 26_800),
            recovery=_quartiles(272, 437, 742),
            life=_quartiles(1_608, 1_970, 2_756),
            life_and_shield=_quartiles(2_828, 4_599, 7_348),
            elemental_resistances=(75, 75, 75),
            chaos_resistance=_quartiles(60, 75, 100),
            spirit=_quartiles(147, 234, 339),
            notables=30,
            keystones=1,
            jewels=_quartiles(3, 4, 5),
            skill_groups=_quartiles(10, 10.5, 13),
            supports_on_main_skill=_quartiles(4, 5, 5),
            uniques_worn=6,
            rares_worn=9,
            passives=_quartiles(124, 144, 146),
        ),
        Anchors(
            column=Column.PICKED,
            count=16,
            dps=_quartiles(1_250_000, 1_450_000, 2_000_000),
            ehp=_quartiles(20_000, 24_000, 31_000),
            physical_hit=_quartiles(5_274, 6_590, 9_908),
            fire_hit=_quartiles(16_200, 23_000, 33_400),
            recovery=_quartiles(272, 437, 742),
            life=_quartiles(1_525, 1_590, 1_787),
            life_and_shield=_quartiles(1_853, 2_988, 6_635),
            elemental_resistances=(75, 75, 75),
            chaos_resistance=_quartiles(47, 75, 75),
            spirit=_quartiles(152, 206, 255),
            notables=30,
            keystones=1.5,
            jewels=_quartiles(4, 5, 5),
            skill_groups=_quartiles(9.8, 10, 11),
            supports_on_main_skill=_quartiles(5, 5, 5),
            uniques_worn=7,
            rares_worn=11,
            passives=_quartiles(122, 124, 145),
        ),
    )
}

_CALIBRATED = {
    GearTier.STARTER: Column.LEVEL_60,
    GearTier.MID: Column.LEVEL_76,
    GearTier.ENDGAME: Column.LEVEL_90,
}

PLAUSIBLE = 3.0
"""Damage above this multiple of the upper quartile of a tier's column has to be explained."""


def column_of(tier: GearTier) -> Anchors:
    """Return the figures of the characters that a gear tier is calibrated on; of a better tier the picked ones."""
    return ANCHORS[_CALIBRATED.get(tier, Column.PICKED)]


def column_at(level: int) -> Anchors:
    """Return the figures of ordinary characters of this level; below 60 those of level 60 to 75."""
    return ANCHORS[Column.LEVEL_90 if level >= 90 else Column.LEVEL_76 if level >= 76 else Column.LEVEL_60]
