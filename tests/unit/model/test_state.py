"""BuildState survives YAML, and the names in it are the contract's."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.model.blueprint import Blueprint, PassiveNode
from app.model.conflicts import BuildConflict, conflict_id
from app.model.names import ConflictType, Phase, Severity, SubProblemName, SubProblemStatus
from app.model.state import BuildState, Snapshot
from app.model.stats import EngineVersion, Stats, damage_per_second
from app.model.sub_problems import Decision, SpiritChoice, SubProblem

ENGINE = EngineVersion(name="pob", version="0.20.0", tree_version="0_5")


def full_state() -> BuildState:
    name = SubProblemName.SPIRIT_ALLOCATION
    decision = Decision(name="Grim Feast", choice=SpiritChoice(skill_ids=["x"]), reason="fits: a “quoted” reason\n")
    blueprint = Blueprint(class_name="Witch", level=90, nodes=[PassiveNode(id=1)])
    affected = [SubProblemName.SURVIVABILITY, SubProblemName.STAT_REQUIREMENTS]
    conflict = BuildConflict(
        id=conflict_id(ConflictType.RESISTANCE_GAP, affected, "fire"),
        type=ConflictType.RESISTANCE_GAP,
        severity=Severity.BLOCKING,
        affected=affected,
        evidence={"required": 75, "available": 61},
    )
    stats = Stats(engine=ENGINE, values={"Life": 2000.0})
    return BuildState(
        phase=Phase.ITERATE,
        sub_problems={name: SubProblem(name=name, status=SubProblemStatus.DECIDED, decision=decision)},
        conflicts=[conflict],
        blueprint=blueprint,
        best=Snapshot(iteration=0, blueprint=blueprint, stats=stats, blocking=1),
    )


def test_yaml_round_trip_gives_an_equal_state() -> None:
    state = full_state()
    assert BuildState.from_yaml(state.to_yaml()) == state


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        BuildState.from_yaml("schema_version: '1.0'\nphase: explore\nwat: 1\n")


def test_conflict_ids_do_not_depend_on_the_order_of_the_affected() -> None:
    one, two = SubProblemName.SURVIVABILITY, SubProblemName.STAT_REQUIREMENTS
    kind = ConflictType.RESISTANCE_GAP
    assert conflict_id(kind, [one, two], "fire") == conflict_id(kind, [two, one], "fire")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"DPS": 2.0, "FullDPS": 5.0, "CombinedDPS": 3.0}, 2.0),
        ({"DPS": 0.0, "FullDPS": 5.0, "CombinedDPS": 3.0}, None),
        ({"FullDPS": 5.0, "CombinedDPS": 3.0}, 3.0),
        ({"Minion.CombinedDPS": 7.0}, 7.0),
        ({"CombinedDPS": 0.0}, None),
        ({}, None),
    ],
)
def test_no_rate_is_none_and_never_zero(values: dict[str, float], expected: float | None) -> None:
    assert damage_per_second(values) == expected
