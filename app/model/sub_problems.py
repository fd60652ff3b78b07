"""Questions, what was found out about them, and what was decided."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.model.base import Model
from app.model.conflicts import Details
from app.model.experiments import Spending
from app.model.names import Demand, Provenance, SubProblemName, SubProblemStatus


class AscendancyChoice(Model):
    """Class and ascendancy; None = no ascendancy (low level). `notables` are wanted ascendancy passives in order."""

    kind: Literal["ascendancy"] = "ascendancy"
    class_name: str
    ascendancy: str | None
    notables: list[int] = Field(default_factory=list)


class DeliveryChoice(Model):
    """How damage is dealt: main skill, weapon bases that fit, off hand, helper skills (curses, marks, buffs)."""

    kind: Literal["damage_delivery"] = "damage_delivery"
    skill_id: str
    skill_name: str
    weapon_types: list[str] = Field(default_factory=list)
    off_hand: str | None = None
    helper_skills: list[str] = Field(default_factory=list)
    minion: bool = False


class ScalingChoice(Model):
    """What makes the damage grow: damage types, words looked for in passives and affixes, unwanted keystones."""

    kind: Literal["damage_scaling"] = "damage_scaling"
    damage_types: list[str] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    excluded_gems: list[str] = Field(default_factory=list)
    excluded_nodes: list[int] = Field(default_factory=list)
    damage_weight: float = 1.0


class SurvivabilityChoice(Model):
    """Defence layers: pool life | energy_shield | hybrid, mitigation armour | evasion | energy_shield (in order)."""

    kind: Literal["survivability"] = "survivability"
    pool: Literal["life", "energy_shield", "hybrid"] = "life"
    mitigation: list[str] = Field(default_factory=list)
    ehp_target: float = 0.0
    ehp_weight: float = 1.0


class SustainChoice(Model):
    """What pays for the main skill: mana | life; whether a mana flask counts; wanted recovery per second."""

    kind: Literal["resource_sustain"] = "resource_sustain"
    resource: Literal["mana", "life", "none"] = "mana"
    recovery_per_second: float = 0.0
    prefer_cheaper_supports: bool = False


class SpiritChoice(Model):
    """Persistent skills to reserve Spirit for, best first; `reserve_free` points are kept unreserved."""

    kind: Literal["spirit_allocation"] = "spirit_allocation"
    skill_ids: list[str] = Field(default_factory=list)
    reserve_free: float = 0.0


class RequirementsChoice(Model):
    """Attribute and resistance targets that gear and travel passives must meet."""

    kind: Literal["stat_requirements"] = "stat_requirements"
    attributes: dict[str, int] = Field(default_factory=dict)
    resistances: dict[str, int] = Field(default_factory=dict)


Choice = Annotated[
    AscendancyChoice
    | DeliveryChoice
    | ScalingChoice
    | SurvivabilityChoice
    | SustainChoice
    | SpiritChoice
    | RequirementsChoice,
    Field(discriminator="kind"),
]


class Option(Model):
    """One possible answer; `score` orders options of one question; `rejected_because` is set on alternatives."""

    name: str
    choice: Choice
    score: float | None = None
    reason: str = ""
    rejected_because: str | None = None


class Decision(Model):
    """The chosen option and those that lost; `spending` is what it takes from which budget of the finished build."""

    name: str
    choice: Choice
    reason: str
    provenance: Provenance = Provenance.INFERRED
    alternatives: list[Option] = Field(default_factory=list)
    spending: list[Spending] = Field(default_factory=list)


class Discovery(Model):
    """A fact gathered before reasoning; `call_id` names the recorded tool call it came from; can go stale."""

    sub_problem: SubProblemName
    fact: str
    source: str
    call_id: str | None = None
    stale: bool = False


class Constraint(Model):
    """What a conflict demands of the next answer.

    `iteration` is the round that put it, 0 for one that none did, and `strategy` the way out that was picked then.
    `follows`: the question whose new answer is the reason, where no conflict is.
    """

    conflict_id: str
    demand: Demand
    values: Details = Field(default_factory=Details)
    text: str = ""
    strategy: str | None = None
    iteration: int = 0
    follows: SubProblemName | None = None

    @property
    def local(self) -> bool:
        """Return whether only what the values name is to change."""
        return self.values.local


class SubProblem(Model):
    """One of the seven questions: status, dependencies, decision, prior attempts and constraints from conflicts."""

    name: SubProblemName
    status: SubProblemStatus = SubProblemStatus.PENDING
    depends_on: list[SubProblemName] = Field(default_factory=list)
    decision: Decision | None = None
    prior_attempts: list[Decision] = Field(default_factory=list)
    constraints: list[Constraint] = Field(default_factory=list)
