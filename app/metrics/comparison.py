"""Builds, or sets of builds, held against each other; null is "no data", never 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from app.metrics.figures import Interval, bootstrap, rate, wilson
from app.model.base import Model

CALL_BUCKETS = ((0, "0"), (1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (16, "9-16"))
MANY_CALLS = "17+"
NO_CALLS = "No tool call is recorded for any of them."
NO_NUMBERS = "None of them has calculated numbers yet."
NO_COMMON_TASK = "no task in common has this figure"
ONE_COMMON_TASK = "only one task in common: nothing says how much it varies"


@dataclass(frozen=True)
class TaskRun:
    """One build as one trial of a task. `judged_calls`: calls that can count as good or bad.

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
    calls: int
    ok_calls: int
    judged_calls: int
    cost_usd: Decimal | None
    unpriced_calls: int
    selected: bool | None = None


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
    "calls": lambda run: float(run.calls),
    "success_rate": lambda run: rate(run.ok_calls, run.judged_calls),
    "seconds": lambda run: run.seconds,
    "usd": lambda run: None if run.cost_usd is None or run.unpriced_calls else float(run.cost_usd),
}


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

    @classmethod
    def of(cls, subject: Subject) -> ToolUse:
        """Return the calls of the side."""
        tasks = subject.tasks
        means = [fmean(run.calls for run in runs) for runs in tasks.values()]
        judged, ok = sum(run.judged_calls for run in subject.runs), sum(run.ok_calls for run in subject.runs)
        expected = ([run.selected for run in runs if run.selected is not None] for runs in tasks.values())
        chosen = [all(verdicts) for verdicts in expected if verdicts]
        buckets = Counter(call_bucket(mean) for mean in means)
        return cls(
            subject=subject.name,
            total_calls=sum(run.calls for run in subject.runs),
            tasks=len(tasks),
            tasks_with_tools=sum(1 for mean in means if mean),
            avg_calls_per_task=rate(sum(means), len(means)),
            success_rate=rate(ok, judged),
            success_interval=wilson(ok, judged),
            selection_accuracy=rate(sum(chosen), len(chosen)),
            selection_tasks=len(chosen),
            histogram={name: buckets[name] for name in [*(name for _, name in CALL_BUCKETS), MANY_CALLS]},
        )


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

    @classmethod
    def of(cls, subject: Subject) -> Outcomes:
        """Return what came of the runs of the side."""
        runs, valid = len(subject.runs), sum(run.valid for run in subject.runs)
        means = {n: _mean(subject.per_task(FIGURES[n]).values()) for n in ("dps", "ehp", "blocking", "warnings")}
        return cls(
            subject=subject.name,
            runs=runs,
            valid_runs=valid,
            valid_rate=rate(valid, runs),
            valid_interval=wilson(valid, runs),
            **means,
        )


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

    @classmethod
    def of(cls, subject: Subject) -> Costs:
        """Return what the side used."""
        runs, valid = subject.runs, sum(run.valid for run in subject.runs)
        timed = [run.seconds for run in runs if run.seconds is not None]
        known = [run.cost_usd for run in runs if run.cost_usd is not None]
        seconds = sum(timed) if runs and len(timed) == len(runs) else None
        complete = not any(run.unpriced_calls for run in runs)
        usd = sum(known, Decimal()) if known else None
        return cls(
            subject=subject.name,
            seconds=seconds,
            usd=None if usd is None else str(usd),
            cost_complete=complete,
            calls_per_valid_build=rate(sum(run.calls for run in runs), valid),
            seconds_per_valid_build=None if seconds is None else rate(seconds, valid),
            usd_per_valid_build=None if usd is None or not complete else rate(float(usd), valid),
        )


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

    @classmethod
    def of(cls, metric: str, baseline: dict[str, float], subject: dict[str, float]) -> Delta:
        """Return the difference of a figure that both sides have per task."""
        tasks = sorted(baseline.keys() & subject.keys())
        before, after = _mean([baseline[task] for task in tasks]), _mean([subject[task] for task in tasks])
        reason = None if len(tasks) >= 2 else NO_COMMON_TASK
        if len(tasks) == 1:
            reason = ONE_COMMON_TASK
        return cls(
            metric=metric,
            baseline=before,
            subject=after,
            difference=None if before is None or after is None else after - before,
            ratio=None if before is None or after is None else rate(after, before),
            pairs=len(tasks),
            interval=bootstrap([subject[task] - baseline[task] for task in tasks]),
            reason=reason,
        )


class Deltas(Model):
    """One side against the first."""

    baseline: str
    subject: str
    metrics: list[Delta]

    @classmethod
    def of(cls, baseline: Subject, subject: Subject) -> Deltas:
        """Return every figure of the side against the first."""
        metrics = [Delta.of(name, baseline.per_task(of), subject.per_task(of)) for name, of in FIGURES.items()]
        return cls(baseline=baseline.name, subject=subject.name, metrics=metrics)


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


def compare(subjects: Sequence[Subject], notes: Sequence[str] = ()) -> Comparison:
    """Return the comparison of all sides; deltas are against the first."""
    first, *others = subjects
    called = any(run.calls for subject in subjects for run in subject.runs)
    tool_use = ToolUseSection(rows=[ToolUse.of(subject) for subject in subjects]) if called else None
    outcomes = [Outcomes.of(subject) for subject in subjects]
    numbered = any(row.dps is not None or row.ehp is not None for row in outcomes)
    tasks = {subject.name: set(subject.tasks) for subject in subjects}
    gaps = {
        task: [name for name, known in tasks.items() if task not in known]
        for task in sorted(set().union(*tasks.values()))
    }
    return Comparison(
        subjects=[subject.name for subject in subjects],
        notes=list(notes),
        tool_use=tool_use or ToolUseSection(reason=NO_CALLS, rows=[]),
        outcomes=OutcomeSection(reason=None if numbered else NO_NUMBERS, rows=outcomes),
        costs=[Costs.of(subject) for subject in subjects],
        deltas=[Deltas.of(first, other) for other in others],
        unmatched=[Unmatched(task=task, missing_in=missing) for task, missing in gaps.items() if missing],
    )


def call_bucket(calls: float) -> str:
    """Return the histogram bucket of a number of calls."""
    return next((name for most, name in CALL_BUCKETS if round(calls) <= most), MANY_CALLS)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None
