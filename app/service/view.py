"""A build as its owner sees it: the fields of `GET /v1/builds/{id}`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.model.base import Model, changed
from app.model.blueprint import Blueprint
from app.model.constraints import InvariantValue, Question
from app.model.damage import NOT_COUNTED, DamageSource
from app.model.dialogue import ModelShare, share_of
from app.model.experiments import Experiment, Exploration, Refinement, Spending
from app.model.names import BuildStatus, Effort, Mode, Outcome, Phase, Provenance, SubProblemName, SubProblemStatus
from app.model.record import BuildRecord
from app.model.state import BuildState
from app.model.stats import CHAOS_RESISTANCE, EHP, FREE_SPIRIT, HIT_TYPES, MOVEMENT, Stats
from app.model.sub_problems import Built, DraftFigures, SubProblem
from app.model.wishes import WishOutcome
from app.service.conflict_graph import ConflictView
from app.service.race import RaceView, race_view


class StatsView(Model):
    """Stats of a build; null = the engine gave no such number.

    dps: damage per second. ehp: effective hit points. life, energy_shield, mana, armour, evasion: points.
    spirit, spirit_unreserved: Spirit points. *_resistance, block_chance: percent. move_speed: percent of the base.
    max_hit: the largest single hit survived, per damage type. values: every number under the engine's own name.
    enemy: whom the figures are against (None = common monsters, Boss, Pinnacle, Uber); null = no build is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    engine: str
    version: str
    tree_version: str
    estimate: bool
    enemy: str | None = None
    dps: float | None
    ehp: float | None
    life: float | None
    energy_shield: float | None
    mana: float | None
    spirit: float | None
    spirit_unreserved: float | None
    armour: float | None
    evasion: float | None
    block_chance: float | None
    fire_resistance: float | None
    cold_resistance: float | None
    lightning_resistance: float | None
    chaos_resistance: float | None
    strength: float | None = Field(serialization_alias="str")
    dexterity: float | None = Field(serialization_alias="dex")
    intelligence: float | None = Field(serialization_alias="int")
    move_speed: float | None
    max_hit: dict[str, float] = Field(default_factory=dict)
    values: dict[str, float] = Field(default_factory=dict)


class DamageView(Model):
    """The damage that counts (docs/damage.md) and where it comes from, the largest source first.

    dps: damage per second, null = not modelled, and `note` says why. per_second: whether it is a rate. share: 0 to 1 of
    dps; a second skill is told beside it and has none.
    """

    dps: float | None
    per_second: bool
    sources: list[DamageSource]
    note: str | None = None


class ProgressView(Model):
    """Steps done and planned in the current phase, and what happens now."""

    done: int
    total: int
    label: str


class EngineView(Model):
    """Which engine calculates; null until it is chosen."""

    name: str | None = None
    version: str | None = None


class ReasonerView(ModelShare):
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
    """What was chosen and why; `choice` is the answer in full, `spending` what it takes from which budget.

    `built`: what the finished file has of it, with figures read from the file; null until the build has ended.
    """

    name: str
    reason: str
    provenance: Provenance
    choice: dict[str, Any]
    spending: list[Spending] = Field(default_factory=list)
    built: Built | None = None


class AlternativeView(Model):
    """What could have been chosen and why it was not."""

    name: str
    score: float | None
    reason: str
    rejected_because: str | None
    measured: DraftFigures | None = None


class SubProblemView(Model):
    """One of the seven questions."""

    status: SubProblemStatus
    decision: DecisionView | None
    alternatives: list[AlternativeView]
    depends_on: list[SubProblemName]


class SetAsideView(Model):
    """Why a build is not worked on although it is not finished, and until when."""

    reason: str
    until: datetime


class BuildView(Model):
    """A build: what was asked, how far it is, what was decided and what came out; `wishes` are asked and reached,
    `flask_mana` is what all charges of the mana flask recover."""

    id: str
    prompt: str
    mode: Mode
    parent_id: str | None
    status: BuildStatus
    phase: Phase
    outcome: Outcome | None
    iteration: int
    effort: Effort
    progress: ProgressView
    set_aside: SetAsideView | None
    engine: EngineView
    reasoner: ReasonerView
    wishes: list[WishOutcome]
    invariants: list[InvariantView]
    question: Question | None
    assumptions: list[str]
    sub_problems: dict[SubProblemName, SubProblemView]
    conflicts: list[ConflictView]
    domain_gaps: list[str]
    stats: StatsView | None
    damage: DamageView | None
    caveats: list[str]
    invariant_changes: list[InvariantChangeView]
    refinement: Refinement | None
    experiments: list[Experiment]
    exploration: Exploration | None
    race: RaceView | None
    flask_mana: float
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


