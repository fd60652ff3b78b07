"""A build's character sheet: its items as the game shows them, skills with supports, and passives in order."""

from __future__ import annotations

import re

from pydantic import Field

from app.core.errors import BadImport
from app.engine.files.loadouts import active
from app.engine.files.xml import read
from app.engine.protocol import Refused
from app.engine.sketch.lines import ALLOCATES, rolled
from app.engine.sketch.lines import read as read_item
from app.model.base import Model
from app.model.blueprint import JEWEL_SLOT, Blueprint, PassiveNode, SkillGroup
from app.model.facts import UniqueOrigin
from app.model.guide import Guide, Loss, ShoppingItem
from app.model.record import BuildRecord
from app.service.view import valid_state


class SheetLine(Model):
    """A line of an item; `fixed`: from its base or its runes. `lost`: what the build loses without it, if measured."""

    text: str
    fixed: bool = False
    lost: Loss | None = None


class SheetItem(Model):
    """An item in its slot; `quality` in percent, `runes` by name; `one_tier_lower`, `origin` as in shopping."""

    slot: str
    name: str
    base: str
    rarity: str
    item_level: int
    quality: int
    runes: list[str] = Field(default_factory=list)
    lines: list[SheetLine] = Field(default_factory=list)
    one_tier_lower: Loss | None = None
    origin: UniqueOrigin | None = None


class CharacterSheet(Model):
    """Who the character is and what it has; `main_group` counts from 1, 0 = none. `nodes` are in levelling order."""

    class_name: str
    ascendancy: str | None
    level: int
    items: list[SheetItem]
    groups: list[SkillGroup]
    main_group: int
    nodes: list[PassiveNode]

    @property
    def jewels(self) -> dict[str, str]:
        """The names of jewels by the id of the passive that they sit in."""
        found = [item for item in self.items if item.slot.startswith(JEWEL_SLOT)]
        return {item.slot.removeprefix(JEWEL_SLOT): item.name or item.base for item in found}


def sheet_of(record: BuildRecord) -> CharacterSheet | None:
    """Return the sheet of the last valid state, None before there is one."""
    blueprint = valid_state(record).blueprint
    if blueprint is None or record.xml is None:
        return None
    return CharacterSheet(
        class_name=blueprint.class_name,
        ascendancy=blueprint.ascendancy,
        level=blueprint.level,
        items=_items(record.xml, blueprint, record.state.guide or Guide()),
        groups=blueprint.groups,
        main_group=blueprint.main_group,
        nodes=blueprint.nodes,
    )


def _items(xml: bytes, blueprint: Blueprint, guide: Guide) -> list[SheetItem]:
    """Return what the file's active item set wears, in the order of the blueprint's slots."""
    texts, wanted = _texts_by_slot(xml), {item.slot: item for item in guide.shopping}
    order = {slot: place for place, slot in enumerate(dict.fromkeys([*_SLOTS, *blueprint.items]))}
    slots = sorted(texts, key=lambda slot: (order.get(slot, len(order)), slot))
    return [_item(slot, texts[slot], wanted.get(slot)) for slot in slots]


_SLOTS = (
    *("Weapon 1", "Weapon 2", "Weapon 1 Swap", "Weapon 2 Swap", "Helmet", "Body Armour", "Gloves", "Boots", "Amulet"),
    *("Ring 1", "Ring 2", "Ring 3", "Belt", "Flask 1", "Flask 2", "Charm 1", "Charm 2", "Charm 3"),
)


def _texts_by_slot(xml: bytes) -> dict[str, str]:
    try:
        root = read(xml)
    except BadImport:
        return {}
    texts = {str(item.get("id")): item.text or "" for item in root.iter("Item")}
    wearing = active(root, "ItemSet")
    slots = wearing.iter("Slot") if wearing is not None else ()
    worn = {str(slot.get("name")): slot.get("itemId") for slot in slots}
    tree = active(root, "Spec")
    sockets = tree.iter("Socket") if tree is not None else ()
    worn |= {f"{JEWEL_SLOT}{socket.get('nodeId')}": socket.get("itemId") for socket in sockets}
    return {slot: texts[number] for slot, number in worn.items() if number in texts}


def _item(slot: str, text: str, wanted: ShoppingItem | None) -> SheetItem:
    try:
        found = read_item(text)
    except Refused:
        first, *rest = text.strip().splitlines() or [""]
        plain = [SheetLine(text=line.strip()) for line in rest if line.strip()]
        return SheetItem(slot=slot, name="", base=first, rarity="NORMAL", item_level=1, quality=0, lines=plain)
    worth = {_shape(part): line.lost for line in (wanted.lines if wanted else []) for part in line.text.split(" / ")}
    shown = [_rolled(line) for line in found.lines if not _ABOUT.match(line)]
    anointed = f"{ALLOCATES}{found.anoint}"
    lines = [SheetLine(text=anointed, lost=worth.get(_shape(anointed)))] if found.anoint else []
    lines += [
        SheetLine(
            text=line, fixed=place < found.implicits, lost=None if place < found.implicits else worth.get(_shape(line))
        )
        for place, line in enumerate(shown)
    ]
    return SheetItem(
        slot=slot,
        name="" if found.title.startswith("New ") else found.title,
        base=found.base,
        rarity=found.rarity,
        item_level=found.item_level,
        quality=found.quality,
        runes=[rune for rune in found.runes if rune != "None"],
        lines=lines,
        one_tier_lower=wanted.one_tier_lower if wanted else None,
        origin=wanted.origin if wanted else None,
    )


_ABOUT = re.compile(r"(League|Source|Variant|Has Alt Variant|Requires|Talisman Tier): ?")
"""Begins lines of a file that no item in the game shows."""

_ROLL = re.compile(r"\{range:([\d.]+)\}")
_SPAN = re.compile(r"\((-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)\)")
_FIGURE = re.compile(r"\((?:-?[\d.]+)-(?:-?[\d.]+)\)|\d+(?:\.\d+)?")


def _rolled(line: str) -> str:
    """Return the line with its ranges replaced by what was rolled, as the game shows it."""
    place = _ROLL.search(line)
    if place is None:
        return line
    roll = float(place[1])
    return _SPAN.sub(lambda span: f"{rolled((_number(span[1]), _number(span[2])), roll)}", _ROLL.sub("", line))


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _shape(line: str) -> str:
    """Return the line without its figures: what a range and a roll of it have in common."""
    return _FIGURE.sub("#", line).casefold()
