"""Changes to a build in names, as people and language models speak of them; `app.search` turns them into changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.model.base import Model
from app.model.blueprint import (
    HAND_SLOTS,
    JEWEL_SLOT,
    SWAP_SLOTS,
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    RemoveGroup,
    SetConfig,
    SetGroup,
    SetMain,
    Unequip,
)

WEAPON_SLOTS = (*HAND_SLOTS, *SWAP_SLOTS)


class Part(StrEnum):
    """The parts of a build that can be kept as they are; attribute passives are those with a choice to make."""

    GEAR = "gear"
    JEWELS = "jewels"
    FLASKS = "flasks"
    TREE = "tree"
    ATTRIBUTES = "attributes"
    ASCENDANCY = "ascendancy"
    SUPPORTS = "supports"
    SPIRIT = "spirit"


class Locks(Model):
    """What stays: whole parts, and single item slots by PoB's names. The tree includes its attribute passives.

    Class, level, main skill and configuration always stay: changing them is another build, not a refinement.
    """

    parts: list[Part] = Field(default_factory=list)
    slots: list[str] = Field(default_factory=list)

    def holds(self, part: Part) -> bool:
        """Return whether the whole part stays."""
        return part in self.parts or (part is Part.ATTRIBUTES and Part.TREE in self.parts)

    def holds_slot(self, slot: str) -> bool:
        """Return whether what the slot holds stays."""
        return slot in self.slots or self.holds(part_of(slot))

    def forbid(self, change: Change, blueprint: Blueprint, ascendancy: Collection[int] = ()) -> bool:
        """Return whether the change touches what stays; `ascendancy` are the ids of ascendancy passives."""
        match change:
            case Equip(item=item):
                return self.holds_slot(item.slot)
            case Unequip(slot=slot):
                return self.holds_slot(slot)
            case Allocate() | Deallocate():
                return self._forbid_passives(change, blueprint, ascendancy)
            case SetGroup(index=index, group=group):
                added = index > len(blueprint.groups)
                changed = not added and blueprint.groups[index - 1] != group
                return (added and self.holds(Part.SPIRIT)) or (changed and self.holds(Part.SUPPORTS))
            case RemoveGroup() | SetMain() | SetConfig():
                return True

    def _forbid_passives(
        self, change: Allocate | Deallocate, blueprint: Blueprint, ascendancy: Collection[int]
    ) -> bool:
        owned = {node.id for node in blueprint.nodes}
        for node in change.nodes:
            number = node if isinstance(node, int) else node.id
            if number in ascendancy:
                part = Part.ASCENDANCY
            elif isinstance(change, Allocate) and number in owned:
                part = Part.ATTRIBUTES
            else:
                part = Part.TREE
            if self.holds(part):
                return True
        return False


def part_of(slot: str) -> Part:
    """Return which part of the build an item slot belongs to."""
    if slot.startswith(JEWEL_SLOT):
        return Part.JEWELS
    return Part.FLASKS if slot.startswith(("Flask", "Charm")) else Part.GEAR


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
    """Craft the item of a slot anew, on this base where one is named; `wants` are words of lines that it must have."""

    op: Literal["craft_item"]
    slot: Name
    base: Name | None = None
    wants: Annotated[list[Name], Field(max_length=6)] = Field(default_factory=list)


Move = Annotated[
    SetSupports | AddSkill | RemoveSkill | AllocatePassive | DeallocatePassive | EquipUnique | CraftItem,
    Field(discriminator="op"),
]


def named_after(moves: Sequence[Move]) -> str:
    """Return what to call changes: what they do, in our words and the game's names."""
    words = []
    for move in moves:
        match move:
            case SetSupports(skill=skill, supports=supports):
                words.append(f"{skill} with {', '.join(supports) or 'no supports'}")
            case AddSkill(skill=skill):
                words.append(f"add {skill}")
            case RemoveSkill(skill=skill):
                words.append(f"without {skill}")
            case AllocatePassive(passive=passive):
                words.append(f"allocate {passive}")
            case DeallocatePassive(passive=passive):
                words.append(f"give back {passive}")
            case EquipUnique(unique=unique):
                words.append(f"wear {unique}")
            case CraftItem(slot=slot, wants=wants):
                words.append(f"craft {slot}" + (f" with {', '.join(wants)}" if wants else ""))
    return "; ".join(words)


class Trial(Model):
    """What moves would do: the asked figures, and by how much the build's score would rise (None = not possible).

    `parts`: by how much each part of the score would change; together they are the gain. `problem`: why it is not
    possible, or not allowed. `made`: what had to be worked out first, such as an item.
    """

    figures: Mapping[str, float] = Field(default_factory=dict)
    gain: float | None = None
    parts: Mapping[str, float] = Field(default_factory=dict)
    problem: str = ""
    made: tuple[str, ...] = ()
