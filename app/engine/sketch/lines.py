"""Item and passive lines: wording of a stat, and back."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from app.engine.protocol import Refused
from app.engine.sketch.pack import Amount, Number, Pack, Span, Spans

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FLAGS = re.compile(r"\{[^}]*\}")


class Wording:
    """Writes stats as lines that Path of Building reads, and reads such lines."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._stats_by_shape = {stat.line: key for key, stat in pack.stats.items()}

    def line(self, stat: str, amount: Amount) -> str:
        """Return the line of a stat with its number(s)."""
        return self._fill(stat, [_plain(number) for number in parts(amount)])

    def span_line(self, stat: str, spans: Spans) -> str:
        """Return the line with ranges as the game shows them: +(10-19) to maximum Life."""
        texts = []
        for span in span_parts(spans):
            low, high = span if isinstance(span, tuple) else (span, span)
            texts.append(_plain(low) if low == high else f"({_plain(low)}-{_plain(high)})")
        return self._fill(stat, texts)

    def read(self, line: str) -> tuple[str, Amount] | None:
        """Return stat and number(s) of a line, or None when the pack has no such wording."""
        text = _FLAGS.sub("", line).strip()
        stat = self._stats_by_shape.get(_NUMBER.sub("#", text))
        numbers = [float(n) for n in _NUMBER.findall(text)]
        if stat is None:
            return None
        if len(numbers) == 2:
            return stat, (numbers[0], numbers[1])
        return stat, numbers[0] if numbers else 1

    def _fill(self, stat: str, texts: list[str]) -> str:
        line = self._pack.stats[stat].line
        for text in texts:
            line = line.replace("#", text, 1)
        return line


def parts(amount: Amount) -> tuple[Number, ...]:
    """Return the numbers of an amount as a tuple."""
    return amount if isinstance(amount, tuple) else (amount,)


def mean(amount: Amount) -> float:
    """Return what the calculator uses: the number, or the middle of "# to #"."""
    return sum(amount) / 2 if isinstance(amount, tuple) else float(amount)


def span_parts(spans: Spans) -> tuple[Span, ...]:
    """Return the span of each number of a line; a pair of plain numbers is one span."""
    if isinstance(spans, tuple) and any(isinstance(span, tuple) for span in spans):
        return spans
    return (spans,)  # type: ignore[return-value]  # what is left is a number or a pair of numbers


def rolled(spans: Spans, roll: float) -> Amount:
    """Return the amount at a place 0.0-1.0 of its range, rounded half up at the decimals of its ends, as PoB does."""
    numbers: list[Number] = []
    for span in span_parts(spans):
        if isinstance(span, tuple):
            low, high = span
            scale: int = 10 ** max(_decimals(low), _decimals(high))
            value = math.floor((low + roll * (high - low)) * scale + 0.5 + 1e-9)
            numbers.append(value if scale == 1 else value / scale)
        else:
            numbers.append(span)
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def _decimals(number: Number) -> int:
    return len(str(number).partition(".")[2]) if isinstance(number, float) else 0


def _plain(number: Number) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:g}"


ALLOCATES = "Allocates "
"""Starts the line of what an amulet is anointed with, an enchantment."""

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
    """The parts of an item text; `lines` are all mod lines, the first `implicits` of them implicit or from runes.

    `anoint`: the notable that it allocates, which is none of the lines.
    """

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
    anoint: str = ""

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
    base, rest = rest[0], rest[1:]
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
    implicits = _number(headers, "Implicits", 0)
    anoints = [line for line in lines[:implicits] if line.startswith(ALLOCATES)]
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
        implicits=implicits - len(anoints),
        lines=tuple(line for line in lines if line not in anoints),
        anoint=anoints[0].removeprefix(ALLOCATES) if anoints else "",
    )


def _number(headers: dict[str, list[str]], name: str, default: int) -> int:
    found = re.match(r"\+?(\d{1,5})", headers.get(name, [""])[0])
    return int(found[1]) if found else default
