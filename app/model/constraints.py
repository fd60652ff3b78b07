"""What the user asked for, as constraints that survive refinements, and the table of what can be asked for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from pydantic import Field

from app.model.base import Model, changed
from app.model.names import Attribute, GearTier, Goal, Provenance
from app.model.stats import ATTRIBUTE_METRICS, CHAOS_RESISTANCE, DPS, EHP, HITS, MOVEMENT, RESISTANCES, USES_PER_SECOND

InvariantValue = str | int | float | bool | list[str] | None


class Kind(StrEnum):
    """What a value is; how each kind is read stands in `app.knowledge.values`."""

    CLASS = "name of a class"
    ASCENDANCY = "name of an ascendancy"
    SKILL = "name of a skill"
    NAME = "name of anything that a build can have"
    WORD = "word of the vocabulary"
    FLAG = "true or false"
    NUMBER = "whole number"
    TARGET = "figure to reach"
    PHRASE = "free words"


class Count(StrEnum):
    """How many values a constraint has."""

    ONE = "one"
    SOME = "one, or a list of several"
    EITHER = "one, or a list of several of which one is wanted"
    LIST = "a list"


class Setter(StrEnum):
    """Who may set a constraint: the prompt's words, a request's `overrides`, `/answer`, a language model."""

    PROMPT = "prompt"
    OVERRIDE = "override"
    ANSWER = "answer"
    MODEL = "model"


@dataclass(frozen=True)
class Figure:
    """What a target is measured by, in the unit that people use.

    `stats`: the engine's names; where there are several, each must reach the target, so the least of them counts.
    A stat is turned into the unit by `times` and then `plus`. `at_most`: the target is a limit, not a least.
    """

    stats: tuple[str, ...]
    unit: str
    at_most: bool = False
    times: float = 1.0
    plus: float = 0.0

    def of(self, values: Mapping[str, float]) -> float | None:
        """Return what a build reaches, or None when the engine gives no such figure."""
        known = [values[key] * self.times + self.plus for key in self.stats if key in values]
        return None if len(known) < len(self.stats) else max(known) if self.at_most else min(known)

    def in_stats(self, target: float) -> float:
        """Return the target as the engine's stats count it."""
        return (target - self.plus) / self.times

    def number(self, value: float) -> str:
        """Return a value in the unit as people write it."""
        if self.unit == "percent":
            return f"{value:,.0f} %"
        return f"{value:,.2f}" if self.unit == "per second" else f"{value:,.0f}"

    def words(self, value: float) -> str:
        """Return a value with its unit."""
        return self.number(value) if self.unit == "percent" else f"{self.number(value)} {self.unit}"

    def holds(self, reached: float, target: float) -> bool:
        """Say whether a figure meets the target; what rounds to the target as it is shown meets it."""
        slack = 0.005 * max(1.0, abs(target) / 100)
        return reached <= target + slack if self.at_most else reached >= target - slack


@dataclass(frozen=True)
class InvariantType:
    """One row of the table: a constraint that can be asked for.

    `words`: the section of the vocabulary with the values of a WORD and the phrases for a FLAG. `least` and `most`
    bound a NUMBER. `figure`: what a TARGET is measured by. `kept`: of what the prompt's own words say nothing may be
    lost to a model's reading. `default` holds when nobody says otherwise; None = it stays open.
    """

    name: str
    kind: Kind
    meaning: str
    count: Count = Count.ONE
    words: str = ""
    least: int = 0
    most: int = 0
    figure: Figure | None = None
    default: InvariantValue = None
    kept: bool = False
    set_by: frozenset[Setter] = frozenset(Setter)

    @property
    def label(self) -> str:
        """The name as a sentence begins with it."""
        return self.name.replace("_", " ").capitalize()

    def holding(self, values: Iterable[str]) -> str | list[str]:
        """Return values as the constraint holds them, each once: a list, or one that stands alone."""
        found = list(dict.fromkeys(values))
        return found if self.count is Count.LIST or len(found) != 1 else found[0]


def _target(name: str, meaning: str, figure: Figure) -> InvariantType:
    return InvariantType(name, Kind.TARGET, meaning, figure=figure, kept=True)


