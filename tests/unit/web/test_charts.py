"""Pictures stand where their figures say."""

from __future__ import annotations

import pytest

from app.metrics.efficiency import measure
from app.model.anchors import column_at
from app.model.damage import DamageBreakdown, DamageKind, DamageSource
from app.model.stats import Stats
from app.service.view import damage_view, stats_view
from app.web import charts
from tests.fakes.samples import ENGINE, an_event

PLAYERS = column_at(90)


def strip(dps: float) -> charts.Strip:
    stats = stats_view(Stats(engine=ENGINE, values={"DPS": dps}))
    return next(one for one in charts.strips(stats, PLAYERS) if one.label == "Damage per second")


@pytest.mark.parametrize(
    ("dps", "words"),
    [
        (PLAYERS.dps.lower / 2, "below three quarters of them"),
        (PLAYERS.dps.lower * 1.1, "below the median"),
        (PLAYERS.dps.median, "above the median"),
        (PLAYERS.dps.upper * 2, "above three quarters of them"),
    ],
)
def test_a_figure_stands_among_players_where_the_words_say(dps: float, words: str) -> None:
    found = strip(dps)
    assert found.words.endswith(words)
    assert found.here is not None
    assert found.lower is not None
    assert found.upper is not None
    assert (found.here < found.lower) == (dps < PLAYERS.dps.lower)
    assert (found.here > found.upper) == (dps > PLAYERS.dps.upper)
    assert 0 < found.here < charts.WIDTH


def test_what_is_unknown_has_no_place() -> None:
    spirit = next(one for one in charts.strips(stats_view(Stats(engine=ENGINE)), PLAYERS) if one.label == "Spirit")
    assert (spirit.here, spirit.value) == (None, "?")


def test_bars_are_bounded_by_their_strip() -> None:
    values = {"FireResist": 90.0, "ColdResist": -30.0, "PhysicalMaximumHitTaken": 1e12, "FireMaximumHitTaken": 500.0}
    stats = stats_view(Stats(engine=ENGINE, values=values))
    assert [bar.length for bar in charts.resistances(stats)] == [90.0, 0.0, 0.0, 0.0]
    assert [(bar.label, bar.length, bar.value) for bar in charts.hits(stats)] == [
        ("Physical", 100.0, "no limit"),
        ("Fire", 100.0, "500"),
    ]


def test_damage_is_stacked_without_gaps_and_without_second_skills() -> None:
    sources = [
        DamageSource(name=name, kind=kind, dps=dps)
        for name, kind, dps in (
            ("a", DamageKind.HIT, 60.0),
            ("b", DamageKind.IGNITE, 40.0),
            ("c", DamageKind.SECOND_SKILL, 500.0),
        )
    ]
    found = Stats(engine=ENGINE, values={"DPS": 100.0}, damage=DamageBreakdown.of(sources))
    stack = charts.damage_stack(damage_view(found))
    assert [(bar.label, bar.start, bar.length) for bar in stack] == [("a", 0.0, 60.0), ("b", 60.0, 40.0)]


def test_times_are_of_phases_against_the_longest() -> None:
    assert charts.times(measure([])) == []
    (only,) = charts.times(measure([an_event(1, duration_ms=1500.0)]))
    assert (only.length, only.value) == (charts.WIDTH, "1.5 s")
