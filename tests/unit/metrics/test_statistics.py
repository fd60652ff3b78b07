"""Intervals against published values, and what they hold of what they claim to hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.metrics.statistics import FEWEST_PAIRS, Interval, clustered, mean_interval, paired_rates, wilson

Draw = Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]

DIFFERENCES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda draw, n: draw.normal(0.3, 1.0, n), 0.3),
    "log-normal, sigma 0.5": (lambda draw, n: draw.lognormal(0.0, 0.5, n), math.exp(0.125)),
    "log-normal, sigma 1": (lambda draw, n: draw.lognormal(0.0, 1.0, n), math.exp(0.5)),
    "of two log-normal": (
        lambda draw, n: draw.lognormal(0.2, 1.0, n) - draw.lognormal(0.0, 1.0, n),
        (math.exp(0.2) - 1) * math.exp(0.5),
    ),
}
RATES = [(0.5, 0.7), (0.9, 0.95), (0.95, 0.95), (0.2, 0.9)]


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


def test_too_little_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert clustered([]) is clustered([(9, 12)]) is clustered([(9, 12), (0, 0)]) is None
    for pairs in range(FEWEST_PAIRS):
        assert mean_interval([float(n) for n in range(pairs)]) is None
        assert paired_rates([(True, False)] * pairs) is None


def test_equal_differences_do_not_say_how_much_they_vary() -> None:
    assert mean_interval([2.5] * 20) is None


def test_the_same_differences_give_the_same_interval_around_their_mean() -> None:
    differences = [1.0, 2.0, 3.0, 4.0, -1.0, 2.0, 0.5, 2.5, 1.5, 2.0]
    found = mean_interval(differences)
    assert found == mean_interval(differences)
    assert found is not None
    assert 0.0 < found.low < 1.75 < found.high < 3.5


@given(st.lists(st.floats(-1e6, 1e6), min_size=FEWEST_PAIRS, max_size=20))
def test_an_interval_is_around_the_mean(differences: list[float]) -> None:
    found = mean_interval(differences)
    if found is not None:
        assert found.low <= np.mean(differences) + 1e-6
        assert found.high >= np.mean(differences) - 1e-6


def test_pairs_without_a_difference_are_as_sure_as_their_number() -> None:
    """n pairs of which none differs: the score interval is z^2 / (n + z^2) to either side."""
    found = paired_rates([(True, True)] * 10)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-0.27753, 0.27753), abs=1e-5)


def test_rates_that_always_change_end_at_one() -> None:
    found = paired_rates([(False, True)] * 10)
    assert found is not None
    assert found.high == 1.0
    assert found.low > 0.4


def test_calls_of_few_builds_say_less_than_as_many_independent_ones() -> None:
    apart, together = clustered([(1, 1)] * 90 + [(0, 1)] * 10), clustered([(45, 50), (45, 50)])
    uneven = clustered([(50, 50), (40, 50)] * 5)
    independent = wilson(90, 100)
    assert apart == independent is not None
    assert together is not None
    assert uneven is not None
    assert together.high - together.low > independent.high - independent.low
    assert uneven.high - uneven.low > independent.high - independent.low


def held(truth: float, draws: Callable[[], Interval | None], rounds: int) -> float:
    """Return how often an interval was shown and held the truth."""
    shown = [found for found in (draws() for _ in range(rounds)) if found is not None]
    assert len(shown) > 0.9 * rounds
    return sum(found.low <= truth <= found.high for found in shown) / len(shown)


def coverage_of_means(name: str, pairs: int, rounds: int) -> float:
    """Return how often the interval of a mean holds it, on differences drawn anew."""
    draw, truth = DIFFERENCES[name]
    source = np.random.default_rng(pairs)
    return held(truth, lambda: mean_interval(draw(source, pairs).tolist()), rounds)


def coverage_of_rates(before: float, after: float, pairs: int, rounds: int) -> float:
    """Return how often the interval of a difference of rates holds it."""
    source = np.random.default_rng(pairs)

    def draws() -> Interval | None:
        ones, others = source.random(pairs) < before, source.random(pairs) < after
        return paired_rates([(bool(one), bool(other)) for one, other in zip(ones, others, strict=True)])

    return held(after - before, draws, rounds)


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_ten_pairs_hold_the_mean(name: str) -> None:
    assert coverage_of_means(name, FEWEST_PAIRS, 500) >= 0.92  # 0.93 asked; 500 rounds are sure to 0.01


@pytest.mark.parametrize("rates", RATES)
def test_ten_pairs_hold_the_difference_of_rates(rates: tuple[float, float]) -> None:
    assert coverage_of_rates(*rates, FEWEST_PAIRS, 500) >= 0.93


@pytest.mark.deep
@pytest.mark.parametrize("pairs", [10, 11, 12, 15, 20, 30, 50])
def test_every_number_of_pairs_holds_what_it_claims(pairs: int) -> None:
    means = {name: coverage_of_means(name, pairs, 4000) for name in DIFFERENCES}
    rates = {f"{one} to {other}": coverage_of_rates(one, other, pairs, 4000) for one, other in RATES}
    print(f"\n{pairs} pairs hold:", {name: round(share, 3) for name, share in (means | rates).items()})
    assert min((means | rates).values()) >= 0.93
