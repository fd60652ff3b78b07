"""Item text as Path of Building writes it, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.engine.protocol import Refused

_MOST_CHARACTERS = 6000
_AFFIX = re.compile(r"(Prefix|Suffix): (?:\{range:([\d.]+)\})?(\S+)")
_HEADER = re.compile(
    r"(Item Level|Quality|Sockets|Rune|Implicits|LevelReq|Crafted|Prefix|Suffix|Unique ID|Armour|Evasion"
    r"|Energy Shield|ArmourBasePercentile|EvasionBasePercentile|EnergyShieldBasePercentile|Limited to|Radius"
    r"|Spirit|Ward|Block chance|CatalystQuality|Catalyst|Charm Slots|Selected Variant): ?(.*)"
)
_TAGS = re.compile(r"\{(?!range)[^}]*\}")


@dataclass(frozen=True)
class ItemText:
    """The parts of an item text; `lines` are all mod lines, the first `implicits` of them implicit or from runes."""

    rarity: str
    title: str
    base: str
    item_level: int
    quality: int
    sockets: int
    runes: tuple[str, ...]
    prefixes: tuple[tuple[str, float], ...]
    suffixes: tuple[tuple[str, float], ...]
    implicits: int
    lines: tuple[str, ...]

    @property
    def explicit(self) -> tuple[str, ...]:
        """Return the lines after the implicit ones."""
        return self.lines[self.implicits :]


def read(text: str) -> ItemText:
    """Take an item text apart.

    Raises:
        Refused: it is no item text, or an absurdly long one.
    """
    if len(text) > _MOST_CHARACTERS:
        raise Refused(f"item text is longer than {_MOST_CHARACTERS} characters")
    raw = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if len(raw) < 2 or not raw[0].startswith("Rarity:"):
        raise Refused("item text does not start with its rarity")
    rarity = raw[0].removeprefix("Rarity:").strip().upper()
    titled = rarity in ("RARE", "UNIQUE", "RELIC") and len(raw) > 2
    title, rest = (raw[1], raw[2:]) if titled else ("", raw[1:])
    return _body(rarity, title, rest[0], rest[1:])


def _body(rarity: str, title: str, base: str, rest: list[str]) -> ItemText:
    headers: dict[str, list[str]] = {}
    affixes: dict[str, list[tuple[str, float]]] = {"Prefix": [], "Suffix": []}
    lines: list[str] = []
    for line in rest:
        affix = _AFFIX.fullmatch(line)
        header = _HEADER.fullmatch(line)
        if affix:
            if affix[3] != "None":
                affixes[affix[1]].append((affix[3], float(affix[2] or 0.5)))
        elif header:
            headers.setdefault(header[1], []).append(header[2])
        else:
            lines.append(_TAGS.sub("", line))
    runes = tuple(headers.get("Rune", []))
    return ItemText(
        rarity=rarity,
        title=title,
        base=base,
        item_level=_number(headers, "Item Level", 1),
        quality=_number(headers, "Quality", 0),
        sockets=max(len(" ".join(headers.get("Sockets", [])).split()), len(runes)),
        runes=runes,
        prefixes=tuple(affixes["Prefix"]),
        suffixes=tuple(affixes["Suffix"]),
        implicits=_number(headers, "Implicits", 0),
        lines=tuple(lines),
    )


def _number(headers: dict[str, list[str]], name: str, default: int) -> int:
    found = re.match(r"\+?(\d{1,5})", headers.get(name, [""])[0])
    return int(found[1]) if found else default
