"""Productivity tells builds apart that are known to differ."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.errors import InputError
from app.metrics.efficiency import Metrics, measure
from app.metrics.productivity import parse_weights
from app.model.events import CacheUse, CallOutcome, ToolKind
from app.model.names import Phase
from tests.unit.metrics.test_efficiency import Log

USUAL = {"pob.what_if": 6.0, "llm.plan": 5000.0}


def build(calls: int = 50, ms: float = 100.0, results: int = 16, gap: float = 0.0, **every: Any) -> Log:
    """Return a build of so many different questions, one after the other."""
    log = Log()
    for number in range(calls):
        log.add("pob.what_if", number * (ms + gap), ms, results=results, key=f"k{number}", **every)
    return log


def measured(log: Log, usd: float | None = None) -> Metrics:
    return measure(log.events, usual_ms=USUAL, budget_usd=usd)


def failing() -> Log:
    log = Log()
    for number in range(100):
        outcome = CallOutcome.TIMEOUT if number % 2 else CallOutcome.OK
        log.add("pob.what_if", number * 100, 100, outcome, results=16, key=f"k{number // 2}")
    return log


def asking_again() -> Log:
    log = Log()
    for number in range(100):
        log.add("pob.what_if", number * 100, 100, cache=CacheUse.BYPASS, results=16, key=f"k{number % 50}")
    return log


def priced(usd: str) -> Log:
    return build().add("llm.plan", 6000, 1000, cost_usd=usd, cost_source="table", kind=ToolKind.LLM)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (build(cache=CacheUse.HIT, ms=1.0), build()),
        (build(), build(ms=200.0)),
        (build(), build(gap=200.0)),
        (build(), failing()),
        (build(), asking_again()),
        (build(), build(calls=400, results=2, ms=20.0)),
        (build(), Log().add("pob.what_if", 0, 100, CallOutcome.ERROR)),
    ],
    ids=["cached", "faster", "not idle", "no failures", "nothing twice", "larger batches", "anything at all"],
)
def test_pairs_that_are_known_to_differ_are_told_apart(better: Log, worse: Log) -> None:
    one, other = measured(better).productivity.score, measured(worse).productivity.score
    assert one is not None
    assert other is not None
    assert one - other >= 0.05


def test_dearer_is_worse_and_an_unknown_cost_is_no_cost() -> None:
    cheap, dear = (measured(priced(usd), 0.5).productivity for usd in ("0.01", "0.40"))
    assert (cheap.score or 0) - (dear.score or 0) >= 0.05
    assert cheap.per_usd == pytest.approx(801 / 0.01)
    assert measured(build(), 0.5).productivity.per_usd is None


def test_useful_results_of_phases_and_tools_add_up() -> None:
    log = build(10).add("pob.what_if", 9000, 10, results=4, key="k3", phase=Phase.VALIDATE)
    found = measured(log)
    assert found.productivity.useful == found.run.useful == 160
    assert sum(phase.useful for phase in found.phases) == 160
    assert found.phases[0].tools[0].productivity.per_second == pytest.approx(160)
    assert found.phases[1].productivity.score == 0.0, "what was known already is of no use"


def test_no_calls_have_no_productivity() -> None:
    found = measured(Log()).productivity
    assert (found.score, found.per_second, found.per_call, found.useful) == (None, None, None, 0)


def test_weights_are_chosen_by_name() -> None:
    log, only = build(gap=900.0), parse_weights("call=1")
    assert measure(log.events, usual_ms=USUAL, weights=only).productivity.score == pytest.approx(16 / 17)
    for text in ("", "second=0", "wat=1", "second=x", "second=-1", "second=1,second=2", "second=nan"):
        with pytest.raises(InputError):
            parse_weights(text)
