"""A build as its owner sees it: the fields of `GET /v1/builds/{id}`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from app.model.base import Model, changed
from app.model.conflicts import Evidence
from app.model.constraints import InvariantSet, InvariantValue, Question
from app.model.experiments import Experiment, Exploration, Refinement, Spending
from app.model.names import (
    BuildStatus,
    ConflictType,
    Mode,
    Outcome,
    Phase,
    Provenance,
    Role,
    Severity,
    SubProblemName,
    SubProblemStatus,
)
from app.model.record import BuildRecord
from app.model.state import BuildState
from app.model.sub_problems import Decision, Option, SubProblem
from app.service.stats_view import StatsView, stats_view


class SuggestionView(Model):
    """A way out of a conflict."""

    strategy: str
    sub_problem: SubProblemName
    demand: str
    text: str


class CauseView(Model):
    """A conflict that brings about another one, and why."""

    conflict_id: str
    because: str


class ConflictView(Model):
    """What is wrong, how it was measured, what brings it about and what could be done."""

    id: str
    type: ConflictType
    severity: Severity
    role: Role
    affected: list[SubProblemName]
    provisional: bool
    attempts: int
    message: str
    evidence: Evidence
    causes: list[CauseView]
    roots: list[str]
    tried: list[str]
    suggested_solutions: list[SuggestionView]


class ProgressView(Model):
    """Steps done and planned in the current phase, and what happens now."""

    done: int
    total: int
    label: str


class EngineView(Model):
    """Which engine calculates; null until it is chosen."""

    name: str | None = None
    version: str | None = None


class ReasonerView(Model):
    """Who decides; `degraded` lists the steps that fell back to the rules."""

    name: str | None = None
    model: str | None = None
    degraded: list[str] = Field(default_factory=list)


class InvariantView(Model):
    """One constraint of the user and where it comes from."""

    field: str
    value: InvariantValue
    provenance: Provenance
    reason: str


class InvariantChangeView(Model):
    """A constraint that is not what the parent's was; null = there was, or is, none."""

    field: str
    before: InvariantValue
    after: InvariantValue
    reason: str


class DecisionView(Model):
    """What was chosen and why; `choice` is the answer in full, `spending` what it takes from which budget."""

    name: str
    reason: str
    provenance: Provenance
    choice: dict[str, Any]
    spending: list[Spending] = Field(default_factory=list)


class AlternativeView(Model):
    """What could have been chosen and why it was not."""

    name: str
    score: float | None
    reason: str
    rejected_because: str | None


class SubProblemView(Model):
    """One of the seven questions."""

    status: SubProblemStatus
    decision: DecisionView | None
    alternatives: list[AlternativeView]
    depends_on: list[SubProblemName]


class BuildView(Model):
    """A build: what was asked, how far it is, what was decided and what came out."""

    id: str
    prompt: str
    mode: Mode
    parent_id: str | None
    status: BuildStatus
    phase: Phase
    outcome: Outcome | None
    iteration: int
    progress: ProgressView
    engine: EngineView
    reasoner: ReasonerView
    invariants: list[InvariantView]
    question: Question | None
    assumptions: list[str]
    sub_problems: dict[SubProblemName, SubProblemView]
    conflicts: list[ConflictView]
    domain_gaps: list[str]
    stats: StatsView | None
    caveats: list[str]
    invariant_changes: list[InvariantChangeView]
    refinement: Refinement | None
    experiments: list[Experiment]
    exploration: Exploration | None
    created_at: datetime
    updated_at: datetime
    links: dict[str, str]


class BuildSummary(Model):
    """A build in a list."""

    id: str
    prompt: str
    mode: Mode
    parent_id: str | None
    status: BuildStatus
    phase: Phase
    outcome: Outcome | None
    iteration: int
    progress: ProgressView
    engine: EngineView
    created_at: datetime
    updated_at: datetime
    links: dict[str, str]


class BuildPage(Model):
    """Builds, newest first; `next_cursor` null = the last page."""

    items: list[BuildSummary]
    next_cursor: str | None


def summary_of(record: BuildRecord) -> BuildSummary:
    """Return the build as a line of a list."""
    return BuildSummary(**_common(record))


