"""What a model answers in each step but `explore`: the form of the answer, and what is made of it.

The questions of `explore` say the same about themselves. `ANSWERS` names the form that each prompt asks for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from app.core.errors import LlmBadOutput
from app.knowledge.claims import NO_GROUNDS, SAYS, Grounds, KnownFacts, founded, said
from app.model.base import changed
from app.model.conflicts import BuildConflict, Evidence, Suggestion, conflict_id
from app.model.constraints import INVARIANTS, Setter
from app.model.moves import Move
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.sub_problems import Decision
from app.reasoning.base import Decomposition, ReasoningContext, Resolution
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.base import ModelAnswer, Name, Sentence

EXTRACT: Final = "invariant-extraction"
DECOMPOSE: Final = "decompose"
EXPLORE: Final = "explore"
CONSTRUCT: Final = "construct"
VALIDATE: Final = "validate"
ITERATE: Final = "iterate"


MODEL_FIELDS: Final = tuple(name for name, one in INVARIANTS.items() if Setter.MODEL in one.set_by)


def _is_constraint(name: str) -> str:
    if name not in MODEL_FIELDS:
        raise ValueError(f"must be one of {', '.join(MODEL_FIELDS)}")
    return name


FieldName = Annotated[
    str, AfterValidator(_is_constraint), WithJsonSchema({"type": "string", "enum": list(MODEL_FIELDS)})
]
Value = bool | int | float | Name | Annotated[list[Name], Field(max_length=20)]


class ConstraintAnswer(ModelAnswer):
    """One thing the user asked for. `quote`: the user's own words for it, empty when it is inferred or a default."""

    field: FieldName
    value: Value
    provenance: Literal["explicit", "inferred", "default"]
    quote: Annotated[str, Field(max_length=200)] = ""
    reason: Annotated[str, Field(max_length=300)] = ""


class QuestionAnswer(ModelAnswer):
    """The one question worth asking, and what is assumed until it is answered."""

    field: FieldName
    text: Sentence
    options: Annotated[list[Name], Field(max_length=8)] = Field(default_factory=list)
    assumed: Name


class MisreadAnswer(ModelAnswer):
    """A wish that was read in the prompt and is not meant. `quote`: its words there, with those that show it."""

    field: FieldName
    value: Name
    quote: Annotated[str, Field(max_length=200)]


class ExtractAnswer(ModelAnswer):
    """`invariant-extraction`: the prompt as constraints, at most one per field; `misread`: read, but not meant."""

    constraints: Annotated[list[ConstraintAnswer], Field(max_length=30)]
    misread: Annotated[list[MisreadAnswer], Field(max_length=8)] = Field(default_factory=list)
    question: QuestionAnswer | None = None
    assumptions: Annotated[list[Sentence], Field(max_length=8)] = Field(default_factory=list)


class QuestionOrder(ModelAnswer):
    """One of the seven questions and the questions whose answers it needs first."""

    name: SubProblemName
    depends_on: Annotated[list[SubProblemName], Field(max_length=6)] = Field(default_factory=list)
    reason: Annotated[str, Field(max_length=300)] = ""


class DecomposeAnswer(ModelAnswer):
    """`decompose`: in which order the seven questions are answered; those left out keep the usual order."""

    sub_problems: Annotated[list[QuestionOrder], Field(min_length=1, max_length=7)]
    assumptions: Annotated[list[Sentence], Field(max_length=8)] = Field(default_factory=list)


class ProposalAnswer(ModelAnswer):
    """Changes that belong together; kept only when the engine finds the build better with them."""

    name: Name
    changes: Annotated[list[Move], Field(min_length=1, max_length=8)]
    reason: Sentence


class ConstructAnswer(ModelAnswer):
    """`construct`: improvements of the build that the search made, best first; none is a good answer too.

    `insists`: choices left out that the model still wants, having seen both measurements.
    """

    proposals: Annotated[list[ProposalAnswer], Field(max_length=6)]
    insists: Annotated[list[Name], Field(max_length=20)] = Field(default_factory=list)
    reason: Sentence


class FindingAnswer(ModelAnswer):
    """Something that does not fit what the user asked for. `subject`: a short word that stays the same if repeated."""

    subject: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
    sub_problem: SubProblemName
    severity: Severity
    demand: Demand
    message: Sentence
    suggestion: Annotated[str, Field(max_length=300)] = ""


class AssessAnswer(ModelAnswer):
    """`validate`: what no figure shows; an empty list when the build fits the request."""

    findings: Annotated[list[FindingAnswer], Field(max_length=5)]
    reason: Sentence


class PickAnswer(ModelAnswer):
    """Which of a conflict's offered strategies to follow."""

    conflict: Annotated[str, Field(min_length=1, max_length=300)]
    strategy: Name
    reason: Sentence


class ResolveAnswer(ModelAnswer):
    """`iterate`: one pick per conflict; a conflict left out follows its first untried suggestion."""

    picks: Annotated[list[PickAnswer], Field(max_length=40)]


def explore_prompt(name: SubProblemName) -> str:
    """Return the name of a question's own prompt; `explore` comes before it."""
    return f"{EXPLORE}-{name.value}"


