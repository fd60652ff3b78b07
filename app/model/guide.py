"""What a player needs to make a build their own: in which order, from what, and how it is played."""

from __future__ import annotations

from pydantic import Field

from app.model.base import Model
from app.model.blueprint import Rarity
from app.model.facts import UniqueOrigin
from app.model.groups import GroupUse
from app.model.names import Attribute, GearTier
from app.model.stats import EngineVersion

CARRIES = 0.03
"""Share of damage or effective hit points from which on a line carries the build; below it is nice to have."""

LEVELLING, FINAL = "Levelling", "Final"
"""How the titles of loadouts begin, before the level: those on the way, and the finished build's."""


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


class Loss(Model):
    """What a build loses: shares (0-1) of damage per second and effective hit points, below 0 a gain.

    `needed`: a demand (resistances, attributes, Spirit, what pays for the skill) is met less, or one walks slower.
    """

    damage: float = 0.0
    ehp: float = 0.0
    needed: bool = False

    @property
    def weight(self) -> float:
        """Return how much it matters: what is needed before all that only helps."""
        return float(self.needed) + max(self.damage, 0.0) + max(self.ehp, 0.0)

    @property
    def carries(self) -> bool:
        """Return whether the build rests on what was taken away."""
        return self.needed or max(self.damage, self.ehp) >= CARRIES


class ItemLine(Model):
    """A line that an item must have; side prefix, suffix, or as it is (unique).

    `affix` is the engine's id of it; `lost`: what the build loses without it, None where that was not measured.
    """

    side: str
    name: str
    text: str
    affix: str = ""
    lost: Loss | None = None


class ShoppingItem(Model):
    """An item to find or to craft: the base with its required lines; `level` is the item level needed for them.

    `one_tier_lower`: what the build loses when the same lines are those of the next lower gear tier. `origin`: how hard
    a unique is to come by, None for all others and where the engine does not know it.
    """

    slot: str
    base: str
    title: str
    rarity: Rarity
    level: int
    quality: int
    runes: list[str] = Field(default_factory=list)
    lines: list[ItemLine] = Field(default_factory=list)
    one_tier_lower: Loss | None = None
    origin: UniqueOrigin | None = None


class GearFigures(Model):
    """What the build has when all its crafted items are as good as those of a gear tier, with the same lines."""

    gear: GearTier
    dps: float
    ehp: float


class WornItem(Model):
    """What is worn at a level: slot, base, and the lines beyond the base's own."""

    slot: str
    base: str
    lines: list[str] = Field(default_factory=list)


class Loadout(Model):
    """The build at a level, as the file holds it under `title`, with what the engine measured there.

    `points`, `ascendancy_points`: the first so many of the guide's passives are taken. `skill` is what one uses then,
    `why` says why it is (not) the main skill; `others` are further skills. dps: damage per second, None = no rate; ehp:
    effective hit points; life, energy_shield, mana: points. `changes`: what to change when the level is reached.
    `caveats`: what of it does not hold.
    """

    title: str
    level: int
    points: int
    ascendancy_points: int
    skill: str
    is_main_skill: bool
    why: str
    supports: list[str] = Field(default_factory=list)
    others: list[str] = Field(default_factory=list)
    gear: list[WornItem] = Field(default_factory=list)
    dps: float | None = None
    ehp: float = 0.0
    life: float = 0.0
    energy_shield: float = 0.0
    mana: float = 0.0
    engine: EngineVersion
    changes: list[str] = Field(default_factory=list)
    caveats: list[str] = Field(default_factory=list)


class Guide(Model):
    """Levelling order, shopping list and how to play, read off a build that is valid or the best there is.

    `groups`: what each skill group is for, as measured; none where nothing was measured.
    `loadouts`: the build on its way, lowest level first, the finished one last; none, and `no_loadouts` says why.
    """

    passives: list[PassiveStep] = Field(default_factory=list)
    ascendancy: list[PassiveStep] = Field(default_factory=list)
    gems: list[GemStep] = Field(default_factory=list)
    shopping: list[ShoppingItem] = Field(default_factory=list)
    how_to_play: list[str] = Field(default_factory=list)
    groups: list[GroupUse] = Field(default_factory=list)
    at_tiers: list[GearFigures] = Field(default_factory=list)
    loadouts: list[Loadout] = Field(default_factory=list)
    no_loadouts: str = ""
