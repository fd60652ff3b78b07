"""A build file of Path of Building, read by itself: what it has, by name and by figure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree

from app.model.damage import DamageKind

_RANGED = re.compile(r"\((-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)\)|(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Passive:
    """A passive as a fresh Path of Building names it."""

    id: int
    name: str
    kind: str
    ascendancy: str | None


@dataclass(frozen=True)
class Names:
    """Every name of the game, as a fresh Path of Building knows them; what a sentence may speak of."""

    passives: Mapping[int, Passive]
    skills: frozenset[str]
    supports: frozenset[str]
    uniques: frozenset[str]
    bases: frozenset[str]
    people: frozenset[str]

    @property
    def telling(self) -> frozenset[str]:
        """Names that a sentence can only mean as names: of at least two words, and of whom one plays."""
        notables = {one.name for one in self.passives.values() if one.kind in ("notable", "keystone")}
        every = notables | self.skills | self.supports | self.uniques | self.bases
        return frozenset({name for name in every if " " in name} | self.people)


@dataclass(frozen=True)
class Item:
    """An item as its text says; `lines` are what it does, tags in braces removed, runes' lines left out."""

    rarity: str
    title: str
    base: str
    level: int
    runes: list[str]
    lines: list[str]


@dataclass(frozen=True)
class Group:
    """A skill group; `gems` are the names of its enabled gems, the first one the skill."""

    enabled: bool
    source: str
    gems: list[str]


@dataclass
class BuildFile:
    """What the file has.

    `figures`: what a fresh Path of Building calculates of it, under its own names. `minions`: the figures of one
    minion of each skill when its group is the main one, under Path of Building's own names. `parts`:
    the figures of each part of the main skill that Path of Building calculates apart (what a bolt leaves behind).
    `dealt`: damage per second of each kind that a fresh engine counts (docs/damage.md).
    `loadouts`: the file with another of its loadouts chosen, by title. Of several sets only the chosen ones are read.
    """

    root: etree._Element
    names: Names
    figures: Mapping[str, float]
    minions: Mapping[str, Mapping[str, float]]
    parts: Sequence[Mapping[str, float]]
    loadouts: Mapping[str, BuildFile] = field(default_factory=dict)
    dealt: Mapping[DamageKind, Sequence[float]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict)
    nodes: list[Passive] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        xml: bytes,
        names: Names,
        figures: Mapping[str, float],
        minions: Mapping[str, Mapping[str, float]] | None = None,
        parts: Sequence[Mapping[str, float]] | None = None,
        loadouts: Mapping[str, BuildFile] | None = None,
        dealt: Mapping[DamageKind, Sequence[float]] | None = None,
    ) -> BuildFile:
        """Read the file; what is not there is missing, never guessed."""
        found = cls(etree.fromstring(xml), names, figures, minions or {}, parts or [], loadouts or {}, dealt or {})
        found.groups = [
            Group(
                one.get("enabled") == "true",
                one.get("source") or "",
                [_skill(gem.get("nameSpec") or "") for gem in one.iter("Gem") if gem.get("enabled") == "true"],
            )
            for one in chosen(found.root, "Skills").iter("Skill")
        ]
        found.items = dict(found._worn())
        spec = chosen(found.root, "Tree")
        ids = [int(one) for one in (spec.get("nodes") or "").split(",") if one]
        found.nodes = [names.passives[one] for one in ids if one in names.passives]
        return found

    def _one(self, path: str) -> etree._Element:
        found = self.root.find(path)
        assert found is not None, f"the file has no {path}"
        return found

    def _worn(self) -> Iterator[tuple[str, Item]]:
        texts = {one.get("id") or "": _item(one.text or "", self.names) for one in self.root.iter("Item")}
        worn, tree = chosen(self.root, "Items"), chosen(self.root, "Tree")
        slots = [(one.get("name") or "", one.get("itemId") or "") for one in worn.iter("Slot")]
        sockets = [(f"Jewel {one.get('nodeId')}", one.get("itemId") or "") for one in tree.iter("Socket")]
        for slot, key in [*slots, *sockets]:
            if key in texts:
                yield slot, texts[key]

    @property
    def level(self) -> int:
        """The character's level."""
        return int(self._one("Build").get("level") or 0)

    @property
    def class_name(self) -> str:
        """The class."""
        return self._one("Build").get("className") or ""

    @property
    def ascendancy(self) -> str | None:
        """The ascendancy, None where the file has none."""
        name = self._one("Build").get("ascendClassName")
        return None if name in (None, "", "None") else name

    @property
    def tree_version(self) -> str:
        """Version of the passive tree."""
        return chosen(self.root, "Tree").get("treeVersion") or ""

    @property
    def notes(self) -> list[str]:
        """The lines of the notes tab."""
        return (self.root.findtext("Notes") or "").strip().splitlines()

    @property
    def stored(self) -> dict[str, float]:
        """The figures that the file itself holds for its player."""
        return {one.get("stat") or "": float(one.get("value") or "nan") for one in self.root.iter("PlayerStat")}

    @property
    def configuration(self) -> dict[str, str]:
        """Options that are set, as text."""
        return {
            one.get("name") or "": one.get("string") or one.get("number") or one.get("boolean") or ""
            for one in chosen(self.root, "Config").iter("Input")
        }

    @property
    def main(self) -> Group:
        """The group whose skill is the main one."""
        return self.groups[int(self._one("Build").get("mainSocketGroup") or 1) - 1]

    @property
    def gems(self) -> set[str]:
        """Names of all enabled gems."""
        return {name for group in self.groups if group.enabled for name in group.gems}

    @property
    def passives(self) -> set[str]:
        """Names of all allocated passives that have one of their own."""
        return {one.name for one in self.nodes if one.kind != "normal"}

    @property
    def everything(self) -> set[str]:
        """Names of all that the file has."""
        worn = {name for item in self.items.values() for name in (item.title, item.base, *item.runes)}
        granted = {line.partition(": ")[2] for i in self.items.values() for line in i.lines if ":" in line}
        who = {self.class_name, self.ascendancy or ""}
        return {name for name in self.gems | self.passives | worn | granted | who if name}

    @property
    def monsters(self) -> dict[str, str]:
        """Skills by the minion that they bring, where Path of Building calls it something else."""
        parts = [(one.get("skillPart") or "", one.get("stat") or "") for one in self.root.iter("FullDPSSkill")]
        named = ((part.partition(":")[0], re.sub(r"^\d+x ", "", name)) for part, name in parts if ":" in part)
        return {monster: _skill(name.removesuffix(" Minion")) for monster, name in named}

    def supports(self, skill: str) -> set[str]:
        """Return the gems behind a skill in any of its groups."""
        return {name for group in self.groups if group.enabled and group.gems[:1] == [skill] for name in group.gems[1:]}


