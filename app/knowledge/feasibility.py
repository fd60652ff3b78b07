"""Figures that no build can have: told before anything is built, and again beside what was reached.

Only what is certain is in here: a bound that the game has for every character, or a line of something asked for
by name. What merely nobody reaches is no reason to say no.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.knowledge.catalogue import Catalogue
from app.knowledge.exclusions import Exclusions
from app.knowledge.gems import DAMAGE_TYPES, ELEMENTS
from app.knowledge.styles import DUAL_WIELD
from app.knowledge.vocabulary import Vocabulary
from app.knowledge.weapons import can_be_paired, unfound
from app.knowledge.words import phrase, with_article
from app.model.constraints import INVARIANTS, InvariantValue, as_list
from app.model.facts import NodeFact, UniqueFact

NOT_TO_BE_HAD: Final = "cannot be had."
"""How every sentence ends that says so."""

_MAXIMUM_RESISTANCE = "No maximum resistance is ever above 90 %"
_MOST: Final[Mapping[str, tuple[float, str]]] = {
    **dict.fromkeys(
        ("fire_resistance", "cold_resistance", "lightning_resistance", "elemental_resistances"),
        (90.0, _MAXIMUM_RESISTANCE),
    ),
    "chaos_resistance": (100.0, f"{_MAXIMUM_RESISTANCE}, and being immune to chaos damage counts as 100 %"),
    "block": (99.0, "No chance to block is ever above 90 %, which is 99 % where the better of two rolls counts"),
    **dict.fromkeys(("evade_chance", "critical_chance"), (100.0, "No chance is above 100 %")),
}
"""Most that a figure can be, and why. Path of Building, Modules/Data.lua: MaxResistCap 90, BlockChanceCap 90; its
CalcDefence.lua counts a lucky chance as 1 - (1 - 0.9)^2, immunity to chaos as 100, and what always evades as 100."""

_LINES: Final[Mapping[str, Mapping[str, float]]] = {
    "maximum life is 1": {"life": 1.0},
    "you have no mana": {"mana": 0.0},
    "converts all evasion rating to armour": {"evasion": 0.0},
    "convert 100% of maximum energy shield to maximum mana": {"energy_shield": 0.0},
}
"""What a figure is at most for whoever has a passive or item with the line, in Path of Building's words."""

_NEVER_CRITICAL: Final = "never deal critical hits"


@dataclass(frozen=True)
class Impossible:
    """A wish that no build can meet: the constraint, what was asked for in words, and why not.

    `value`: which of the constraint's values it is, where it has several.
    """

    field: str
    wish: str
    reason: str
    value: str = ""

    @property
    def sentence(self) -> str:
        """Return it as people are told."""
        return f"{self.reason}: {self.wish} {NOT_TO_BE_HAD}"


def impossible(
    wished: Mapping[str, InvariantValue], named: Mapping[str, Sequence[str]], words: Vocabulary
) -> list[Impossible]:
    """Return the wishes that certainly cannot be met, in the order of the constraints.

    `wished`: the values that somebody asked for, by constraint. `named`: the lines of what was asked for by name.
    """
    least = {name: (most, why) for name, (most, why) in _MOST.items()}
    for owner, lines in named.items():
        for line in lines:
            told = f'{owner} says "{line}"'
            least |= {name: (most, told) for name, most in _LINES.get(line.casefold(), {}).items()}
    found = []
    for name in (one for one in INVARIANTS if one in wished):
        figure, target = INVARIANTS[name].figure, wished[name]
        if figure is None or figure.at_most or not isinstance(target, (int, float)):
            continue
        most, why = least.get(name, (float("inf"), ""))
        if not figure.holds(most, target):
            found.append(Impossible(name, f"at least {figure.number(target)} {INVARIANTS[name].meaning}", why))
    return [*found, *_unfound(wished), *_unpaired(wished), *_no_damage(wished, words), *_never_critical(wished, named)]


def lines_of(names: Iterable[str], nodes: Iterable[NodeFact], uniques: Iterable[UniqueFact]) -> dict[str, list[str]]:
    """Return the lines of the keystones and uniques that have one of these names."""
    wanted = {phrase(name) for name in names}
    if not wanted:
        return {}
    found = {node.name: node.mods for node in nodes if node.kind == "keystone" and phrase(node.name) in wanted}
    return found | {one.name: one.lines for one in uniques if phrase(one.name) in wanted}


def impossible_among(wished: Mapping[str, InvariantValue], catalogue: Catalogue, words: Vocabulary) -> list[Impossible]:
    """Return the wishes that certainly cannot be met, with the lines that the catalogue knows."""
    return impossible(wished, lines_of(as_list(wished.get("with")), catalogue.nodes, catalogue.uniques), words)


def _unfound(wished: Mapping[str, InvariantValue]) -> list[Impossible]:
    why = "No skill is made for it and no unique item is one, so nobody finds any in this version of the game"
    asked = [word for word in as_list(wished.get("weapon")) if unfound(word)]
    return [Impossible("weapon", with_article(word), why, word) for word in asked]


def _unpaired(wished: Mapping[str, InvariantValue]) -> list[Impossible]:
    if DUAL_WIELD not in as_list(wished.get("style")) or can_be_paired(as_list(wished.get("weapon"))):
        return []
    why = "Of the weapons that anybody finds only maces can be held in both hands"
    return [Impossible("style", "a weapon in each hand", why, DUAL_WIELD)]


def _no_damage(wished: Mapping[str, InvariantValue], words: Vocabulary) -> list[Impossible]:
    ruled_out = Exclusions.of(as_list(wished.get("exclude")), words).terms
    ruled_out |= set(ELEMENTS) if "elemental" in ruled_out else set()
    target = wished.get("dps")
    if not isinstance(target, (int, float)) or not set(DAMAGE_TYPES) <= ruled_out:
        return []
    figure = INVARIANTS["dps"].figure
    assert figure is not None
    why = "Every damage type is ruled out, and all damage is of one"
    return [Impossible("dps", f"at least {figure.words(target)}", why)]


def _never_critical(wished: Mapping[str, InvariantValue], named: Mapping[str, Sequence[str]]) -> list[Impossible]:
    says = [(owner, line) for owner, lines in named.items() for line in lines if line.casefold() == _NEVER_CRITICAL]
    asked = [name for name in ("critical_chance", "critical_damage") if name in wished]
    values = {"style": "critical"} if "critical" in as_list(wished.get("style")) else dict.fromkeys(asked, "")
    why = f'{says[0][0]} says "{says[0][1]}"' if says else ""
    return [Impossible(name, "critical hits", why, value) for name, value in values.items() if says]
