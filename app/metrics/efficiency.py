"""How well the calls of a build were spent: four terms, and their weighted geometric mean.

Geometric, so that failing is not made good by being fast: a build whose every call failed scores 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

from app.metrics.figures import Figures, History, figures, is_executed, rate
from app.metrics.productivity import WEIGHTS, Productivity, Weights, baseline_seconds
from app.model.base import Model
from app.model.events import EVENT_SCHEMA_VERSION, Attempt, CallOutcome
from app.model.names import Phase

BASELINE = "baseline.json"
"""The file's name; `buildwright bench baseline` renews it."""

TargetTimes = Mapping[str, Mapping[str, float]]
"""Milliseconds that score full marks, by engine name and tool."""


def load_targets(path: Path) -> TargetTimes:
    """Return the target times in the file, the 95th percentile of each tool; none when there is no file.

    Raises:
        ValueError, KeyError: the file is not a baseline.
    """
    return _by_tool(path, lambda known: known["p95_ms"])


def load_usual(path: Path) -> TargetTimes:
    """Return what a result of each tool usually takes: the median of its calls over the results that a call has.

    Raises:
        ValueError, KeyError: the file is not a baseline.
    """
    return _by_tool(path, lambda known: known["p50_ms"] / max(1.0, known.get("results", 1.0)))


def _by_tool(path: Path, read: Callable[[Mapping[str, float]], float]) -> TargetTimes:
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {
        engine: {tool: float(read(known)) for tool, known in section["tools"].items()}
        for engine, section in found.items()
    }


_WEIGHTS = {"reliability": 0.40, "time": 0.25, "use": 0.20, "cost": 0.15}
_FLOOR = 0.05
LOW_CALLS = 5


class Efficiency(Model):
    """Terms and summary, 0-1, null where they cannot be computed.

    `reliability`: successful calls per attempt. `time`: mean of target / duration, at most 1, over executed good
    attempts of tools with a target time. `use`: 1 - avoidable executions / executions.
    `cost`: budget / cost, at most 1.
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
    target_ms: Mapping[str, float],
    budget_usd: float | None,
) -> Efficiency:
    """Return the efficiency of a run with these figures."""
    timed = [
        min(1.0, target_ms[event.tool] / event.duration_ms) if event.duration_ms else 1.0
        for event in events
        if event.tool in target_ms and is_executed(event) and event.outcome is CallOutcome.OK
    ]
    spent = float(run.cost_usd) if run.cost_usd is not None else 0.0
    priced = budget_usd is not None and not run.unpriced_calls and spent
    terms = {
        "reliability": run.attempt_yield,
        "time": rate(sum(timed), len(timed)),
        "use": 1 - run.avoidable / run.executed if run.executed else None,
        "cost": min(1.0, budget_usd / spent) if priced and budget_usd is not None else None,
    }
    known = {name: value for name, value in terms.items() if value is not None}
    score = None if run.attempt_yield is None else 0.0
    if run.attempt_yield:
        weight = sum(_WEIGHTS[name] for name in known)
        score = exp(sum(_WEIGHTS[name] * log(max(_FLOOR, value)) for name, value in known.items()) / weight)
    return Efficiency(score=score, low_calls=run.calls < LOW_CALLS, **terms)


class ToolFigures(Figures):
    """The figures of one tool in one phase."""

    tool: str
    kind: str
    productivity: Productivity


class PhaseFigures(Figures):
    """The figures of one phase, tools by name."""

    phase: Phase
    tools: list[ToolFigures]
    productivity: Productivity


class Metrics(Model):
    """The metrics of one build; phases in the order of their first call."""

    schema_version: str = EVENT_SCHEMA_VERSION
    run: Figures
    phases: list[PhaseFigures]
    efficiency: Efficiency
    productivity: Productivity


@dataclass(frozen=True)
class Standards:
    """What builds are measured by. By engine and tool: `target_ms`, milliseconds that score full marks, and `usual_ms`,
    what a result took in the baseline. `budget_usd`: what a build may cost; `weights` of `Productivity`."""

    target_ms: TargetTimes = field(default_factory=dict)
    usual_ms: TargetTimes = field(default_factory=dict)
    budget_usd: float | None = None
    weights: Weights = field(default_factory=lambda: WEIGHTS)

    def measure(self, events: Sequence[Attempt], ended: bool, engine: str | None) -> Metrics:
        """Return the metrics of all events of one build."""
        target_ms, usual_ms = (known.get(engine or "", {}) for known in (self.target_ms, self.usual_ms))
        return measure(
            events,
            ended=ended,
            target_ms=target_ms,
            usual_ms=usual_ms,
            budget_usd=self.budget_usd,
            weights=self.weights,
        )


def measure(
    events: Sequence[Attempt],
    *,
    ended: bool = True,
    target_ms: Mapping[str, float] | None = None,
    usual_ms: Mapping[str, float] | None = None,
    budget_usd: float | None = None,
    weights: Weights = WEIGHTS,
) -> Metrics:
    """Return the metrics of all events of one build.

    `ended`: whether the build is finished, so that a call without an end counts as failed. `target_ms`: the time
    per tool that scores full marks; without any, time is not scored. `budget_usd`: likewise for money.
    `usual_ms`, `weights`: what productivity is scored by.
    """
    ordered = sorted(events, key=lambda event: event.seq)
    history = History.of(ordered, ended)
    run = figures(ordered, history)

    def productivity(inside: Sequence[Attempt], whole: Figures, ms: float | None) -> Productivity:
        usual_s = baseline_seconds(inside, history, usual_ms or {})
        return Productivity.of(whole, None if ms is None else ms / 1000, usual_s, budget_usd, weights)

    phases = []
    for phase in dict.fromkeys(event.phase for event in ordered):
        inside = [event for event in ordered if event.phase is phase]
        tools = []
        for tool in sorted({event.tool for event in inside}):
            calls = [event for event in inside if event.tool == tool]
            whole = figures(calls, history)
            brought = productivity(calls, whole, whole.busy_ms)
            kind = calls[0].kind.value
            tools.append(ToolFigures(tool=tool, kind=kind, productivity=brought, **whole.model_dump()))
        whole = figures(inside, history)
        brought = productivity(inside, whole, whole.wall_ms)
        phases.append(PhaseFigures(phase=phase, tools=tools, productivity=brought, **whole.model_dump()))
    return Metrics(
        run=run,
        phases=phases,
        efficiency=efficiency(ordered, run, target_ms or {}, budget_usd),
        productivity=productivity(ordered, run, run.wall_ms),
    )
