"""Sums over builds, against figures worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from app.metrics.usage import NO_MODEL, Budgets, UsageBy, slowest, usage
from app.model.names import BuildStatus, Outcome, Phase
from app.model.usage import UsedBuild, UsedCalls

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
BUILDS = [
    UsedBuild("a", "anna", DAY, BuildStatus.COMPLETE, Outcome.VALIDATED, 60.0),
    UsedBuild("b", "anna", DAY + timedelta(days=1), BuildStatus.FAILED, None, 30.0),
    UsedBuild("c", "ben", DAY + timedelta(days=1), BuildStatus.RUNNING, None, None),
]
CALLS = [
    UsedCalls("a", Phase.CONSTRUCT, "engine.build", None, 10, 9, 4000.0),
    UsedCalls("a", Phase.EXPLORE, "llm.chat", "m1", 2, 2, 1000.0, 500, Decimal("0.10")),
    UsedCalls("b", Phase.EXPLORE, "llm.chat", "m1", 1, 1, 500.0, 100, Decimal("0.20")),
    UsedCalls("c", Phase.EXPLORE, "llm.chat", "m2", 1, 0, 100.0, 0, None, 1),
]


def test_a_valid_build_pays_for_those_that_failed() -> None:
    total = usage(UsageBy.OWNER, DAY, BUILDS, CALLS, Budgets()).rows[0]
    assert (total.name, total.builds, total.ended, total.valid, total.valid_rate) == ("anna", 2, 2, 1, 0.5)
    assert (total.seconds_per_valid_build, total.usd, total.usd_per_valid_build) == (90.0, "0.30", 0.3)
    assert (total.calls, total.ok_rate, total.tokens, total.cost_complete) == (13, 12 / 13, 600, True)


def test_a_missing_price_makes_the_cost_a_lower_bound() -> None:
    found = usage(UsageBy.DAY, DAY, BUILDS, CALLS, Budgets())
    assert [row.name for row in found.rows] == ["2026-03-01", "2026-03-02"]
    assert (found.total.usd, found.total.cost_complete, found.total.usd_per_valid_build) == ("0.30", False, None)
    assert found.rows[1].seconds_per_valid_build is None


def test_by_model_only_its_own_calls_count() -> None:
    rows = {row.name: row for row in usage(UsageBy.MODEL, DAY, BUILDS, CALLS, Budgets()).rows}
    assert set(rows) == {"m1", "m2", NO_MODEL}
    assert (rows["m1"].builds, rows["m1"].seconds_per_valid_build) == (2, 1.5)
    assert (rows["m2"].usd, rows["m2"].ok_rate) == (None, 0.0)


def test_the_slowest_tool_comes_first() -> None:
    found = slowest(CALLS)
    assert [(one.tool, one.seconds, one.calls) for one in found] == [("engine.build", 4.0, 10), ("llm.chat", 1.6, 4)]


def test_nothing_is_no_data() -> None:
    found = usage(UsageBy.TOOL, DAY, [], [], Budgets())
    assert (found.rows, found.slowest) == ([], [])
    assert (found.total.valid_rate, found.total.build_seconds, found.total.usd) == (None, None, None)


def test_budgets_are_left_as_far_as_they_are_set() -> None:
    left = Budgets(calls=10, usd=Decimal(1)).less(Budgets(calls=12, tokens=5, usd=Decimal("0.25")))
    assert left == Budgets(calls=0, usd=Decimal("0.75"))


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(list(Phase)), st.sampled_from(["x", "y"]), st.integers(1, 9))
    )
)
def test_every_way_of_adding_up_gives_the_same_sum(made: list[tuple[str, Phase, str, int]]) -> None:
    calls = [UsedCalls(build, phase, tool, None, n, n, float(n), n) for build, phase, tool, n in made]
    for by in UsageBy:
        found = usage(by, DAY, BUILDS, calls, Budgets())
        assert sum(row.calls for row in found.rows) == found.total.calls == sum(n for *_, n in made)
        assert sum(row.tokens for row in found.rows) == found.total.tokens
