"""Running evaluation suites: build each prompt, hold calls and result against what is required, keep the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from app.core.clock import Clock
from app.core.errors import InputError
from app.model.evaluations import EvaluationRun, Finding, LabelSummary
from app.model.names import BuildStatus
from app.model.request import BuildRequest, EngineChoice, ReasonerChoice
from app.service.builds import BuildService
from app.service.expectations import ExpectationChecks
from app.service.library import Library
from app.service.suites import Suite, SuiteTask
from app.service.view import BuildView
from app.storage.base import EvaluationStore
from app.tools.arguments import lookup, match_arguments, parse_arguments

MOST_TRIALS = 100
LABEL_CHARS = 100


class Labels:
    """What was run under which label."""

    def __init__(self, store: EvaluationStore) -> None:
        self._store = store

    async def labels(self) -> list[LabelSummary]:
        """Return every label that has runs, newest first."""
        return await self._store.labels()


class Evaluations:
    """Runs suites, one build after the other, so that their seconds can be compared."""

    def __init__(
        self,
        store: EvaluationStore,
        builds: BuildService,
        library: Library,
        expectations: ExpectationChecks,
        clock: Clock,
    ) -> None:
        self._store = store
        self._builds = builds
        self._library = library
        self._expectations = expectations
        self._clock = clock

    async def run(
        self,
        suite: Suite,
        label: str,
        trials: int = 1,
        *,
        resume: bool = False,
        engine: EngineChoice = "auto",
        reasoner: ReasonerChoice = "auto",
        told: Callable[[EvaluationRun], None] = lambda run: None,
    ) -> list[EvaluationRun]:
        """Run every task so many times and return the runs under the label; `told` hears of each as it ends.

        `resume` goes on under a label that has runs: what is there already is not run again.

        Raises:
            InputError: the label or the number of trials cannot be used, or the label has runs and `resume` is off.
        """
        known = await self._known(label, trials, resume)
        for task in suite.tasks:
            for trial in range(1, trials + 1):
                if (task.name, trial) not in known:
                    request = BuildRequest(
                        prompt=task.prompt, level=task.level, gear=task.gear, engine=engine, reasoner=reasoner
                    )
                    run = await self._trial(suite.name, label, task, trial, request)
                    await self._store.add(run)
                    told(run)
        return await self._store.of(label)

    async def _known(self, label: str, trials: int, resume: bool) -> set[tuple[str, int]]:
        if not 1 <= trials <= MOST_TRIALS:
            raise InputError(f"Give 1 to {MOST_TRIALS} trials.")
        if not label.strip() or len(label) > LABEL_CHARS or "," in label:
            raise InputError(f"A label has 1 to {LABEL_CHARS} characters and no comma.")
        known = {(run.task, run.trial) for run in await self._store.of(label)}
        if known and not resume:
            raise InputError(f"There are runs under the label {label} already; take another one, or resume.")
        return known

    async def _trial(self, suite: str, label: str, task: SuiteTask, trial: int, request: BuildRequest) -> EvaluationRun:
        began_ms = self._clock.monotonic_ms()
        made = await self._builds.create(request)
        await self._builds.wait(made.id)
        seconds = (self._clock.monotonic_ms() - began_ms) / 1000
        self._library.forget(made.id)
        view = await self._library.get(made.id)
        called = await self._calls(task, made.id)
        checks = [_ended(view), *called, *await asyncio.to_thread(check_facts, task, view)]
        return EvaluationRun(
            label=label,
            suite=suite,
            task=task.name,
            trial=trial,
            build_id=made.id,
            passed=all(check.passed for check in checks),
            selected=all(check.passed for check in called) if called else None,
            checks=checks,
            seconds=seconds,
            at=self._clock.now(),
        )

    async def _calls(self, task: SuiteTask, build_id: str) -> list[Finding]:
        if task.expectations is None:
            return []
        verdict = await self._expectations.check(build_id, task.expectations)
        return [Finding(name=check.name, passed=check.passed, reason=check.reason) for check in verdict.checks]


def check_facts(task: SuiteTask, view: BuildView) -> list[Finding]:
    """Return whether each required fact holds in the build as its owner sees it."""
    shown = view.model_dump(mode="json", by_alias=True)
    return [_fact(shown, pointer, spec) for pointer, spec in task.facts.items()]


def _fact(shown: dict[str, object], pointer: str, spec: object) -> Finding:
    found = match_arguments(parse_arguments({pointer: spec}), shown)
    there = str(lookup(shown, pointer))[:200] if found.ok else ""
    return Finding(name=f"fact {pointer}", passed=found.ok, reason=there or found.reason)


def _ended(view: BuildView) -> Finding:
    ended = view.outcome.value if view.outcome else view.status.value
    return Finding(name="the build ends", passed=view.status is BuildStatus.COMPLETE, reason=ended)


def passed_of(runs: Sequence[EvaluationRun]) -> int:
    """Return how many runs passed."""
    return sum(run.passed for run in runs)
