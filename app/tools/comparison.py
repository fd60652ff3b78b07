"""What a comparison says; null is "no data", never 0."""

from __future__ import annotations

from app.model.base import Model
from app.tools.statistics import Interval


class ToolUse(Model):
    """The calls of one side. Trials of a task are averaged, not summed: `avg_calls_per_task` and `histogram` count
    tasks, however often each was tried. `selection_accuracy`: share of the tasks with expectations whose every trial
    met all of them."""

    subject: str
    total_calls: int
    tasks: int
    tasks_with_tools: int
    avg_calls_per_task: float | None
    success_rate: float | None
    success_interval: Interval | None
    selection_accuracy: float | None
    selection_tasks: int
    histogram: dict[str, int]


class ToolUseSection(Model):
    """TOOL USE; `reason` says why there are no rows."""

    reason: str | None = None
    rows: list[ToolUse]


class Outcomes(Model):
    """What came of the runs of one side; numbers are means over tasks."""

    subject: str
    runs: int
    valid_runs: int
    valid_rate: float | None
    valid_interval: Interval | None
    dps: float | None
    ehp: float | None
    blocking: float | None
    warnings: float | None


class OutcomeSection(Model):
    """Outcomes; `reason` says what is missing."""

    reason: str | None = None
    rows: list[Outcomes]


class Costs(Model):
    """What one side used, all runs included, per run that ended validated; null when none did.

    `usd` is a lower bound unless `cost_complete`; null = no call had a price.
    """

    subject: str
    seconds: float | None
    usd: str | None
    cost_complete: bool
    calls_per_valid_build: float | None
    seconds_per_valid_build: float | None
    usd_per_valid_build: float | None


class Delta(Model):
    """One figure of two sides over the tasks that both have, as mean over tasks; `interval` is of `difference`.

    `pairs`: tasks with the figure on both sides. `reason` says why there is no interval.
    """

    metric: str
    baseline: float | None
    subject: float | None
    difference: float | None
    ratio: float | None
    pairs: int
    interval: Interval | None
    reason: str | None


class Deltas(Model):
    """One side against the first."""

    baseline: str
    subject: str
    metrics: list[Delta]


class Unmatched(Model):
    """A task that not every side has; it is left out of the deltas."""

    task: str
    missing_in: list[str]


class Comparison(Model):
    """Two or more sides next to each other."""

    schema_version: str = "1.0"
    subjects: list[str]
    notes: list[str]
    tool_use: ToolUseSection
    outcomes: OutcomeSection
    costs: list[Costs]
    deltas: list[Deltas]
    unmatched: list[Unmatched]
