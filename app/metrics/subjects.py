"""What is held against each other: builds as trials of tasks, and every figure that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from app.metrics.efficiency import Metrics, PhaseFigures, ToolFigures
from app.metrics.figures import Figures, rate
from app.model.base import Model

Call = tuple[str, str, str]
"""Phase, tool and the hash of its arguments."""


class TaskRun(Model):
    """One build as one trial of a task, as comparisons take it and result files hold it.

    `called`: its calls in start order. `judged_calls`: those that can count as good or bad.
    `selected`: whether its expectations held, None when there were none. `seconds`: from request to end, None while
    it runs. `blocking`, `warnings`: conflicts left.
    """

    task: str
    build_id: str
    valid: bool
    seconds: float | None
    dps: float | None
    ehp: float | None
    blocking: int | None
    warnings: int | None
    metrics: Metrics
    judged_calls: int
    called: list[Call]
    selected: bool | None

    @property
    def used(self) -> Figures:
        """The figures of all its calls."""
        return self.metrics.run

    @property
    def usd(self) -> Decimal | None:
        """What is known of its cost."""
        return None if self.used.cost_usd is None else Decimal(self.used.cost_usd)

    def phases(self) -> dict[str, PhaseFigures | ToolFigures]:
        """Return the figures of each phase by name."""
        return {found.phase.value: found for found in self.metrics.phases}

    def tools(self) -> dict[str, PhaseFigures | ToolFigures]:
        """Return the figures of each tool in each phase, by "phase tool"."""
        return {f"{phase.phase.value} {tool.tool}": tool for phase in self.metrics.phases for tool in phase.tools}


Figure = Callable[[TaskRun], float | None]


@dataclass(frozen=True)
class Subject:
    """One side of a comparison: a single build, or all runs under a label."""

    name: str
    runs: Sequence[TaskRun]

    @property
    def tasks(self) -> dict[str, list[TaskRun]]:
        """The runs by task, in the order of their first."""
        found: dict[str, list[TaskRun]] = {}
        for run in self.runs:
            found.setdefault(run.task, []).append(run)
        return found

    def per_task(self, figure: Figure) -> dict[str, float]:
        """Return the mean over the trials of each task that have the figure."""
        values = {task: [v for run in runs if (v := figure(run)) is not None] for task, runs in self.tasks.items()}
        return {task: fmean(known) for task, known in values.items() if known}


FIGURES: dict[str, Figure] = {
    "dps": lambda run: run.dps,
    "ehp": lambda run: run.ehp,
    "blocking": lambda run: run.blocking,
    "warnings": lambda run: run.warnings,
    "valid": lambda run: float(run.valid),
    "calls": lambda run: float(run.used.calls),
    "success_rate": lambda run: rate(run.used.ok_calls, run.judged_calls),
    "seconds": lambda run: run.seconds,
    "usd": lambda run: None if run.usd is None or run.used.unpriced_calls else float(run.usd),
    "efficiency": lambda run: run.metrics.efficiency.score,
    "productivity": lambda run: run.metrics.productivity.score,
    "useful_per_second": lambda run: run.metrics.productivity.per_second,
    "useful_per_call": lambda run: run.metrics.productivity.per_call,
    "useful_per_usd": lambda run: run.metrics.productivity.per_usd,
    "p50_ms": lambda run: run.used.p50_ms,
    "p95_ms": lambda run: run.used.p95_ms,
    "cache_hit_rate": lambda run: run.used.cache_hit_rate,
    "retries": lambda run: float(run.used.retries),
    "wasted_ms": lambda run: run.used.wasted_ms,
    "avoidable_ms": lambda run: run.used.avoidable_ms if run.used.executed else None,
}


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, None of nothing."""
    known = list(values)
    return fmean(known) if known else None
