"""The life of a question as a literal table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from app.model.names import SubProblemName, SubProblemStatus
from app.model.sub_problems import SubProblem
from app.model.transitions import TransitionTable


class SubProblemTrigger(StrEnum):
    """What moves a question from one status to the next."""

    EXPLORE = "explore"
    DECIDE = "decide"
    BLOCK = "block"
    REOPEN = "reopen"


SUB_PROBLEMS: TransitionTable[SubProblemStatus, SubProblemTrigger] = TransitionTable(
    SubProblemStatus,
    [
        (SubProblemTrigger.EXPLORE, SubProblemStatus.PENDING, SubProblemStatus.EXPLORING),
        (SubProblemTrigger.EXPLORE, SubProblemStatus.BLOCKED, SubProblemStatus.EXPLORING),
        (SubProblemTrigger.DECIDE, SubProblemStatus.EXPLORING, SubProblemStatus.DECIDED),
        (SubProblemTrigger.BLOCK, SubProblemStatus.EXPLORING, SubProblemStatus.BLOCKED),
        (SubProblemTrigger.REOPEN, SubProblemStatus.DECIDED, SubProblemStatus.EXPLORING),
    ],
)


def next_status(status: SubProblemStatus, trigger: SubProblemTrigger) -> SubProblemStatus:
    """Return the status that follows.

    Raises:
        InvalidTransition: the trigger is not possible in this status.
    """
    return SUB_PROBLEMS.follow(status, trigger)


def check_moves(
    before: Mapping[SubProblemName, SubProblem],
    after: Mapping[SubProblemName, SubProblem],
) -> None:
    """Return when every question went only where the table leads; one step may make several moves.

    Raises:
        InvalidTransition: one did not; nothing but a new decomposition makes a question pending again.
    """
    for name in sorted(before.keys() & after.keys()):
        SUB_PROBLEMS.check_path(before[name].status, after[name].status, f"sub-problem {name.value}")
