"""Reads what is told of a build as a stranger would, with nothing but the file and Path of Building beside it.

A sentence is known by its kind (grammar.yaml): a template whose places (`<num:Life>`, `<gems>`) are held against the
file. A sentence of no known kind is a fault, so that nothing slips past.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from app.model.blueprint import ENEMIES
from app.model.damage import DamageKind
from tests.reading.build_file import BuildFile, Item, bounds, chosen, shape

_MARKS = {"✓": "met", "✗": "unmet", "-": "no effect", "?": "not understood"}


@dataclass
class Reader:
    """One reading. `faults`: what does not agree with the file, each with its line."""

    file: BuildFile
    sections: Mapping[str, list[str]]
    drafts: Sequence[tuple[float, float]] = ()
    """Damage and effective hit points of the drafts that were raced: nobody else can know them."""
    faults: list[str] = field(default_factory=list)
    read: int = 0
    own: str = ""
    """The option that the line at hand is about, which its reason may name."""
    known_to_owner: bool = False
    """Somebody's own file: what was in it before need not be told."""

    def whole(self) -> list[str]:
        """Read every line of every section and return the faults."""
        for title, lines in self.sections.items():
            kinds = GRAMMAR.get(title)
            if kinds is None:
                self.faults.append(f"no section is known as {title!r}")
                continue
            for line in lines:
                self.read += 1
                self.faults += [f"{title}: {line!r}: {fault}" for fault in self.line(kinds, line)]
        return self.faults if self.known_to_owner else [*self.faults, *self._missing()]

    def line(self, kinds: Sequence[str], line: str) -> list[str]:
        for kind in kinds:
            if (match := pattern(kind).fullmatch(line)) is not None:
                self.own = line.partition(" - ")[0]
                return list(_in_place(self, kind, match))
        return ["no kind of sentence that is known"]

    def _missing(self) -> Iterator[str]:
        """Yield what the file has and nobody tells."""
        told = "\n".join(line for lines in self.sections.values() for line in lines)
        for title, names in {
            "skill": {g.gems[0] for g in self.file.groups if g.enabled and g.gems and not g.source},
            "notable or keystone": {n.name for n in self.file.nodes if n.kind in ("notable", "keystone")},
            "unique": {item.title for item in self.file.items.values() if item.rarity == "UNIQUE"},
        }.items():
            yield from (f"the {title} {name} is in the file and told nowhere" for name in names if name not in told)

    def number(self, text: str, known: float | None, places: int = 0) -> Iterator[str]:
        """Yield a fault unless the figure is the known one, rounded."""
        if text in ("?", "no limit"):
            if (known is None) is not (text == "?") or (known is not None and known < 1e12):
                yield f"{text} is told, the file has {known}"
        elif known is None or abs(float(text.replace(",", "")) - known) > 0.5 / 10**places * 1.001:
            yield f"{text} is told, the file has {known}"

    def figure(self, key: str) -> float | None:
        """Return a figure; sums and factors of figures are written as "Spirit-SpiritUnreserved" and "100*Speed"."""
        if "-" in key:
            left, right = (self.figure(one) for one in key.split("-"))
            return None if left is None or right is None else left - right
        factor, _, name = key.rpartition("*")
        known = self.file.figures.get(name)
        return None if known is None else known * float(factor or 1)

    def sources(self) -> list[tuple[str, str, float]]:
        """Return the sources of damage that are told: name, kind, damage per second."""
        found = [re.match(r"(.+), (.+?): ([\d,]+) per second \(", line) for line in self.sections.get("Damage", [])]
        return [(m[1], m[2], float(m[3].replace(",", ""))) for m in found if m is not None]


def _in_place(reader: Reader, kind: str, match: re.Match[str]) -> Iterator[str]:
    """Yield what does not agree with the file in a sentence of a kind."""
    for (name, of), text in zip(_places(kind), match.groups(), strict=True):
        yield from CHECKS[name][1](reader, text, of)


Faults = Iterator[str]
Check = Callable[[Reader, str, str], Faults]


def _nothing(reader: Reader, text: str, of: str) -> Faults:
    yield from ()


def _num(reader: Reader, text: str, of: str) -> Faults:
    yield from reader.number(text, reader.figure(of))


def _dec(reader: Reader, text: str, of: str) -> Faults:
    yield from reader.number(text, reader.figure(of), 2)


def _back(reader: Reader, text: str, of: str) -> Faults:
    """What comes back is what regenerates, and what hits bring: Path of Building's LeechGainRate has gain on hit."""
    known = [reader.figure(of + key) or 0.0 for key in ("RegenRecovery", "LeechGainRate")]
    yield from reader.number(text, sum(known))


def _dps(reader: Reader, text: str, of: str) -> Faults:
    """The headline is the sum of the sources, each of which is held against the file by itself."""
    total = sum(dps for *_, dps in reader.sources())
    if abs(float(text.replace(",", "")) - total) > 0.5 + 0.5 * len(reader.sources()):
        yield f"{text} is told, the sources are {total:,.0f} together"


