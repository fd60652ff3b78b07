"""From a model's answers to an order of questions, to findings about a build, and to picks among ways out."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.errors import AppError, BudgetExceeded, LlmBadOutput, LlmRejected, LlmUnavailable
from app.model.conflicts import BuildConflict, Evidence, Suggestion, conflict_id
from app.model.names import ConflictType, Severity, SubProblemName
from app.reasoning.base import Decomposition, ReasoningContext, Remarks, Resolution
from app.reasoning.llm.schemas import AssessAnswer, DecomposeAnswer, FindingAnswer, ResolveAnswer
from app.reasoning.questions import QUESTIONS

_OUTSIDE_WORDS = (LlmUnavailable, LlmRejected)
"""Errors whose message holds words of the provider, which belong into the event log and not into the state."""


def fallen_back(label: str, error: AppError) -> Remarks:
    """Return the remark for a step; a budget that ended is worth a caveat too."""
    why = error.code if isinstance(error, _OUTSIDE_WORDS) else f"{error.code}: {error.message[:200]}"
    caveats: tuple[str, ...] = ()
    if isinstance(error, BudgetExceeded) and error.details.get("which") != "tool_rounds":
        caveats = (f"{error.message} From then on the rules decided instead of the language model.",)
    return Remarks(degraded=(f"{label}: {why}",), caveats=caveats)


def ordered(answer: DecomposeAnswer, rules: Decomposition) -> Decomposition:
    """Return the rules' questions in the model's order; cycles are broken by the phase."""
    asked = {one.name: one.depends_on for one in answer.sub_problems}
    subs = {
        name: sub.model_copy(update={"depends_on": _waits(name, asked[name])}) if name in asked else sub
        for name, sub in rules.sub_problems.items()
    }
    return Decomposition(subs, (*rules.assumptions, *answer.assumptions))


def _waits(name: SubProblemName, asked: Sequence[SubProblemName]) -> list[SubProblemName]:
    wanted = {*asked, *QUESTIONS[name].requires} - {name}
    return [other for other in SubProblemName if other in wanted]


def findings(answer: AssessAnswer, ctx: ReasoningContext, model: str) -> list[BuildConflict]:
    """Return the model's findings as conflicts.

    Only one of them may send a build back, and only before its first iteration: opinions must not keep a build that
    meets every rule from being finished.

    Raises:
        LlmBadOutput: a demand does not fit its question.
    """
    found = [_conflict(one, model) for one in answer.findings]
    may_block = ctx.state.iteration == 0
    result: list[BuildConflict] = []
    for conflict in found:
        blocks = may_block and conflict.severity is Severity.BLOCKING
        may_block = may_block and not blocks
        severity = Severity.BLOCKING if blocks else Severity.WARNING
        result.append(conflict.model_copy(update={"severity": severity}))
    return result


def _conflict(one: FindingAnswer, model: str) -> BuildConflict:
    if one.demand not in QUESTIONS[one.sub_problem].demands:
        fitting = ", ".join(sorted(demand.value for demand in QUESTIONS[one.sub_problem].demands))
        raise LlmBadOutput(f"{one.sub_problem.value} takes the demands {fitting}, not {one.demand.value}")
    subject = f"opinion_{one.subject}"
    text = one.suggestion or one.message
    return BuildConflict(
        id=conflict_id(ConflictType.GOAL_MISMATCH, [one.sub_problem], subject),
        type=ConflictType.GOAL_MISMATCH,
        severity=one.severity,
        subject=subject,
        affected=[one.sub_problem],
        evidence=Evidence(judged_by=model),
        message=f"The language model finds: {one.message}",
        suggested_solutions=[Suggestion(strategy=subject, sub_problem=one.sub_problem, demand=one.demand, text=text)],
    )


def picks(answer: ResolveAnswer, conflicts: Sequence[BuildConflict]) -> Resolution:
    """Return the model's picks, the rules' where it made none.

    Raises:
        LlmBadOutput: a conflict or a strategy is not on offer.
    """
    known = {conflict.id: conflict for conflict in conflicts}
    chosen: dict[str, Suggestion] = {}
    for pick in answer.picks:
        if pick.conflict not in known:
            raise LlmBadOutput(f"there is no conflict {pick.conflict[:80]!r} to resolve")
        chosen[pick.conflict] = _suggestion(known[pick.conflict], pick.strategy)
    pairs = [(one, chosen.get(one.id) or one.next_suggestion) for one in conflicts]
    return Resolution(tuple((conflict, pick) for conflict, pick in pairs if pick is not None))


def _suggestion(conflict: BuildConflict, strategy: str) -> Suggestion:
    left = {s.strategy: s for s in conflict.suggested_solutions if s.strategy not in conflict.tried}
    if strategy not in left:
        raise LlmBadOutput(f"{conflict.id}: the strategies that are left are {', '.join(left) or 'none'}")
    return left[strategy]
