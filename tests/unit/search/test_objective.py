from __future__ import annotations

import math
from dataclasses import replace

import pytest

from app.model.demands import Floor, floors_for
from app.model.names import Attribute, Demand, GearTier, Goal
from app.model.stats import MOVEMENT, RESISTANCES
from app.model.sub_problems import Constraint, RequirementsChoice, ScalingChoice, SurvivabilityChoice
from app.search.objective import METRICS, Guard, Objective, lack, lack_segments, objective_for, sustain_gap, worth
from tests.fakes.arithmetic import World
from tests.unit.search.conftest import FLOORS, PLAN, Context

OBJECTIVE = Objective(FLOORS)
GOOD = {
    "DPS": 20_000.0,
    "TotalEHP": 12_000.0,
    "FireResist": 75.0,
    "ColdResist": 75.0,
    "LightningResist": 75.0,
    "Str": 50.0,
    "Dex": 50.0,
    "Int": 50.0,
}


def test_a_candidate_without_outputs_is_worst_of_all() -> None:
    assert OBJECTIVE.score({}) == -math.inf


@pytest.mark.parametrize(
    ("broken", "part"),
    [
        ({"DPS": 900.0}, "DPS"),
        ({"TotalEHP": 900.0}, "TotalEHP"),
        ({"FireResist": 10.0}, "resistance"),
        ({"SpiritUnreserved": -20.0}, "spirit"),
        ({"ManaPerSecondCost": 90.0}, "sustain"),
        ({"ReqStr": 90.0}, "attributes"),
        ({"EffectiveMovementSpeedMod": 0.7}, "EffectiveMovementSpeedMod"),
        ({"PhysicalMaximumHitTaken": 10.0}, "hits and recovery"),
        ({"Life": 10.0}, "targets"),
    ],
)
def test_the_parts_of_a_score_say_what_it_lost(broken: dict[str, float], part: str) -> None:
    """The score is the sum of its parts, and only the part that a figure belongs to changes with it."""
    objective = replace(OBJECTIVE, minima={"Life": 1000.0})
    good = GOOD | {"Life": 1000.0, "PhysicalMaximumHitTaken": 1e6}
    fine, worse = objective.parts(good), objective.parts(good | broken)
    assert sum(worse.values()) == pytest.approx(objective.score(good | broken))
    assert {name for name in fine if fine[name] != worse[name]} == {part}
    assert worse[part] < fine[part]


def test_floors_come_before_trade() -> None:
    """Doubling damage that is good already does not pay for effective hit points below the floor."""
    greedy = GOOD | {"DPS": 200_000.0, "TotalEHP": 3_000.0}
    assert OBJECTIVE.score(greedy) < OBJECTIVE.score(GOOD)


@pytest.mark.parametrize(
    ("key", "value"), [("FireResist", 60.0), ("SpiritUnreserved", -20.0), ("ManaPerSecondCost", 90.0)]
)
def test_every_broken_demand_costs(key: str, value: float) -> None:
    assert OBJECTIVE.score(GOOD | {key: value}) < OBJECTIVE.score(GOOD)


def test_resistance_beyond_the_floor_gives_nothing() -> None:
    assert OBJECTIVE.score(GOOD | {"FireResist": 76.0}) == OBJECTIVE.score(GOOD)


def test_guards_can_be_switched_off() -> None:
    broken = GOOD | {"FireResist": -60.0}
    assert OBJECTIVE.without(Guard.RESISTANCE).score(broken) == OBJECTIVE.score(GOOD)


def test_required_attributes_are_the_higher_of_inspection_and_trial() -> None:
    demanding = OBJECTIVE.requiring({Attribute.STRENGTH: 60.0})
    assert demanding.attribute_gaps(GOOD)[Attribute.STRENGTH] == (60.0, 10.0)
    assert demanding.attribute_gaps(GOOD | {"ReqStr": 80.0})[Attribute.STRENGTH] == (80.0, 30.0)


