"""The table of phases, row by row, and everything that is not in them."""

from __future__ import annotations

from itertools import product

import pytest

from app.core.errors import InvalidTransition
from app.machine.phases import PHASES, entry_phase, next_phase
from app.model.names import Mode, Phase, Trigger

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


@pytest.mark.parametrize(("phase", "trigger"), list(product(Phase, Trigger)))
def test_every_pair_of_phase_and_trigger(phase: Phase, trigger: Trigger) -> None:
    target = PHASE_ROWS.get((phase.value, trigger.value))
    if target is None:
        with pytest.raises(InvalidTransition):
            next_phase(phase, trigger)
    else:
        assert next_phase(phase, trigger) is Phase(target)


def test_complete_is_reachable_from_everywhere_and_final() -> None:
    assert all(Phase.COMPLETE in PHASES.reachable(phase) for phase in Phase)
    assert PHASES.reachable(Phase.COMPLETE) == {Phase.COMPLETE}


def test_a_refinement_brings_its_questions_along() -> None:
    assert {mode: entry_phase(mode) for mode in Mode} == {
        Mode.INITIAL: Phase.DECOMPOSE,
        Mode.STRATEGIC: Phase.DECOMPOSE,
        Mode.REFINEMENT: Phase.EXPLORE,
    }


def test_the_table_keeps_nothing_between_moves() -> None:
    for _ in range(3):
        assert next_phase(Phase.VALIDATE, Trigger.VALIDATED) is Phase.COMPLETE
    assert PHASES.follow(Phase.VALIDATE, Trigger.CONFLICTS_FOUND) is Phase.ITERATE
