"""A blueprint as Path of Building 2 XML: equal builds give equal bytes, and Path of Building opens it."""

from __future__ import annotations

from lxml import etree

from app.engine.files import xml as xmltext
from app.engine.sketch.gear import Wardrobe, granted_level
from app.engine.sketch.lines import Wording
from app.engine.sketch.pack import Pack
from app.engine.sketch.sheet import roots
from app.model.blueprint import JEWEL_SLOT, AffixRoll, Blueprint, ConfigValue, GearItem, Gem, SkillGroup

NOTES = (
    "Estimate. The numbers of this build were worked out by the sketch engine, a plain estimate from a small set of "
    "facts. Path of Building calculates its own numbers when it opens this file; trust those."
)
_ATTRIBUTE_LISTS = {"str": "strNodes", "dex": "dexNodes", "int": "intNodes"}
_MOST_ROLL_DECIMALS = 3


class Exporter:
    """Writes blueprints as XML."""

    def __init__(self, pack: Pack, wording: Wording, wardrobe: Wardrobe) -> None:
        self._pack = pack
        self._wording = wording
        self._wardrobe = wardrobe

    def xml(self, blueprint: Blueprint) -> str:
        """Return the document.

        Raises:
            Refused: the blueprint names something the pack does not know.
        """
        root = etree.Element(xmltext.ROOT)
        self._build(root, blueprint)
        ids = {slot: number for number, slot in enumerate(sorted(blueprint.items), 1)}
        self._tree(root, blueprint, ids)
        self._skills(root, blueprint)
        self._items(root, blueprint, ids)
        _config(root, blueprint.config)
        etree.SubElement(root, "Notes").text = NOTES
        return xmltext.write(root).decode()

    def item_text(self, item: GearItem) -> str:
        """Return the item in Path of Building's format, every line with its rolled numbers."""
        if item.text is not None:
            return item.text.strip()
        base = self._wardrobe.base(item)
        runes = ["{rune}" + self._wording.line(*entry) for entry in self._wardrobe.runes(item)]
        implicits = [self._wording.line(*entry) for entry in self._wardrobe.implicit(item)]
        if base.grants:
            level = f"Level {granted_level(self._pack, item)} " if base.grants.levels else ""
            implicits.append(f"Grants Skill: {level}{base.grants.skill}")
        explicit = [self._wording.line(*entry) for entry in self._wardrobe.explicit(item)]
        head = [f"Rarity: {item.rarity}"]
        if item.rarity in ("RARE", "UNIQUE"):
            head.append(_plain(item.title) or f"New {item.slot}")
        head += [item.base, *_affix_lines(item), f"Item Level: {item.item_level}", f"Quality: {item.quality}"]
        head += _socket_lines(item)
        return "\n".join([*head, f"Implicits: {len(runes) + len(implicits)}", *runes, *implicits, *explicit])

    def _build(self, root: etree._Element, blueprint: Blueprint) -> None:
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
        self._attributes(spec, blueprint)

    def _attributes(self, spec: etree._Element, blueprint: Blueprint) -> None:
        chosen: dict[str, list[int]] = {name: [] for name in _ATTRIBUTE_LISTS.values()}
        for node in sorted(blueprint.nodes, key=lambda node: node.id):
            if self._pack.passives[node.id].kind == "attribute":
                chosen[_ATTRIBUTE_LISTS[node.attribute or "str"]].append(node.id)
        if any(chosen.values()):
            lists = {name: _joined(ids) for name, ids in chosen.items()}
            _child(_child(spec, "Overrides"), "AttributeOverride", **lists)

    def _skills(self, root: etree._Element, blueprint: Blueprint) -> None:
        skills = _child(root, "Skills", activeSkillSet=1, defaultGemLevel="normalMaximum", defaultGemQuality=0)
        group_list = _child(skills, "SkillSet", id=1)
        for group in blueprint.groups:
            self._group(group_list, group)

    def _group(self, parent: etree._Element, group: SkillGroup) -> None:
        given: dict[str, object] = {"slot": group.slot} if group.slot else {}
        made = _child(
            parent,
            "Skill",
            enabled=_flag(group.enabled),
            includeInFullDPS=_flag(group.in_full_dps),
            label=_plain(group.label),
            mainActiveSkill=group.main_skill,
            mainActiveSkillCalcs=group.main_skill,
            **given,
        )
        for gem in group.gems:
            self._gem(made, gem)

    def _gem(self, parent: etree._Element, gem: Gem) -> None:
        fact = self._pack.gem(gem.gem_id)
        named = {"gemId": fact.game_id, "variantId": fact.variant, "skillId": fact.skill} if fact else {}
        _child(
            parent,
            "Gem",
            nameSpec=fact.name if fact else _plain(gem.name),
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


def _affix_lines(item: GearItem) -> list[str]:
    if not item.prefixes and not item.suffixes:
        return []
    lines = ["Crafted: true"]
    for word, rolls in (("Prefix", item.prefixes), ("Suffix", item.suffixes)):
        lines += [f"{word}: {{range:{_roll(roll)}}}{roll.id}" for roll in rolls]
    return lines


def _socket_lines(item: GearItem) -> list[str]:
    count = max(item.sockets, len(item.runes))
    if not count:
        return []
    runes = [*item.runes, *["None"] * (count - len(item.runes))]
    return ["Sockets: " + " ".join("S" * count), *(f"Rune: {rune}" for rune in runes)]


def _config(root: etree._Element, config: dict[str, ConfigValue]) -> None:
    entries = _child(_child(root, "Config", activeConfigSet=1), "ConfigSet", id=1, title="Default")
    for key, value in sorted(config.items()):
        if isinstance(value, bool):
            _child(entries, "Input", name=key, boolean=_flag(value))
        else:
            _child(entries, "Input", name=key, **{"string" if isinstance(value, str) else "number": value})


def _child(parent: etree._Element, tag: str, **attributes: object) -> etree._Element:
    return etree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _joined(ids: list[int]) -> str:
    return ",".join(map(str, ids))


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "{}").strip()


def _roll(roll: AffixRoll) -> str:
    return f"{min(1.0, max(0.0, roll.roll)):.{_MOST_ROLL_DECIMALS}f}"
