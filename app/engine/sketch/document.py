"""Path of Building 2 XML to and from blueprints.

Equal builds give equal bytes, and Path of Building opens them; read are our own exports, and files that name only what
the pack knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from app.core.errors import BadImport
from app.engine.files import xml as xmltext
from app.engine.files.loadouts import active
from app.engine.protocol import Refused
from app.engine.sketch import lines as itemtext
from app.engine.sketch.gear import ItemEffects, granted_level
from app.engine.sketch.lines import Wording
from app.engine.sketch.pack import Pack
from app.engine.sketch.sheet import roots
from app.model.base import changed
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

NOTES = (
    "Estimate. The numbers of this build were worked out by the sketch engine, a plain estimate from a small set of "
    "facts. Path of Building calculates its own numbers when it opens this file; trust those."
)
_ATTRIBUTE_LISTS = {"str": "strNodes", "dex": "dexNodes", "int": "intNodes"}
_MOST_ROLL_DECIMALS = 3


class Exporter:
    """Writes blueprints as XML."""

    def __init__(self, pack: Pack, wording: Wording, effects: ItemEffects) -> None:
        self._pack = pack
        self._wording = wording
        self._effects = effects

    def xml(self, blueprint: Blueprint) -> str:
        """Return the document.

        Raises:
            Refused: the blueprint names something the pack does not know.
        """
        root = etree.Element(xmltext.ROOT)
        _child(
            root,
            "Build",
            level=blueprint.level,
            className=blueprint.class_name,
            ascendClassName=blueprint.ascendancy or "None",
            mainSocketGroup=max(1, blueprint.main_group),
            targetVersion="0_1",
            viewMode="TREE",
            characterLevelAutoMode="false",
        )
        ids = {slot: number for number, slot in enumerate(sorted(blueprint.items), 1)}
        self._tree(root, blueprint, ids)
        self._skills(root, blueprint)
        self._items(root, blueprint, ids)
        entries = _child(_child(root, "Config", activeConfigSet=1), "ConfigSet", id=1, title="Default")
        for key, value in sorted(blueprint.config.items()):
            if isinstance(value, bool):
                _child(entries, "Input", name=key, boolean=_flag(value))
            else:
                _child(entries, "Input", name=key, **{"string" if isinstance(value, str) else "number": value})
        etree.SubElement(root, "Notes").text = NOTES
        return xmltext.write(root).decode()

    def item_text(self, item: GearItem) -> str:
        """Return the item in Path of Building's format, every line with its rolled numbers."""
        return _anointed(self._made(item) if item.text is None else item.text.strip(), item.anoint)

    def _made(self, item: GearItem) -> str:
        base = self._effects.base(item)
        runes = ["{rune}" + self._wording.line(*entry) for entry in self._effects.runes(item)]
        implicits = [self._wording.line(*entry) for entry in self._effects.implicit(item)]
        if base.grants:
            level = f"Level {granted_level(self._pack, item)} " if base.grants.levels else ""
            implicits.append(f"Grants Skill: {level}{base.grants.skill}")
        explicit = [self._wording.line(*entry) for entry in self._effects.explicit(item)]
        head = [f"Rarity: {item.rarity}"]
        if item.rarity in ("RARE", "UNIQUE"):
            head.append(_printable(item.title) or f"New {item.slot}")
        head.append(item.base)
        if item.prefixes or item.suffixes:
            head.append("Crafted: true")
        for word, rolls in (("Prefix", item.prefixes), ("Suffix", item.suffixes)):
            places = [(min(1.0, max(0.0, roll.roll)), roll.id) for roll in rolls]
            head += [f"{word}: {{range:{place:.{_MOST_ROLL_DECIMALS}f}}}{affix}" for place, affix in places]
        head += [f"Item Level: {item.item_level}", f"Quality: {item.quality}"]
        if count := max(item.sockets, len(item.runes)):
            socketed = [*item.runes, *["None"] * (count - len(item.runes))]
            head += ["Sockets: " + " ".join("S" * count), *(f"Rune: {rune}" for rune in socketed)]
        return "\n".join([*head, f"Implicits: {len(runes) + len(implicits)}", *runes, *implicits, *explicit])

    def _tree(self, root: etree._Element, blueprint: Blueprint, ids: dict[str, int]) -> None:
        chosen = self._pack.classes[blueprint.class_name]
        ascendancy = next((a for a in chosen.ascendancies if a.name == blueprint.ascendancy), None)
        nodes = sorted({node.id for node in blueprint.nodes} | set(roots(self._pack, blueprint)))
        spec = _child(
            _child(root, "Tree", activeSpec=1),
            "Spec",
            treeVersion=self._pack.game.tree_version,
            classId=chosen.id,
            classInternalId=chosen.id,
            ascendClassId=ascendancy.id if ascendancy else 0,
            ascendancyInternalId=ascendancy.key if ascendancy else "",
            secondaryAscendClassId="nil",
            nodes=_joined(nodes),
        )
        for weapon_set in (1, 2):
            members = sorted(node.id for node in blueprint.nodes if node.weapon_set == weapon_set)
            if members:
                _child(spec, f"WeaponSet{weapon_set}", nodes=_joined(members))
        sockets = _child(spec, "Sockets")
        for slot, number in ids.items():
            if slot.startswith(JEWEL_SLOT):
                _child(sockets, "Socket", nodeId=slot.removeprefix(JEWEL_SLOT), itemId=number)
        by_attribute: dict[str, list[int]] = {name: [] for name in _ATTRIBUTE_LISTS.values()}
        for node in sorted(blueprint.nodes, key=lambda node: node.id):
            if self._pack.passives[node.id].kind == "attribute":
                by_attribute[_ATTRIBUTE_LISTS[node.attribute or "str"]].append(node.id)
        if any(by_attribute.values()):
            lists = {name: _joined(numbers) for name, numbers in by_attribute.items()}
            _child(_child(spec, "Overrides"), "AttributeOverride", **lists)

    def _skills(self, root: etree._Element, blueprint: Blueprint) -> None:
        skills = _child(root, "Skills", activeSkillSet=1, defaultGemLevel="normalMaximum", defaultGemQuality=0)
        group_list = _child(skills, "SkillSet", id=1)
        for group in blueprint.groups:
            given: dict[str, object] = {"slot": group.slot} if group.slot else {}
            made = _child(
                group_list,
                "Skill",
                enabled=_flag(group.enabled),
                includeInFullDPS=_flag(group.in_full_dps),
                label=_printable(group.label),
                mainActiveSkill=group.main_skill,
                mainActiveSkillCalcs=group.main_skill,
                **given,
            )
            for gem in group.gems:
                fact = self._pack.gem(gem.gem_id)
                named = {"gemId": fact.game_id, "variantId": fact.variant, "skillId": fact.skill} if fact else {}
                _child(
                    made,
                    "Gem",
                    nameSpec=fact.name if fact else _printable(gem.name),
                    level=gem.level,
                    quality=gem.quality,
                    enabled=_flag(gem.enabled),
                    enableGlobal1="true",
                    enableGlobal2="true",
                    count=1,
                    **named,
                )

    def _items(self, root: etree._Element, blueprint: Blueprint, ids: dict[str, int]) -> None:
        items = _child(root, "Items", activeItemSet=1, useSecondWeaponSet="false")
        for slot, number in ids.items():
            _child(items, "Item", id=number).text = "\n" + self.item_text(blueprint.items[slot]) + "\n"
        worn = _child(items, "ItemSet", id=1, title="Default", useSecondWeaponSet="false")
        for slot, number in ids.items():
            if slot.startswith(JEWEL_SLOT):
                _child(worn, "SocketIdURL", name=slot, nodeId=slot.removeprefix(JEWEL_SLOT), itemPbURL="")
            else:
                used = {"active": _flag(blueprint.items[slot].active)} if slot[:5] in ("Charm", "Flask") else {}
                _child(worn, "Slot", name=slot, itemId=number, itemPbURL="", **used)


