"""An independent judge of items: reads an exported build and PoB's own tables, and says what nobody could craft.

Also a script: `python -m tests.pob.legality TIER FILE...` prints every fault.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from app.knowledge.uniques import unique_table
from tests.conftest import pob_home
from tests.pob.tables import Affix, Base, Span, Tables, Unique, spans, tables

TIERS = {"starter": (3, 40, 0), "mid": (3, 55, 2), "endgame": (5, 75, 4), "mirror": (6, 82, 4)}
"""Affixes per item, highest affix level (never above the character's), unique items."""

EMOTIONS = {
    "starter": "Ire Guilt Greed Paranoia Envy Disgust",
    "mid": "Ire Guilt Greed Paranoia Envy Disgust Despair Fear",
    "endgame": "Ire Guilt Greed Paranoia Envy Disgust Despair Fear Suffering Isolation",
    "mirror": "Ire Guilt Greed Paranoia Envy Disgust Despair Fear Suffering Isolation",
}
"""What amulets are anointed with, from level 65 on."""

_PER_SIDE = {"NORMAL": 0, "MAGIC": 1, "RARE": 3}
_SMALL = {"Jewel": 2, "Flask": 1, "Charm": 1}
_FIELD = re.compile(r"^(Item Level|Quality|Sockets|Rune|Implicits|Prefix|Suffix|Rarity|Crafted|Radius): ?(.*)$")
_HEADER = re.compile(r"^(?:[A-Z][A-Za-z ]{2,24}: |Requires (?:Level|Class) |Corrupted$|Limited to)")
"""What PoB writes between the name and the modifiers of an item: "Armour: 120", "Unique ID: ..."."""

_TAG = re.compile(r"\{([^}]*)\}")
MIDDLE = 0.5


@dataclass
class Item:
    """An item as it stands in the file."""

    rarity: str
    title: str
    base: str
    level: int = 1
    quality: int = 0
    sockets: int = 0
    runes: list[str] = field(default_factory=list)
    affixes: list[tuple[str, float, str]] = field(default_factory=list)
    rune_lines: list[str] = field(default_factory=list)
    enchants: list[str] = field(default_factory=list)
    implicits: list[str] = field(default_factory=list)
    explicits: list[str] = field(default_factory=list)
    radius: str = ""


def illegal_items(xml: bytes, home: Path, tier: str) -> list[str]:
    """Return every fault of the items of an exported build, in words; empty = all can be made within the tier."""
    root = etree.fromstring(xml)
    level = int(str(root.xpath("string(Build/@level)")))
    items = [read_item(str(node.xpath("string()"))) for node in root.iterfind("Items/Item")]
    known = tables(home)
    faults = [
        f"{item.title or item.base} ({item.base}): {fault}"
        for item in items
        for fault in faults_of(item, known, tier, level)
    ]
    worn, allowed = sum(item.rarity == "UNIQUE" for item in items), TIERS[tier][2]
    return faults + ([f"{worn} uniques, {tier} allows {allowed}"] if worn > allowed else [])


def read_item(text: str) -> Item:
    """Read PoB's item text."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    rarity = lines[0].removeprefix("Rarity: ")
    named = rarity in ("RARE", "UNIQUE")
    item = Item(rarity, lines[1] if named else "", lines[2] if named else lines[1])
    implicits = 0
    for line in lines[3 if named else 2 :]:
        found = _FIELD.match(line)
        if found:
            implicits = _put(item, found[1], found[2], implicits)
        elif implicits > 0:
            _beside(item, line).append(_TAG.sub("", line))
            implicits -= 1
        elif not _HEADER.match(line):
            item.explicits.append(_TAG.sub("", line))
    return item


def _beside(item: Item, line: str) -> list[str]:
    """Return where a line before the explicit ones belongs; those of runes are marked as enchantments too."""
    if "{rune}" in line:
        return item.rune_lines
    return item.enchants if "{enchant}" in line else item.implicits


def _put(item: Item, key: str, value: str, implicits: int) -> int:
    """Store one field; return how many implicit lines are still to come."""
    match key:
        case "Item Level":
            item.level = int(value)
        case "Quality":
            item.quality = int(value.strip("+%"))
        case "Sockets":
            item.sockets = value.count("S")
        case "Radius":
            item.radius = value
        case "Rune":
            item.runes += [value] if value != "None" else []
        case "Prefix" | "Suffix":
            name, roll = _TAG.sub("", value), re.search(r"\{range:([\d.]+)\}", value)
            item.affixes += [(key, float(roll[1]) if roll else MIDDLE, name)] if name != "None" else []
        case "Implicits":
            return int(value)
    return implicits


def faults_of(item: Item, known: Tables, tier: str, level: int) -> list[str]:
    """Return the faults of one item."""
    base = known.bases.get(_base_name(item, known))
    if base is None or base.hidden:
        return ["no such base"]
    general = [*_body_faults(item, base, level), *_rune_faults(item, base, known, level)]
    general += _anoint_faults(item, base, known, tier, level)
    if item.rarity == "UNIQUE":
        return [*general, *_unique_faults(item, known.uniques.get(item.title, []), base, tier, level)]
    return [*general, *_made_faults(item, base, known, tier, level)]


def _base_name(item: Item, known: Tables) -> str:
    """A magic item is named after its affixes, with the base somewhere in the middle."""
    if item.rarity != "MAGIC" or item.base in known.bases:
        return item.base
    return max((name for name in known.bases if name in item.base), key=len, default=item.base)


def _body_faults(item: Item, base: Base, level: int) -> list[str]:
    faults = []
    if base.level > level:
        faults.append(f"the base needs level {base.level}")
    if not 0 <= item.quality <= 20:
        faults.append(f"quality {item.quality}")
    if item.sockets > base.sockets:
        faults.append(f"{item.sockets} sockets, {base.sockets} can be made")
    small = "Small" if base.tags & {"radius_jewel"} else ""
    faults += [f"radius {item.radius or 'none'}"] if item.rarity != "UNIQUE" and item.radius != small else []
    faults += _line_faults(item.implicits, [line for line in base.implicits if line]) if item.rarity != "UNIQUE" else []
    return faults


def _anoint_faults(item: Item, base: Base, known: Tables, tier: str, level: int) -> list[str]:
    if not item.enchants:
        return []
    (line, *more), allowed = item.enchants, EMOTIONS[tier].split() if level >= 65 else []
    recipes = known.recipes.get(line.removeprefix("Allocates "), [])
    faults = ["two enchantments"] if more else []
    faults += [] if base.type == "Amulet" else [f"a {base.type} is anointed"]
    faults += [] if len(recipes) == 1 else [f"{len(recipes)} notables are meant by {line}"]
    missing = sorted({emotion for recipe in recipes for emotion in recipe} - set(allowed))
    return faults + [f"{tier} at level {level} has no {emotion}" for emotion in missing]


def _rune_faults(item: Item, base: Base, known: Tables, level: int) -> list[str]:
    faults = [f"{len(item.runes)} runes in {item.sockets} sockets"] if len(item.runes) > item.sockets else []
    lines: list[str] = []
    for name in item.runes:
        fitting = [rune for kind, rune in known.runes.get(name, {}).items() if kind in base.kinds]
        if not fitting:
            faults.append(f"{name} does nothing here")
        faults += [f"{name} needs level {rune.level}" for rune in fitting if rune.level > level]
        lines += [line for rune in fitting for line in rune.lines]
    return faults + _line_faults(item.rune_lines, [line for line in lines if _is_told(line, item)])


def _is_told(line: str, item: Item) -> bool:
    """PoB writes bonded lines only for characters that have bonded runes."""
    return not line.startswith("Bonded:") or any(told.startswith("Bonded:") for told in item.rune_lines)


def _made_faults(item: Item, base: Base, known: Tables, tier: str, level: int) -> list[str]:
    most, highest, _ = TIERS[tier]
    kind = base.type if base.type in ("Jewel", "Flask", "Charm") else "Item"
    if item.rarity == "RARE" and kind in ("Flask", "Charm"):
        return ["cannot be rare"]
    found = [(side, roll, name, known.affixes[kind].get(name)) for side, roll, name in item.affixes]
    faults = [f"no affix is called {name}" for _, _, name, affix in found if affix is None]
    affixes = [affix for *_, affix in found if affix is not None]
    for side, roll, name, affix in found:
        if affix is not None:
            wrong = _affix_faults(affix, side, roll, base, item.level, min(highest, level))
            faults += [f"{name}: {fault}" for fault in wrong]
    limit = min(_PER_SIDE.get(item.rarity, 0), _SMALL.get(base.type, 3))
    sides = Counter(affix.side for affix in affixes)
    faults += [f"{count} of {side}, {limit} fit" for side, count in sides.items() if count > limit]
    faults += [f"{len(affixes)} affixes, {tier} allows {most}"] if len(affixes) > most else []
    groups = Counter(affix.group for affix in affixes)
    faults += [f"{count} affixes of group {group}" for group, count in groups.items() if count > 1]
    return faults + _line_faults(item.explicits, [line for affix in affixes for line in affix.lines])


def _affix_faults(affix: Affix, side: str, roll: float, base: Base, item_level: int, highest: int) -> list[str]:
    faults = []
    if affix.weight_for(set(base.tags)) <= 0:
        faults.append("cannot spawn on the base")
    if affix.side != side:
        faults.append(f"is a {affix.side}")
    if affix.level > item_level:
        faults.append(f"needs item level {affix.level}")
    if affix.level > highest:
        faults.append(f"level {affix.level} is above the tier's {highest}")
    if roll != MIDDLE:
        faults.append(f"rolled at {roll}, not in the middle")
    return faults


def _line_faults(lines: Sequence[str], allowed: Sequence[str]) -> list[str]:
    """Compare what an item says with what may be said; lines that say the same may be one line with the sum."""
    told, may = _sums(lines), _sums(allowed)
    faults = [f'"{text}" belongs to nothing on it' for text in sorted(told.keys() - may.keys())]
    faults += [f'"{text}" is missing' for text in sorted(may.keys() - told.keys())]
    for text in sorted(told.keys() & may.keys()):
        if not all(_within(value, span) for value, span in zip(told[text], may[text], strict=True)):
            faults.append(f'"{text}" says {told[text]}, its range is {may[text]}')
    return faults


def _sums(lines: Iterable[str]) -> dict[str, list[Span]]:
    sums: dict[str, list[Span]] = {}
    for line in lines:
        text, found = spans(line)
        known = sums.get(text)
        added = [(a + c, b + d) for (a, b), (c, d) in zip(known, found, strict=True)] if known else found
        sums[text] = added
    return sums


def _within(value: Span, span: Span) -> bool:
    return span[0] - 1e-6 <= value[0] and value[1] <= span[1] + 1e-6


def _unique_faults(item: Item, known: Sequence[Unique], base: Base, tier: str, level: int) -> list[str]:
    """A unique exists on its base, can be had, its level fits, and it says nothing that none of its variants says."""
    fitting = [unique for unique in known if unique.base == item.base]
    if not fitting:
        return ["there is no such unique"]
    faults = [f"needs level {unique.level}" for unique in fitting if unique.level > level]
    sources = {line for unique in fitting for line in unique.lines if line.startswith("Source: ")}
    faults += [
        f"{tier}: {line}" for line in sorted(sources) if tier not in ("endgame", "mirror") or "No longer" in line
    ]
    table = unique_table()
    late = max(unique.level or base.level for unique in fitting) >= table.late_from
    reach = ("mirror",) if item.title in table.chase else ("endgame", "mirror")
    if (item.title in table.chase or item.title in table.rare or late) and tier not in reach:
        faults.append(f"{tier}: too hard to come by")
    ranges = [spans(line) for unique in fitting for line in unique.lines]
    for line in [*item.implicits, *item.explicits]:
        text, values = spans(line)
        same = [found for said, found in ranges if said == text]
        if not any(all(map(_within, values, found)) for found in same):
            faults.append(f'"{line}" is not one of its lines')
    return faults


def main(arguments: Sequence[str]) -> int:
    """Judge files of one tier; the exit code is 1 when anything is wrong, 2 when nothing could be judged."""
    home = pob_home()
    if home is None or len(arguments) < 2 or arguments[0] not in TIERS:
        sys.stderr.write(
            "usage: python -m tests.pob.legality starter|mid|endgame|mirror FILE... (PoB must be installed)\n"
        )
        return 2
    tier, names = arguments[0], arguments[1:]
    faults = [f"{name}: {fault}" for name in names for fault in illegal_items(Path(name).read_bytes(), home, tier)]
    sys.stdout.write("\n".join(faults or ["no faults"]) + "\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
