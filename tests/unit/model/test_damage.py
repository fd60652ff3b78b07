"""Where damage comes from, and what one use may cost."""

from __future__ import annotations

import pytest

from app.model.damage import NOT_COUNTED, DamageBreakdown, DamageKind, DamageSource, unpayable
from app.model.stats import EngineVersion, Stats


def source(name: str, kind: DamageKind, dps: float) -> DamageSource:
    return DamageSource(name=name, kind=kind, dps=dps)


def test_sources_add_up_and_the_largest_comes_first() -> None:
    found = DamageBreakdown.of(
        [
            source("Spark", DamageKind.IGNITE, 10.0),
            source("Spark", DamageKind.HIT, 50.0),
            source("Spark", DamageKind.IGNITE, 40.0),
        ]
    )
    assert (found.dps, found.per_second) == (100.0, True)
    assert [(one.kind, one.dps, one.share) for one in found.sources] == [("hit", 50.0, 0.5), ("ignite", 50.0, 0.5)]
    assert found.share(DamageKind.IGNITE, DamageKind.POISON) == 0.5


def test_a_second_skill_is_told_last_and_never_added() -> None:
    found = DamageBreakdown.of([source("Comet", DamageKind.SECOND_SKILL, 9e9), source("Spark", DamageKind.HIT, 1.0)])
    assert found.dps == 1.0
    assert [(one.name, one.share) for one in found.sources] == [("Spark", 1.0), ("Comet", 0.0)]


@pytest.mark.parametrize("sources", [[], [source("Comet", DamageKind.SECOND_SKILL, 5.0)]])
def test_without_a_rate_there_is_no_figure(sources: list[DamageSource]) -> None:
    found = DamageBreakdown.of(sources, "corpse")
    assert (found.dps, found.per_second, found.not_counted) == (None, False, "corpse")
    assert found.not_counted in NOT_COUNTED


def test_a_state_stored_without_sources_opens() -> None:
    engine = EngineVersion(name="pob", version="1", tree_version="0_5")
    stats = Stats.model_validate({"engine": engine.model_dump(), "values": {"DPS": 5.0}})
    assert stats.dps == 5.0
    assert stats.damage == DamageBreakdown()


def test_a_pool_that_the_engine_does_not_know_is_not_held_against_a_cost() -> None:
    assert unpayable({"ManaCost": 10.0, "LifeCost": 10.0}) == []


@pytest.mark.parametrize(
    ("values", "short"),
    [
        ({"ManaCost": 988.0, "ManaUnreserved": 680.0}, ["mana"]),
        ({"ManaCost": 988.0, "ManaUnreserved": 680.0, "ManaPool": 1_000.0}, []),
        ({"LifeCost": 624.0, "LifeUnreserved": 2_069.0}, ["life"]),
        ({"LifeCost": 500.0, "LifeUnreserved": 2_069.0}, []),
        ({"ManaCost": 5.0, "ManaUnreserved": -40.0}, ["mana"]),
    ],
)
def test_what_cannot_be_paid(values: dict[str, float], short: list[str]) -> None:
    assert [cost.resource for cost in unpayable(values)] == short
