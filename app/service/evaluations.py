"""Evaluation suites: build each prompt, hold calls and result against what is required, keep the verdict."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from app.core.clock import Clock
from app.core.config import resource_dir
from app.core.errors import InputError
from app.engine.files.loadouts import active
from app.engine.files.xml import read
from app.knowledge.claims import FACTS, SAYS, founded, grounds_of
from app.metrics.documents import Document
from app.metrics.expectations import Expectations, check_usable, lookup, match_arguments, parse_arguments
from app.metrics.limits import InvalidMatcher, placed
from app.model.base import Model
from app.model.constraints import Invariant, InvariantSet
from app.model.damage import unpayable
from app.model.demands import Demands, demands_of
from app.model.evaluations import EvaluationRun, Finding, LabelSummary
from app.model.names import BuildStatus, ConflictType, GearTier, Severity
from app.model.names import SubProblemName as Q
from app.model.race import raced
from app.model.record import MIN_PROMPT, BuildRequest, EngineChoice, ReasonerChoice
from app.model.state import BuildState
from app.model.stats import DPS
from app.model.wishes import WishState
from app.prompting.library import fenced
from app.search.objective import Objective
from app.service.builds import BuildService
from app.service.library import Library
from app.service.recordings import ExpectationChecks
from app.service.view import BuildView
from app.storage.base import EvaluationStore


class SuiteTask(Model):
    """One prompt. `expectations` are held against its recorded calls; `facts` (JSON Pointers into the finished build,
    as `GET /v1/builds/{id}` shows it, with matchers) against its result."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    prompt: Annotated[str, Field(min_length=MIN_PROMPT, max_length=4000)]
    level: Annotated[int, Field(ge=1, le=100)] | None = None
    gear: GearTier | None = None
    expectations: Expectations | None = None
    facts: dict[str, Any] = Field(default_factory=dict)


class Suite(Model):
    """Tasks in the order of the file; `name` is the file's."""

    name: str
    tasks: list[SuiteTask]


def load_suite(source: str, only: list[str] | None = None) -> Suite:
    """Return a suite by its file, or by the name of one that ships; `only` keeps tasks whose name has one of its words.

    Raises:
        InputError: there is no such suite, it is not one, or nothing is left of it.
        InvalidMatcher: a matcher in it is unusable.
    """
    path = Path(source)
    if path.suffix not in (".yaml", ".yml", ".json"):
        path = resource_dir("evals") / f"{path.name}.yaml"
        if not path.is_file():
            names = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
            raise InputError(f"There is no suite {source}; there are {names}, and any YAML file.")
    tasks = _tasks_in(path)
    kept = [task for task in tasks if not only or any(word in task.name for word in only)]
    if not kept:
        raise InputError(f"No task of {source} is called like {', '.join(only or [])}.")
    return Suite(name=path.stem, tasks=kept)


def _tasks_in(path: Path) -> list[SuiteTask]:
    document = Document(path)
    tasks = document.read(TypeAdapter(list[SuiteTask]))
    if len({task.name for task in tasks}) != len(tasks) or not tasks:
        raise InputError(f"{path}: a suite needs tasks, each with a name of its own.")
    for number, task in enumerate(tasks):
        _check_matchers(document, number, task)
    return tasks


