"""What a refinement calls better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model.demands import floors_for
from app.model.experiments import Direction, Wish
from app.model.names import GearTier
from app.search.objective import Guard
from app.search.refine.objective import RefineObjective, refine_objective
from app.search.refine.work import WORTHWHILE

BASE = {"DPS": 1000.0, "TotalEHP": 5000.0, "FireResist": 75.0, "ColdResist": 75.0, "LightningResist": 40.0}


def _objective(direction: Direction, base: dict[str, float] = BASE) -> RefineObjective:
    found = refine_objective(Wish(direction=direction), base, floors_for(90, GearTier.ENDGAME))
    return replace(found, gaps=found.shortfalls(base))


def _with(**changes: float) -> dict[str, float]:
    return {**BASE, **changes}


def test_the_parent_scores_zero_whatever_it_lacks() -> None:
    assert _objective("damage").score(BASE) == pytest.approx(0.0)
    assert _objective("resistances").score(BASE) == pytest.approx(0.0)


def test_what_cannot_be_tried_is_worse_than_anything() -> None:
    assert _objective("damage").score({}) == float("-inf")


@pytest.mark.parametrize(("direction", "key"), [("damage", "DPS"), ("survivability", "TotalEHP")])
def test_the_wished_figure_counts(direction: Direction, key: str) -> None:
    objective = _objective(direction)
    assert objective.score(_with(**{key: BASE[key] * 1.1})) > 0.09
    assert objective.score(_with(**{key: BASE[key] * 0.9})) < 0


def test_no_gain_pays_for_losing_too_much_of_the_other_figure() -> None:
    objective = _objective("survivability")
    assert objective.score(_with(TotalEHP=10_000.0, DPS=700.0)) < 0
    assert objective.score(_with(TotalEHP=6000.0, DPS=970.0)) > 0.15


def test_a_demand_that_the_parent_meets_must_stay_met() -> None:
    objective = _objective("damage")
    assert objective.score(_with(DPS=1200.0, FireResist=40.0)) < 0
    assert objective.score(_with(DPS=1200.0, LightningResist=40.0)) > 0


def test_reached_needs_the_gain_and_bounds_the_loss() -> None:
    objective = _objective("survivability")
    assert objective.reached(_with(TotalEHP=5751.0, DPS=951.0))
    assert not objective.reached(_with(TotalEHP=5700.0, DPS=1000.0))
    assert not objective.reached(_with(TotalEHP=9000.0, DPS=949.0))


@pytest.mark.parametrize("direction", ["resistances", "sustain", "repair"])
def test_being_much_stronger_is_no_reason_to_exchange_what_is_fine(direction: Direction) -> None:
    objective = _objective(direction, {**BASE, "LightningResist": 75.0})
    twice = {**BASE, "LightningResist": 75.0, "DPS": 2000.0, "TotalEHP": 10000.0}
    assert 0 < objective.score(twice) < WORTHWHILE


def test_whoever_asks_for_resistances_wants_them_capped_where_less_is_tolerated() -> None:
    floors = floors_for(71, GearTier.MID)
    assert floors.resistance.least < 75
    objective = refine_objective(Wish(direction="resistances"), BASE, floors)
    assert not objective.reached(_with(LightningResist=74.0))
    assert objective.reached(_with(LightningResist=75.0))


def test_capped_resistances_are_reached_when_no_gap_is_left() -> None:
    objective = _objective("resistances")
    assert objective.reached(_with(LightningResist=75.0))
    assert not objective.reached(_with(LightningResist=74.0))
    assert objective.shortfalls(BASE)[Guard.RESISTANCE] > 0


def test_a_parent_without_damage_is_judged_by_what_it_has() -> None:
    silent = {"TotalEHP": 5000.0, "FireResist": 75.0, "ColdResist": 75.0, "LightningResist": 75.0}
    objective = _objective("survivability", silent)
    assert objective.reached({**silent, "TotalEHP": 6000.0})


def test_a_repair_counts_every_demand_that_is_met_and_hardly_any_loss() -> None:
    flawed = {**BASE, "FireResist": 10.0, "SpiritUnreserved": -20.0, "ManaPerSecondCost": 80.0, "ManaUnreserved": 10.0}
    objective = _objective("repair", flawed)
    assert objective.score(flawed) == pytest.approx(0.0)
    for met in ({"FireResist": 75.0}, {"SpiritUnreserved": 0.0}, {"ManaPerSecondCost": 1.0}):
        assert objective.score({**flawed, **met}) > 0.1
    assert objective.score({**flawed, "FireResist": 75.0, "DPS": 0.5 * BASE["DPS"]}) < 0
    assert not objective.reached({**flawed, "TotalEHP": 0.9 * BASE["TotalEHP"]})
    assert not objective.enough(flawed), "a demand is still unmet"


def test_sustain_is_reached_when_a_fight_can_be_paid() -> None:
    flawed = {**BASE, "ManaPerSecondCost": 80.0, "ManaRegenRecovery": 5.0, "ManaUnreserved": 10.0}
    objective = _objective("sustain", flawed)
    assert not objective.reached(flawed)
    assert objective.reached({**flawed, "ManaRegenRecovery": 80.0})
    assert not objective.reached({**flawed, "ManaRegenRecovery": 80.0, "DPS": 0.8 * BASE["DPS"]})


def test_a_figure_asked_for_is_aimed_at_until_it_is_there() -> None:
    wish = Wish(direction="balanced", gain=0.01, least=-0.1, said=False)
    aimed = refine_objective(wish, BASE, floors_for(90, GearTier.ENDGAME), {"Spirit": 130.0, "DPS": 9e9})
    assert "Spirit" in aimed.metrics
    assert "DPS" not in aimed.targets
    have, near, there = (_with(Spirit=spirit, DPS=1010.0, TotalEHP=5100.0) for spirit in (100.0, 120.0, 130.0))
    assert aimed.score(have) < aimed.score(near) < aimed.score(there)
    assert (aimed.enough(near), aimed.enough(there)) == (False, True)
    assert aimed.reached(_with(Spirit=130.0, DPS=960.0))
    assert not aimed.reached(_with(Spirit=130.0, DPS=940.0))
