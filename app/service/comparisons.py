"""Builds, or sets of builds under a label, next to each other: what they used, what it cost, what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from app.core.errors import InputError, NotFound
from app.metrics.comparison import Comparison, compare
from app.metrics.efficiency import Standards
from app.metrics.results import ResultFile, read_results
from app.metrics.subjects import Subject, TaskRun
from app.model.access import EVERYONE, Access
from app.model.base import changed
from app.model.events import Attempt
from app.model.names import Outcome, Severity
from app.model.record import BuildRecord, BuildRequest
from app.model.stats import EHP
from app.service.builds import FINISHED
from app.service.view import valid_state
from app.storage.base import BuildStore, EvaluationStore, EventStore

MOST_SUBJECTS = 10
LABEL = "label:"
OTHER_TASKS = "These builds were asked for different things ({}): only what was asked alike is held against each other."


class Comparisons:
    """Puts builds next to each other, or all builds of an evaluation's labels, each measured by the standards."""

    def __init__(
        self,
        builds: BuildStore,
        events: EventStore,
        evaluations: EvaluationStore,
        standards: Standards | None = None,
    ) -> None:
        self._builds = builds
        self._events = events
        self._evaluations = evaluations
        self._standards = standards or Standards()

    async def compare(self, names: Sequence[str], access: Access = EVERYONE) -> Comparison:
        """Return the comparison of two or more sides; the first is what the others are held against.

        A side is a build, or with `label:` before its name all runs under a label; not both kinds at once.

        Raises:
            InputError: not two to ten different names, or builds mixed with labels.
            NotFound: no such build, or no run under the label, for who asks.
        """
        check_names(names)
        labelled = [name.startswith(LABEL) for name in names]
        if any(labelled) and not all(labelled):
            raise InputError("Compare builds with builds, or labels with labels.")
        subjects, records = await (self._labels(names) if labelled[0] else self._single(names))
        hidden = next((record.id for record in records if not access.sees(record.owner)), None)
        if hidden is not None:
            raise NotFound.of(hidden)
        return await asyncio.to_thread(compare, subjects, notes_on(records, labelled[0]))

    async def _labels(self, names: Sequence[str]) -> tuple[list[Subject], list[BuildRecord]]:
        subjects: list[Subject] = []
        records: list[BuildRecord] = []
        for name in names:
            label = name.removeprefix(LABEL)
            trials = await self._evaluations.of(label)
            if not trials and (content := await self._evaluations.kept(label)) is not None:
                subjects.append(read_results(content, name).subject(name))
                continue
            if not trials:
                raise NotFound(f"There is no run under the label {label}.")
            side = [await self._builds.get(trial.build_id) for trial in trials]
            runs = [
                changed(await self._run(record, trial.task), selected=trial.selected, seconds=trial.seconds)
                for record, trial in zip(side, trials, strict=True)
            ]
            subjects.append(Subject(name, runs))
            records += side
        return subjects, records

    async def export(self, label: str) -> ResultFile:
        """Return the runs under the label as a file.

        Raises:
            NotFound: no run under the label.
        """
        subjects, records = await self._labels([LABEL + label])
        engines = [f"{record.engine.name} {record.engine.version}" for record in records if record.engine is not None]
        return ResultFile.of(label, engines, subjects[0])

    async def bring(self, found: ResultFile, at: datetime) -> None:
        """Keep a file's runs under its label, to be compared.

        Raises:
            Conflict: there are runs under the label already.
        """
        await self._evaluations.keep(found.label, found.model_dump_json(), at)

    async def _single(self, names: Sequence[str]) -> tuple[list[Subject], list[BuildRecord]]:
        records = [await self._builds.get(name) for name in names]
        tasks = tasks_of(records)
        return [Subject(record.id, [await self._run(record, tasks[record.id])]) for record in records], records

    async def _run(self, record: BuildRecord, task: str) -> TaskRun:
        events = await self._events.measured(record.id)
        return await asyncio.to_thread(run_of, record, events, task, self._standards)


def check_names(names: Sequence[str]) -> None:
    """Return when the names can be compared.

    Raises:
        InputError: not two to ten different names.
    """
    if len(set(names)) != len(names) or not 2 <= len(names) <= MOST_SUBJECTS:
        raise InputError(f"Give two to {MOST_SUBJECTS} different builds to compare.")


def tasks_of(records: Sequence[BuildRecord]) -> dict[str, str]:
    """Return what each build was asked for, by its id: prompt, level and gear.

    A refinement next to the build it was made from is another trial of that one's task.
    """
    asked = {record.id: task_of(record.request) for record in records}
    made_from = {record.id: record.parent_id for record in records if record.parent_id in asked}
    for record in records:
        root = record.id
        while root in made_from:
            root = made_from[root] or root
        asked[record.id] = asked[root]
    return asked


def task_of(request: BuildRequest) -> str:
    """Return the request in words; spaces and capitals make no other task."""
    gear = request.gear.value if request.gear is not None else None
    added = [f"{name} {value}" for name, value in (("level", request.level), ("gear", gear)) if value is not None]
    return ", ".join([" ".join(request.prompt.casefold().split()), *added])


def run_of(record: BuildRecord, events: Sequence[Attempt], task: str, standards: Standards) -> TaskRun:
    """Return the build as one trial of the task."""
    ended = record.status in FINISHED
    metrics = standards.measure(events, ended, record.engine.name if record.engine else None)
    firsts = sorted((event for event in events if event.attempt == 1), key=lambda event: event.seq)
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
        metrics=metrics,
        judged_calls=metrics.run.calls - (0 if ended else metrics.run.incomplete_calls),
        called=[(event.phase.value, event.tool, event.args_sha256) for event in firsts],
        selected=None,
    )


def notes_on(records: Sequence[BuildRecord], labelled: bool) -> list[str]:
    """Return what a reader must know before trusting the deltas."""
    engines = {record.engine for record in records if record.engine is not None}
    notes = []
    if len({engine.estimate for engine in engines}) > 1:
        notes.append("Some numbers are estimates of the sketch engine, others come from Path of Building.")
    elif len(engines) > 1:
        notes.append("The numbers come from different engine versions.")
    if not labelled and len(set(tasks_of(records).values())) > 1:
        asked = [task_of(record.request) for record in records]
        notes.append(OTHER_TASKS.format(" / ".join(dict.fromkeys(asked))))
    unfinished = [record.id for record in records if record.status not in FINISHED]
    return notes + [f"{build_id} is not finished." for build_id in unfinished]