_OF_KIND = {
    "hits": ("TotalDPS",),
    "impale": ("ImpaleDPS",),
    "ignite": ("IgniteDPS", "TotalIgniteDPS"),
    "poison": ("PoisonDPS", "TotalPoisonDPS"),
    "bleeding": ("BleedDPS", "TotalBleedDPS"),
    "damage over time": ("TotalDot", "TotalDotDPS", "CausticGroundDPS", "BurningGroundDPS"),
    "triggered": ("MirageDPS",),
}
_ENDS = {"Culling strike": "CullMultiplier", "Reserved life": "ReservationDpsMultiplier"}
"""What saves the end of a fight, with Path of Building's factor of all that is dealt before."""
_DEALT = {
    "hits": DamageKind.HIT,
    "ignite": DamageKind.IGNITE,
    "poison": DamageKind.POISON,
    "bleeding": DamageKind.BLEED,
}
"""Kinds of which less may be had than Path of Building shows (docs/damage.md), or that only another part gives."""
_MINIONS = re.compile(r"(?:(\d+) x )?(.+)")


def _source(reader: Reader, text: str, of: str) -> Faults:
    """One source of the damage, with its figure and its share."""
    found = re.fullmatch(r"(.+), (.+?): ([\d,]+) per second \((\d+)%\)", text)
    assert found is not None
    name, kind, told, share = found[1], found[2], float(found[3].replace(",", "")), int(found[4])
    name = reader.file.monsters.get(name, name)
    total = sum(dps for *_, dps in reader.sources())
    if abs(100 * told / total - share) > 1:
        yield f"{share}% is told, it is {100 * told / total:.1f}%"
    if name in _ENDS:
        before = total - sum(dps for one, _, dps in reader.sources() if one in _ENDS)
        factors = [reader.file.figures.get(of + factor, 1.0) for factor in _ENDS.values() for of in ("", "Minion.")]
        if not any(abs(told - before * (some - 1)) <= 0.01 * told for some in (*factors, factors[0] * factors[2])):
            yield f"{name} of {told:,.0f} is told, the file has {factors}"
        return
    if kind == "minions":
        counted = _MINIONS.fullmatch(name)
        assert counted is not None
        name = reader.file.monsters.get(counted[2], counted[2])
        one = reader.file.minions.get(name, {})
        hits, impale = one.get("TotalDPS", 0.0), one.get("ImpaleDPS", 0.0)
        known = [int(counted[1] or 1) * dps for dps in (hits, hits + impale)]
    elif (counted := _MINIONS.fullmatch(name)) is not None and counted[2] in reader.file.minions:
        known = [reader.file.minions[counted[2]].get(key, 0.0) for key in _OF_KIND.get(kind, ())]
        known += [int(counted[1] or 1) * dps for dps in known]
        name = counted[2]
    else:
        known = [reader.file.figures[key] for key in _OF_KIND.get(kind, ()) if key in reader.file.figures]
    if kind == "damage over time":
        known += [one for part in reader.file.parts for one in _lasting(part)]
    if kind in _DEALT:
        known += [one for one in reader.file.dealt.get(_DEALT[kind], []) if one <= 1.01 * max(known, default=one)]
    main = reader.file.main.gems[0] if reader.file.main.gems else ""
    of_main = name.split()[0] == main.split()[0] or (name == "Artillery" and "Ballista" in main)  # what a totem uses
    if name.partition(":")[0] not in reader.file.everything and not of_main:
        yield f"{name} is not in the file"
    if not any(abs(told - one) <= max(1.0, 0.01 * one) for one in known if one > 0):
        yield f"{kind} of {told:,.0f} is told, the file has {known}"


def _lasting(part: Mapping[str, float]) -> list[float]:
    """Return what a part deals over time: all the time, and for the share of time that a use lasts until the next."""
    share = min(1.0, part.get("Duration", 0.0) * part.get("Speed", 0.0)) or 1.0
    return [part.get("TotalDot", 0.0), part.get("TotalDot", 0.0) * share]


def _listed(text: str) -> list[str]:
    """Return the names of a list "a, b and c"; a name may have an "and" of its own, which whoever asks must join."""
    return [part for part in re.split(r", | and ", text) if part]


def _all_in(names: set[str], text: str) -> Faults:
    left = text
    for name in sorted(names, key=len, reverse=True):
        left = re.sub(rf"(?<![^\s,:(]){re.escape(name)}(?![^\s,.:;)])", "", left)
    yield from (f"{part.strip()} is not in the file" for part in re.split(r", | and |,|\band\b", left) if part.strip())


def _gems(reader: Reader, text: str, of: str) -> Faults:
    yield from _all_in(reader.file.gems, text)


def _skills(reader: Reader, text: str, of: str) -> Faults:
    leaders = {group.gems[0] for group in reader.file.groups if group.enabled and group.gems}
    yield from _all_in(leaders | {name for g in reader.file.groups for name in g.gems} & reader.file.gems, text)


