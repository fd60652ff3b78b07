"""The questions' table, row by row, and the methods of a question that go through it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from app.core.errors import InvalidTransition
from app.model.construction import ConstructProgress
from app.model.names import Demand, SubProblemName, SubProblemStatus
from app.model.state import BuildState
from app.model.sub_problems import (
    SUB_PROBLEMS,
    Constraint,
    Decision,
    Discovery,
    SpiritChoice,
    SubProblem,
    SubProblemTrigger,
    check_moves,
)

STATUS_ROWS = {
    ("pending", "explore"): "exploring",
    ("exploring", "decide"): "decided",
    ("exploring", "block"): "blocked",
    ("blocked", "explore"): "exploring",
    ("decided", "reopen"): "exploring",
}
NAME = SubProblemName.ASCENDANCY
FIRST, SECOND = (Decision(name=name, choice=SpiritChoice(), reason="it fits") for name in ("first", "second"))
MOVES: dict[str, Callable[[SubProblem], SubProblem]] = {
    "explore": SubProblem.explore,
    "block": SubProblem.block,
    "decide": lambda sub: sub.decide(FIRST),
    "reopen": SubProblem.reopen,
}


def demand(iteration: int) -> Constraint:
    return Constraint(conflict_id="gap", demand=Demand.MORE_DAMAGE, iteration=iteration, strategy="more")


def decided() -> SubProblem:
    return SubProblem(name=NAME).explore().decide(FIRST)


@pytest.mark.parametrize(("status", "trigger"), list(product(SubProblemStatus, SubProblemTrigger)))
def test_every_pair_of_status_and_trigger(status: SubProblemStatus, trigger: SubProblemTrigger) -> None:
    target = STATUS_ROWS.get((status.value, trigger.value))
    if target is None:
        with pytest.raises(InvalidTransition):
            SUB_PROBLEMS.follow(status, trigger)
    else:
        assert SUB_PROBLEMS.follow(status, trigger) is SubProblemStatus(target)


@pytest.mark.parametrize(("status", "move"), list(product(SubProblemStatus, MOVES)))
def test_every_method_goes_through_the_table(status: SubProblemStatus, move: str) -> None:
    sub = SubProblem(name=NAME, status=status)
    target = STATUS_ROWS.get((status.value, move))
    if target is None:
        with pytest.raises(InvalidTransition):
            MOVES[move](sub)
    else:
        assert MOVES[move](sub).status is SubProblemStatus(target)


def test_a_reopened_question_keeps_what_was_tried_and_what_was_demanded() -> None:
    again = decided().reopen([demand(1)])
    assert (again.decision, again.prior_attempts, again.constraints) == (None, [FIRST], [demand(1)])
    assert decided().reopen(attempted=False).prior_attempts == []


def test_an_answer_can_be_had_as_it_was() -> None:
    twice = decided().reopen([demand(1)]).decide(SECOND).reopen([demand(2), demand(2)]).decide(FIRST)
    assert twice.as_of(2) == twice
    assert twice.as_of(1) == decided().reopen([demand(1)]).decide(SECOND)
    assert twice.as_of(0) == decided()
    assert twice.reopen().as_of(1).decision == FIRST


def test_reopening_in_a_build_makes_discoveries_stale_and_is_noted() -> None:
    found = [Discovery(sub_problem=name, fact="known", source="facts") for name in (NAME, SubProblemName.SURVIVABILITY)]
    progress = ConstructProgress(pending=["tree"], done=["gear"])
    state = BuildState(sub_problems={NAME: decided()}, discoveries=found, construction=progress)
    again = state.reopened(NAME, [demand(1)])
    assert [d.stale for d in again.discoveries] == [True, False]
    assert again.construction.notes.reopened == [NAME]
    assert (again.construction.pending, again.construction.done) == ([], [])
    with pytest.raises(InvalidTransition):
        again.reopened(NAME, [])


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