@pytest.mark.parametrize(("key", "weak", "strong"), [("ChaosMaximumHitTaken", 300.0, 9e3), (MOVEMENT, 0.9, 1.3)])
def test_weak_spots_cost_and_strength_beyond_the_floor_gives_nothing(key: str, weak: float, strong: float) -> None:
    assert OBJECTIVE.score(GOOD | {key: weak}) < OBJECTIVE.score(GOOD)
    assert OBJECTIVE.score(GOOD | {key: strong}) == OBJECTIVE.score(GOOD)


@pytest.mark.parametrize(
    ("keys", "floor"),
    [
        (("PhysicalMaximumHitTaken",), FLOORS.physical_hit),
        (("FireMaximumHitTaken", "ColdMaximumHitTaken", "LightningMaximumHitTaken"), FLOORS.elemental_hit),
    ],
)
def test_hits_cost_what_they_lack_and_give_nothing_once_good(keys: tuple[str, ...], floor: Floor) -> None:
    def score(value: float) -> float:
        return OBJECTIVE.score(GOOD | dict.fromkeys(keys, value))

    assert score(floor.least / 2) < score(floor.least) < score(floor.good) == score(3 * floor.good)
    # half of a hit lacks as much as half of EHP once both kinds of hit lack it
    lost = score(floor.least) - score(floor.least / 2)
    ehp = FLOORS.ehp.least
    weaker = OBJECTIVE.score(GOOD | {"TotalEHP": ehp / 2})
    assert 2 * lost == pytest.approx(OBJECTIVE.score(GOOD | {"TotalEHP": ehp}) - weaker)


def test_the_weakest_element_counts() -> None:
    even = GOOD | dict.fromkeys(("FireMaximumHitTaken", "ColdMaximumHitTaken", "LightningMaximumHitTaken"), 9e3)
    assert OBJECTIVE.score(even | {"ColdMaximumHitTaken": 3e3}) < OBJECTIVE.score(even)


def test_recovery_counts_whatever_it_comes_from() -> None:
    none = GOOD | {"LifeRegenRecovery": 0.0}
    enough = FLOORS.recovery.good
    regenerated, recharged = none | {"LifeRegenRecovery": enough}, none | {"EnergyShieldRecharge": enough}
    assert OBJECTIVE.score(none) < OBJECTIVE.score(regenerated) == OBJECTIVE.score(recharged)
    assert OBJECTIVE.score(regenerated) == OBJECTIVE.score(none | {"LifeRegenRecovery": 5 * enough})


def test_low_chaos_resistance_costs_once_gear_has_seen_to_it() -> None:
    least = FLOORS.chaos_resistance.least
    enough, none = GOOD | {"ChaosResist": least}, GOOD | {"ChaosResist": 0.0}
    assert 0.0 < OBJECTIVE.score(enough) - OBJECTIVE.score(none) < 1.0
    assert OBJECTIVE.score(enough) == OBJECTIVE.score(GOOD | {"ChaosResist": 75.0})
    assert (OBJECTIVE.chaos_gap(none), OBJECTIVE.chaos_gap(enough)) == (least, 0.0)
    drafted = OBJECTIVE.without(Guard.RESISTANCE)
    assert drafted.score(none) == drafted.score(enough)


@pytest.mark.parametrize("level", [1, 3, 5, 6])
def test_in_the_first_levels_no_resistance_is_missed(level: int) -> None:
    """What is wanted grows from nothing: a character of level 5 ended a build with a division by zero."""
    early = Objective(floors_for(level, GearTier.MID))
    assert early.score(GOOD | dict.fromkeys(RESISTANCES, 1.0)) == early.score(GOOD | dict.fromkeys(RESISTANCES, 75.0))


def test_where_nobody_asks_for_chaos_resistance_less_than_none_costs_nothing() -> None:
    early = Objective(floors_for(45, GearTier.STARTER))
    assert early.score(GOOD | {"ChaosResist": -20.0}) == early.score(GOOD | {"ChaosResist": 0.0})


