"""The shape of every answer that a prompt asks for, by prompt name.

Answers speak in names as the game shows them; turning names into facts of the engine, and refusing those that do not
exist, is done afterwards. Unknown keys are ignored, so that a talkative model costs no repair round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.model.moves import Move
from app.model.names import Attribute, Demand, Severity, SubProblemName

Name = Annotated[str, Field(min_length=1, max_length=80)]
Sentence = Annotated[str, Field(min_length=1, max_length=600)]
Element = Literal["fire", "cold", "lightning", "chaos"]
DamageType = Literal["physical", "lightning", "cold", "fire", "chaos"]
FieldName = Literal[
    "class",
    "ascendancy",
    "skill",
    "with",
    "damage_type",
    "style",
    "weapon",
    "goal",
    "defence",
    "content",
    "hardcore",
    "level",
    "gear",
    "budget",
    "exclude",
]
Value = bool | int | float | Name | Annotated[list[Name], Field(max_length=20)]


class Answer(BaseModel):
    """What all answers share."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class ConstraintAnswer(Answer):
    """One thing the user asked for. `quote`: the user's own words for it, empty when it is inferred or a default."""

    field: FieldName
    value: Value
    provenance: Literal["explicit", "inferred", "default"]
    quote: Annotated[str, Field(max_length=200)] = ""
    reason: Annotated[str, Field(max_length=300)] = ""


class QuestionAnswer(Answer):
    """The one question worth asking, and what is assumed until it is answered."""

    field: FieldName
    text: Sentence
    options: Annotated[list[Name], Field(max_length=8)] = Field(default_factory=list)
    assumed: Name


class ExtractAnswer(Answer):
    """`invariant-extraction`: the prompt as constraints, at most one per field."""

    constraints: Annotated[list[ConstraintAnswer], Field(max_length=30)]
    question: QuestionAnswer | None = None
    assumptions: Annotated[list[Sentence], Field(max_length=8)] = Field(default_factory=list)


class QuestionOrder(Answer):
    """One of the seven questions and the questions whose answers it needs first."""

    name: SubProblemName
    depends_on: Annotated[list[SubProblemName], Field(max_length=6)] = Field(default_factory=list)
    reason: Annotated[str, Field(max_length=300)] = ""


class DecomposeAnswer(Answer):
    """`decompose`: in which order the seven questions are answered; those left out keep the usual order."""

    sub_problems: Annotated[list[QuestionOrder], Field(min_length=1, max_length=7)]
    assumptions: Annotated[list[Sentence], Field(max_length=8)] = Field(default_factory=list)


class RejectedAnswer(Answer):
    """An option that was considered and lost."""

    name: Name
    rejected_because: Sentence


class ExploreAnswer(Answer):
    """What the answers to all seven questions share. `unsure`: where knowledge was missing (best effort)."""

    reason: Sentence
    alternatives: Annotated[list[RejectedAnswer], Field(max_length=4)] = Field(default_factory=list)
    unsure: Annotated[list[Sentence], Field(max_length=6)] = Field(default_factory=list)


class AscendancyAnswer(ExploreAnswer):
    """`explore-ascendancy`. `notables`: wanted ascendancy passives, most wanted first."""

    class_name: Name = Field(alias="class")
    ascendancy: Name | None
    notables: Annotated[list[Name], Field(max_length=8)] = Field(default_factory=list)


class DeliveryAnswer(ExploreAnswer):
    """`explore-damage_delivery`. `weapon_types`: words such as Wand, Bow, Quarterstaff; `off_hand` or null."""

    skill: Name
    weapon_types: Annotated[list[Name], Field(max_length=4)] = Field(default_factory=list)
    off_hand: Name | None = None
    helper_skills: Annotated[list[Name], Field(max_length=6)] = Field(default_factory=list)


