"""Intervals against published values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.metrics.figures import bootstrap, wilson


@pytest.mark.parametrize(
    ("ok", "of", "low", "high"),
    [
        (0, 3, 0.0, 0.5615),
        (3, 3, 0.4385, 1.0),
        (2, 3, 0.2077, 0.9385),
        (5, 10, 0.2366, 0.7634),
        (4, 5, 0.3755, 0.9638),
        (1, 1, 0.2065, 1.0),
        (0, 1, 0.0, 0.7935),
        (9, 12, 0.4677, 0.9111),
        (97, 100, 0.9155, 0.9897),
    ],
)
def test_wilson_intervals(ok: int, of: int, low: float, high: float) -> None:
    found = wilson(ok, of)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_nothing_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert bootstrap([]) is bootstrap([1.0]) is None


def test_equal_differences_leave_no_doubt() -> None:
    found = bootstrap([2.5] * 8)
    assert found is not None
    assert (found.low, found.high) == (2.5, 2.5)


def test_a_bootstrap_is_the_same_every_time_and_covers_the_mean() -> None:
    differences = [1.0, 2.0, 3.0, 4.0, -1.0, 2.0, 0.5, 2.5]
    found = bootstrap(differences)
    assert found == bootstrap(differences)
    assert found is not None
    assert 0.5 < found.low < 1.75 < found.high < 3.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12))
def test_an_interval_lies_within_the_data(differences: list[float]) -> None:
    found = bootstrap(differences)
    assert found is not None
    slack = 1e-6
    assert min(differences) - slack <= found.low <= found.high <= max(differences) + slack
