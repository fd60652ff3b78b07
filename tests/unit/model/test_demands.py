"""The demands on a build, at the edges of the level bands."""

from __future__ import annotations

import pytest

from app.model.anchors import ANCHORS, Column
from app.model.constraints import Invariant, InvariantSet, InvariantValue
from app.model.demands import Floor, demands_of, floors_for, is_level_of_points
from app.model.names import GearTier, Goal, Provenance, UniqueTier
from app.model.record import BuildRequest


@pytest.mark.parametrize(
    ("level", "gear", "column"),
    [
        (90, GearTier.MIRROR, Column.LEVEL_90),
        (90, GearTier.ENDGAME, Column.LEVEL_90),
        (90, GearTier.MID, Column.LEVEL_76),
        (90, GearTier.STARTER, Column.LEVEL_60),
        (89, GearTier.MIRROR, Column.LEVEL_76),
        (76, GearTier.MID, Column.LEVEL_76),
        (75, GearTier.ENDGAME, Column.LEVEL_60),
        (60, GearTier.STARTER, Column.LEVEL_60),
    ],
)
def test_floors_are_lower_quartile_and_median_of_the_tiers_column(level: int, gear: GearTier, column: Column) -> None:
    floors, players = floors_for(level, gear), ANCHORS[column]
    for floor, figures in (
        (floors.dps, players.dps),
        (floors.ehp, players.ehp),
        (floors.physical_hit, players.physical_hit),
        (floors.elemental_hit, players.fire_hit),
        (floors.recovery, players.recovery),
    ):
        assert (floor.least, floor.good) == (figures.lower, figures.median)


def test_bosses_and_hardcore_raise_the_floors_of_defence_and_of_nothing_else() -> None:
    usual = floors_for(90, GearTier.MID)
    bosses = floors_for(90, GearTier.MID, Goal.BOSSING)
    deadly = floors_for(90, GearTier.MID, Goal.BOSSING, hardcore=True)
    assert usual.dps == bosses.dps == deadly.dps
    for name in ("ehp", "physical_hit", "elemental_hit", "recovery"):
        floors = [getattr(found, name) for found in (usual, bosses, deadly)]
        assert floors[0].least < floors[1].least < floors[2].least
        assert floors[0].good < floors[1].good < floors[2].good
    assert deadly.physical_hit == Floor(least=3_276, good=4_541)
    assert demands_of(said(hardcore=True)).floors == floors_for(90, GearTier.MID, hardcore=True)


def test_below_the_bands_demands_shrink_with_the_level() -> None:
    assert 0 < floors_for(10, GearTier.STARTER).dps.least < floors_for(40, GearTier.STARTER).dps.least


def test_resistances_are_filled_on_the_way_and_blocking_at_75_only_from_level_76() -> None:
    on_the_way = [floors_for(level, GearTier.MID).resistance for level in (12, 30, 59, 60)]
    assert [(floor.least, floor.good) for floor in on_the_way] == [(2, 3), (15, 19), (58, 73), (60, 75)]
    assert floors_for(75, GearTier.MID).resistance.least == 60
    assert floors_for(76, GearTier.MID).resistance.least == 75


@pytest.mark.parametrize(("level", "points"), [(1, 0), (10, 11), (28, 35), (63, 84), (64, 87), (90, 113), (100, 123)])
def test_passive_points_are_level_minus_one_plus_what_quests_have_given_by_then(level: int, points: int) -> None:
    floors = floors_for(level, GearTier.MID)
    assert (floors.passive_points, floors.weapon_set_points) == (points, points - level + 1)


@pytest.mark.parametrize(
    ("gear", "level", "expected"),
    [
        (GearTier.STARTER, 90, (3, 40, 0)),
        (GearTier.MID, 45, (3, 45, 2)),
        (GearTier.ENDGAME, 100, (5, 75, 4)),
        (GearTier.MIRROR, 100, (6, 82, 4)),
    ],
)
def test_gear_limits(gear: GearTier, level: int, expected: tuple[int, int, int]) -> None:
    limits = floors_for(level, gear).gear
    assert (limits.max_affixes, limits.max_affix_level, limits.max_uniques) == expected


@pytest.mark.parametrize(
    ("gear", "rarest"),
    [
        (GearTier.STARTER, UniqueTier.COMMON),
        (GearTier.MID, UniqueTier.COMMON),
        (GearTier.ENDGAME, UniqueTier.RARE),
        (GearTier.MIRROR, UniqueTier.CHASE),
    ],
)
def test_the_rarest_unique_of_each_tier(gear: GearTier, rarest: UniqueTier) -> None:
    assert floors_for(90, gear).gear.rarest_unique is rarest


def said(**values: InvariantValue) -> InvariantSet:
    found = [Invariant(field=f, value=v, provenance=Provenance.EXPLICIT, reason="said") for f, v in values.items()]
    return InvariantSet(invariants=found)


def test_field_wins_over_constraint_wins_over_default() -> None:
    asked = BuildRequest(prompt="a build", level=12, gear=GearTier.STARTER)
    assert demands_of(said()) == demands_of(said(), BuildRequest(prompt="a build"))
    default = demands_of(said())
    assert (default.level, default.gear, default.goal, default.hardcore) == (90, GearTier.MID, Goal.ALL_ROUND, False)
    assert (demands_of(said(level=40)).level, demands_of(said(level=40), asked).level) == (40, 12)
    assert demands_of(said(gear="endgame")).gear is GearTier.ENDGAME
    assert demands_of(said(gear="endgame"), asked).gear is GearTier.STARTER
    assert demands_of(said(goal="bossing")).goal is Goal.BOSSING
    assert demands_of(said(hardcore=True)).hardcore


def test_what_cannot_be_meant_is_the_default_for_everyone() -> None:
    assert demands_of(said(goal="nonsense")).goal is Goal.ALL_ROUND
    assert demands_of(said(gear="nonsense")).gear is GearTier.MID
    assert demands_of(said(level=400)).level == 100
    assert demands_of(said(level="many")).level == 90


def test_floors_are_those_of_the_level_and_gear_demanded() -> None:
    assert demands_of(said(level=24, gear="starter")).floors == floors_for(24, GearTier.STARTER)


@pytest.mark.parametrize(
    ("level", "is_it"),
    [(9, True), (12, True), (30, True), (50, True), (70, True), (90, True), (40, False), (11, False)],
)
def test_within_an_act_points_are_those_of_another_level(level: int, is_it: bool) -> None:
    """A build of level 40 was opened as one of level 42: its fifth quest counts with the sixth there."""
    assert is_level_of_points(level) is is_it
