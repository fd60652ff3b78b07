"""The answers to the seven questions, one shape each: intent, not yet a concrete build."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.model.base import Model


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
