"""Comparisons against figures worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.metrics.comparison import NO_CALLS, NO_NUMBERS, Comparison, call_bucket, compare
from app.metrics.deltas import ALL_THE_SAME, Delta
from app.metrics.efficiency import PhaseFigures, ToolFigures, measure
from app.metrics.statistics import paired_rates
from app.metrics.subjects import Subject, TaskRun
from app.model.base import changed
from app.model.names import Phase

NOTHING = measure([])


def run(task: str, **known: Any) -> TaskRun:
    """A run with these figures; what is no field of `TaskRun` is one of its calls' figures."""
    plain: dict[str, Any] = {
        "build_id": task,
        "valid": True,
        "seconds": 10.0,
        "dps": 100.0,
        "ehp": 1000.0,
        "blocking": 0,
        "warnings": 1,
        "judged_calls": 4,
        "called": [],
        "selected": None,
    }
    figures = {"calls": 4, "ok_calls": 4}
    for name, value in known.items():
        (plain if name in TaskRun.model_fields else figures)[name] = value
    metrics = changed(NOTHING, run=changed(NOTHING.run, **figures))
    return TaskRun(task=task, **({"metrics": metrics} | plain))


def with_phase(task: str, sum_ms: float) -> TaskRun:
    """A run whose construct phase took so long in one tool."""
    used = changed(NOTHING.run, calls=1, sum_ms=sum_ms)
    tool = ToolFigures(tool="engine.build", kind="pob", productivity=NOTHING.productivity, **used.model_dump())
    phase = PhaseFigures(phase=Phase.CONSTRUCT, tools=[tool], productivity=NOTHING.productivity, **used.model_dump())
    return run(task, metrics=changed(NOTHING, run=used, phases=[phase]))


def delta(found: Comparison, metric: str) -> Delta:
    return next(d for d in found.deltas[0].metrics if d.metric == metric)


def test_trials_are_averaged_not_summed() -> None:
    thrice = Subject("A", [run("one", calls=1), run("one", calls=1), run("one", calls=1), run("two", calls=3)])
    use = compare([thrice, Subject("B", [])]).tool_use.rows[0]
    assert (use.total_calls, use.tasks, use.avg_calls_per_task) == (6, 2, 2.0)
    assert use.histogram == {"0": 0, "1": 1, "2": 0, "3-4": 1, "5-8": 0, "9-16": 0, "17+": 0}


def test_selection_counts_tasks_whose_every_trial_met_everything() -> None:
    runs = [run("a", selected=True), run("a", selected=False), run("b", selected=True), run("c")]
    use = compare([Subject("A", runs), Subject("B", [])]).tool_use.rows[0]
    assert (use.selection_accuracy, use.selection_tasks) == (0.5, 2)


def test_success_is_over_calls_that_can_be_judged() -> None:
    runs = [run("a", ok_calls=9, judged_calls=12), run("b", ok_calls=0, judged_calls=0)]
    use = compare([Subject("A", runs), Subject("B", [])]).tool_use.rows[0]
    assert use.success_rate == 0.75
    assert use.success_interval is None  # the calls of one build say nothing about another's


def test_how_sure_success_is_depends_on_the_number_of_builds() -> None:
    even = [run(f"{n}", ok_calls=9, judged_calls=10) for n in range(12)]
    uneven = [run(f"{n}", ok_calls=10 if n % 3 else 7, judged_calls=10) for n in range(12)]
    sure, unsure = (compare([Subject("A", runs), Subject("B", [])]).tool_use.rows[0] for runs in (even, uneven))
    assert sure.success_rate == unsure.success_rate == 0.9
    assert sure.success_interval is not None
    assert unsure.success_interval is not None
    assert unsure.success_interval.low < sure.success_interval.low < 0.9 < sure.success_interval.high


def test_every_trial_valid() -> None:
    runs = [run("a", valid=ok) for ok in (True, True, True, True, False)] + [run("b", valid=True)] * 2
    row = compare([Subject("A", runs), Subject("B", [])]).outcomes.rows[0]
    assert row.valid_every_time == {"1": pytest.approx(0.9), "2": pytest.approx((0.6 + 1.0) / 2)}


def test_no_calls_suppress_the_section_and_say_why() -> None:
    silent = run("a", calls=0, ok_calls=0, judged_calls=0, dps=None, ehp=None, blocking=None, warnings=None)
    found = compare([Subject("A", [silent]), Subject("B", [silent])])
    assert (found.tool_use.reason, found.tool_use.rows) == (NO_CALLS, [])
    assert found.outcomes.reason == NO_NUMBERS
    assert delta(found, "dps").difference is None
    assert delta(found, "dps").reason == "no task in common has this figure"
    assert delta(found, "success_rate").baseline is None
    assert "NaN" not in json.dumps(json.loads(found.model_dump_json()))