def _skill(name: str) -> str:
    """Return a skill's name; Path of Building writes one that raises monsters with the monster that it raises."""
    return "Summon Spectre" if name.startswith("Spectre: ") else name


def _item(text: str, names: Names) -> Item:
    lines = [line.strip() for line in text.strip().splitlines()]
    head = {key: value for key, _, value in (line.partition(": ") for line in lines) if value}
    rarity = head.get("Rarity", "")
    named = lines[1] if len(lines) > 1 else ""
    second = lines[2] if len(lines) > 2 else ""
    base = second if second in names.bases else next((one for one in _longest(names.bases) if one in named), named)
    title = named if rarity in ("RARE", "UNIQUE") else ""
    runes = [line.removeprefix("Rune: ") for line in lines if line.startswith("Rune: ") and line != "Rune: None"]
    own = [line for line in lines if "{rune}" not in line]
    return Item(rarity, title, base, int(head.get("Item Level", "0")), runes, [rolled(line) for line in own])


def _longest(names: frozenset[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))


def rolled(line: str) -> str:
    """Return a line of an item as it counts: tags removed, and of a range the value that its tag says."""
    tags, text = re.findall(r"\{([^}]*)\}", line), re.sub(r"\{[^}]*\}", "", line)
    share = next((float(tag.removeprefix("range:")) for tag in tags if tag.startswith("range:")), 0.5)

    def value(match: re.Match[str]) -> str:
        if match[3] is not None:
            return match[0]
        low, high = float(match[1]), float(match[2])
        places = max(len(one.partition(".")[2]) for one in (match[1], match[2]))
        return f"{round(low + share * (high - low), places):g}"

    return _RANGED.sub(value, text)


def shape(line: str) -> str:
    """Return a line with its figures as "#", by which lines of one kind are known."""
    return _RANGED.sub("#", line).replace("+#", "#").casefold()


def bounds(line: str) -> list[tuple[float, float]]:
    """Return the least and the most of every figure of a line."""
    found = [(m[3], m[3]) if m[3] is not None else (m[1], m[2]) for m in _RANGED.finditer(line)]
    return [(min(float(a), float(b)), max(float(a), float(b))) for a, b in found]


_SETS = {
    "Tree": ("Spec", "activeSpec"),
    "Skills": ("SkillSet", "activeSkillSet"),
    "Items": ("ItemSet", "activeItemSet"),
    "Config": ("ConfigSet", "activeConfigSet"),
}


def chosen(root: etree._Element, section: str) -> etree._Element:
    """Return the set of a section that the file opens with: trees are counted, the others have an id."""
    kind, choice = _SETS[section]
    holder = root.find(section)
    assert holder is not None, f"the file has no {section}"
    key, sets = holder.get(choice) or "1", list(holder.iter(kind))
    if not sets:
        return holder
    return sets[int(key) - 1] if section == "Tree" else next(one for one in sets if one.get("id") == key)


def with_loadout(xml: bytes, title: str, level: int) -> bytes:
    """Return the file with the sets of the title chosen, on a character of the level."""
    root = etree.fromstring(xml)
    for section, (kind, choice) in _SETS.items():
        holder = root.find(section)
        assert holder is not None
        sets = list(holder.iter(kind))
        place = next(at for at, one in enumerate(sets) if one.get("title") == title)
        holder.set(choice, str(place + 1) if section == "Tree" else sets[place].get("id") or "")
    build = root.find("Build")
    assert build is not None
    build.set("level", str(level))
    build.set("characterLevelAutoMode", "false")
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def with_main(xml: bytes, index: int) -> bytes:
    """Return the file with another group, from 1, as the main one."""
    root = etree.fromstring(xml)
    build = root.find("Build")
    assert build is not None
    build.set("mainSocketGroup", str(index))
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def with_part(xml: bytes, index: int) -> bytes:
    """Return the file with another part of its main skill chosen, from 1."""
    root = etree.fromstring(xml)
    build = root.find("Build")
    assert build is not None
    group = list(root.iter("Skill"))[int(build.get("mainSocketGroup") or 1) - 1]
    gem = next(group.iter("Gem"))
    for old in list(gem.iter("StatSetIndex")):
        gem.remove(old)
    etree.SubElement(gem, "StatSetIndex", grantedEffect=gem.get("skillId") or "", index=str(index))
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)