def _anointed(text: str, notable: str) -> str:
    """Return an item text with the notable as an enchantment, which is counted among the implicit lines."""
    if not notable:
        return text
    line = f"{{enchant}}{itemtext.ALLOCATES}{notable}"
    counted = re.search(r"^Implicits: (\d+)$", text, re.MULTILINE)
    if counted is None:
        return f"{text}\nImplicits: 1\n{line}"
    return f"{text[: counted.start()]}Implicits: {int(counted[1]) + 1}\n{line}{text[counted.end() :]}"


def _child(parent: etree._Element, tag: str, **attributes: object) -> etree._Element:
    return etree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _joined(ids: list[int]) -> str:
    return ",".join(map(str, ids))


def _printable(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "{}").strip()


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
        build, spec = root.find("Build"), active(root, "Spec")
        if build is None or spec is None:
            raise Refused("the file has no Build or no Tree")
        if spec.get("treeVersion") != self._pack.game.tree_version:
            raise Refused(f"the sketch engine knows tree {self._pack.game.tree_version} only")
        blueprint = self._character(build, spec, problems)
        chosen = active(root, "SkillSet")
        skills = chosen.iterfind("Skill") if chosen is not None else ()
        own = [skill for skill in skills if skill.get("source") in (None, "", "nil")]  # not of items and passives
        groups = [group for skill in own if (group := self._group(skill, problems))]
        config: dict[str, ConfigValue] = {}
        settings = active(root, "ConfigSet")
        for entry in settings.iterfind("Input") if settings is not None else []:
            name = entry.get("name", "")
            if (text := entry.get("string")) is not None:
                config[name] = text
            elif (flag := entry.get("boolean")) is not None:
                config[name] = flag == "true"
            elif (number := entry.get("number")) is not None and number.lstrip("-").replace(".", "", 1).isdigit():
                config[name] = float(number) if "." in number else int(number)
        blueprint = changed(
            blueprint,
            items=dict(self._items(root, spec, problems)),
            groups=groups,
            main_group=min(_int(build.get("mainSocketGroup"), 1), len(groups)),
            config=config,
        )
        return blueprint, problems

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
        sets: dict[int, WeaponSet] = dict.fromkeys(_ids(spec.find("WeaponSet1")), 1)
        sets |= dict.fromkeys(_ids(spec.find("WeaponSet2")), 2)
        override = spec.find("Overrides/AttributeOverride")
        chosen = {
            node: attribute
            for attribute in Attribute
            if override is not None
            for node in _split(override.get(f"{attribute.value}Nodes"))
        }
        nodes = []
        for node in _ids(spec):
            if node not in self._pack.passives:
                problems.append(f"unknown passive {node}")
            elif node not in roots(self._pack, bare):
                nodes.append(PassiveNode(id=node, weapon_set=sets.get(node, 0), attribute=chosen.get(node)))
        return changed(bare, nodes=nodes)

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
        worn = active(root, "ItemSet")
        slots = (
            [(s.get("name", ""), s.get("itemId"), s.get("active")) for s in worn.iterfind("Slot")]
            if worn is not None
            else []
        )
        slots += [(f"{JEWEL_SLOT}{s.get('nodeId')}", s.get("itemId"), None) for s in spec.iterfind("Sockets/Socket")]
        for slot, number, switched in slots:
            if not texts.get(number):
                continue
            parts = itemtext.read(texts[number])
            if parts.base not in self._pack.bases:
                problems.append(f"{slot}: unknown item base {parts.base[:60]!r}")
                continue
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
                anoint=parts.anoint if parts.anoint in self._pack.notables else "",
                active=switched != "false",
            )
            yield slot, item if self._is_plain(item, parts) else changed(item, text=texts[number], anoint="")

    def _is_plain(self, item: GearItem, parts: itemtext.ItemText) -> bool:
        """Return whether the explicit lines are those of affixes and runes the pack knows."""
        affixes = [self._pack.affixes.get((t, r.id)) for t in ("", "Jewel") for r in (*item.prefixes, *item.suffixes)]
        lines = sum(len(a.family.stats) for a in affixes if a)
        known_runes = all(rune in self._pack.runes or rune == "None" for rune in item.runes)
        known = sum(a is not None for a in affixes) == len(item.prefixes) + len(item.suffixes)
        return known and known_runes and len(parts.explicit) == lines and item.anoint == parts.anoint


def _ids(element: etree._Element | None) -> list[int]:
    return _split(element.get("nodes")) if element is not None else []


def _split(text: str | None) -> list[int]:
    return [int(part) for part in (text or "").split(",") if part.isdigit()]


def _int(text: str | None, default: int) -> int:
    digits = (text or "").partition(".")[0]
    return int(digits) if digits.isdigit() and len(digits) < 9 else default
