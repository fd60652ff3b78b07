"""Builds, or sets of builds under a label, next to each other: what they used, what it cost, what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from app.core.errors import InputError, NotFound
from app.metrics.comparison import Comparison, Subject, TaskRun, compare
from app.metrics.figures import History, figures
from app.model.evaluations import EvaluationRun
from app.model.events import Attempt
from app.model.names import Outcome, Severity
from app.model.record import BuildRecord
from app.model.stats import EHP
from app.service.builds import FINISHED
from app.service.view import valid_state
from app.storage.base import BuildStore, EvaluationStore, EventStore

MOST_SUBJECTS = 10
LABEL = "label:"
_THE_TASK = "build"
"""What a build compared as itself is a trial of: both sides have it, so their figures are paired."""


class Comparisons:
    """Puts builds next to each other, or all builds of an evaluation's labels."""

    def __init__(self, builds: BuildStore, events: EventStore, evaluations: EvaluationStore) -> None:
        self._builds = builds
        self._events = events
        self._evaluations = evaluations

    async def compare(self, names: Sequence[str]) -> Comparison:
        """Return the comparison of two or more sides; the first is what the others are held against.

        A side is a build, or with `label:` before its name all runs under a label; not both kinds at once.

        Raises:
            InputError: not two to ten different names, or builds mixed with labels.
            NotFound: no such build, or no run under the label.
        """
        check_names(names)
        labelled = [name.startswith(LABEL) for name in names]
        if any(labelled) and not all(labelled):
            raise InputError("Compare builds with builds, or labels with labels.")
        subjects: list[Subject] = []
        records: list[BuildRecord] = []
        for name in names:
            if labelled[0]:
                trials = await self._evaluations.of(name.removeprefix(LABEL))
                if not trials:
                    raise NotFound(f"There is no run under the label {name.removeprefix(LABEL)}.")
                side = [await self._builds.get(trial.build_id) for trial in trials]
                runs = [await self._run(record, trial) for record, trial in zip(side, trials, strict=True)]
            else:
                side = [await self._builds.get(name)]
                runs = [await self._run(side[0], None)]
            subjects.append(Subject(name, runs))
            records += side
        return await asyncio.to_thread(compare, subjects, notes_on(records))

    async def _run(self, record: BuildRecord, trial: EvaluationRun | None) -> TaskRun:
        events = await self._events.measured(record.id)
        run = await asyncio.to_thread(run_of, record, events, _THE_TASK if trial is None else trial.task)
        return run if trial is None else replace(run, selected=trial.selected, seconds=trial.seconds)


def check_names(names: Sequence[str]) -> None:
    """Return when the names can be compared.

    Raises:
        InputError: not two to ten different names.
    """
    if len(set(names)) != len(names) or not 2 <= len(names) <= MOST_SUBJECTS:
        raise InputError(f"Give two to {MOST_SUBJECTS} different builds to compare.")


def run_of(record: BuildRecord, events: Sequence[Attempt], task: str) -> TaskRun:
    """Return the build as one trial of the task."""
    ended = record.status in FINISHED
    used = figures(events, History.of(events, ended), leaves_only=True)
    state = valid_state(record)
    stats, severities = state.stats, [conflict.severity for conflict in state.conflicts]
    return TaskRun(
        task=task,
        build_id=record.id,
        valid=state.outcome is Outcome.VALIDATED,
        seconds=(record.updated_at - record.created_at).total_seconds() if ended else None,
        dps=stats.dps if stats else None,
        ehp=stats.values.get(EHP) if stats else None,
        blocking=severities.count(Severity.BLOCKING) if stats else None,
        warnings=severities.count(Severity.WARNING) if stats else None,
        calls=used.calls,
        ok_calls=used.ok_calls,
        judged_calls=used.calls if ended else used.calls - used.incomplete_calls,
        cost_usd=None if used.cost_usd is None else Decimal(used.cost_usd),
        unpriced_calls=used.unpriced_calls,
    )


def notes_on(records: Sequence[BuildRecord]) -> list[str]:
    """Return what a reader must know before trusting the deltas."""
    engines = {record.engine for record in records if record.engine is not None}
    notes = []
    if len({engine.estimate for engine in engines}) > 1:
        notes.append("Some numbers are estimates of the sketch engine, others come from Path of Building.")
    elif len(engines) > 1:
        notes.append("The numbers come from different engine versions.")
    unfinished = [record.id for record in records if record.status not in FINISHED]
    return notes + [f"{build_id} is not finished." for build_id in unfinished]
