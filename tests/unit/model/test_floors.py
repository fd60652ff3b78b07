"""The demands on a build, at the edges of the level bands."""

from __future__ import annotations

import pytest

from app.model.demands import floors_for
from app.model.names import GearTier


@pytest.mark.parametrize(
    ("level", "gear", "dps", "ehp"),
    [
        (90, GearTier.ENDGAME, (28_000, 102_000), (18_000, 23_000)),
        (90, GearTier.MID, (16_800, 61_200), (10_800, 13_800)),
        (89, GearTier.ENDGAME, (7_000, 14_000), (6_000, 7_500)),
        (76, GearTier.MID, (4_200, 8_400), (3_600, 4_500)),
        (75, GearTier.STARTER, (770, 1_260), (1_155, 1_435)),
        (60, GearTier.ENDGAME, (2_200, 3_600), (3_300, 4_100)),
    ],
)
def test_bands(level: int, gear: GearTier, dps: tuple[float, float], ehp: tuple[float, float]) -> None:
    floors = floors_for(level, gear)
    assert (floors.dps.least, floors.dps.good) == pytest.approx(dps)
    assert (floors.ehp.least, floors.ehp.good) == pytest.approx(ehp)


def test_below_the_bands_demands_shrink_with_the_level() -> None:
    assert 0 < floors_for(10, GearTier.STARTER).dps.least < floors_for(40, GearTier.STARTER).dps.least


def test_resistances_are_blocking_at_75_only_from_level_76() -> None:
    assert floors_for(75, GearTier.MID).resistance.least == 60
    assert floors_for(76, GearTier.MID).resistance.least == 75


@pytest.mark.parametrize(("level", "points"), [(1, 24), (90, 113), (100, 123)])
def test_passive_points_are_level_minus_one_plus_quests(level: int, points: int) -> None:
    assert floors_for(level, GearTier.MID).passive_points == points


@pytest.mark.parametrize(
    ("gear", "level", "expected"),
    [(GearTier.STARTER, 90, (4, 45, 0)), (GearTier.MID, 50, (5, 50, 2)), (GearTier.ENDGAME, 100, (6, 82, 4))],
)
def test_gear_limits(gear: GearTier, level: int, expected: tuple[int, int, int]) -> None:
    limits = floors_for(level, gear).gear
    assert (limits.max_affixes, limits.max_affix_level, limits.max_uniques) == expected