class ScalingAnswer(ExploreAnswer):
    """`explore-damage_scaling`. `keywords`: words looked for in passives and affixes; `damage_weight` 0.5-2."""

    damage_types: Annotated[list[DamageType], Field(min_length=1, max_length=5)]
    keywords: Annotated[list[Name], Field(min_length=1, max_length=16)]
    excluded_supports: Annotated[list[Name], Field(max_length=12)] = Field(default_factory=list)
    excluded_passives: Annotated[list[Name], Field(max_length=12)] = Field(default_factory=list)
    damage_weight: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0


class SurvivabilityAnswer(ExploreAnswer):
    """`explore-survivability`. `mitigation` in order of importance; `ehp_weight` 0.5-2."""

    pool: Literal["life", "energy_shield", "hybrid"]
    mitigation: Annotated[list[Literal["armour", "evasion", "energy_shield"]], Field(min_length=1, max_length=3)]
    ehp_weight: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0


class SustainAnswer(ExploreAnswer):
    """`explore-resource_sustain`. `recovery_per_second`: points of the resource that must come back each second."""

    resource: Literal["mana", "life", "none"]
    recovery_per_second: Annotated[float, Field(ge=0, le=5000)]
    prefer_cheaper_supports: bool = False


class SpiritAnswer(ExploreAnswer):
    """`explore-spirit_allocation`. `skills`: persistent skills, best first; `reserve_free` Spirit stays unreserved."""

    skills: Annotated[list[Name], Field(max_length=8)]
    reserve_free: Annotated[float, Field(ge=0, le=300)] = 0.0


class RequirementsAnswer(ExploreAnswer):
    """`explore-stat_requirements`. Attribute points by str / dex / int, resistances in percent by element."""

    attributes: dict[Attribute, Annotated[int, Field(ge=0, le=500)]]
    resistances: dict[Element, Annotated[int, Field(ge=-60, le=150)]]


class Proposal(Answer):
    """Changes that belong together; kept only when the engine finds the build better with them."""

    name: Name
    changes: Annotated[list[Move], Field(min_length=1, max_length=8)]
    reason: Sentence


class ConstructAnswer(Answer):
    """`construct`: improvements of the build that the search made, best first; none is a good answer too."""

    proposals: Annotated[list[Proposal], Field(max_length=6)]
    reason: Sentence


class FindingAnswer(Answer):
    """Something that does not fit what the user asked for. `subject`: a short word that stays the same if repeated."""

    subject: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
    sub_problem: SubProblemName
    severity: Severity
    demand: Demand
    message: Sentence
    suggestion: Annotated[str, Field(max_length=300)] = ""


class AssessAnswer(Answer):
    """`validate`: what no figure shows; an empty list when the build fits the request."""

    findings: Annotated[list[FindingAnswer], Field(max_length=5)]
    reason: Sentence


class PickAnswer(Answer):
    """Which of a conflict's offered strategies to follow."""

    conflict: Annotated[str, Field(min_length=1, max_length=300)]
    strategy: Name
    reason: Sentence


class ResolveAnswer(Answer):
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


EXPLORE_ANSWERS: Final[Mapping[SubProblemName, type[ExploreAnswer]]] = {
    SubProblemName.ASCENDANCY: AscendancyAnswer,
    SubProblemName.DAMAGE_DELIVERY: DeliveryAnswer,
    SubProblemName.DAMAGE_SCALING: ScalingAnswer,
    SubProblemName.SURVIVABILITY: SurvivabilityAnswer,
    SubProblemName.RESOURCE_SUSTAIN: SustainAnswer,
    SubProblemName.SPIRIT_ALLOCATION: SpiritAnswer,
    SubProblemName.STAT_REQUIREMENTS: RequirementsAnswer,
}

ANSWERS: Final[Mapping[str, type[Answer]]] = {
    EXTRACT: ExtractAnswer,
    DECOMPOSE: DecomposeAnswer,
    **{explore_prompt(name): answer for name, answer in EXPLORE_ANSWERS.items()},
    CONSTRUCT: ConstructAnswer,
    VALIDATE: AssessAnswer,
    ITERATE: ResolveAnswer,
}
"""The answer that each prompt asks for; `explore` is the common part of the seven and has none of its own."""