_TABLE = (
    InvariantType("class", Kind.CLASS, "the character's class"),
    InvariantType(
        "ascendancy",
        Kind.ASCENDANCY,
        "its ascendancy, from which the class follows; of several the one that is measured best",
        Count.EITHER,
    ),
    InvariantType("skill", Kind.SKILL, "the main skill; of several the one that is measured best", Count.EITHER),
    InvariantType("with", Kind.NAME, "what else it has: skills, supports, passives, items", Count.LIST, kept=True),
    InvariantType("damage_type", Kind.WORD, "what it deals", Count.SOME, words="damage_types"),
    InvariantType("style", Kind.WORD, "how it is played", Count.SOME, words="styles", kept=True),
    InvariantType("weapon", Kind.WORD, "what it holds", Count.SOME, words="weapons", kept=True),
    InvariantType("goal", Kind.WORD, "what it is for", words="goals", default=Goal.ALL_ROUND.value),
    InvariantType("defence", Kind.WORD, "what keeps it alive", Count.SOME, words="defences"),
    InvariantType("content", Kind.WORD, "where it is played", Count.SOME, words="content"),
    InvariantType("hardcore", Kind.FLAG, "whether one death is the end", words="hardcore", default=False),
    InvariantType("level", Kind.NUMBER, "the character's level", least=1, most=100, default=90),
    InvariantType("gear", Kind.WORD, "how good its items may be", words="gear", default=GearTier.MID.value),
    InvariantType("budget", Kind.WORD, "what it may cost", words="budget"),
    InvariantType("exclude", Kind.PHRASE, "what is ruled out", Count.LIST, kept=True),
    _target("dps", "damage per second", Figure((DPS,), "damage per second")),
    _target("ehp", "effective hit points", Figure((EHP,), "effective hit points")),
    _target("life", "life", Figure(("Life",), "life")),
    _target("energy_shield", "Energy Shield", Figure(("EnergyShield",), "Energy Shield")),
    _target("mana", "mana", Figure(("Mana",), "mana")),
    _target("spirit", "Spirit", Figure(("Spirit",), "Spirit")),
    _target("strength", "Strength", Figure((ATTRIBUTE_METRICS[Attribute.STRENGTH],), "Strength")),
    _target("dexterity", "Dexterity", Figure((ATTRIBUTE_METRICS[Attribute.DEXTERITY],), "Dexterity")),
    _target("intelligence", "Intelligence", Figure((ATTRIBUTE_METRICS[Attribute.INTELLIGENCE],), "Intelligence")),
    _target("armour", "armour", Figure(("Armour",), "armour")),
    _target("evasion", "evasion rating", Figure(("Evasion",), "evasion")),
    _target("fire_resistance", "fire resistance", Figure(("FireResist",), "percent")),
    _target("cold_resistance", "cold resistance", Figure(("ColdResist",), "percent")),
    _target("lightning_resistance", "lightning resistance", Figure(("LightningResist",), "percent")),
    _target("elemental_resistances", "each elemental resistance", Figure(RESISTANCES, "percent")),
    _target("chaos_resistance", "chaos resistance", Figure((CHAOS_RESISTANCE,), "percent")),
    _target("block", "chance to block", Figure(("EffectiveBlockChance",), "percent")),
    _target("evade_chance", "chance to evade", Figure(("EvadeChance",), "percent")),
    _target("critical_chance", "chance of a critical hit", Figure(("CritChance",), "percent")),
    _target(
        "critical_damage", "critical damage bonus", Figure(("CritMultiplier",), "percent", times=100.0, plus=-100.0)
    ),
    _target("life_regeneration", "life regenerated per second", Figure(("LifeRegenRecovery",), "life per second")),
    _target("mana_regeneration", "mana regenerated per second", Figure(("ManaRegenRecovery",), "mana per second")),
    _target(
        "energy_shield_recharge",
        "Energy Shield recharged per second",
        Figure(("EnergyShieldRecharge",), "Energy Shield per second"),
    ),
    _target("movement_speed", "added movement speed", Figure((MOVEMENT,), "percent", times=100.0, plus=-100.0)),
    _target("attack_rate", "attacks per second", Figure((USES_PER_SECOND,), "per second")),
    _target("cast_rate", "casts per second", Figure((USES_PER_SECOND,), "per second")),
    _target("physical_hit", "largest physical hit survived", Figure((HITS[0],), "damage")),
    _target("elemental_hit", "largest elemental hit survived", Figure(HITS[1:4], "damage")),
    _target("chaos_hit", "largest chaos hit survived", Figure((HITS[4],), "damage")),
    _target("mana_cost", "mana per use of the main skill", Figure(("ManaCost",), "mana", at_most=True)),
)
INVARIANTS: Mapping[str, InvariantType] = MappingProxyType({one.name: one for one in _TABLE})
"""Every constraint by name, in the order in which they are told."""


