"""The transition tables, row by row, and everything that is not in them."""

from __future__ import annotations

from itertools import product

import pytest

from app.core.errors import InvalidTransition
from app.machine.phases import PHASES, entry_phase, next_phase
from app.machine.subproblems import SUB_PROBLEMS, SubProblemTrigger, check_moves, next_status
from app.model.names import Mode, Phase, SubProblemName, SubProblemStatus, Trigger
from app.model.sub_problems import SubProblem

PHASE_ROWS = {
    ("decompose", "decomposed"): "explore",
    ("explore", "explored"): "construct",
    ("explore", "gave_up"): "complete",
    ("construct", "constructed"): "validate",
    ("construct", "assumption_failed"): "iterate",
    ("construct", "gave_up"): "complete",
    ("validate", "validated"): "complete",
    ("validate", "conflicts_found"): "iterate",
    ("validate", "gave_up"): "complete",
    ("iterate", "reopened"): "explore",
    ("iterate", "gave_up"): "complete",
}
STATUS_ROWS = {
    ("pending", "explore"): "exploring",
    ("exploring", "decide"): "decided",
    ("exploring", "block"): "blocked",
    ("blocked", "explore"): "exploring",
    ("decided", "reopen"): "exploring",
}
NAME = SubProblemName.ASCENDANCY


@pytest.mark.parametrize(("phase", "trigger"), list(product(Phase, Trigger)))
def test_every_pair_of_phase_and_trigger(phase: Phase, trigger: Trigger) -> None:
    target = PHASE_ROWS.get((phase.value, trigger.value))
    if target is None:
        with pytest.raises(InvalidTransition):
            next_phase(phase, trigger)
    else:
        assert next_phase(phase, trigger) is Phase(target)


@pytest.mark.parametrize(("status", "trigger"), list(product(SubProblemStatus, SubProblemTrigger)))
def test_every_pair_of_status_and_trigger(status: SubProblemStatus, trigger: SubProblemTrigger) -> None:
    target = STATUS_ROWS.get((status.value, trigger.value))
    if target is None:
        with pytest.raises(InvalidTransition):
            next_status(status, trigger)
    else:
        assert next_status(status, trigger) is SubProblemStatus(target)


def test_complete_is_reachable_from_everywhere_and_final() -> None:
    assert all(Phase.COMPLETE in PHASES.reachable(phase) for phase in Phase)
    assert PHASES.reachable(Phase.COMPLETE) == {Phase.COMPLETE}


def test_a_refinement_brings_its_questions_along() -> None:
    assert {mode: entry_phase(mode) for mode in Mode} == {
        Mode.INITIAL: Phase.DECOMPOSE,
        Mode.STRATEGIC: Phase.DECOMPOSE,
        Mode.REFINEMENT: Phase.EXPLORE,
    }


@pytest.mark.parametrize(("before", "after"), list(product(SubProblemStatus, SubProblemStatus)))
def test_nothing_becomes_pending_again(before: SubProblemStatus, after: SubProblemStatus) -> None:
    old, new = ({NAME: SubProblem(name=NAME, status=status)} for status in (before, after))
    if after is SubProblemStatus.PENDING and before is not after:
        with pytest.raises(InvalidTransition, match="ascendancy"):
            check_moves(old, new)
    else:
        check_moves(old, new)


def test_questions_may_appear_in_any_status() -> None:
    check_moves({}, {NAME: SubProblem(name=NAME, status=SubProblemStatus.DECIDED)})


def test_the_table_keeps_nothing_between_questions() -> None:
    for _ in range(3):
        assert next_phase(Phase.VALIDATE, Trigger.VALIDATED) is Phase.COMPLETE
    assert SUB_PROBLEMS.follow(SubProblemStatus.PENDING, SubProblemTrigger.EXPLORE) is SubProblemStatus.EXPLORING
    assert PHASES.follow(Phase.VALIDATE, Trigger.CONFLICTS_FOUND) is Phase.ITERATE
