"""PoB's own item tables, read straight from its data files: nothing here comes through the product's engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lupa import luajit21

Span = tuple[float, float]
_NUMBER = re.compile(r"\((-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)\)|(\d+(?:\.\d+)?)")
_LEVEL = re.compile(r"^(?:Requires Level:? |LevelReq: )(\d+)")
_FLAGS = re.compile(r"^(?:\{[^}]*\})+")


@dataclass(frozen=True)
class Affix:
    """An affix as PoB's tables have it; `weights` in their order, the first tag that the base has decides."""

    side: str
    group: str
    level: int
    lines: tuple[str, ...]
    weights: tuple[tuple[str, float], ...]

    def weight_for(self, tags: set[str]) -> float:
        return next((weight for tag, weight in self.weights if tag in tags), 0.0)


@dataclass(frozen=True)
class Base:
    """An item base: its tags decide which affixes fit, `kinds` which entries of a rune."""

    type: str
    tags: frozenset[str]
    kinds: frozenset[str]
    level: int
    sockets: int
    implicits: tuple[str, ...]
    hidden: bool


@dataclass(frozen=True)
class Rune:
    """What a rune does in one kind of item, and the level it asks for."""

    lines: tuple[str, ...]
    level: int


@dataclass(frozen=True)
class Unique:
    """A unique item's base, level (0 = that of its base) and all lines of all its variants."""

    base: str
    level: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """All that is needed to judge an item; `affixes` by the kind of item (Item, Jewel, Flask, Charm).

    `recipes`: per name of a notable of the tree, the emotions of each that has it.
    """

    bases: dict[str, Base]
    affixes: dict[str, dict[str, Affix]]
    runes: dict[str, dict[str, Rune]]
    uniques: dict[str, list[Unique]]
    recipes: dict[str, list[tuple[str, ...]]]


def spans(line: str) -> tuple[str, list[Span]]:
    """Return a line with its numbers taken out, and the range of each number; a plain number is its own range."""
    found = [_span(match) for match in _NUMBER.finditer(line)]
    return _NUMBER.sub("#", line), found


def _span(match: re.Match[str]) -> Span:
    low, high = float(match[1] or match[3]), float(match[2] or match[3])
    return min(low, high), max(low, high)


@cache
def tables(home: Path) -> Tables:
    """Read the tables of the installed PoB."""
    data = home / "src" / "Data"
    lua = luajit21.LuaRuntime(unpack_returned_tuples=True)
    affixes = {name: _affixes(_load(lua, data / f"Mod{name}.lua")) for name in ("Item", "Jewel", "Flask", "Charm")}
    uniques = _uniques(lua, data) | _generated(lua, data)
    return Tables(_bases(lua, data), affixes, _runes(_load(lua, data / "ModRunes.lua")), uniques, _recipes(lua, home))


def _recipes(lua: Any, home: Path) -> dict[str, list[tuple[str, ...]]]:
    newest = max((home / "src" / "TreeData").glob("0_*/tree.lua"), key=lambda path: int(path.parent.name[2:]))
    found: dict[str, list[tuple[str, ...]]] = {}
    for node in _load(lua, newest)["nodes"].values():
        if node["isNotable"] and not node["ascendancyName"] and node["group"] is not None:
            found.setdefault(str(node["name"]), []).append(tuple(map(str, _list(node["recipe"]))))
    return {name: [recipe for recipe in recipes if recipe] for name, recipes in found.items()}


def _load(lua: Any, path: Path, *arguments: Any) -> Any:
    return lua.execute(path.read_text(encoding="utf-8"), *arguments)


def _list(table: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    while table is not None and (value := table[len(found) + 1]) is not None:
        found.append(value)
    return tuple(found)


def _granted(mod: Any) -> str:
    """Return what stands before a line that a jewel gives to the passives around it."""
    kind = {1: "Small", 2: "Notable"}.get(mod["nodeType"])
    return f"{kind} Passive Skills in Radius also grant " if kind else ""


def _affixes(table: Any) -> dict[str, Affix]:
    return {
        str(key): Affix(
            side=str(mod["type"]),
            group=str(mod["group"] or key),
            level=int(mod["level"] or 1),
            lines=tuple(f"{_granted(mod)}{line}" for text in _list(mod) for line in str(text).split("\n")),
            weights=tuple(zip(map(str, _list(mod["weightKey"])), map(float, _list(mod["weightVal"])), strict=True)),
        )
        for key, mod in table.items()
    }


def _bases(lua: Any, data: Path) -> dict[str, Base]:
    raw = lua.table()
    for path in sorted((data / "Bases").glob("*.lua")):
        _load(lua, path, raw)
    return {str(name): _base(base) for name, base in raw.items()}


def _base(base: Any) -> Base:
    kind, sub = str(base["type"]), str(base["subType"] or "").lower()
    tags = frozenset(str(tag) for tag, on in (base["tags"] or {}).items() if on)
    kinds = {kind.lower()}
    kinds |= {"weapon"} if base["weapon"] else {"armour"} if base["armour"] else set()
    kinds |= {"caster"} if tags & {"wand", "staff", "sceptre"} else set()
    kinds |= {"warstaff"} if sub == "warstaff" else set()
    kinds |= {"buckler"} if kind == "Shield" and sub == "evasion" else set()
    usual = 2 if kind == "Body Armour" or "two_hand_weapon" in tags or kind == "Staff" else 1
    needs = base["req"]
    return Base(
        type=kind,
        tags=tags,
        kinds=frozenset(kinds),
        level=int((needs and needs["level"]) or 1),
        sockets=min(int(base["socketLimit"] or 0), usual),
        implicits=tuple(str(base["implicit"] or "").split("\n")),
        hidden=bool(base["hidden"]),
    )


def _runes(table: Any) -> dict[str, dict[str, Rune]]:
    return {
        str(name): {
            str(kind): Rune(tuple(map(str, _list(mod))), int(max(_list(mod["rank"]) or (0,))))
            for kind, mod in kinds.items()
        }
        for name, kinds in table.items()
    }


def _uniques(lua: Any, data: Path) -> dict[str, list[Unique]]:
    found: dict[str, list[Unique]] = {}
    for path in sorted((data / "Uniques").glob("*.lua")):
        for text in _list(_load(lua, path)):
            lines = [_FLAGS.sub("", line.strip()) for line in str(text).strip().split("\n")]
            level = max((int(match[1]) for line in lines if (match := _LEVEL.match(line))), default=0)
            found.setdefault(lines[0], []).append(Unique(lines[1], level, tuple(lines[2:])))
    return found


def _generated(lua: Any, data: Path) -> dict[str, list[Unique]]:
    """Two jewels that PoB makes up from its tables: each has some of many lines."""
    exclusive = _affixes(_load(lua, data / "ModItemExclusive.lua"))
    around = [line for name, affix in exclusive.items() if name.startswith("UniqueJewelRadius") for line in affix.lines]
    skills = {str(gem["name"]) for gem in _load(lua, data / "Gems.lua").values()}
    levels = [f"+(1-3) to Level of all {name} Skills" for name in sorted(skills)]
    return {
        "Against the Darkness": [Unique("Time-Lost Diamond", 0, (_ZAROKH, *around))],
        "Prism of Belief": [Unique("Diamond", 0, (_ARBITER, *levels, "Corrupted"))],
    }


_ZAROKH, _ARBITER = "Source: Drops from Zarokh", "Source: Drops from the Arbiter"