def test_the_lines_of_what_is_lacking_are_what_it_costs() -> None:
    floor = Floor(least=100.0, good=400.0)
    for value in (1.0, 50.0, 100.0, 200.0, 400.0, 1e6):
        lowest = min(slope * math.log(value) + height for slope, height in lack_segments(floor))
        assert lowest == pytest.approx(lack(value, floor))


def test_minima_come_before_any_gain() -> None:
    kept = replace(OBJECTIVE, minima={"ChaosResist": -10.0, "Str": 50.0})
    fine = GOOD | {"ChaosResist": -10.0}
    assert kept.missed(fine) == 0.0
    assert kept.score(fine) == OBJECTIVE.score(fine)
    for lower in ({"ChaosResist": -11.0}, {"Str": 49.0}):
        assert kept.score(fine | lower | {"DPS": GOOD["DPS"] * 1.3}) < kept.score(fine)


@pytest.mark.parametrize("value", [0.0, 1.0, 99.0, 100.0, 101.0, 399.0, 400.0, 401.0, 1e9])
def test_worth_rises_without_jumps(value: float) -> None:
    floor = Floor(least=100.0, good=400.0)
    assert worth(value * 1.001 + 1.0, floor) > worth(value, floor) - 1e-12
    assert abs(worth(value + 1e-6, floor) - worth(value, floor)) < 1e-5


def test_worth_is_concave_in_the_logarithm() -> None:
    floor = Floor(least=100.0, good=400.0)
    steps = [worth(v * 1.1, floor) - worth(v, floor) for v in (50.0, 200.0, 800.0)]
    assert steps == sorted(steps, reverse=True)


def test_sustain_counts_recovery_then_pool_and_flask() -> None:
    cost = {"ManaPerSecondCost": 100.0}
    assert sustain_gap(cost | {"ManaRegenRecovery": 60.0, "ManaLeechGainRate": 40.0}) == 0.0
    lasting = sustain_gap(cost | {"ManaRegenRecovery": 50.0, "ManaUnreserved": 400.0}, flask_mana=600.0)
    assert lasting == pytest.approx(0.15 * 0.5)
    assert sustain_gap(cost) == pytest.approx(1.0)
    half = cost | {"ManaRegenRecovery": 50.0, "ManaUnreserved": 500.0}
    assert sustain_gap(half, 500.0, drain=0.0) == 0.0, "who has a flask for a fight needs no more"
    assert sustain_gap(half, drain=0.0) == pytest.approx(0.5)
    stored = cost | {"ManaUnreserved": 4000.0}
    drained = sustain_gap(stored | {"ManaRegenRecovery": -40.0})
    assert drained > sustain_gap(stored | {"ManaRegenRecovery": 0.0}), "mana that drains away is paid for too"


def test_life_costs_must_be_recovered() -> None:
    assert sustain_gap({"LifePerSecondCost": 10.0, "ManaUnreserved": 9000.0}) == pytest.approx(1.0)


@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("hardcore", [False, True])
def test_a_wish_is_weighted_by_the_answers_alone(context: Context, goal: Goal, hardcore: bool) -> None:
    demands = [Constraint(conflict_id="x", demand=d) for d in (Demand.MORE_EFFECTIVE_LIFE, Demand.MORE_DAMAGE)]
    plan = replace(
        PLAN,
        scaling=ScalingChoice(damage_weight=1.2),
        survivability=SurvivabilityChoice(ehp_weight=1.5),
        requirements=RequirementsChoice(ehp_weight=1.5),
        constraints=tuple(demands),
    )
    found = objective_for(context(World(), plan=plan, goal=goal, hardcore=hardcore))
    assert (found.damage_weight, found.ehp_weight) == (1.2, 2.25)


def test_metrics_hold_all_that_the_score_reads() -> None:
    seen: set[str] = set()

    class Recorder(dict[str, float]):
        def get(self, key: str, default: float = 0.0) -> float:  # type: ignore[override]
            seen.add(key)
            return super().get(key, default)

    OBJECTIVE.score(Recorder(GOOD | {"ManaPerSecondCost": 9.0, "LifePerSecondCost": 9.0}))
    assert "LifePerSecondCost" in seen
    assert seen <= set(METRICS)
