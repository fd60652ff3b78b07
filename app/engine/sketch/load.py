"""Path of Building XML as a blueprint: our own exports, and files that name only what the pack knows."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from app.core.errors import BadImport
from app.engine.files import xml as xmltext
from app.engine.protocol import Refused
from app.engine.sketch import lines as itemtext
from app.engine.sketch.lines import Wording
from app.engine.sketch.pack import Pack
from app.engine.sketch.sheet import roots
from app.model.blueprint import (
    JEWEL_SLOT,
    AffixRoll,
    Blueprint,
    ConfigValue,
    GearItem,
    Gem,
    PassiveNode,
    Rarity,
    SkillGroup,
    WeaponSet,
)
from app.model.names import Attribute

_RARITIES: dict[str, Rarity] = {"NORMAL": "NORMAL", "MAGIC": "MAGIC", "RARE": "RARE", "UNIQUE": "UNIQUE"}
_MOST_LEVEL = 100


class Loader:
    """Reads builds; what it does not know is told in `problems`, a build it cannot use at all is refused."""

    def __init__(self, pack: Pack, wording: Wording) -> None:
        self._pack = pack
        self._wording = wording
        self._gems = {(gem.game_id, gem.variant): gem.id for gem in pack.gems_by_name.values()}

    def load(self, xml: bytes) -> tuple[Blueprint, list[str]]:
        """Return the blueprint and what of the file was left out.

        Raises:
            Refused: not a build of PoB 2, another tree version, or a class the pack does not know.
        """
        try:
            root = xmltext.read(xml)
        except BadImport as exc:
            raise Refused(exc.message) from exc
        problems: list[str] = []
        build, spec = root.find("Build"), _active(root, "Tree", "activeSpec", "Spec")
        if build is None or spec is None:
            raise Refused("the file has no Build or no Tree")
        if spec.get("treeVersion") != self._pack.game.tree_version:
            raise Refused(f"the sketch engine knows tree {self._pack.game.tree_version} only")
        blueprint = self._character(build, spec, problems)
        groups = [group for skill in _skills(root) if (group := self._group(skill, problems))]
        return (
            blueprint.model_copy(
                update={
                    "items": dict(self._items(root, spec, problems)),
                    "groups": groups,
                    "main_group": min(_int(build.get("mainSocketGroup"), 1), len(groups)),
                    "config": dict(_config(root)),
                }
            ),
            problems,
        )

    def _character(self, build: etree._Element, spec: etree._Element, problems: list[str]) -> Blueprint:
        name, ascendancy = build.get("className", ""), build.get("ascendClassName") or "None"
        if name not in self._pack.classes:
            raise Refused(f"unknown class {name!r}")
        known = {a.name for a in self._pack.classes[name].ascendancies}
        if ascendancy not in known and ascendancy != "None":
            problems.append(f"unknown ascendancy {ascendancy!r}")
        bare = Blueprint(
            class_name=name,
            ascendancy=ascendancy if ascendancy in known else None,
            level=max(1, min(_MOST_LEVEL, _int(build.get("level"), 1))),
        )
        return bare.model_copy(update={"nodes": list(self._nodes(bare, spec, problems))})

    def _nodes(self, bare: Blueprint, spec: etree._Element, problems: list[str]) -> Iterator[PassiveNode]:
        sets: dict[int, WeaponSet] = dict.fromkeys(_ids(spec.find("WeaponSet1")), 1)
        sets |= dict.fromkeys(_ids(spec.find("WeaponSet2")), 2)
        override = spec.find("Overrides/AttributeOverride")
        chosen = {
            node: attribute
            for attribute in Attribute
            if override is not None
            for node in _split(override.get(f"{attribute.value}Nodes"))
        }
        for node in _ids(spec):
            if node not in self._pack.passives:
                problems.append(f"unknown passive {node}")
            elif node not in roots(self._pack, bare):
                yield PassiveNode(id=node, weapon_set=sets.get(node, 0), attribute=chosen.get(node))

    def _group(self, skill: etree._Element, problems: list[str]) -> SkillGroup | None:
        gems = []
        for gem in skill.iterfind("Gem"):
            gem_id = self._gems.get((gem.get("gemId", ""), gem.get("variantId", "")))
            fact = self._pack.gem(gem_id) if gem_id else self._pack.gems_by_name.get(gem.get("nameSpec", ""))
            if fact is None:
                problems.append(f"unknown gem {gem.get('nameSpec', '')[:60]!r}")
                continue
            gems.append(
                Gem(
                    gem_id=fact.id,
                    name=fact.name,
                    level=_int(gem.get("level"), 1),
                    quality=_int(gem.get("quality"), 0),
                    enabled=gem.get("enabled") != "false",
                )
            )
        if not gems:
            return None
        return SkillGroup(
            label=skill.get("label") or "",
            gems=gems,
            slot=skill.get("slot") if skill.get("slot") != "nil" else None,
            enabled=skill.get("enabled") != "false",
            in_full_dps=skill.get("includeInFullDPS") == "true",
            main_skill=max(1, _int(skill.get("mainActiveSkill"), 1)),
        )

    def _items(self, root: etree._Element, spec: etree._Element, problems: list[str]) -> Iterator[tuple[str, GearItem]]:
        texts = {item.get("id"): (item.text or "").strip() for item in root.iterfind("Items/Item")}
        worn = _active(root, "Items", "activeItemSet", "ItemSet")
        slots = (
            [(s.get("name", ""), s.get("itemId"), s.get("active")) for s in worn.iterfind("Slot")]
            if worn is not None
            else []
        )
        slots += [(f"{JEWEL_SLOT}{s.get('nodeId')}", s.get("itemId"), None) for s in spec.iterfind("Sockets/Socket")]
        for slot, number, active in slots:
            if not texts.get(number):
                continue
            parts = itemtext.read(texts[number])
            if parts.base not in self._pack.bases:
                problems.append(f"{slot}: unknown item base {parts.base[:60]!r}")
                continue
            yield slot, self._item(slot, texts[number], parts, active != "false")

    def _item(self, slot: str, text: str, parts: itemtext.ItemText, active: bool) -> GearItem:
        item = GearItem(
            slot=slot,
            base=parts.base,
            rarity=_RARITIES.get(parts.rarity, "UNIQUE"),
            title=parts.title,
            item_level=parts.item_level,
            quality=parts.quality,
            sockets=parts.sockets,
            runes=list(parts.runes),
            prefixes=[AffixRoll(id=i, roll=r) for i, r in parts.prefixes],
            suffixes=[AffixRoll(id=i, roll=r) for i, r in parts.suffixes],
            active=active,
        )
        return item if self._is_plain(item, parts) else item.model_copy(update={"text": text})

    def _is_plain(self, item: GearItem, parts: itemtext.ItemText) -> bool:
        """Return whether the explicit lines are those of affixes and runes the pack knows."""
        affixes = [self._pack.affixes.get((t, r.id)) for t in ("", "Jewel") for r in (*item.prefixes, *item.suffixes)]
        lines = sum(len(a.family.stats) for a in affixes if a)
        known_runes = all(rune in self._pack.runes or rune == "None" for rune in item.runes)
        known = sum(a is not None for a in affixes) == len(item.prefixes) + len(item.suffixes)
        return known and known_runes and len(parts.explicit) == lines


def _active(root: etree._Element, section: str, choice: str, tag: str) -> etree._Element | None:
    """Return the chosen one of a section's alternatives: by id, else by position."""
    parent = root.find(section)
    if parent is None:
        return None
    found = parent.findall(tag)
    wanted = parent.get(choice, "1")
    by_id = [element for element in found if element.get("id") == wanted]
    position = _int(wanted, 1) - 1
    return by_id[0] if by_id else found[position] if 0 <= position < len(found) else found[0] if found else None


