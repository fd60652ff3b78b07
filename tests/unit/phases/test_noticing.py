"""Gaps that construct sees on its way are provisional: confirmed or dropped by validate, never counted twice."""

from __future__ import annotations

from app.conflicts.requirements import main_skill_usable
from app.conflicts.strength import resistances
from app.model.conflicts import BuildConflict
from app.model.names import ConflictType, Severity, Trigger
from app.model.stats import Inspection
from app.phases.construct.stages import ConstructPhase, broken_assumption
from app.phases.validate.judgement import _merge
from app.search.sessions import Sharing
from tests.fakes.arithmetic import ArithmeticEngine
from tests.unit.conflicts.conftest import make_case
from tests.unit.phases.test_construct import TOY_STAGES, context, fresh, run_all, stage, world


async def test_a_gap_after_the_stage_that_follows_gear_is_provisional() -> None:
    stages = [*TOY_STAGES[:1], stage("gear", TOY_STAGES[3].work), *TOY_STAGES[1:]]
    engine, state = ArithmeticEngine(world()), fresh()
    for _ in range(3):
        state = (await ConstructPhase(Sharing(1), stages).run(context(engine, state))).state

    assert ConflictType.SURVIVABILITY_GAP in {c.type for c in state.conflicts}
    assert all(c.provisional and c.severity is Severity.BLOCKING for c in state.conflicts)
    assert "tolerated" in state.construction.notes.model_fields_set


async def test_a_failed_assumption_drops_what_was_provisional() -> None:
    provisional = conflict(provisional=True)
    state = fresh().model_copy(update={"conflicts": [provisional]})
    result = await run_all(ArithmeticEngine(world(base_damage=0.0)), state)

    assert result.trigger is Trigger.ASSUMPTION_FAILED
    assert [c.type for c in result.state.conflicts] == [ConflictType.CORE_ASSUMPTION_INVALIDATED]


def test_a_provisional_conflict_does_not_hide_what_was_tried() -> None:
    tried = conflict(attempts=2, tried=["a", "b"])
    (found,) = _merge([conflict()], [], [tried, conflict(provisional=True)])
    assert (found.attempts, found.tried, found.provisional) == (2, ["a", "b"], False)


def test_a_provisional_conflict_that_is_not_found_again_is_dropped() -> None:
    assert _merge([], [], [conflict(provisional=True)]) == []


def conflict(**fields: object) -> BuildConflict:
    (found,) = resistances(make_case(values={"ColdResist": 0.0}))
    return found.model_copy(update=fields)


async def test_construct_and_validate_speak_of_the_same_failed_assumption() -> None:
    case = make_case(inspection={"disabled_reason": "wrong weapon"})
    (rule,) = main_skill_usable(case)
    built = broken_assumption(case.blueprint, case.stats, Inspection(disabled_reason="wrong weapon"))
    assert built is not None
    assert rule.id == built.id
    assert [s.strategy for s in built.suggested_solutions] == [s.strategy for s in rule.suggested_solutions]
