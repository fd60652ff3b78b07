"""Several loadouts in one Path of Building file: a tree, skills, items and configuration each, that share a title.

Path of Building lists as a loadout what has the same title in all four; one of each is active.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from lxml import etree

from app.core.errors import BadImport
from app.engine.files.xml import canonical, read, write
from app.model.guide import LEVELLING

_SETS = {
    "Spec": ("Tree", "activeSpec"),
    "SkillSet": ("Skills", "activeSkillSet"),
    "ItemSet": ("Items", "activeItemSet"),
    "ConfigSet": ("Config", "activeConfigSet"),
}
"""Per kind of set its section and the attribute that says which is active: an id, or a position for trees."""


def titles(xml: bytes) -> list[str]:
    """Return the titles of the file's loadouts, in the order of its trees; trees that stand alone are none.

    Raises:
        BadImport: this is not a PoB 2 build, or it exceeds the bounds for untrusted XML.
    """
    return _titles(read(xml))


def _titles(root: etree._Element) -> list[str]:
    if any(root.find(section) is None for section, _ in _SETS.values()):
        return []
    found = {tag: [str(one.get("title")) for one in _sets(root, tag) if one.get("title")] for tag in _SETS}
    return [title for title in dict.fromkeys(found["Spec"]) if all(title in others for others in found.values())]


def with_loadouts(xml: bytes, title: str, others: Mapping[str, bytes], level_by_points: bool = False) -> bytes:
    """Return the file, its active sets under the title, with the active sets of other files under theirs.

    What is active stays so. `level_by_points`: Path of Building then takes the level from the points that are spent,
    so that choosing a loadout also changes the level.

    Raises:
        BadImport: one is not a PoB 2 build with tree, skills, items and configuration, or together they are too large.
    """
    root = read(xml)
    for tag in _SETS:
        _active(root, tag).set("title", title)
    if level_by_points:
        _section(root, "Build").set("characterLevelAutoMode", "true")
    for name, other in others.items():
        _join(root, read(other), name)
    return canonical(write(root))


def loadout_of(xml: bytes, title: str, level: int) -> bytes:
    """Return the file with this loadout active, on a character of the level.

    Raises:
        BadImport: it is not a build, or has no such loadout.
    """
    root = read(xml)
    for tag, (section, choice) in _SETS.items():
        sets = _sets(root, tag)
        at = next((place for place, one in enumerate(sets) if one.get("title") == title), None)
        if at is None:
            raise BadImport(f"the build has no {tag} of the title {title[:40]!r}")
        _section(root, section).set(choice, str(at + 1) if tag == "Spec" else str(sets[at].get("id")))
    build = _section(root, "Build")
    build.set("level", str(level))
    build.set("characterLevelAutoMode", "false")
    return canonical(write(root))


def without_levelling(xml: bytes) -> bytes:
    """Return the file without its levelling loadouts and the items that only they wear; what is active stays.

    They lead to a finished build, so they are not those of a changed one.

    Raises:
        BadImport: this is not a PoB 2 build, or it exceeds the bounds for untrusted XML.
    """
    if f'title="{LEVELLING} '.encode() not in xml:  # most files; they are not even read
        return xml
    root = read(xml)
    unwanted = {title for title in _titles(root) if title.startswith(LEVELLING)}
    before = _worn(root)
    for tag, (section, choice) in _SETS.items():
        kept = _active(root, tag)
        for one in _sets(root, tag):
            if one is not kept and one.get("title") in unwanted:
                _section(root, section).remove(one)
        if tag == "Spec":
            _section(root, section).set(choice, str(_sets(root, tag).index(kept) + 1))
    gone = before - _worn(root)
    items = _section(root, "Items")
    for item in items.findall("Item"):
        if item.get("id") in gone:
            items.remove(item)
    return canonical(write(root))


def _join(root: etree._Element, other: etree._Element, title: str) -> None:
    """Put the other file's active sets and the items in them into the first one; equal items are there once."""
    items = _section(root, "Items")
    texts = {_text(item): str(item.get("id")) for item in items.findall("Item")}
    highest = max((int(number) for number in texts.values() if number.isdigit()), default=0)
    sets = {tag: deepcopy(_active(other, tag)) for tag in _SETS}
    numbers: dict[str, str] = {}
    worn = {place.get("itemId") for one in sets.values() for place in one.iter("Slot", "Socket")}
    for item in _section(other, "Items").findall("Item"):
        if item.get("id") not in worn:
            continue
        if _text(item) not in texts:
            highest += 1
            new = deepcopy(item)
            new.set("id", str(highest))
            items.insert(len(items.findall("Item")), new)
            texts[_text(item)] = str(highest)
        numbers[str(item.get("id"))] = texts[_text(item)]
    for tag, one in sets.items():
        for place in one.iter("Slot", "Socket"):
            place.set("itemId", numbers.get(str(place.get("itemId")), "0"))
        one.set("title", title)
        beside = _sets(root, tag)
        if tag != "Spec":
            one.set("id", str(1 + max(int(known.get("id") or 0) for known in beside)))
        beside[-1].addnext(one)


def _text(item: etree._Element) -> str:
    return "\n".join(line.strip() for text in item.itertext() for line in str(text).strip().splitlines())


def _worn(root: etree._Element) -> set[str | None]:
    return {place.get("itemId") for one in root.iter("ItemSet", "Spec") for place in one.iter("Slot", "Socket")}


def _section(root: etree._Element, name: str) -> etree._Element:
    found = root.find(name)
    if found is None:
        raise BadImport(f"the build has no section {name}")
    return found


def _sets(root: etree._Element, tag: str) -> list[etree._Element]:
    return _section(root, _SETS[tag][0]).findall(tag)


def active(root: etree._Element, tag: str) -> etree._Element | None:
    """Return the set of this kind that is chosen: by id, else by position; the first where nothing fits."""
    section, choice = _SETS[tag]
    parent = root.find(section)
    sets = [] if parent is None else parent.findall(tag)
    chosen = "1" if parent is None else parent.get(choice, "1")
    at = int(chosen) - 1 if chosen.isdecimal() else 0
    by_position = sets[at] if 0 <= at < len(sets) else sets[0] if sets else None
    return next((one for one in sets if one.get("id") == chosen), by_position)


def _active(root: etree._Element, tag: str) -> etree._Element:
    found = active(root, tag)
    if found is None:
        raise BadImport(f"the build has no {tag}")
    return found
