"""What a player needs to make a build their own: in which order, from what, and how it is played."""

from __future__ import annotations

from pydantic import Field

from app.model.base import Model
from app.model.blueprint import Rarity
from app.model.names import Attribute


class PassiveStep(Model):
    """A passive in levelling order: `point` counts from 1; every prefix of the order is a connected tree."""

    point: int
    id: int
    name: str
    kind: str
    attribute: Attribute | None = None
    weapon_set: int = 0


class GemStep(Model):
    """A gem by the character level from which it can be used; `group` is the active skill it belongs to."""

    level: int
    name: str
    group: str
    support: bool


class ItemLine(Model):
    """A line that an item must have; side prefix, suffix, or as it is (unique)."""

    side: str
    name: str
    text: str


class ShoppingItem(Model):
    """An item to find or to craft: the base with its required lines; `level` is the item level needed for them."""

    slot: str
    base: str
    title: str
    rarity: Rarity
    level: int
    quality: int
    runes: list[str] = Field(default_factory=list)
    lines: list[ItemLine] = Field(default_factory=list)


class Guide(Model):
    """Levelling order, shopping list and how to play, read off a build that is valid or the best there is."""

    passives: list[PassiveStep] = Field(default_factory=list)
    ascendancy: list[PassiveStep] = Field(default_factory=list)
    gems: list[GemStep] = Field(default_factory=list)
    shopping: list[ShoppingItem] = Field(default_factory=list)
    how_to_play: list[str] = Field(default_factory=list)
