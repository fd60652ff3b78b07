"""The concrete build: passives, gear, gems and configuration, independent of any engine.

A blueprint is the truth; an engine session is only a calculator loaded with one. Changes are data too, so the
same list can be tried (what-if), committed and replayed in a fresh process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Annotated, Literal

from pydantic import Field

from app.model.base import Model
from app.model.names import Attribute

ConfigValue = str | int | float | bool
DEFAULT_ENEMY = "Pinnacle"
"""The enemy that Path of Building takes where a file names none."""

ENEMIES = {"None": "common monsters", "Boss": "an ordinary boss", "Pinnacle": "a Pinnacle boss", "Uber": "an Uber boss"}
"""The engine's enemies in words."""

WeaponSet = Literal[0, 1, 2]
Rarity = Literal["NORMAL", "MAGIC", "RARE", "UNIQUE"]

JEWEL_SLOT = "Jewel "
MAIN_HAND, OFF_HAND = "Weapon 1", "Weapon 2"
HAND_SLOTS = (MAIN_HAND, OFF_HAND)
SWAP = " Swap"
"""Ends the names of the hands' slots in the second weapon set."""
SWAP_SLOTS = (MAIN_HAND + SWAP, OFF_HAND + SWAP)
LIFE_FLASK, MANA_FLASK = "Flask 1", "Flask 2"
CHARM_SLOTS = ("Charm 1", "Charm 2", "Charm 3")


_ALLOCATES = re.compile(r"Allocates (.+?)(?: \(|$)", re.MULTILINE)


def enemy_in_words(enemy: str) -> str:
    """Return an enemy of the engine's in words; one that is not known by the engine's name."""
    return ENEMIES.get(enemy, enemy)


class PassiveNode(Model):
    """An allocated passive: tree id, weapon set (0 = both), and the attribute an attribute passive gives."""

    id: int
    weapon_set: WeaponSet = 0
    attribute: Attribute | None = None


class AffixRoll(Model):
    """One explicit affix by its id in the engine's tables; `roll` 0.0-1.0 is the place in its range."""

    id: str
    roll: float = 0.5


class GearItem(Model):
    """An item in a slot, as structure or as raw item text.

    Slots are PoB's: Weapon 1/2, Weapon 1 Swap/Weapon 2 Swap, Helmet, Body Armour, Gloves, Boots, Amulet, Ring 1/2,
    Belt, Charm 1-3, Flask 1 (life), Flask 2 (mana), "Jewel <node id>". `runes` fill the sockets in order, "None" for
    an empty one. `text` (PoB item format) is used for uniques and imported items and then wins over the structure.
    `anoint`: name of the notable that an amulet allocates beside all that, "" where it does not (or its text says so).
    `active` switches flasks and charms on in the calculation.
    """

    slot: str
    base: str
    rarity: Rarity = "RARE"
    title: str = ""
    item_level: int = 1
    quality: int = 0
    sockets: int = 0
    runes: list[str] = Field(default_factory=list)
    prefixes: list[AffixRoll] = Field(default_factory=list)
    suffixes: list[AffixRoll] = Field(default_factory=list)
    text: str | None = None
    anoint: str = ""
    active: bool = True

    @property
    def has_radius(self) -> bool:
        """Whether it is a jewel that acts through the passives around its socket."""
        told = self.base.startswith("Time-Lost") or "\nRadius: " in (self.text or "")
        return told and self.slot.startswith(JEWEL_SLOT)

    @property
    def allocated(self) -> list[str]:
        """The notables that it allocates: what it is anointed with, then what its text says."""
        said = [name.strip() for name in _ALLOCATES.findall(self.text or "")]
        return [self.anoint, *said] if self.anoint else said


class Gem(Model):
    """A gem by its id in the engine's tables (names are ambiguous).

    `choices` are what a player can set on it beside that (mode, minion, count), under PoB's own names; defaults are
    left out, and engines that know no such choice ignore them.
    """

    gem_id: str
    name: str
    level: int = 20
    quality: int = 0
    enabled: bool = True
    choices: dict[str, ConfigValue] = Field(default_factory=dict)


class SkillGroup(Model):
    """An active skill (first gem) with its supports; `slot` binds it to a weapon set ("Weapon 1 Swap")."""

    label: str = ""
    gems: list[Gem]
    slot: str | None = None
    enabled: bool = True
    in_full_dps: bool = False
    main_skill: int = 1


class Blueprint(Model):
    """A complete build. The order of `nodes` is the levelling order; `main_group` is 1-based (0 = none).

    `main_granted` is the engine's id of a skill that an item or passive grants, when that is the main one;
    `weapon_set` is the set that is calculated; `spectres` and `beasts` are the ids of the monsters to choose from.
    """

    class_name: str
    ascendancy: str | None = None
    level: int
    nodes: list[PassiveNode] = Field(default_factory=list)
    items: dict[str, GearItem] = Field(default_factory=dict)
    groups: list[SkillGroup] = Field(default_factory=list)
    main_group: int = 0
    config: dict[str, ConfigValue] = Field(default_factory=dict)
    main_granted: str | None = None
    weapon_set: Literal[1, 2] = 1
    spectres: list[str] = Field(default_factory=list)
    beasts: list[str] = Field(default_factory=list)

    @property
    def passives(self) -> frozenset[int]:
        """Return the ids of all passives, the ascendancy's too."""
        return frozenset(node.id for node in self.nodes)

    @property
    def enemy(self) -> str:
        """The enemy of the figures, by the engine's name: None, Boss, Pinnacle or Uber."""
        return str(self.config.get("enemyIsBoss", DEFAULT_ENEMY))

    def group_at(self, index: int) -> SkillGroup | None:
        """Return the skill group of the 1-based index, or None where there is none."""
        return self.groups[index - 1] if 0 < index <= len(self.groups) else None

    @property
    def main(self) -> SkillGroup | None:
        """The group of the main skill, or None."""
        return self.group_at(self.main_group)


