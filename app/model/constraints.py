"""What the user asked for, as constraints that survive refinements, and the table of what can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from pydantic import Field

from app.model.base import Model
from app.model.names import GearTier, Goal, Provenance

InvariantValue = str | int | float | bool | list[str] | None


class Kind(StrEnum):
    """What a value is; how each kind is read stands in `app.knowledge.values`."""

    CLASS = "name of a class"
    ASCENDANCY = "name of an ascendancy"
    SKILL = "name of a skill"
    WORD = "word of the vocabulary"
    FLAG = "true or false"
    NUMBER = "whole number"
    PHRASE = "free words"


class Count(StrEnum):
    """How many values a constraint has."""

    ONE = "one"
    SOME = "one, or a list of several"
    LIST = "a list"


class Setter(StrEnum):
    """Who may set a constraint: the prompt's words, a request's `overrides`, `/answer`, a language model."""

    PROMPT = "prompt"
    OVERRIDE = "override"
    ANSWER = "answer"
    MODEL = "model"


@dataclass(frozen=True)
class InvariantType:
    """One row of the table: a constraint that can be asked for.

    `words`: the section of the vocabulary with the values of a WORD and the phrases for a FLAG. `least` and `most`
    bound a NUMBER. `kept`: of what the prompt's own words say nothing may be lost to a model's reading. `default` holds
    when nobody says otherwise; None = it stays open.
    """

    name: str
    kind: Kind
    meaning: str
    count: Count = Count.ONE
    words: str = ""
    least: int = 0
    most: int = 0
    default: InvariantValue = None
    kept: bool = False
    set_by: frozenset[Setter] = frozenset(Setter)

    @property
    def label(self) -> str:
        """The name as a sentence begins with it."""
        return self.name.replace("_", " ").capitalize()


_TABLE = (
    InvariantType("class", Kind.CLASS, "the character's class"),
    InvariantType("ascendancy", Kind.ASCENDANCY, "its ascendancy; the class follows from it"),
    InvariantType("skill", Kind.SKILL, "the main skill"),
    InvariantType("with", Kind.SKILL, "other skills that go along", Count.LIST, kept=True),
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
)
INVARIANTS: Mapping[str, InvariantType] = MappingProxyType({one.name: one for one in _TABLE})
"""Every constraint by name, in the order in which they are told."""


class Invariant(Model):
    """One constraint: `field` is its name in the table; `reason` quotes or explains where the value came from."""

    field: str
    value: InvariantValue
    provenance: Provenance
    reason: str


class Question(Model):
    """The one thing worth asking, and what is assumed until it is answered."""

    field: str
    text: str
    options: list[str] = Field(default_factory=list)
    assumed: str


class InvariantSet(Model):
    """All constraints of one build, at most one question, and the assumptions made."""

    invariants: list[Invariant] = Field(default_factory=list)
    question: Question | None = None
    assumptions: list[str] = Field(default_factory=list)

    def get(self, field: str) -> InvariantValue:
        """Return the value of the field, or None when the set has none."""
        return next((i.value for i in self.invariants if i.field == field), None)

    def find(self, field: str) -> Invariant | None:
        """Return the invariant of the field, or None."""
        return next((i for i in self.invariants if i.field == field), None)

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
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
