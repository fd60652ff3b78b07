"""One side of a comparison against another: every figure, by phase and tool, and the first call that differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from app.metrics.efficiency import PhaseFigures, ToolFigures
from app.metrics.figures import rate
from app.metrics.statistics import FEWEST_PAIRS, Interval, mean_interval, paired_rates
from app.metrics.subjects import FIGURES, Call, Figure, Subject, TaskRun, mean
from app.model.base import Model

NO_COMMON_TASK = "no task in common has this figure"
FEW_COMMON_TASKS = f"fewer than {FEWEST_PAIRS} tasks in common: too few to say how much it varies"
ALL_THE_SAME = "the difference is the same in every task: nothing says how much it varies"

Part = PhaseFigures | ToolFigures
PART_FIGURES: dict[str, Callable[[Part], float | None]] = {
    "calls": lambda used: float(used.calls),
    "sum_ms": lambda used: used.sum_ms,
    "p50_ms": lambda used: used.p50_ms,
    "retries": lambda used: float(used.retries),
    "cache_hit_rate": lambda used: used.cache_hit_rate,
    "wasted_ms": lambda used: used.wasted_ms,
    "productivity": lambda used: used.productivity.score,
    "useful_per_second": lambda used: used.productivity.per_second,
    "useful_per_call": lambda used: used.productivity.per_call,
}
"""What is held against each other of a phase, and of a tool in a phase."""


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
    def of(cls, metric: str, baseline: Mapping[str, float], subject: Mapping[str, float]) -> Delta:
        """Return the difference of a figure that both sides have per task."""
        tasks = sorted(baseline.keys() & subject.keys())
        pairs = [(baseline[task], subject[task]) for task in tasks]
        before, after = mean(one for one, _ in pairs), mean(other for _, other in pairs)
        interval = interval_of(metric, pairs)
        return cls(
            metric=metric,
            baseline=before,
            subject=after,
            difference=None if before is None or after is None else after - before,
            ratio=None if before is None or after is None else rate(after, before),
            pairs=len(tasks),
            interval=interval,
            reason=None if interval is not None else why_unsure(len(tasks)),
        )


def interval_of(metric: str, pairs: Sequence[tuple[float, float]]) -> Interval | None:
    """Return how sure the mean difference is: of yes and no by their score interval, of numbers by their spread."""
    if metric == "valid" and {value for pair in pairs for value in pair} <= {0.0, 1.0}:
        return paired_rates([(bool(before), bool(after)) for before, after in pairs])
    return mean_interval([after - before for before, after in pairs])


def why_unsure(pairs: int) -> str:
    """Return why so many pairs have no interval."""
    if not pairs:
        return NO_COMMON_TASK
    return FEW_COMMON_TASKS if pairs < FEWEST_PAIRS else ALL_THE_SAME


class PartDeltas(Model):
    """A phase, or a tool in a phase ("construct engine.build"), of two sides."""

    part: str
    metrics: list[Delta]


Parts = Callable[[TaskRun], Mapping[str, Part]]


def part_deltas(baseline: Subject, subject: Subject, parts: Parts) -> list[PartDeltas]:
    """Return the deltas of every part that both sides have, those that differ most in time first."""
    names = [{name for run in side.runs for name in parts(run)} for side in (baseline, subject)]
    found = []
    for part in sorted(set.intersection(*names)):
        figures = {name: figure_of(parts, part, of) for name, of in PART_FIGURES.items()}
        metrics = [Delta.of(name, baseline.per_task(of), subject.per_task(of)) for name, of in figures.items()]
        found.append(PartDeltas(part=part, metrics=metrics))
    return sorted(found, key=lambda one: -abs(one.metrics[list(PART_FIGURES).index("sum_ms")].difference or 0.0))


def figure_of(parts: Parts, part: str, of: Callable[[Part], float | None]) -> Figure:
    """Return what reads a figure of a part off a run, None where the run lacks the part."""
    return lambda run: None if (used := parts(run).get(part)) is None else of(used)


class FirstDifference(Model):
    """The first call in which the first trials of a task differ; None on the side that ended before."""

    task: str
    call: int
    baseline: str | None
    subject: str | None
    same_tool: bool

    @classmethod
    def of(cls, task: str, baseline: Sequence[Call], subject: Sequence[Call]) -> FirstDifference | None:
        """Return where two lists of calls part; None when they are the same."""
        for number, (one, other) in enumerate(zip_longest(baseline, subject), start=1):
            if one != other:
                before, after = (None if call is None else " ".join(call[:2]) for call in (one, other))
                return cls(task=task, call=number, baseline=before, subject=after, same_tool=before == after)
        return None


class Deltas(Model):
    """One side against the first. `first_differences`: by task, which call was the first that was not the same."""

    baseline: str
    subject: str
    metrics: list[Delta]
    phases: list[PartDeltas]
    tools: list[PartDeltas]
    first_differences: list[FirstDifference]

    @classmethod
    def of(cls, baseline: Subject, subject: Subject) -> Deltas:
        """Return every figure of the side against the first."""
        metrics = [Delta.of(name, baseline.per_task(of), subject.per_task(of)) for name, of in FIGURES.items()]
        before, after = baseline.tasks, subject.tasks
        parted = (
            FirstDifference.of(task, before[task][0].called, after[task][0].called)
            for task in sorted(before.keys() & after.keys())
        )
        return cls(
            baseline=baseline.name,
            subject=subject.name,
            metrics=metrics,
            phases=part_deltas(baseline, subject, TaskRun.phases),
            tools=part_deltas(baseline, subject, TaskRun.tools),
            first_differences=[one for one in parted if one is not None],
        )