class Allocate(Model):
    """Allocate passives; each must connect once all of them are in (or be an ascendancy passive)."""

    op: Literal["allocate"] = "allocate"
    nodes: list[PassiveNode]


class Deallocate(Model):
    """Remove exactly these passives. Committing a removal that cuts others off drops and reports those too."""

    op: Literal["deallocate"] = "deallocate"
    nodes: list[int]


class Equip(Model):
    """Put an item into its slot, replacing what is there."""

    op: Literal["equip"] = "equip"
    item: GearItem


class Unequip(Model):
    """Empty a slot."""

    op: Literal["unequip"] = "unequip"
    slot: str


class SetGroup(Model):
    """Replace the skill group at the 1-based index, or append it when index is one past the last."""

    op: Literal["set_group"] = "set_group"
    index: int
    group: SkillGroup


class RemoveGroup(Model):
    """Remove the skill group at the 1-based index; later groups move up."""

    op: Literal["remove_group"] = "remove_group"
    index: int


class SetMain(Model):
    """Choose the main skill group by 1-based index."""

    op: Literal["set_main"] = "set_main"
    index: int


class SetConfig(Model):
    """Set one configuration option; None removes it (back to the engine's default)."""

    op: Literal["set_config"] = "set_config"
    key: str
    value: ConfigValue | None


Change = Annotated[
    Allocate | Deallocate | Equip | Unequip | SetGroup | RemoveGroup | SetMain | SetConfig,
    Field(discriminator="op"),
]


def apply_changes(blueprint: Blueprint, changes: Sequence[Change]) -> Blueprint:
    """Return the blueprint with the changes applied in order; connectivity is the engine's to judge."""
    return reduce(_apply, changes, blueprint)


def _apply(blueprint: Blueprint, change: Change) -> Blueprint:
    match change:
        case Allocate(nodes=nodes):
            new = {node.id: node for node in nodes}
            kept = [new.pop(old.id, old) for old in blueprint.nodes]
            return blueprint.model_copy(update={"nodes": [*kept, *new.values()]})
        case Deallocate(nodes=ids):
            gone = set(ids)
            return blueprint.model_copy(update={"nodes": [n for n in blueprint.nodes if n.id not in gone]})
        case Equip(item=item):
            return blueprint.model_copy(update={"items": {**blueprint.items, item.slot: item}})
        case Unequip(slot=slot):
            items = {name: item for name, item in blueprint.items.items() if name != slot}
            return blueprint.model_copy(update={"items": items})
        case SetGroup() | RemoveGroup() | SetMain():
            return _apply_group(blueprint, change)
        case SetConfig(key=key, value=value):
            config = {k: v for k, v in blueprint.config.items() if k != key}
            return blueprint.model_copy(update={"config": config if value is None else {**config, key: value}})


def _apply_group(blueprint: Blueprint, change: SetGroup | RemoveGroup | SetMain) -> Blueprint:
    groups = list(blueprint.groups)
    match change:
        case SetMain(index=index):
            return blueprint.model_copy(update={"main_group": index, "main_granted": None})
        case SetGroup(index=index, group=group):
            groups[index - 1 : index] = [group]
            return blueprint.model_copy(update={"groups": groups})
        case RemoveGroup(index=index):
            del groups[index - 1]
            main = blueprint.main_group
            shifted = 0 if main == index else main - 1 if main > index else main
            return blueprint.model_copy(update={"groups": groups, "main_group": shifted})


def condensed(changes: Sequence[Allocate | Deallocate]) -> list[Allocate | Deallocate]:
    """Return two changes that do to any list of passives, order included, what all of these do one after another."""
    gone, held = set[int](), dict[int, PassiveNode]()
    for change in changes:
        if isinstance(change, Allocate):
            held |= {node.id: node for node in change.nodes}  # what is replaced keeps its place
            continue
        for node_id in change.nodes:
            gone.add(node_id)
            held.pop(node_id, None)
    return [Deallocate(nodes=sorted(gone)), Allocate(nodes=list(held.values()))]


def restoring(now: Blueprint, then: Blueprint) -> list[Change]:
    """Return the changes that bring back the passives and jewels of `then`; the rest of `now` stays as it is."""
    held, wanted = {n.id: n for n in now.nodes}, {n.id for n in then.nodes}
    changes: list[Change] = [
        Deallocate(nodes=sorted(held.keys() - wanted)),
        Allocate(nodes=[n for n in then.nodes if held.get(n.id) != n]),
    ]
    for slot in sorted(slot for slot in now.items | then.items if slot.startswith(JEWEL_SLOT)):
        item = then.items.get(slot)
        if item != now.items.get(slot):
            changes.append(Unequip(slot=slot) if item is None else Equip(item=item))
    return changes
