"""Builds, or sets of builds, held against each other; null is "no data", never 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from math import ceil, comb
from statistics import fmean

from app.metrics.deltas import Deltas
from app.metrics.figures import rate
from app.metrics.statistics import Interval, clustered
from app.metrics.subjects import FIGURES, Subject, mean
from app.model.base import Model

CALL_BUCKETS = ((0, "0"), (1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (16, "9-16"))
MANY_CALLS = "17+"
NO_CALLS = "No tool call is recorded for any of them."
NO_NUMBERS = "None of them has calculated numbers yet."


class ToolUse(Model):
    """The calls of one side. Trials of a task are averaged, not summed: `avg_calls_per_task` and `histogram` count
    tasks, however often each was tried. `success_interval`: over builds, for calls of one build depend on each other;
    one build has none. `selection_accuracy`: share of the tasks with expectations whose every trial
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
        means = [fmean(run.used.calls for run in runs) for runs in tasks.values()]
        judged, ok = sum(run.judged_calls for run in subject.runs), sum(run.used.ok_calls for run in subject.runs)
        expected = ([run.selected for run in runs if run.selected is not None] for runs in tasks.values())
        chosen = [all(verdicts) for verdicts in expected if verdicts]
        buckets = Counter(call_bucket(mean) for mean in means)
        return cls(
            subject=subject.name,
            total_calls=sum(run.used.calls for run in subject.runs),
            tasks=len(tasks),
            tasks_with_tools=sum(1 for mean in means if mean),
            avg_calls_per_task=rate(sum(means), len(means)),
            success_rate=rate(ok, judged),
            success_interval=clustered([(run.used.ok_calls, run.judged_calls) for run in subject.runs]),
            selection_accuracy=rate(sum(chosen), len(chosen)),
            selection_tasks=len(chosen),
            histogram={name: buckets[name] for name in [*(name for _, name in CALL_BUCKETS), MANY_CALLS]},
        )


class ToolUseSection(Model):
    """TOOL USE; `reason` says why there are no rows."""

    reason: str | None = None
    rows: list[ToolUse]


class Outcomes(Model):
    """What came of the runs of one side; numbers are means over tasks.

    `valid_interval`: over tasks, for trials of one task depend on each other. `valid_every_time`: by a number of
    trials k, the chance that k trials of a task are all validated (pass^k), for every k that all tasks were tried.
    """

    subject: str
    runs: int
    valid_runs: int
    valid_rate: float | None
    valid_interval: Interval | None
    valid_every_time: dict[str, float]
    dps: float | None
    ehp: float | None
    blocking: float | None
    warnings: float | None

    @classmethod
    def of(cls, subject: Subject) -> Outcomes:
        """Return what came of the runs of the side."""
        runs, valid = len(subject.runs), sum(run.valid for run in subject.runs)
        means = {n: mean(subject.per_task(FIGURES[n]).values()) for n in ("dps", "ehp", "blocking", "warnings")}
        trials = [(sum(run.valid for run in tried), len(tried)) for tried in subject.tasks.values()]
        return cls(
            subject=subject.name,
            runs=runs,
            valid_runs=valid,
            valid_rate=rate(valid, runs),
            valid_interval=clustered(trials) if len(trials) > 1 else None,
            valid_every_time=every_time(trials),
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
        known = [run.usd for run in runs if run.usd is not None]
        seconds = sum(timed) if runs and len(timed) == len(runs) else None
        complete = not any(run.used.unpriced_calls for run in runs)
        usd = sum(known, Decimal()) if known else None
        return cls(
            subject=subject.name,
            seconds=seconds,
            usd=None if usd is None else str(usd),
            cost_complete=complete,
            calls_per_valid_build=rate(sum(run.used.calls for run in runs), valid),
            seconds_per_valid_build=None if seconds is None else rate(seconds, valid),
            usd_per_valid_build=None if usd is None or not complete else rate(float(usd), valid),
        )


class Unmatched(Model):
    """A task that not every side has; it is left out of the deltas."""

    task: str
    missing_in: list[str]


class Comparison(Model):
    """Two or more sides next to each other."""

    schema_version: str = "1.1"
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
    called = any(run.used.calls for subject in subjects for run in subject.runs)
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


def every_time(trials: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Return pass^k, the mean over tasks of C(passed, k) / C(tried, k), for every k up to the fewest trials."""
    fewest = min((tried for _, tried in trials), default=0)
    return {str(k): fmean(comb(ok, k) / comb(tried, k) for ok, tried in trials) for k in range(1, fewest + 1)}


def call_bucket(calls: float) -> str:
    """Return the histogram bucket of a number of calls; a part of one is a call, so that "0" is none at all."""
    return next((name for most, name in CALL_BUCKETS if ceil(calls) <= most), MANY_CALLS)