ANSWERS: Final[Mapping[str, type[ModelAnswer]]] = {
    EXTRACT: ExtractAnswer,
    DECOMPOSE: DecomposeAnswer,
    **{explore_prompt(name): kind.answer for name, kind in QUESTIONS.items()},
    CONSTRUCT: ConstructAnswer,
    VALIDATE: AssessAnswer,
    ITERATE: ResolveAnswer,
}
"""The answer that each prompt asks for; `explore` is the common part of the seven and has none of its own."""


UNFOUNDED: Final = "The language model chose this; nothing that it gave as a reason had grounds."
"""The reason of a choice whose own was cut."""


def in_its_words(decision: Decision, usual: Decision, grounds: Grounds) -> Decision:
    """Return a model's decision with what it says labelled, and cut where that has no grounds.

    The reason of the rules stands in for one that was cut, where they chose the same.
    """
    own = {option.name: option.rejected_because for option in usual.alternatives}
    others = [
        changed(option, rejected_because=said(option.rejected_because or "", grounds) or "the model chose another")
        if option.rejected_because not in (own.get(option.name), "the model chose another")
        else option
        for option in decision.alternatives
    ]
    instead = usual.reason if decision.name == usual.name else UNFOUNDED
    return changed(decision, reason=said(decision.reason, grounds) or instead, alternatives=others)


def ordered(answer: DecomposeAnswer, rules: Decomposition, grounds: Grounds = NO_GROUNDS) -> Decomposition:
    """Return the rules' questions in the model's order; cycles are broken by the phase."""
    subs = dict(rules.sub_problems)
    for one in answer.sub_problems:
        if one.name in subs:
            wanted = {*one.depends_on, *QUESTIONS[one.name].requires} - {one.name}
            waits = [other for other in SubProblemName if other in wanted]
            subs[one.name] = changed(rules.sub_problems[one.name], depends_on=waits)
    return Decomposition(
        subs, (*rules.assumptions, *(told for one in answer.assumptions if (told := said(one, grounds))))
    )


_DENIED = re.compile(
    r"\b(?:not|no|never|n't|cannot|without|lacks?)\b[^.;]{0,40}?\b(physical|lightning|cold|fire|chaos)\b", re.IGNORECASE
)


def denies(message: str, deals: Collection[str]) -> bool:
    """Say whether a sentence denies the main skill a damage type that it has."""
    plain = message.replace("n't", " not")
    return any(found.lower() in deals for found in _DENIED.findall(plain))


def findings(
    answer: AssessAnswer,
    ctx: ReasoningContext,
    model: str,
    grounds: Grounds = NO_GROUNDS,
    deals: Collection[str] = (),
    known: KnownFacts | None = None,
) -> list[BuildConflict]:
    """Return the model's findings as conflicts; one without grounds is none, nor is one that facts contradict.

    `deals`: the damage types of the main skill. `known`: facts about what the findings name, None = none.

    Only one of them may send a build back, and only before its first iteration: opinions must not keep a build that
    meets every rule from being finished.

    Raises:
        LlmBadOutput: a demand does not fit its question.
    """
    may_block = ctx.state.iteration == 0
    result: list[BuildConflict] = []
    for one in answer.findings:
        possible = QUESTIONS[one.sub_problem].demands
        if one.demand not in possible:
            fitting = ", ".join(sorted(demand.value for demand in possible))
            raise LlmBadOutput(f"{one.sub_problem.value} takes the demands {fitting}, not {one.demand.value}")
        message, way = founded(one.message, grounds), founded(one.suggestion, grounds)
        if not message or not grounds.bear(one.subject.replace("_", " ")) or denies(message, deals):
            continue
        if known is not None and known.contradict(f"{one.message}\n{one.suggestion}"):
            continue
        blocks = may_block and one.severity is Severity.BLOCKING
        may_block = may_block and not blocks
        subject, text = f"opinion_{one.subject}", f"{SAYS}{way or message}"
        way_out = Suggestion(strategy=subject, sub_problem=one.sub_problem, demand=one.demand, text=text)
        conflict = BuildConflict(
            id=conflict_id(ConflictType.GOAL_MISMATCH, [one.sub_problem], subject),
            type=ConflictType.GOAL_MISMATCH,
            severity=Severity.BLOCKING if blocks else Severity.WARNING,
            subject=subject,
            affected=[one.sub_problem],
            evidence=Evidence(judged_by=model),
            message=f"{SAYS}{message}",
            suggested_solutions=[way_out],
        )
        result.append(conflict)
    return result


def picks(answer: ResolveAnswer, conflicts: Sequence[BuildConflict]) -> Resolution:
    """Return the model's picks, the rules' where it made none.

    Raises:
        LlmBadOutput: a conflict or a strategy is not on offer.
    """
    known = {conflict.id: conflict for conflict in conflicts}
    chosen: dict[str, Suggestion] = {}
    for pick in answer.picks:
        conflict = known.get(pick.conflict)
        if conflict is None:
            raise LlmBadOutput(f"there is no conflict {pick.conflict[:80]!r} to resolve")
        left = {s.strategy: s for s in conflict.suggested_solutions if s.strategy not in conflict.tried}
        if pick.strategy not in left:
            raise LlmBadOutput(f"{conflict.id}: the strategies that are left are {', '.join(left) or 'none'}")
        chosen[pick.conflict] = left[pick.strategy]
    pairs = [(one, chosen.get(one.id) or one.next_suggestion) for one in conflicts]
    return Resolution(tuple((conflict, pick) for conflict, pick in pairs if pick is not None))