def _taken(reader: Reader, text: str, of: str) -> Faults:
    """Passives that a change brought: those that are named are allocated, of the others there are as many at least."""
    names = [one for one in text.split(", ") if not one[0].isdigit()]
    yield from _all_in({node.name for node in reader.file.nodes}, ", ".join(names))
    if sum(int(number) for number in re.findall(r"\b(\d+) (?:more|small)", text)) > len(reader.file.nodes):
        yield f"{text} is told, the file has {len(reader.file.nodes)} passives"


def _main(reader: Reader, text: str, of: str) -> Faults:
    if text not in reader.file.main.gems:
        yield f"{text} is not the main skill: {reader.file.main.gems}"


def _supports(reader: Reader, text: str, of: str) -> Faults:
    yield from _all_in(set(reader.file.main.gems[1:]), text)


def _who(reader: Reader, text: str, of: str) -> Faults:
    if text not in (reader.file.ascendancy, reader.file.class_name, "none" if reader.file.ascendancy is None else ""):
        yield f"{text} is told, the file is {reader.file.class_name} {reader.file.ascendancy}"


def _name(reader: Reader, text: str, of: str) -> Faults:
    """A build is called by its main skill and who plays it."""
    who = reader.file.ascendancy or reader.file.class_name
    if text not in {f"{skill} {who}" for skill in reader.file.main.gems}:
        yield f"the file is {reader.file.main.gems} of a {who}"


def _ascendancy_notables(reader: Reader, text: str, of: str) -> Faults:
    have = {n.name for n in reader.file.nodes if n.ascendancy and n.kind == "notable"}
    yield from _all_in(have, text)
    yield from (f"{name} is in the file and not told" for name in have if name not in text)


def _bases(reader: Reader, text: str, of: str) -> Faults:
    yield from _all_in({item.base for item in reader.file.items.values()} | {"bare hands", "nothing in hand"}, text)


def _owned(reader: Reader, text: str, of: str) -> Faults:
    if text not in reader.file.everything:
        yield f"{text} is not in the file"


def _level(reader: Reader, text: str, of: str) -> Faults:
    if int(text) != reader.file.level:
        yield f"level {text} is told, the file has {reader.file.level}"


def _prose(reader: Reader, text: str, of: str) -> Faults:
    """Words: no figure, and no name of the game but of what the file has or of what the line is about."""
    if re.search(r"\d", text):
        yield f"there is a figure in {text!r}"
    for name in sorted(reader.file.names.telling - reader.file.everything):
        part = any(name in other and other in text for other in reader.file.everything)
        if name in text and re.search(rf"\b{re.escape(name)}\b", text) and name not in reader.own and not part:
            yield f"{name} is named and not in the file"


def _unchosen(reader: Reader, text: str, of: str) -> Faults:
    """What was not chosen is not in the file, and is not what was decided."""
    question, _, option = reader.own.partition(": ")
    head = option.partition(" with ")[0]
    known = reader.file.gems | {reader.file.ascendancy or ""}
    if question != "Damage delivery":  # Staggering Palm is a skill, and a passive
        known |= reader.file.passives | {item.title for item in reader.file.items.values()}
    used = [name for name in {head, *_listed(head)} if name in known]
    yield from (f"{name} was not chosen and is in the file" for name in used)
    if any(line.startswith(f"{question}: {option} - ") for line in reader.sections.get("Decisions", [])):
        yield f"{option} is what was decided"


def _one_more(reader: Reader, text: str, of: str) -> Faults:
    """A further step names a passive that is not allocated."""
    if text in {n.name for n in reader.file.nodes if n.kind in ("notable", "keystone")}:
        yield f"{text} is allocated already"


def _milestones(reader: Reader, text: str, of: str) -> Faults:
    other = _set_ids(reader, "2")
    plain = [one for one in reader.file.nodes if one.ascendancy is None and one.kind != "start" and one.id not in other]
    count, found = 0, re.fullmatch(r"(\d+) points in order(?:; with point: (.+))?", text)
    assert found is not None
    if int(found[1]) != len(plain):
        yield f"{found[1]} points are told, the file has {len(plain)}"
    left = sorted(one.name for one in plain if one.kind in ("notable", "keystone", "socket"))
    told = re.findall(r"(\d+) (\D.*?)(?:, (?=\d)|$)", found[2] or "")
    for point, name in told:
        if int(point) <= count or int(point) > len(plain):
            yield f"point {point} does not follow point {count} of {len(plain)}"
        count = int(point)
        if name not in left:
            yield f"{name} is told once more than the file has it"
        else:
            left.remove(name)
    yield from (f"{name} is in the file and not told" for name in left)


def _gem_step(reader: Reader, text: str, of: str) -> Faults:
    found = re.fullmatch(r"level (\d+): (.+?)(?: with (.+))?", text)
    assert found is not None
    if not 1 <= int(found[1]) <= reader.file.level:
        yield f"level {found[1]} comes after the file's {reader.file.level}"
    if found[2] not in reader.file.gems:
        yield f"{found[2]} is not in the file"
    yield from _all_in(reader.file.supports(found[2]), found[3] or "")


