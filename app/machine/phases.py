"""The phases of a build as a literal table."""

from __future__ import annotations

from app.model.names import Mode, Phase, Trigger
from app.model.transitions import TransitionTable

PHASES: TransitionTable[Phase, Trigger] = TransitionTable(
    Phase,
    [
        (Trigger.DECOMPOSED, Phase.DECOMPOSE, Phase.EXPLORE),
        (Trigger.EXPLORED, Phase.EXPLORE, Phase.CONSTRUCT),
        (Trigger.CONSTRUCTED, Phase.CONSTRUCT, Phase.VALIDATE),
        (Trigger.ASSUMPTION_FAILED, Phase.CONSTRUCT, Phase.ITERATE),
        (Trigger.VALIDATED, Phase.VALIDATE, Phase.COMPLETE),
        (Trigger.CONFLICTS_FOUND, Phase.VALIDATE, Phase.ITERATE),
        (Trigger.REOPENED, Phase.ITERATE, Phase.EXPLORE),
        (Trigger.GAVE_UP, Phase.EXPLORE, Phase.COMPLETE),
        (Trigger.GAVE_UP, Phase.CONSTRUCT, Phase.COMPLETE),
        (Trigger.GAVE_UP, Phase.VALIDATE, Phase.COMPLETE),
        (Trigger.GAVE_UP, Phase.ITERATE, Phase.COMPLETE),
    ],
)
"""Giving up is possible in explore because the time budget can end while a question is open again."""


def entry_phase(mode: Mode) -> Phase:
    """Return where a build of this mode starts: a refinement brings its questions along."""
    return Phase.EXPLORE if mode is Mode.REFINEMENT else Phase.DECOMPOSE


def next_phase(phase: Phase, trigger: Trigger) -> Phase:
    """Return the phase that follows.

    Raises:
        InvalidTransition: the trigger is not possible in this phase.
    """
    return PHASES.follow(phase, trigger)