READ_FROM_FILE = "read from the file"
"""Why a constraint holds that a file sets: its owner's choice, but nobody's wish."""


class Invariant(Model):
    """One constraint: `field` is its name in the table; `reason` quotes or explains where the value came from.

    `words` are the user's own, one text for each value; empty when the value is nobody's words.
    """

    field: str
    value: InvariantValue
    provenance: Provenance
    reason: str
    words: list[str] = Field(default_factory=list)

    @property
    def is_wished(self) -> bool:
        """Whether a user asked for it."""
        return self.provenance is Provenance.EXPLICIT and self.reason != READ_FROM_FILE

    @property
    def told(self) -> list[tuple[str, str]]:
        """Each value with the user's words for it, or with itself."""
        values = as_list(self.value)
        return list(zip(values, self.words if len(self.words) == len(values) else values, strict=True))

    def without(self, values: Collection[str]) -> Invariant:
        """Return the constraint without these of its values; an empty list stands for none left."""
        kept = [(value, words) for value, words in self.told if value not in values]
        if len(kept) == len(self.told):
            return self
        left: InvariantValue = [one for one, _ in kept] if isinstance(self.value, list) or not kept else kept[0][0]
        return changed(self, value=left, words=[words for _, words in kept])

    @property
    def assumption(self) -> str:
        """The sentence in which a value that nobody asked for is told."""
        return f"{INVARIANTS[self.field].label}: {shown(self.value)} ({self.reason})."


class Question(Model):
    """The one thing worth asking, and what is assumed until it is answered."""

    field: str
    text: str
    options: list[str] = Field(default_factory=list)
    assumed: str


class InvariantSet(Model):
    """All constraints of one build, at most one question, and the assumptions made.

    `not_understood` are the user's words that belong to no constraint, as they were written.
    """

    invariants: list[Invariant] = Field(default_factory=list)
    question: Question | None = None
    assumptions: list[str] = Field(default_factory=list)
    not_understood: list[str] = Field(default_factory=list)

    def get(self, field: str) -> InvariantValue:
        """Return the value of the field, or None when the set has none."""
        return next((i.value for i in self.invariants if i.field == field), None)

    def find(self, field: str) -> Invariant | None:
        """Return the invariant of the field, or None."""
        return next((i for i in self.invariants if i.field == field), None)

    def is_explicit(self, field: str) -> bool:
        """Say whether the user set the field."""
        found = self.find(field)
        return found is not None and found.provenance is Provenance.EXPLICIT

    def is_settled(self, field: str) -> bool:
        """Say whether the user set the field and left no choice: of several skills one is to be found."""
        return self.is_explicit(field) and (INVARIANTS[field].count is not Count.EITHER or len(self.listed(field)) < 2)

    def text(self, field: str, default: str = "") -> str:
        """Return the field as text, or the default when it is absent."""
        value = self.get(field)
        return default if value is None else str(value)

    def number(self, field: str) -> int:
        """Return the field as a whole number, or the table's default when it is absent or not a number."""
        for value in (self.get(field), INVARIANTS[field].default):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return int(value)
        return 0

    def listed(self, field: str) -> list[str]:
        """Return a field of one or several words as a list of words, empty when it is absent."""
        return as_list(self.get(field))


def as_list(value: object) -> list[str]:
    """Return a value of one or several words as a list of words."""
    if value is None:
        return []
    return [str(part) for part in value] if isinstance(value, list) else [str(value)]


def shown(value: object) -> str:
    """Return a value as people read it."""
    if isinstance(value, list):
        return ", ".join(str(word) for word in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def asked_figures(invariants: InvariantSet) -> dict[str, float]:
    """Return what the user asked figures to reach, under the engine's names and in its units."""
    found: dict[str, float] = {}
    for name, row in INVARIANTS.items():
        value = invariants.get(name)
        if row.figure is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
            found |= {stat: max(found.get(stat, -math.inf), row.figure.in_stats(value)) for stat in row.figure.stats}
    return found


def bounds(asked: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return which of the figures asked for, by stat, are to be reached, and which not to be passed."""
    at_most = {s for one in INVARIANTS.values() if one.figure and one.figure.at_most for s in one.figure.stats}
    least = {stat: value for stat, value in asked.items() if stat not in at_most}
    return least, {stat: value for stat, value in asked.items() if stat in at_most}
