"""Changes to a build in names, as people and language models speak of them; `app.search` turns them into changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.model.base import Model

Name = Annotated[str, Field(min_length=1, max_length=80)]
Supports = Annotated[list[Name], Field(max_length=5)]


class _Move(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class SetSupports(_Move):
    """Replace all supports of a skill that the build has."""

    op: Literal["set_supports"]
    skill: Name
    supports: Supports


class AddSkill(_Move):
    """Add a skill with supports."""

    op: Literal["add_skill"]
    skill: Name
    supports: Supports = Field(default_factory=list)


class RemoveSkill(_Move):
    """Remove a skill (never the main one)."""

    op: Literal["remove_skill"]
    skill: Name


class AllocatePassive(_Move):
    """Allocate a passive, by name or id; the shortest way to it is bought too."""

    op: Literal["allocate"]
    passive: Name | int


class DeallocatePassive(_Move):
    """Give a passive back, by name or id."""

    op: Literal["deallocate"]
    passive: Name | int


class EquipUnique(_Move):
    """Wear a unique item; `slot` only where there is a choice (Ring 2, Weapon 2)."""

    op: Literal["equip_unique"]
    unique: Name
    slot: Name | None = None


class CraftItem(_Move):
    """Craft the item of a slot anew, on this base where one is named."""

    op: Literal["craft_item"]
    slot: Name
    base: Name | None = None


Move = Annotated[
    SetSupports | AddSkill | RemoveSkill | AllocatePassive | DeallocatePassive | EquipUnique | CraftItem,
    Field(discriminator="op"),
]


class Trial(Model):
    """What moves would do: the asked figures, and by how much the build's score would rise (None = not possible).

    `problem`: why it is not possible, or not allowed. `made`: what had to be worked out first, such as an item.
    """

    figures: Mapping[str, float] = Field(default_factory=dict)
    gain: float | None = None
    problem: str = ""
    made: tuple[str, ...] = ()
