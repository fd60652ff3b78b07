"""Re-opening questions: what changes in a state when an answer is to be found anew, and how to take that back."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.base import changed
from app.model.construction import ConstructProgress
from app.model.names import SubProblemName, SubProblemStatus
from app.model.state import BuildState, Elimination
from app.model.sub_problems import Constraint, SubProblem


def reopen(state: BuildState, name: SubProblemName, constraints: Sequence[Constraint]) -> BuildState:
    """Return the state with the question open again: its answer becomes a prior attempt, its discoveries go stale."""
    sub = state.sub_problems[name]
    prior = [*sub.prior_attempts, sub.decision] if sub.decision is not None else list(sub.prior_attempts)
    again = changed(
        sub,
        status=SubProblemStatus.EXPLORING,
        decision=None,
        prior_attempts=prior,
        constraints=[*sub.constraints, *constraints],
    )
    notes = state.construction.notes
    return changed(
        state,
        sub_problems={**state.sub_problems, name: again},
        discoveries=[changed(d, stale=True) if d.sub_problem is name else d for d in state.discoveries],
        construction=ConstructProgress(notes=changed(notes, reopened=sorted({*notes.reopened, name}))),
    )


def constraints_of(state: BuildState, iteration: int) -> list[Constraint]:
    """Return what was demanded of questions in one iteration; those of iteration 0 came with the questions."""
    subs = state.sub_problems.values()
    return [c for sub in subs for c in sub.constraints if iteration and c.iteration == iteration]


def taken_back(state: BuildState, iteration: int, reason: str) -> BuildState:
    """Return the state with every question answered as it was in an iteration.

    Answers that were found later in answer to a conflict are eliminated for good.
    """
    subs = {name: _as_of(sub, iteration) for name, sub in state.sub_problems.items()}
    failed = [
        Elimination(sub_problem=name, option=sub.decision.name, reason=reason)
        for name, sub in state.sub_problems.items()
        if sub.decision is not None and any(c.strategy is not None for c in _later(sub, iteration))
        if subs[name].decision != sub.decision
    ]
    known = [
        e for e in failed if (e.sub_problem, e.option) not in {(x.sub_problem, x.option) for x in state.eliminated}
    ]
    return changed(state, sub_problems=subs, eliminated=[*state.eliminated, *known])


def _as_of(sub: SubProblem, iteration: int) -> SubProblem:
    rounds = len({constraint.iteration for constraint in _later(sub, iteration)})
    if not rounds or len(sub.prior_attempts) < rounds:
        return sub
    return changed(
        sub,
        status=SubProblemStatus.DECIDED,
        decision=sub.prior_attempts[-rounds],
        prior_attempts=sub.prior_attempts[:-rounds],
        constraints=[c for c in sub.constraints if c not in _later(sub, iteration)],
    )


def _later(sub: SubProblem, iteration: int) -> list[Constraint]:
    """Return the constraints that were put on the question after an iteration."""
    return [c for c in sub.constraints if c.iteration > iteration]
