"""The shape of every answer that a prompt asks for, by prompt name.

Answers speak in names as the game shows them; turning names into facts of the engine, and refusing those that do not
exist, is done afterwards. Unknown keys are ignored, so that a talkative model costs no repair round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from app.model.constraints import INVARIANTS, Setter
from app.model.moves import Move
from app.model.names import Demand, Severity, SubProblemName
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.base import ModelAnswer, Name, Sentence

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


class ExtractAnswer(ModelAnswer):
    """`invariant-extraction`: the prompt as constraints, at most one per field."""

    constraints: Annotated[list[ConstraintAnswer], Field(max_length=30)]
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


class Proposal(ModelAnswer):
    """Changes that belong together; kept only when the engine finds the build better with them."""

    name: Name
    changes: Annotated[list[Move], Field(min_length=1, max_length=8)]
    reason: Sentence


class ConstructAnswer(ModelAnswer):
    """`construct`: improvements of the build that the search made, best first; none is a good answer too."""

    proposals: Annotated[list[Proposal], Field(max_length=6)]
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


EXTRACT: Final = "invariant-extraction"
DECOMPOSE: Final = "decompose"
EXPLORE: Final = "explore"
CONSTRUCT: Final = "construct"
VALIDATE: Final = "validate"
ITERATE: Final = "iterate"


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
