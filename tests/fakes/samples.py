"""Builds in every stage, as a store would hold them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.core.ids import new_call_id
from app.model.blueprint import Blueprint
from app.model.constraints import Invariant, InvariantSet, Question
from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.guide import Loadout
from app.model.names import BuildStatus, Outcome, Phase, Provenance, SubProblemName, SubProblemStatus
from app.model.record import BuildRecord, BuildRequest, ReasonerVersion
from app.model.state import BuildState, Snapshot
from app.model.stats import EngineVersion, Stats
from app.model.sub_problems import AscendancyChoice, Decision, DeliveryChoice, Option, SubProblem

WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ENGINE = EngineVersion(name="sketch", version="1", tree_version="0_5", estimate=True)
XML = b'<?xml version="1.0" encoding="UTF-8"?>\n<PathOfBuilding2><Build level="90"/></PathOfBuilding2>\n'
NUMBERS = {
    "CombinedDPS": 54321.0,
    "TotalEHP": 20000.0,
    "Life": 2000.0,
    "Spirit": 100.0,
    "SpiritUnreserved": 40.0,
    "FireResist": 75.0,
    "Str": 50.0,
    "EffectiveMovementSpeedMod": 1.3,
    "FireMaximumHitTaken": 5000.0,
}


def a_record(number: int = 1, **changes: Any) -> BuildRecord:
    """Return a queued build; ids sort by number."""
    record = BuildRecord(
        id=f"01J0000000000000000000{number:04d}",
        request=BuildRequest(prompt="lightning sorceress for mapping"),
        created_at=WHEN,
        updated_at=WHEN,
    )
    return record.model_copy(update=changes)


def a_complete_record(number: int = 1) -> BuildRecord:
    """Return a build that ended with a caveat."""
    return a_record(
        number,
        status=BuildStatus.COMPLETE,
        epoch=1,
        invariants=InvariantSet(
            invariants=[
                Invariant(field="class", value="Sorceress", provenance=Provenance.EXPLICIT, reason="said so"),
                Invariant(field="exclude", value=[], provenance=Provenance.DEFAULT, reason="nothing excluded"),
                Invariant(field="hardcore", value=False, provenance=Provenance.DEFAULT, reason="softcore"),
            ],
            question=Question(field="skill", text="Which skill?", options=["Spark", "Arc"], assumed="Spark"),
            assumptions=["Spark is meant."],
        ),
        state=BuildState(
            phase=Phase.COMPLETE,
            outcome=Outcome.CAVEATS,
            sub_problems=_answers(),
            blueprint=Blueprint(class_name="Sorceress", level=90),
            stats=Stats(engine=ENGINE, values=NUMBERS),
            assumptions=["Spark is meant.", "Normal boss."],
            caveats=["Chaos resistance is low."],
        ),
        xml=XML,
        engine=ENGINE,
        reasoner=ReasonerVersion(name="rules"),
    )


def an_iterating_record() -> BuildRecord:
    """Return a build that has a valid state and works on a better one."""
    done = a_complete_record()
    stats = done.state.stats
    assert stats is not None
    best = Snapshot(
        iteration=0, blueprint=Blueprint(class_name="Sorceress", level=90), stats=stats, blocking=1, conflicts=[]
    )
    worse = Stats(engine=ENGINE, values={**NUMBERS, "Life": 1.0})
    state = done.state.model_copy(
        update={"phase": Phase.ITERATE, "outcome": None, "best": best, "stats": worse, "blueprint": None}
    )
    return done.model_copy(update={"status": BuildStatus.RUNNING, "state": state})


def an_event(seq: int, tool: str = "pob.stats", **changes: Any) -> ToolEvent:
    """Return a finished, successful attempt."""
    event = ToolEvent(
        build_id=a_record().id,
        seq=seq,
        phase=Phase.CONSTRUCT,
        kind=ToolKind.POB,
        tool=tool,
        call_id=f"call-{seq}",
        started_at=WHEN,
        duration_ms=10.4,
        outcome=CallOutcome.OK,
        args={"n": seq},
        result_preview="{}",
    )
    return event.model_copy(update=changes)


def an_open_event(build: str, **fields: Any) -> ToolEvent:
    """Return an attempt of the build that begins now and has no number yet."""
    known: dict[str, Any] = {
        "build_id": build,
        "seq": 0,
        "phase": Phase.EXPLORE,
        "kind": ToolKind.POB,
        "tool": "pob.stats",
        "call_id": new_call_id(),
        "started_at": datetime.now(UTC),
    }
    return ToolEvent(**(known | fields))


def _answers() -> dict[SubProblemName, SubProblem]:
    who = AscendancyChoice(class_name="Sorceress", ascendancy="Stormweaver")
    how = DeliveryChoice(skill_id="Spark", skill_name="Spark")
    other = Option(name="Arc", choice=how, score=0.5, reason="close", rejected_because="slower")
    return {
        SubProblemName.DAMAGE_DELIVERY: SubProblem(
            name=SubProblemName.DAMAGE_DELIVERY,
            status=SubProblemStatus.DECIDED,
            depends_on=[SubProblemName.ASCENDANCY],
            decision=Decision(name="Spark", choice=how, reason="clears well", alternatives=[other]),
        ),
        SubProblemName.ASCENDANCY: SubProblem(
            name=SubProblemName.ASCENDANCY,
            status=SubProblemStatus.DECIDED,
            decision=Decision(name="Stormweaver", choice=who, reason="lightning"),
        ),
    }


def a_loadout() -> Loadout:
    """Return the build at level 30 on its way, with another skill."""
    return Loadout(
        title="Levelling 30",
        level=30,
        points=37,
        ascendancy_points=2,
        skill="Zap",
        is_main_skill=False,
        why="Boom can be used from level 41 on",
        supports=["Faster"],
        dps=1234.5,
        ehp=999.0,
        life=400.0,
        engine=ENGINE,
        changes=["Use Zap instead of Bolt."],
        caveats=["Hat asks for 9 str"],
    )