_ITEM = re.compile(
    r"(?P<slot>[^:]+): (?P<name>.+?)(?: \(item level (?P<level>\d+)\): (?P<lines>.*?))?"
    r"(?: · runes (?P<runes>.*?))?(?: · one tier lower: (?P<lower>.*))?"
)
_LOSS = r"(?:-\d+% DPS)?(?:, )?(?:-\d+% EHP)?(?:, )?(?:needed)?|nice to have"


def _shopping(reader: Reader, text: str, of: str) -> Faults:
    found = _ITEM.fullmatch(text)
    assert found is not None
    item = reader.file.items.get(found["slot"])
    if item is None:
        yield f"nothing is in {found['slot']}"
        return
    named = item.title + ", " + item.base if item.rarity == "UNIQUE" else f"{item.rarity.lower()} {item.base}"
    if re.sub(r" \((?:common|rare|chase)(?:: [^)]*)?\)$", "", found["name"]) != named:
        yield f"{found['name']} is told, the file has {named}"
    if sorted((found["runes"] or "").split(", ") if found["runes"] else []) != sorted(item.runes):
        yield f"runes {found['runes']} are told, the file has {item.runes}"
    if found["level"] and item.rarity != "UNIQUE" and int(found["level"]) != item.level:
        yield f"item level {found['level']} is told, the file has {item.level}"
    yield from _affixes(item, found["lines"] or "")


def _lines(told: str) -> list[str]:
    """Return the lines of an item as they are told, without what the build loses without them."""
    return [line for entry in told.split("; ") if entry for line in re.sub(r" \[[^]]*\]$", "", entry).split(" / ")]


def _affixes(item: Item, told: str) -> Faults:
    """Lines of one kind add up in the file: each sum lies within what is told."""
    sums: dict[str, list[tuple[float, float]]] = {}
    for line in (_bare(line) for line in _lines(told)):
        known = sums.setdefault(shape(line), [])
        new = bounds(line)
        sums[shape(line)] = [(a + c, b + d) for (a, b), (c, d) in zip(known, new, strict=True)] if known else new
    for loss in re.findall(r"\[([^]]*)\]", told):
        if re.fullmatch(_LOSS, loss) is None:
            yield f"[{loss}] says nothing that is known"
    for kind, wanted in sums.items():
        have = [bounds(line) for line in item.lines if shape(line) == kind]
        if not have:
            yield f"no line of {item.base} is {kind!r}: {item.lines}"
        elif not any(_within(one, wanted) for one in [*have, _added(have)]) and not _one_each(have, told, kind):
            yield f"{kind!r} is {have} in the file, {wanted} is told"


def _bare(line: str) -> str:
    """Return a line as the item has it: what an amulet is anointed with is told with the emotions that do it."""
    return re.sub(r"^(Allocates .+) \((?:[A-Z][a-z]+, ){2}[A-Z][a-z]+\)$", r"\1", line)