def view_of(record: BuildRecord) -> BuildView:
    """Return everything a caller may see of the build."""
    state, known = valid_state(record), record.invariants
    asked = state.sub_problems
    return BuildView(
        **_common(record),
        reasoner=_reasoner(record),
        invariants=[InvariantView(**item.model_dump()) for item in known.invariants],
        question=known.question,
        assumptions=list(dict.fromkeys([*known.assumptions, *state.assumptions])),
        sub_problems={name: _sub_problem(asked[name]) for name in SubProblemName if name in asked},
        conflicts=[ConflictView.model_validate(c, from_attributes=True) for c in record.state.conflicts],
        domain_gaps=state.domain_gaps,
        stats=None if state.stats is None else stats_view(state.stats),
        caveats=_caveats(record),
        invariant_changes=invariant_changes(record),
        refinement=record.state.refinement,
        experiments=record.state.experiments,
        exploration=_exploration(record.state),
    )


def _exploration(state: BuildState) -> Exploration | None:
    """Return the exploration budget with what construction has tried."""
    found, tried = state.exploration, state.construction.notes.evaluations
    if found is None or tried <= found.trials:
        return found
    return changed(found, trials=tried)


def invariant_changes(record: BuildRecord) -> list[InvariantChangeView]:
    """Return what became of the parent's constraints, in the order of both lists; nothing without a parent."""
    before, after = record.state.inherited, record.invariants
    if before is None or not after.invariants:
        return []
    fields = dict.fromkeys(i.field for i in [*before.invariants, *after.invariants])
    return [_changed(field, before, after) for field in fields if before.get(field) != after.get(field)]


def _changed(field: str, before: InvariantSet, after: InvariantSet) -> InvariantChangeView:
    now = after.find(field)
    reason = now.reason if now is not None else "not asked for any more"
    return InvariantChangeView(field=field, before=before.get(field), after=after.get(field), reason=reason)


def valid_state(record: BuildRecord) -> BuildState:
    """Return the state to show: while a build iterates, blueprint, stats and conflicts of its best snapshot."""
    state = record.state
    if record.status is BuildStatus.COMPLETE or state.best is None:
        return state
    best = state.best
    return state.model_copy(update={"blueprint": best.blueprint, "stats": best.stats, "conflicts": best.conflicts})


def _common(record: BuildRecord) -> dict[str, Any]:
    request, state = record.request, record.state
    return {
        "id": record.id,
        "prompt": request.prompt,
        "mode": request.mode,
        "parent_id": request.parent_id,
        "status": record.status,
        "phase": state.phase,
        "outcome": state.outcome,
        "iteration": state.iteration,
        "progress": ProgressView(done=state.done, total=state.total, label=state.progress_label),
        "engine": _engine(record),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "links": links_of(record),
    }


def links_of(record: BuildRecord) -> dict[str, str]:
    """Return where to go from here; downloads appear with the first valid state."""
    here = f"/v1/builds/{record.id}"
    names = {"self": "", "events": "/events", "tool_events": "/tool-events", "metrics": "/metrics"}
    names["conflicts"] = "/conflicts.svg"
    files = {"xml": "/build.xml", "code": "/code", "state": "/state.yaml"} if record.xml is not None else {}
    return {name: here + tail for name, tail in {**names, **files}.items()}


def _engine(record: BuildRecord) -> EngineView:
    version = record.engine
    return EngineView() if version is None else EngineView(name=version.name, version=version.version)


def _reasoner(record: BuildRecord) -> ReasonerView:
    who = record.reasoner
    name, model = (None, None) if who is None else (who.name, who.model)
    return ReasonerView(name=name, model=model, degraded=record.state.degraded)


def _sub_problem(question: SubProblem) -> SubProblemView:
    decision = question.decision
    return SubProblemView(
        status=question.status,
        decision=None if decision is None else _decision(decision),
        alternatives=[] if decision is None else [_alternative(option) for option in decision.alternatives],
        depends_on=question.depends_on,
    )


def _decision(decision: Decision) -> DecisionView:
    return DecisionView(
        name=decision.name,
        reason=decision.reason,
        provenance=decision.provenance,
        choice=decision.choice.model_dump(mode="json"),
        spending=decision.spending,
    )


def _alternative(option: Option) -> AlternativeView:
    return AlternativeView.model_validate(option, from_attributes=True)


def _caveats(record: BuildRecord) -> list[str]:
    failure = record.failure
    failed = [] if failure is None else [f"The build failed ({failure.code}): {failure.message}"]
    return [*failed, *record.state.caveats]