def _skills(root: etree._Element) -> list[etree._Element]:
    """Return the chosen skill groups, without those that items and passives grant."""
    chosen = _active(root, "Skills", "activeSkillSet", "SkillSet")
    skills = chosen.iterfind("Skill") if chosen is not None else ()
    return [skill for skill in skills if skill.get("source") in (None, "", "nil")]


def _config(root: etree._Element) -> Iterator[tuple[str, ConfigValue]]:
    chosen = _active(root, "Config", "activeConfigSet", "ConfigSet")
    for entry in chosen.iterfind("Input") if chosen is not None else []:
        name = entry.get("name", "")
        if (text := entry.get("string")) is not None:
            yield name, text
        elif (flag := entry.get("boolean")) is not None:
            yield name, flag == "true"
        elif (number := entry.get("number")) is not None and number.lstrip("-").replace(".", "", 1).isdigit():
            yield name, float(number) if "." in number else int(number)


def _ids(element: etree._Element | None) -> list[int]:
    return _split(element.get("nodes")) if element is not None else []


def _split(text: str | None) -> list[int]:
    return [int(part) for part in (text or "").split(",") if part.isdigit()]


def _int(text: str | None, default: int) -> int:
    digits = (text or "").partition(".")[0]
    return int(digits) if digits.isdigit() and len(digits) < 9 else default
