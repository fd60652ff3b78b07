"""Comparisons against figures worked out by hand."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from app.metrics.comparison import NO_CALLS, NO_NUMBERS, Comparison, Delta, Subject, TaskRun, call_bucket, compare


def run(task: str, **known: Any) -> TaskRun:
    plain: dict[str, Any] = {
        "build_id": task,
        "valid": True,
        "seconds": 10.0,
        "dps": 100.0,
        "ehp": 1000.0,
        "blocking": 0,
        "warnings": 1,
        "calls": 4,
        "ok_calls": 4,
        "judged_calls": 4,
        "cost_usd": None,
        "unpriced_calls": 0,
    }
    return TaskRun(task=task, **(plain | known))


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
    assert use.success_interval is not None
    assert round(use.success_interval.low, 4) == 0.4677


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
    runs = [run("a", cost_usd=Decimal("0.02")), run("b", valid=False, seconds=30.0, cost_usd=Decimal("0.04"))]
    costs = compare([Subject("A", runs), Subject("B", [run("a", valid=False)])]).costs
    assert (costs[0].seconds_per_valid_build, costs[0].calls_per_valid_build) == (40.0, 8.0)
    assert (costs[0].usd, costs[0].usd_per_valid_build) == ("0.06", 0.06)
    assert (costs[1].seconds_per_valid_build, costs[1].usd, costs[1].usd_per_valid_build) == (None, None, None)


def test_an_unpriced_call_makes_the_sum_a_lower_bound() -> None:
    runs = [run("a", cost_usd=Decimal("0.02"), unpriced_calls=1)]
    found = compare([Subject("A", runs), Subject("B", runs)])
    assert (found.costs[0].usd, found.costs[0].cost_complete) == ("0.02", False)
    assert found.costs[0].usd_per_valid_build is None
    assert delta(found, "usd").difference is None


def test_deltas_are_paired_by_task_and_the_rest_is_listed() -> None:
    ours = Subject("A", [run(f"t{n}", dps=100.0 + n) for n in range(5)])
    theirs = Subject("B", [run(f"t{n}", dps=110.0 + n) for n in range(1, 6)])
    found = compare([ours, theirs])
    dps = delta(found, "dps")
    assert (dps.pairs, dps.baseline, dps.difference) == (4, 102.5, 10.0)
    assert dps.interval is not None
    assert (dps.interval.low, dps.interval.high, dps.reason) == (10.0, 10.0, None)
    assert [(gap.task, gap.missing_in) for gap in found.unmatched] == [("t0", ["B"]), ("t5", ["A"])]


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
    ("calls", "bucket"), [(0, "0"), (1, "1"), (2, "2"), (3, "3-4"), (8, "5-8"), (16, "9-16"), (17, "17+"), (999, "17+")]
)
def test_buckets(calls: int, bucket: str) -> None:
    assert call_bucket(calls) == bucket
