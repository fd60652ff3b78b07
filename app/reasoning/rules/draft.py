"""The constraint set while it is being written: fields, assumptions, and the questions worth asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from app.model.invariants import Invariant, InvariantSet, InvariantValue, Question
from app.model.names import Provenance
from app.reasoning.rules.reading import Span

FIELDS = (
    "class",
    "ascendancy",
    "skill",
    "with",
    "damage_type",
    "style",
    "weapon",
    "goal",
    "defence",
    "content",
    "hardcore",
    "level",
    "gear",
    "budget",
    "exclude",
)


class Weight(IntEnum):
    """How much a question matters; the smallest is asked, the others become assumptions."""

    NOTHING_UNDERSTOOD = 0
    TWO_CLASSES = 1
    FOREIGN_CLASS = 2
    FOREIGN_SKILL = 3
    ASCENDANCY_OF_ANOTHER_CLASS = 4
    UNKNOWN_NAME = 5
    SKILL_AGAINST_DAMAGE_TYPE = 6


@dataclass
class Draft:
    """Collects constraints; the first value set for a field stays."""

    values: dict[str, Invariant] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    questions: list[tuple[Weight, Question]] = field(default_factory=list)

    def put(self, name: str, value: InvariantValue, provenance: Provenance, reason: str) -> None:
        """Set a field unless it is set already."""
        self.values.setdefault(name, Invariant(field=name, value=value, provenance=provenance, reason=reason))

    def explicit(self, name: str, value: InvariantValue, span: Span) -> None:
        """Set a field from the user's own words."""
        doubt = "" if span.likeness >= 100 else f", read as {span.phrase}"
        self.put(name, value, Provenance.EXPLICIT, f'you wrote "{span.quote}"{doubt}')

    def infer(self, name: str, value: InvariantValue, reason: str) -> None:
        """Set a field that follows from something else."""
        self.put(name, value, Provenance.INFERRED, reason)

    def has(self, name: str) -> bool:
        """Say whether the field is set."""
        return name in self.values

    def get(self, name: str) -> InvariantValue:
        """Return the field's value, or None."""
        return self.values[name].value if name in self.values else None

    def is_explicit(self, name: str) -> bool:
        """Say whether the user set the field."""
        return name in self.values and self.values[name].provenance is Provenance.EXPLICIT

    def assume(self, sentence: str) -> None:
        """Record an assumption once."""
        if sentence not in self.assumptions:
            self.assumptions.append(sentence)

    def ask(self, weight: Weight, name: str, text: str, options: list[str], assumed: str) -> None:
        """Offer a question about a field; `assumed` says what we go on with."""
        self.questions.append((weight, Question(field=name, text=text, options=options, assumed=assumed)))

    def finish(self) -> InvariantSet:
        """Return the set: the weightiest question is asked, every other one becomes an assumption."""
        ordered = sorted(self.questions, key=lambda pair: pair[0])
        for _, question in ordered[1:]:
            self.assume(f"{question.text} I went on with {question.assumed}.")
        known = [self.values[name] for name in FIELDS if name in self.values]
        other = [self.values[name] for name in sorted(self.values) if name not in FIELDS]
        return InvariantSet(
            invariants=[*known, *other],
            question=ordered[0][1] if ordered else None,
            assumptions=self.assumptions,
        )