def _added(lines: list[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    return [(sum(low for low, _ in place), sum(high for _, high in place)) for place in zip(*lines, strict=True)]


def _one_each(have: list[list[tuple[float, float]]], told: str, kind: str) -> bool:
    """Say whether each line that is told is a line of the file by itself."""
    lines = [bounds(line) for line in _lines(told) if shape(line) == kind]
    return all(any(_within(one, line) for one in have) for line in lines)


def _within(have: list[tuple[float, float]], told: list[tuple[float, float]]) -> bool:
    return all(low - 1 <= least and most <= high + 1 for (least, most), (low, high) in zip(have, told, strict=True))


def _tiers(reader: Reader, text: str, of: str) -> Faults:
    """The tier of the build itself has the build's own figures."""
    gear = next((m[1] for line in reader.sections["You asked for"] if (m := re.match(r"gear: (\w+)", line))), "")
    own = re.search(rf"{gear} ([\d,]+) DPS, ([\d,]+) EHP", text)
    if own is None:
        yield f"the build's own tier {gear} is not told"
        return
    yield from _dps(reader, own[1], "")
    yield from reader.number(own[2], reader.figure("TotalEHP"))


def _tree(reader: Reader, text: str, of: str) -> Faults:
    if text != reader.file.tree_version:
        yield f"tree {text} is told, the file has {reader.file.tree_version}"


def _consumables(reader: Reader, text: str, of: str) -> Faults:
    pools = {"Life Flask": reader.file.figures.get("Life", 0.0), "Mana Flask": reader.file.figures.get("Mana", 0.0)}
    full = tuple(kind for kind, pool in pools.items() if pool <= 1)  # Chaos Inoculation and Blood Magic leave none
    have = [
        i.base for slot, i in sorted(reader.file.items.items()) if slot.startswith(of) and not i.base.endswith(full)
    ]
    if sorted(text.split(", ")) != sorted(have):
        yield f"{text} is told, the file has {have}"


def _kept_on(reader: Reader, text: str, of: str) -> Faults:
    """What is switched on once is what the decisions say of Spirit, or what an item or a passive grants."""
    granted = {name for group in reader.file.groups if group.source for name in group.gems}
    yield from _gems(reader, text.replace(" with ", ", "), of)
    spirit = next((line for line in reader.sections.get("Decisions", []) if line.startswith("Spirit: ")), "")
    for name in re.split(r", (?! )", text.partition(" with ")[0]):
        if name not in spirit and name not in granted:
            yield f"{name} is not among the decisions of Spirit: {spirit}"


def _nodes_count(reader: Reader, text: str, of: str) -> Faults:
    if int(text) > len(reader.file.nodes):
        yield f"{text} passives are told, the file has {len(reader.file.nodes)}"


_KEY = {
    "damage per second": "DPS", "effective hit points": "TotalEHP", "life": "Life", "Energy Shield": "EnergyShield",
    "mana": "Mana", "Spirit": "Spirit", "armour": "Armour", "evasion rating": "Evasion", "evasion": "Evasion",
    "fire resistance": "FireResist", "cold resistance": "ColdResist", "lightning resistance": "LightningResist",
    "chaos resistance": "ChaosResist", "chance to block": "EffectiveBlockChance", "chance to evade": "EvadeChance",
    "attacks per second": "Speed", "casts per second": "Speed", "chance of a critical hit": "CritChance",
    "life regenerated per second": "LifeRegenRecovery", "mana regenerated per second": "ManaRegenRecovery",
    "Energy Shield recharged per second": "EnergyShieldRecharge",
    "Strength": "Str", "Dexterity": "Dex", "Intelligence": "Int",
    "largest physical hit survived": "PhysicalMaximumHitTaken",
    "largest chaos hit survived": "ChaosMaximumHitTaken", "mana per use of the main skill": "ManaCost",
}  # fmt: skip
_MULTIPLIERS = {"added movement speed": "EffectiveMovementSpeedMod", "critical damage bonus": "CritMultiplier"}
_ELEMENTS = ("FireResist", "ColdResist", "LightningResist")
_HITS = ("FireMaximumHitTaken", "ColdMaximumHitTaken", "LightningMaximumHitTaken")
_TARGET = re.compile(
    r"(?:(?P<hit>largest .+? survived) of )?at (?P<bound>least|most) (?P<n>[\d,.]+)(?: %)? ?(?P<what>.*)"
)


def _asked(reader: Reader, text: str, of: str) -> Faults:
    """One line of "Asked and reached": the mark agrees with the file, and what was reached is in it."""
    mark, body = text[0], text[2:]
    if _MARKS[mark] == "not understood":
        return
    found = re.fullmatch(r'(?P<wish>.+?)(?: \("(?P<said>.*?)"\))?: (?P<reached>.*)', body)
    if found is None:
        yield "no kind of wish that is known"
        return
    wish, reached = found["wish"], found["reached"]
    if body.startswith(_REFINED):
        yield from _refined(reader, mark, reached)
        return
    if mark == "-":
        if not reached.startswith("no effect; "):
            yield "a wish without effect does not say so"
        return
    nearest = reached.removeprefix("not reached; the nearest: ")
    if (mark == "✗") is not (nearest != reached):
        yield f"{mark} stands before {reached!r}"
    yield from (_target if _TARGET.fullmatch(wish) else _named_wish)(reader, wish, nearest, mark == "✓")


_REFINED = ("15% more ", "more damage and effective hit points", "a main skill that is paid for", "left as it is")
_GAINS = re.compile(r"([+-][\d.]+) % effective hit points, ([+-][\d.]+) % damage; \d+ changes?")


def _refined(reader: Reader, mark: str, reached: str) -> Faults:
    """What a refinement was for: its gains are those of "Changes", and what was to be left was."""
    changes = reader.sections.get("Changes", [])
    if (mark == "✓") is not (reached == "untouched" or reached in changes):
        yield f"{mark} stands before {reached!r}, the changes are {changes[:1]}"


def _gained(reader: Reader, text: str, of: str) -> Faults:
    """Gains in percent are what the figures before and after, told below, come to; those after are the file's."""
    found, lines = _GAINS.fullmatch(text), "\n".join(reader.sections["Changes"])
    assert found is not None
    for told, name, key in ((found[1], "effective hit points", "TotalEHP"), (found[2], "DPS", "")):
        pair = re.search(rf"^{name}: ([\d,]+) → ([\d,]+)$", lines, re.MULTILINE)
        if pair is None:
            yield f"{name} before and after are not told"
            continue
        before, after = (float(one.replace(",", "")) for one in pair.groups())
        yield from reader.number(pair[2], reader.figure(key)) if key else _dps(reader, pair[2], "")
        if abs(100 * (after / before - 1) - float(told)) > 0.05 + 150 / before:
            yield f"{told} % is told, {before} → {after} is {100 * (after / before - 1):+.1f} %"


def _caveat(reader: Reader, text: str, of: str) -> Faults:
    """A caveat that is told again."""
    yield from reader.line(GRAMMAR["Caveats"], text)


def _worn_now(reader: Reader, text: str, of: str) -> Faults:
    """An item of the changes, as it is in the file: "Slot: before → rare Base: line; line (lever: gains)"."""
    found = re.fullmatch(r"([\w ]+): .+ → (\w+ .+?): (.+) \(\w+: .+\)", text)
    assert found is not None
    item = reader.file.items.get(found[1])
    if item is None or f"{item.rarity.lower()} {item.base}" != found[2]:
        yield f"{found[2]} is told, the file has {item}"
        return
    runes = re.findall(r"(\w[\w' ]+) in a socket", found[3])
    if sorted(runes) != sorted(item.runes):
        yield f"runes {runes} are told, the file has {item.runes}"
    yield from _affixes(item, "; ".join(one for one in found[3].split("; ") if not one.endswith(" in a socket")))


def _reached(reader: Reader, what: str) -> float | None:
    if what == "damage per second":
        return sum(dps for *_, dps in reader.sources()) or None
    if what in _MULTIPLIERS:
        times = reader.figure(_MULTIPLIERS[what])
        return None if times is None else 100 * times - 100
    keys = {"each elemental resistance": _ELEMENTS, "largest elemental hit survived": _HITS}.get(
        what, (_KEY.get(what, ""),)
    )
    known = [one for key in keys if (one := reader.figure(key)) is not None]
    return min(known) if known else None


def _target(reader: Reader, wish: str, reached: str, met: bool) -> Faults:
    found, figure = _TARGET.fullmatch(wish), re.match(r"-?[\d,]+(?:\.\d+)?", reached)
    assert found is not None
    known, wanted = _reached(reader, found["hit"] or found["what"]), float(found["n"].replace(",", ""))
    if figure is None or known is None:
        yield f"no figure is told for {wish!r}, or the file has none"
        return
    slack = 1 if wish.endswith("damage per second") else 0
    if abs(float(figure[0].replace(",", "")) - known) > slack + 0.51 / 10 ** len(figure[0].partition(".")[2]):
        yield f"{figure[0]} is told, the file has {known}"
    near = 0.51 if "." not in found["n"] else 0.0051
    holds = known <= wanted + near if found["bound"] == "most" else known >= wanted - near
    if holds is not met:
        yield f"{wish} is told as {'met' if met else 'unmet'}, the file has {known}"


def _named_wish(reader: Reader, wish: str, reached: str, met: bool) -> Faults:
    """A wish for a thing, or for the want of one, and wishes whose answer is a sentence of its own."""
    file, (word, _, what) = reader.file, wish.partition(" ")
    have = {"class": file.class_name, "ascendancy": file.ascendancy or "none", "level": str(file.level)}
    told = reached.partition("; tried: ")[0].partition("; no build can: ")[0]
    if word in have:
        if (have[word] in what.split(" or ")) is not met or have[word] not in reached:
            yield f"the file has {have[word]}"
    elif word == "skill":
        if any(name.startswith(one) for name in file.main.gems for one in what.split(" or ")) is not met:
            yield f"the main skill is {file.main.gems}"
    elif word == "with":
        known = {name.casefold() for name in file.everything}
        if (what.casefold() in known or reached.startswith(("granted by", "allocated by"))) is not met:
            yield f"{what} is {'not ' if met else ''}in the file"
    elif word == "without":
        yield from _without(file, what, told, met)
    else:
        yield from _answer(reader, told)


_SHIELD = re.compile(r"([\d,]+) Energy Shield beside ([\d,]+) life")


def _without(file: BuildFile, what: str, told: str, met: bool) -> Faults:
    if (shield := _SHIELD.fullmatch(told)) is not None:
        have = [round(file.figures.get(key, 0.0)) for key in ("EnergyShield", "Life")]
        if [int(figure.replace(",", "")) for figure in shield.groups()] != have or met is not (have[0] * 10 <= have[1]):
            yield f"{told} is told, the file has {have}"
        return
    if what in ("es", "energy shield") and file.figures.get("EnergyShield"):
        yield f"the file has {file.figures['EnergyShield']} Energy Shield"
    stem = {"es": "energy shield"}.get(what.casefold(), what.casefold().removesuffix("s"))
    left = [name for name in file.everything if re.search(rf"\b{re.escape(stem)}", name.casefold())]
    if met and left:
        yield f"{left} are in the file"
    named = [name.removesuffix(" (granted)") for name in _listed(told.removeprefix("left in: "))]
    yield from (f"{name} is not in the file" for name in named if not met and name not in file.everything)


def _answer(reader: Reader, told: str) -> Faults:
    answers = [list(_in_place(reader, kind, match)) for kind in REACHED if (match := pattern(kind).fullmatch(told))]
    if not answers:
        yield f"no kind of answer that is known: {told!r}"
    elif all(answers):
        yield from answers[0]


def _over_time(reader: Reader, text: str, of: str) -> Faults:
    total = sum(dps for *_, dps in reader.sources())
    slow = sum(dps for _, kind, dps in reader.sources() if kind in of.split("|"))
    if total and abs(100 * slow / total - int(text)) > 1:
        yield f"{text}% is told, it is {100 * slow / total:.1f}%"


def _dots(figures: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {one: figures.get(f"{prefix}{one.capitalize()}Dot", 0.0) for one in _TYPES}


_TYPES = ("physical", "fire", "cold", "lightning", "chaos")


def _shares(reader: Reader, text: str, of: str) -> Faults:
    """Shares of damage types, held against hits and ailments of the file."""
    figures = reader.file.figures
    prefix = "Minion." if "TotalDPS" not in figures or not figures.get("TotalDPS") else ""
    hits = {one: figures.get(f"{prefix}{one.capitalize()}HitAverage", 0.0) for one in _TYPES}
    dealt = {} if prefix else {kind: sum(values) for kind, values in reader.file.dealt.items()}
    scale = dealt.get(DamageKind.HIT, figures.get(f"{prefix}TotalDPS", 0.0)) / max(sum(hits.values()), 1.0)
    parts = {one: hit * scale for one, hit in hits.items()}
    for one, kind in (("fire", DamageKind.IGNITE), ("chaos", DamageKind.POISON), ("physical", DamageKind.BLEED)):
        parts[one] += dealt.get(kind, figures.get(f"{prefix}{kind.value.capitalize()}DPS", 0.0))
    lasting = sum(dps for _, kind, dps in reader.sources() if kind == "damage over time")
    dots = next((d for f in (figures, *reader.file.parts) if any((d := _dots(f, prefix)).values())), {})
    is_all = lasting == sum(dps for *_, dps in reader.sources()) and not any(hits.values())
    if is_all and lasting and not dots:  # the engine names no type: what the skill's gem says counts
        return
    for one, dot in dots.items():
        parts[one] += lasting * dot / sum(dots.values())
    total = sum(parts.values())
    for share, one in re.findall(r"(\d+)% (\w+)", text):
        if not total or abs(100 * parts.get(one, 0.0) / total - int(share)) > 1.5:
            yield f"{share}% {one} is told, the file has {parts}"


_PRESET = {"enemyIsBoss": "Pinnacle"}
"""What Path of Building takes where the file says nothing."""


def _config(reader: Reader, text: str, of: str) -> Faults:
    have = reader.file.configuration.get(of, _PRESET.get(of))
    if have != text:
        yield f"{text} is told, the file has {have}"


def _enemy(reader: Reader, text: str, _of: str) -> Faults:
    yield from _config(reader, next((name for name, words in ENEMIES.items() if words == text), text), "enemyIsBoss")


_FIGURE = r"-?[\d,]+|no limit|\?"


def _group(reader: Reader, text: str, of: str) -> Faults:
    """A skill group: exactly these gems stand together in the file."""
    skill, _, supports = text.partition(" with ")
    told = [skill, *(supports.split(", ") if supports else [])]
    if not any(one.enabled and sorted(one.gems) == sorted(told) for one in reader.file.groups):
        yield f"no group of the file has {told}"


def _drafted(reader: Reader, text: str, of: str) -> Faults:
    """Figures of a draft that was raced, as they were written down."""
    told = re.fullmatch(r"([\d.,]+)(k?) DPS / ([\d.,]+)(k?) EHP", text)
    assert told is not None
    pairs = [
        (float(one.replace(",", "")), 1000.0 if k else 1.0, one) for one, k in (told.groups()[:2], told.groups()[2:])
    ]

    def fits(known: tuple[float, float]) -> bool:
        return all(
            abs(value * k - one) <= 0.5001 * k / 10 ** len(as_text.partition(".")[2])
            for (value, k, as_text), one in zip(pairs, known, strict=True)
        )

    if not any(fits(one) for one in reader.drafts):
        yield f"no draft had {text}"


def _of_set(reader: Reader, text: str, of: str) -> Faults:
    """Passives that only one weapon set has."""
    yield from reader.number(text, float(len(_set_ids(reader, of))))


def _set_ids(reader: Reader, of: str) -> set[int]:
    held = chosen(reader.file.root, "Tree").find(f"WeaponSet{of}")
    return {int(one) for one in ("" if held is None else held.get("nodes") or "").split(",") if one}


def _second_set(reader: Reader, text: str, of: str) -> Faults:
    """The notables, keystones and sockets that only weapon set 2 has."""
    held = _set_ids(reader, "2")
    known = [n.name for n in reader.file.nodes if n.id in held and n.kind in ("notable", "keystone", "socket")]
    if sorted(_listed(text)) != sorted(known):
        yield f"{text} is told, weapon set 2 has {known}"


def _loadout(reader: Reader, text: str, of: str) -> Faults:
    """The build at a level: the file's loadout of that title, calculated anew."""
    found = re.fullmatch(
        r"(.+?): (.+?) · (\d+) passives(?: \+ (\d+))? · .+ DPS, ([\d,]+) EHP, ([\d,]+) life(?: \(estimate\))?",
        text,
    )
    assert found is not None
    title, own = found[1], reader.file
    file = own if title == f"Final {own.level}" else own.loadouts.get(title)
    if file is None:
        yield f"the file has no loadout {title}"
        return
    there = Reader(file, {})
    yield from _group(there, found[2], "")
    plain = [one for one in file.nodes if one.ascendancy is None and one.kind != "start"]
    other = chosen(file.root, "Tree").find("WeaponSet2")
    idle = 0 if other is None else len([one for one in (other.get("nodes") or "").split(",") if one])
    inside = [one for one in file.nodes if one.ascendancy is not None and one.kind != "ascendancy_start"]
    for told, known in ((found[3], len(plain) - idle), (found[4] or "0", len(inside))):
        if int(told) != known:
            yield f"{told} passives are told, the file has {known}"
    for told, key in ((found[5], "TotalEHP"), (found[6], "Life")):
        yield from there.number(told, there.figure(key))
    if not {one.name for one in file.nodes} <= {one.name for one in own.nodes}:
        yield f"{title} has passives that the finished build has not"


CHECKS: Mapping[str, tuple[str, Check]] = {
    "num": (_FIGURE, _num),
    "back": (_FIGURE, _back),
    "dec": (r"-?[\d,]+\.\d\d", _dec),
    "dps": (r"[\d,]+", _dps),
    "source": (r".+, [\w ]+: [\d,]+ per second \(\d+%\)", _source),
    "gems": (r".+?", _gems),
    "taken": (r".+?", _taken),
    "main": (r".+?", _main),
    "supports": (r".+?", _supports),
    "name": (r".+?", _name),
    "who": (r"[\w' ]+?", _who),
    "notables": (r".+?", _ascendancy_notables),
    "bases": (r".+?", _bases),
    "owned": (r".+?", _owned),
    "level": (r"\d+", _level),
    "prose": (r".+?", _prose),
    "unchosen": (r".+?", _unchosen),
    "more": (r".+?", _one_more),
    "milestones": (r"\d+ points in order(?:; with point: .+)?", _milestones),
    "step": (r"level \d+: .+", _gem_step),
    "item": (r"[\w ]+: .+", _shopping),
    "tiers": (r"\w+ [\d,]+ DPS, .*", _tiers),
    "tree": (r"\w+", _tree),
    "worn": (r".+?", _consumables),
    "kept": (r".+?", _kept_on),
    "count": (r"\d+", _nodes_count),
    "gained": (_GAINS.pattern.replace("(", "(?:"), _gained),
    "caveat": (r".+", _caveat),
    "worn_now": (r"[\w ]+: .+ → .+: .+ \(\w+: .+\)", _worn_now),
    "asked": (r"[✓✗?-] .+", _asked),
    "part": (r"\d+", _over_time),
    "shares": (r"\d+% \w+(?:(?:, | and )\d+% \w+)*", _shares),
    "config": (r"\w+", _config),
    "enemy": (r"[\w ]+", _enemy),
    "drafted": (r"[\d.,]+k? DPS / [\d.,]+k? EHP", _drafted),
    "of_set": (r"\d+", _of_set),
    "second_set": (r".+", _second_set),
    "group": (r".+?", _group),
    "loadout": (r".+ · .+ life.*", _loadout),
    "any": (r".+?", _nothing),
    "maybe": (r".*?", _nothing),
}  # fmt: skip
_PLACE = re.compile(r"<(\w+)(?::([^>]+))?>")


def _places(kind: str) -> list[tuple[str, str]]:
    return [(m[1], m[2] or "") for m in _PLACE.finditer(kind)]


@cache
def pattern(kind: str) -> re.Pattern[str]:
    """Return a kind of sentence as an expression with a group for each place."""
    parts = _PLACE.split(kind)
    texts = [re.escape(part) for part in parts[::3]]
    groups = [f"({CHECKS[name][0]})" for name in parts[1::3]]
    return re.compile("".join(one + group for one, group in zip(texts, [*groups, ""], strict=True)), re.DOTALL)


_TEXTS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("grammar.yaml").read_text(encoding="utf-8"))
GRAMMAR: Mapping[str, list[str]] = _TEXTS["sections"]
"""Every kind of sentence by section; the first that fits is the one."""
REACHED: list[str] = _TEXTS["reached"]
"""Kinds of answers to wishes that are neither a figure to reach nor a named thing."""


def sections_of(text: str) -> dict[str, list[str]]:
    """Return the sections of the text presentation: title → lines; what stands before them is "Head"."""
    found: dict[str, list[str]] = {"Head": []}
    for block in text.strip().split("\n\n"):
        lines = block.splitlines()
        if lines[0].endswith(":") and all(line.startswith("  ") for line in lines[1:]):
            found[lines[0].removesuffix(":")] = [line.strip() for line in lines[1:]]
        else:
            found["Head"] += lines
    return found


def sections_of_markdown(text: str) -> dict[str, list[str]]:
    """Return the sections of the Markdown presentation, what was escaped as it is read."""
    plain = re.sub(r"\\(.)", r"\1", text)
    parts = re.split(r"^## (.+)$", plain, flags=re.MULTILINE)[1:]
    return {
        title: [line.strip().removeprefix("- ") for line in body.strip().splitlines()]
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }
