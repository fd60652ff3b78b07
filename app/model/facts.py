"""What an engine knows about the game. Both engines answer with these shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from app.model.base import Model
from app.model.names import UniqueTier

_TAG = re.compile(r"\{[^}]*\}")
"""Marks of a line in an item's text: its roll, where it comes from."""

AttributeName = Literal["str", "dex", "int"]
NodeKind = Literal["normal", "notable", "keystone", "socket", "attribute", "start", "ascendancy_start"]


class ClassFact(Model):
    """A character class with its ascendancies and starting attributes."""

    name: str
    start_node: int
    ascendancies: list[str]
    attributes: dict[str, int] = Field(default_factory=dict)


class GemFact(Model):
    """A skill or support gem.

    `weapon_types`: base types it can be used with, empty = any. `colour`: the attribute of the gem.
    `skill_types`: PoB's skill type names, sorted (Spell, Attack, Projectile, Minion, Duration ...).
    `level_requirements`: character level needed per gem level, from gem level 1. `costs`: resource → cost at
    level 20 or the last level. `spirit`: Spirit reserved at that level (0 = none). `modelled`: whether the engine maps
    any of its stats. `lineage`: a unique ("lineage") support. `family`: members of one family exclude each other.
    `tier`: the uncut gem tier / support tier. `modes`: the engine's ids of the skills in the gem with how many modes
    each has (a bolt and its explosion), in order; `main_skill` of a group and the gem's choices tell them apart.
    `monsters`: id → name of what a spectre or companion gem can be, one of which has to be chosen; else empty.
    """

    id: str
    name: str
    kind: Literal["active", "support"]
    colour: AttributeName | None = None
    tags: list[str] = Field(default_factory=list)
    skill_types: list[str] = Field(default_factory=list)
    weapon_types: list[str] = Field(default_factory=list)
    level_requirements: list[int] = Field(default_factory=list)
    natural_max_level: int = 20
    costs: dict[str, float] = Field(default_factory=dict)
    spirit: float = 0.0
    cast_time_s: float = 0.0
    modelled: bool = True
    lineage: bool = False
    family: str | None = None
    tier: int = 0
    description: str = ""
    modes: dict[str, int] = Field(default_factory=dict)
    monsters: dict[str, str] = Field(default_factory=dict)


_GRANTS_POINTS = re.compile(r"Grants (\d+) Passive Skill Points?")


class NodeFact(Model):
    """A passive: `neighbours` are tree ids; x, y are tree coordinates; `mods` are its stat lines.

    `unparsed`: lines that the engine counts as nothing. `unlocked_by`: passives that must be allocated first.
    `choice_of`: the passive of which this is one of several exclusive options. `cost` 0 for such options, else 1.
    `recipe`: the emotions that anoint an amulet with it, empty where none do.
    """

    id: int
    name: str
    kind: NodeKind
    mods: list[str] = Field(default_factory=list)
    neighbours: list[int] = Field(default_factory=list)
    ascendancy: str | None = None
    x: float = 0.0
    y: float = 0.0
    unparsed: int = 0
    unlocked_by: list[int] = Field(default_factory=list)
    choice_of: int | None = None
    cost: int = 1
    recipe: list[str] = Field(default_factory=list)

    @property
    def granted_points(self) -> int:
        """Return the passive points that it grants, as some of ascendancies do."""
        return sum(int(found[1]) for line in self.mods if (found := _GRANTS_POINTS.fullmatch(line)))


class EdgeFact(Model):
    """A connection of two passives as it is drawn: an arc of this radius, in tree coordinates (0 = straight).

    An arc is the shorter one; `clockwise` from a to b, with y growing downwards.
    """

    a: int
    b: int
    radius: float = 0.0
    clockwise: bool = False


class BaseFact(Model):
    """An item base.

    `type` is PoB's (Wand, Body Armour, Charm ...), `sub_type` e.g. Armour, Evasion/Energy Shield, Warstaff.
    `slots`: where it fits. `requirements`: level, str, dex, int. `implicits`: lines. `socket_limit`: runes it can hold.
    `defences`: Armour, Evasion, EnergyShield, Ward, BlockChance. `weapon`: PoB's weapon numbers (damage, rate, crit).
    `flask`: life or mana recovered per use, charges_used, charges_max, duration_s.
    """

    name: str
    type: str
    sub_type: str = ""
    slots: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    requirements: dict[str, int] = Field(default_factory=dict)
    implicits: list[str] = Field(default_factory=list)
    socket_limit: int = 0
    defences: dict[str, float] = Field(default_factory=dict)
    weapon: dict[str, float] = Field(default_factory=dict)
    flask: dict[str, float] = Field(default_factory=dict)

    def mana_in_flask(self, quality: int) -> float:
        """Return the mana that all charges of a full flask of this base and quality (percent) recover."""
        uses = self.flask.get("charges_max", 0.0) // max(self.flask.get("charges_used", 0.0), 1.0)
        return uses * self.flask.get("mana", 0.0) * (1 + quality / 100)


class AffixFact(Model):
    """An explicit affix legal for the asked base: `group` excludes a second of its kind, `level` is the item level."""

    id: str
    side: Literal["prefix", "suffix"]
    name: str
    group: str
    level: int
    lines: list[str]
    weight: int
    tags: list[str] = Field(default_factory=list)


class UniqueFact(Model):
    """A unique item; `text` is what `GearItem.text` takes (current version, middle rolls).

    `source`: where it comes from in the engine's words ("Drops from ..."), empty for what may drop anywhere.
    `limit`: how many of the name count on one character, 0 = any number. `choices`: lines as they stand in `text`, of
    which one such jewel has `chosen`, another others.
    """

    name: str
    base: str
    type: str
    level: int
    text: str
    lines: list[str] = Field(default_factory=list)
    unparsed: int = 0
    source: str = ""
    limit: int = 0
    choices: list[str] = Field(default_factory=list)
    chosen: int = 0

    def text_with(self, chosen: Sequence[str]) -> str:
        """Return the text of one that has these of its choices, in place of those that `text` shows."""
        fixed = [line for line in self.text.split("\n") if line not in self.choices]
        place = next(i for i, line in enumerate(fixed) if line.startswith("Implicits: ")) + 1
        return "\n".join([*fixed[:place], *chosen, *fixed[place:]])

    def lines_in(self, text: str) -> list[str]:
        """Return what one of this text says: the lines that all have, and those of the choices that it has."""
        told, plain = text.split("\n"), {line: _TAG.sub("", line) for line in self.choices}
        fixed = [line for line in self.lines if line not in plain.values()]
        return [*(plain[line] for line in self.choices if line in told), *fixed]


class UniqueOrigin(Model):
    """How hard a unique is to come by; `why` says by what it is known, in words that go on after a colon or "it"."""

    tier: UniqueTier
    why: str = ""

    @property
    def words(self) -> str:
        """The tier, with what makes it more than common."""
        return f"{self.tier.value}: {self.why}" if self.why else self.tier.value


class RuneFact(Model):
    """A rune (or soul core) usable in the asked base."""

    name: str
    lines: list[str]
    level: int = 1
