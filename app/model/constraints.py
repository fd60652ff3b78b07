"""What the user asked for, as constraints that survive refinements."""

from __future__ import annotations

from pydantic import Field

from app.model.base import Model
from app.model.names import Provenance

InvariantValue = str | int | float | bool | list[str] | None


class Invariant(Model):
    """One constraint.

    `field` is one of: class, ascendancy, skill, damage_type, goal, defence, hardcore, level, gear, budget,
    exclude (a list of excluded words), weapon, content, style (how it is played: minion, totem, slam ...), with (other
    skills that were named). A field of several words is a list. `reason` quotes or explains where the value came from.
    """

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

    def number(self, field: str, default: int) -> int:
        """Return the field as a whole number, or the default when it is absent or not a number."""
        value = self.get(field)
        return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default