def stats_view(stats: Stats, blueprint: Blueprint | None = None) -> StatsView:
    """Return the stats under our names, with the enemy of the build that they are of."""
    got, speed = stats.values.get, stats.values.get(MOVEMENT)
    hits = {kind.lower(): got(f"{kind}MaximumHitTaken") for kind in HIT_TYPES}
    return StatsView(
        engine=stats.engine.name,
        version=stats.engine.version,
        tree_version=stats.engine.tree_version,
        estimate=stats.engine.estimate,
        enemy=blueprint.enemy if blueprint is not None else None,
        dps=stats.dps,
        ehp=got(EHP),
        life=got("Life"),
        energy_shield=got("EnergyShield"),
        mana=got("Mana"),
        spirit=got("Spirit"),
        spirit_unreserved=got(FREE_SPIRIT),
        armour=got("Armour"),
        evasion=got("Evasion"),
        block_chance=got("EffectiveBlockChance", got("BlockChance")),
        fire_resistance=got("FireResist"),
        cold_resistance=got("ColdResist"),
        lightning_resistance=got("LightningResist"),
        chaos_resistance=got(CHAOS_RESISTANCE),
        strength=got("Str"),
        dexterity=got("Dex"),
        intelligence=got("Int"),
        move_speed=None if speed is None else round(speed * 100, 1),
        max_hit={kind: hit for kind, hit in hits.items() if hit is not None},
        values=stats.values,
    )


def damage_view(stats: Stats) -> DamageView:
    """Return the damage with its sources; a state stored before there were sources has none."""
    damage = stats.damage
    return DamageView(
        dps=stats.dps,
        per_second=stats.dps is not None,
        sources=damage.sources,
        note=None if damage.not_counted is None else NOT_COUNTED.get(damage.not_counted, damage.not_counted),
    )


def summary_of(record: BuildRecord) -> BuildSummary:
    """Return the build as a line of a list."""
    return BuildSummary(**_common(record))


def view_of(record: BuildRecord) -> BuildView:
    """Return everything a caller may see of the build."""
    state, known = valid_state(record), record.invariants
    asked, failure = state.sub_problems, record.failure
    failed = [] if failure is None else [f"The build failed ({failure.code}): {failure.message}"]
    if record.status is BuildStatus.CANCELLED and record.xml is not None and record.state.best is None:
        failed = ["Cancelled while it was constructed: what there is was measured, but neither finished nor checked."]
    return BuildView(
        **_common(record),
        effort=record.request.effort,
        set_aside=_set_aside(record),
        reasoner=ReasonerView(
            name=record.reasoner.name if record.reasoner else None,
            model=record.reasoner.model if record.reasoner else None,
            degraded=record.state.degraded,
            **share_of(state.dialogue, state.degraded).model_dump(),
        ),
        wishes=state.wishes,
        invariants=[InvariantView(**item.model_dump(exclude={"words"})) for item in known.invariants],
        question=known.question,
        assumptions=list(dict.fromkeys([*known.assumptions, *state.assumptions])),
        sub_problems={name: _sub_problem(asked[name]) for name in SubProblemName if name in asked},
        conflicts=[ConflictView.model_validate(c, from_attributes=True) for c in record.state.conflicts],
        domain_gaps=state.domain_gaps,
        stats=None if state.stats is None else stats_view(state.stats, state.blueprint),
        damage=None if state.stats is None else damage_view(state.stats),
        caveats=[*failed, *record.state.caveats],
        invariant_changes=invariant_changes(record),
        refinement=record.state.refinement,
        experiments=record.state.experiments,
        exploration=_exploration(record.state),
        race=race_view(record.state.race),
        flask_mana=record.state.construction.notes.flask_mana,
    )


def _set_aside(record: BuildRecord) -> SetAsideView | None:
    if record.status is not BuildStatus.QUEUED or record.not_before is None:
        return None
    reason = f"Its process ended again and again in the phase {record.state.phase.value}"
    if record.trials:
        reason += f", {record.trials} of the times while nothing else ran"
    return SetAsideView(reason=f"{reason}; the step is tried alone then.", until=record.not_before)


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
    changes = []
    for field in fields:
        old, new, now = before.get(field), after.get(field), after.find(field)
        if old != new:
            reason = now.reason if now is not None else "not asked for any more"
            changes.append(InvariantChangeView(field=field, before=old, after=new, reason=reason))
    return changes


def valid_state(record: BuildRecord) -> BuildState:
    """Return the state to show: while a build iterates, blueprint, stats and conflicts of its best snapshot."""
    state = record.state
    if record.status is BuildStatus.COMPLETE or state.best is None:
        return state
    best = state.best
    return changed(state, blueprint=best.blueprint, stats=best.stats, conflicts=best.conflicts, wishes=best.wishes)


def _common(record: BuildRecord) -> dict[str, Any]:
    request, state, engine = record.request, record.state, record.engine
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
        "engine": EngineView(name=engine.name, version=engine.version) if engine else EngineView(),
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


def _sub_problem(question: SubProblem) -> SubProblemView:
    decision = question.decision
    return SubProblemView(
        status=question.status,
        decision=None
        if decision is None
        else DecisionView(
            name=decision.name,
            reason=decision.reason,
            provenance=decision.provenance,
            choice=decision.choice.model_dump(mode="json"),
            spending=decision.spending,
            built=decision.built,
        ),
        alternatives=[
            AlternativeView.model_validate(option, from_attributes=True)
            for option in (decision.alternatives if decision is not None else [])
        ],
        depends_on=question.depends_on,
    )