def test_failed_runs_are_paid_for_by_valid_ones() -> None:
    runs = [run("a", cost_usd="0.02"), run("b", valid=False, seconds=30.0, cost_usd="0.04")]
    costs = compare([Subject("A", runs), Subject("B", [run("a", valid=False)])]).costs
    assert (costs[0].seconds_per_valid_build, costs[0].calls_per_valid_build) == (40.0, 8.0)
    assert (costs[0].usd, costs[0].usd_per_valid_build) == ("0.06", 0.06)
    assert (costs[1].seconds_per_valid_build, costs[1].usd, costs[1].usd_per_valid_build) == (None, None, None)


def test_an_unpriced_call_makes_the_sum_a_lower_bound() -> None:
    runs = [run("a", cost_usd="0.02", unpriced_calls=1)]
    found = compare([Subject("A", runs), Subject("B", runs)])
    assert (found.costs[0].usd, found.costs[0].cost_complete) == ("0.02", False)
    assert found.costs[0].usd_per_valid_build is None
    assert delta(found, "usd").difference is None


def test_deltas_are_paired_by_task_and_the_rest_is_listed() -> None:
    ours = Subject("A", [run(f"t{n:02}", dps=100.0 + n) for n in range(11)])
    theirs = Subject("B", [run(f"t{n:02}", dps=110.0 + n + n % 2) for n in range(1, 12)])
    found = compare([ours, theirs])
    dps = delta(found, "dps")
    assert (dps.pairs, dps.baseline, dps.difference) == (10, 105.5, 10.5)
    assert dps.interval is not None
    assert 9.5 < dps.interval.low < 10.5 < dps.interval.high < 11.5
    assert dps.reason is None
    assert (delta(found, "ehp").interval, delta(found, "ehp").reason) == (None, ALL_THE_SAME)
    assert [(gap.task, gap.missing_in) for gap in found.unmatched] == [("t00", ["B"]), ("t11", ["A"])]


def test_validated_or_not_is_held_against_each_other_by_pairs() -> None:
    ours = Subject("A", [run(f"t{n:02}", valid=n < 2) for n in range(10)])
    theirs = Subject("B", [run(f"t{n:02}", valid=True) for n in range(10)])
    valid = delta(compare([ours, theirs]), "valid")
    assert valid.difference == pytest.approx(0.8)
    assert valid.interval == paired_rates([(True, True)] * 2 + [(False, True)] * 8)


def test_the_part_that_differs_most_comes_first() -> None:
    found = compare([Subject("A", [with_phase("x", 100.0)]), Subject("B", [with_phase("x", 350.0)])]).deltas[0]
    spent = {part.part: next(d.difference for d in part.metrics if d.metric == "sum_ms") for part in found.phases}
    assert spent == {"construct": 250.0}
    assert [part.part for part in found.tools] == ["construct engine.build"]


def test_the_first_call_that_differs() -> None:
    same, ours, theirs = ("explore", "rules.explore", "1"), ("construct", "build", "2"), ("construct", "build", "3")
    one, other = run("x", called=[same, ours]), run("x", called=[same, theirs])
    found = compare([Subject("A", [one]), Subject("B", [other])]).deltas[0].first_differences
    assert [(d.task, d.call, d.baseline, d.subject, d.same_tool) for d in found] == [
        ("x", 2, "construct build", "construct build", True)
    ]
    short = compare([Subject("A", [one]), Subject("B", [run("x", called=[same])])]).deltas[0].first_differences
    assert (short[0].call, short[0].subject, short[0].same_tool) == (2, None, False)
    assert compare([Subject("A", [one]), Subject("B", [one])]).deltas[0].first_differences == []


def test_a_single_pair_has_a_difference_but_no_interval() -> None:
    found = compare([Subject("A", [run("x")]), Subject("B", [run("x", dps=150.0)])])
    dps = delta(found, "dps")
    assert (dps.difference, dps.ratio, dps.interval) == (50.0, 1.5, None)
    assert dps.reason is not None


def test_every_side_is_held_against_the_first() -> None:
    sides = [Subject(name, [run("x", ehp=value)]) for name, value in (("A", 1.0), ("B", 2.0), ("C", 4.0))]
    found = compare(sides)
    ehp = [next(d for d in deltas.metrics if d.metric == "ehp").difference for deltas in found.deltas]
    assert [(d.baseline, d.subject) for d in found.deltas] == [("A", "B"), ("A", "C")]
    assert ehp == [1.0, 3.0]


@pytest.mark.parametrize(
    ("calls", "bucket"),
    [
        (0, "0"),
        (1, "1"),
        (2, "2"),
        (3, "3-4"),
        (8, "5-8"),
        (16, "9-16"),
        (17, "17+"),
        (999, "17+"),
        (0.34, "1"),
        (2.3, "3-4"),
    ],
)
def test_buckets(calls: float, bucket: str) -> None:
    assert call_bucket(calls) == bucket