def _check_matchers(document: Document, number: int, task: SuiteTask) -> None:
    try:
        with placed("facts"):
            parse_arguments(task.facts)
        if task.expectations is not None:
            with placed("expectations"):
                check_usable(task.expectations)
    except InvalidMatcher as error:
        raise document.unusable(error, (number,)) from error


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
        sound: bool = False,
        told: Callable[[EvaluationRun], None] = lambda run: None,
    ) -> list[EvaluationRun]:
        """Run every task so many times and return the runs under the label; `told` hears of each as it ends.

        `sound`: each build is also held against what every build must be (`soundness`). `resume` goes on under a label
        that has runs: what is there already is not run again.

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
                    run = await self._trial(suite.name, label, task, trial, request, sound)
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

    async def _trial(
        self, suite: str, label: str, task: SuiteTask, trial: int, request: BuildRequest, sound: bool
    ) -> EvaluationRun:
        began_ms = self._clock.monotonic_ms()
        made = await self._builds.create(request)
        await self._builds.wait(made.id)
        seconds = (self._clock.monotonic_ms() - began_ms) / 1000
        self._library.forget(made.id)
        view = await self._library.get(made.id)
        called = []
        if task.expectations is not None:
            verdict = await self._expectations.check(made.id, task.expectations)
            called = [Finding(name=check.name, passed=check.passed, reason=check.reason) for check in verdict.checks]
        ending = view.outcome.value if view.outcome else view.status.value
        ended = Finding(name="the build ends", passed=view.status is BuildStatus.COMPLETE, reason=ending)
        checks = [ended, *called, *await asyncio.to_thread(check_facts, task, view)]
        if sound and view.status is BuildStatus.COMPLETE:
            files = [await self._library.export(made.id, form) for form in ("yaml", "xml")]
            checks += await asyncio.to_thread(soundness, view, BuildState.from_yaml(files[0].decode()), files[1])
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


def check_facts(task: SuiteTask, view: BuildView) -> list[Finding]:
    """Return whether each required fact holds in the build as its owner sees it."""
    shown, findings = view.model_dump(mode="json", by_alias=True), []
    for pointer, spec in task.facts.items():
        found = match_arguments(parse_arguments({pointer: spec}), shown)
        there = str(lookup(shown, pointer))[:200] if found.ok else ""
        findings.append(Finding(name=f"fact {pointer}", passed=found.ok, reason=there or found.reason))
    return findings


_UNUSABLE = frozenset(
    {ConflictType.STAT_REQUIREMENT, ConflictType.ATTRIBUTE_SQUEEZE, ConflictType.SUSTAIN_GAP}
    | {ConflictType.SPIRIT_OVERFLOW, ConflictType.TREE_OVERFLOW, ConflictType.ILLEGAL_ITEM}
)


def soundness(view: BuildView, state: BuildState, xml: bytes) -> list[Finding]:
    """Return whether a finished build is what every build must be, whoever decided: it can be played, gives what was
    asked for, has in its file what it tells, and repeats no claim of a language model without grounds."""
    found = {
        "castable": _unusable(view),
        "wishes met": [wish.wish for wish in view.wishes if wish.state is WishState.UNMET],
        "plan is the build": _not_in_file(view, xml),
        "no unfounded claim": _unfounded(view, state),
    }
    return [Finding(name=name, passed=not faults, reason="; ".join(faults)[:500]) for name, faults in found.items()]


def _unusable(view: BuildView) -> list[str]:
    """Return why the main skill cannot be used as it is planned."""
    faults = [one.message for one in view.conflicts if one.type in _UNUSABLE and one.severity is Severity.BLOCKING]
    stats = view.stats
    if stats is None or not stats.dps:
        return [*faults, "it deals no damage"]
    return [*faults, *(f"one use costs more {cost.resource} than there is" for cost in unpayable(stats.values))]


def _not_in_file(view: BuildView, xml: bytes) -> list[str]:
    """Return what is told of skills and ascendancy and not in the file, and what was planned, is not there nor told."""
    root = read(xml)
    skills = active(root, "SkillSet")  # what is only in a levelling loadout is not in the build
    enabled = [gem for gem in (root if skills is None else skills).iter("Gem") if gem.get("enabled") != "false"]
    gems, have = ({_last(gem.get(name) or "") for gem in enabled} for name in ("nameSpec", "gemId"))
    own = next(root.iter("Build"))
    decided = {name: sub.decision for name, sub in view.sub_problems.items() if sub.decision is not None}
    built = {name: one.built for name, one in decided.items() if one.built is not None}
    faults = [f"{name.value}: the file was not looked at" for name in decided if name not in built]
    for name, planned in ((Q.DAMAGE_DELIVERY, "skill_name"), (Q.ASCENDANCY, "ascendancy")):
        if name not in built:
            continue
        told = built[name].name.partition(" with ")[0]
        there = told in gems if name is Q.DAMAGE_DELIVERY else told in (own.get("ascendClassName"), "none yet")
        if not there:
            faults.append(f"{told} is told and not in the file")
        plan = decided[name].choice.get(planned)
        if plan not in (told, None) and "decided on" not in built[name].reason:
            faults.append(f"{plan} was decided on, {told} was built, and that is not told")
    spirit = built.get(Q.SPIRIT_ALLOCATION)
    left = (
        [key for key in decided[Q.SPIRIT_ALLOCATION].choice.get("skill_ids", []) if _last(key) not in have]
        if spirit
        else []
    )
    if spirit is not None and left and "decided on" not in spirit.reason:
        faults.append(f"{len(left)} Spirit skills were decided on and are not there, and that is not told")
    return faults


def _last(key: str) -> str:
    """Return the last part of a gem's path: Path of Building's data and its files name the folders differently."""
    return key.rpartition("/")[2]


def _unfounded(view: BuildView, state: BuildState) -> list[str]:
    """Return what a language model says to people that no figure of the build, the prompt or the race bears out."""
    told = [*view.assumptions, *view.domain_gaps, *view.caveats, *([view.question.text] if view.question else [])]
    for sub in view.sub_problems.values():
        told += [sub.decision.reason] if sub.decision is not None else []
        told += [option.rejected_because or "" for option in sub.alternatives]
    stats = {} if view.stats is None else {**view.stats.values, DPS: view.stats.dps or 0.0}
    known = [fenced("figures", json.dumps(stats)), fenced("request", f"{view.prompt}; level {_level(view)}")]
    grounds = grounds_of([*known, fenced(FACTS, "" if state.race is None else raced(state.race))])
    said = [text.partition(SAYS)[2] for text in told if SAYS in text]
    return [text for text in said if founded(text, grounds) != text.strip()]


def _level(view: BuildView) -> str:
    return next((str(one.value) for one in view.invariants if one.field == "level"), "")


def objective_of(view: BuildView, demands: Demands) -> float | None:
    """Return the score of a build under these demands, damage and effective hit points weighed alike, so that builds
    with weights of their own can be compared; in e-folds, None without figures. A mana flask pays for skills as in the
    search."""
    if view.stats is None:
        return None
    return Objective(demands.floors, flask_mana=view.flask_mana).score(
        {**view.stats.values, DPS: view.stats.dps or 0.0}
    )


def demands_on(view: BuildView) -> Demands:
    """Return what the build's constraints demand."""
    known = [Invariant(**one.model_dump()) for one in view.invariants]
    return demands_of(InvariantSet(invariants=known))


def passed_of(runs: Sequence[EvaluationRun]) -> int:
    """Return how many runs passed."""
    return sum(run.passed for run in runs)
