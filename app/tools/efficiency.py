"""How well the calls of a build were spent: four terms, and their weighted geometric mean.

Geometric, so that failing is not made good by being fast: a build whose every call failed scores 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from app.model.base import Model
from app.model.events import Attempt, CallOutcome
from app.tools.figures import Figures, is_executed, rate

_WEIGHTS = {"reliability": 0.40, "time": 0.25, "use": 0.20, "cost": 0.15}
_FLOOR = 0.05
LOW_CALLS = 5


class Efficiency(Model):
    """Terms and summary, 0-1, null where they cannot be computed.

    `reliability`: successful calls per attempt. `time`: mean of budget / duration, at most 1, over executed good
    attempts of tools with a budget. `use`: 1 - avoidable executions / executions. `cost`: budget / cost, at most 1.
    `score`: exp of the weighted mean of logarithms (weights .40 .25 .20 .15; terms floored at .05), over the terms
    there are. `low_calls`: fewer than five calls, too few to mean much.
    """

    score: float | None
    reliability: float | None
    time: float | None
    use: float | None
    cost: float | None
    low_calls: bool


def efficiency(
    events: Sequence[Attempt],
    run: Figures,
    budgets_ms: Mapping[str, float],
    budget_usd: float | None,
) -> Efficiency:
    """Return the efficiency of a run with these figures."""
    terms = {
        "reliability": run.attempt_yield,
        "time": _time(events, budgets_ms),
        "use": 1 - run.avoidable / run.executed if run.executed else None,
        "cost": _cost(run, budget_usd),
    }
    return Efficiency(score=_score(terms), low_calls=run.calls < LOW_CALLS, **terms)


def _time(events: Sequence[Attempt], budgets_ms: Mapping[str, float]) -> float | None:
    shares = [
        min(1.0, budgets_ms[event.tool] / event.duration_ms) if event.duration_ms else 1.0
        for event in events
        if event.tool in budgets_ms and is_executed(event) and event.outcome is CallOutcome.OK
    ]
    return rate(sum(shares), len(shares))


def _cost(run: Figures, budget_usd: float | None) -> float | None:
    spent = float(run.cost_usd) if run.cost_usd is not None else 0.0
    if budget_usd is None or run.unpriced_calls or not spent:
        return None
    return min(1.0, budget_usd / spent)


def _score(terms: Mapping[str, float | None]) -> float | None:
    reliability = terms["reliability"]
    if reliability is None:
        return None
    if reliability == 0:
        return 0.0
    known = {name: value for name, value in terms.items() if value is not None}
    weight = sum(_WEIGHTS[name] for name in known)
    return exp(sum(_WEIGHTS[name] * log(max(_FLOOR, value)) for name, value in known.items()) / weight)
