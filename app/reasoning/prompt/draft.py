"""The constraint set while it is being written: fields, assumptions, and the questions worth asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from app.model.constraints import Invariant, InvariantSet, InvariantValue, Question
from app.model.demands import DEFAULT_GEAR, DEFAULT_LEVEL
from app.model.names import Goal, Provenance
from app.model.record import BuildRequest
from app.reasoning.prompt.reading import Reading, Span

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


def settle_demands(draft: Draft, reading: Reading, request: BuildRequest) -> None:
    """Settle everything that does not say who the character is."""
    _level(draft, reading, request)
    _gear(draft, reading, request)
    _goal(draft, reading)
    _defence(draft, reading)
    for name in ("weapon", "style", "content"):
        _listed(draft, reading, name)
    _hardcore(draft, reading)
    if budget := reading.of("budget"):
        draft.explicit("budget", budget[0][0], budget[0][1])
    _exclusions(draft, reading)


def _level(draft: Draft, reading: Reading, request: BuildRequest) -> None:
    if request.level is not None:
        draft.put("level", request.level, Provenance.EXPLICIT, "set in the request")
    if reading.level is None:
        draft.put("level", DEFAULT_LEVEL, Provenance.DEFAULT, "no level was named")
        return
    asked, quote = reading.level
    level = min(100, max(1, asked))
    if level != asked:
        draft.assume(f"Level {asked} does not exist; levels go from 1 to 100, so I took {level}.")
    if draft.has("level") and draft.get("level") != level:
        draft.assume(f'The request sets level {draft.get("level")}, which wins over "{quote}" in the prompt.')
    draft.put("level", level, Provenance.EXPLICIT, f'you wrote "{quote}"')


def _gear(draft: Draft, reading: Reading, request: BuildRequest) -> None:
    if request.gear is not None:
        draft.put("gear", request.gear.value, Provenance.EXPLICIT, "set in the request")
    found = reading.of("gear")
    if found:
        draft.explicit("gear", found[0][0], found[0][1])
    draft.put("gear", DEFAULT_GEAR.value, Provenance.DEFAULT, "no gear quality was named")


def _goal(draft: Draft, reading: Reading) -> None:
    found = reading.of("goal")
    named = {value for value, _ in found}
    if {Goal.MAPPING, Goal.BOSSING} <= named or Goal.ALL_ROUND in named:
        words = " and ".join(f'"{span.quote}"' for _, span in found)
        draft.put("goal", Goal.ALL_ROUND.value, Provenance.EXPLICIT, f"you wrote {words}")
    elif found:
        draft.explicit("goal", found[0][0], found[0][1])
    draft.put(
        "goal", Goal.ALL_ROUND.value, Provenance.DEFAULT, "no goal was named, so it should do a bit of everything"
    )


def _defence(draft: Draft, reading: Reading) -> None:
    found = _distinct(reading.of("defence"))
    if not found:
        return
    names = [value for value, _ in found]
    if {"life", "energy_shield"} <= set(names):
        names = ["hybrid", *(name for name in names if name not in {"life", "energy_shield"})]
    words = " and ".join(f'"{span.quote}"' for _, span in found)
    draft.put("defence", names[0] if len(names) == 1 else names, Provenance.EXPLICIT, f"you wrote {words}")


def _listed(draft: Draft, reading: Reading, name: str) -> None:
    found = _distinct(reading.of(name))
    if found:
        values = [value for value, _ in found]
        words = " and ".join(f'"{span.quote}"' for _, span in found)
        draft.put(name, values[0] if len(values) == 1 else values, Provenance.EXPLICIT, f"you wrote {words}")
    for value, span in reading.of(f"hint:{name}"):
        draft.infer(name, value, f'"{span.quote}" points to it')


def _hardcore(draft: Draft, reading: Reading) -> None:
    found = reading.of("hardcore")
    if found:
        draft.explicit("hardcore", found[0][0] == "true_words", found[0][1])
    draft.put("hardcore", value=False, provenance=Provenance.DEFAULT, reason="hardcore was not mentioned")


def _exclusions(draft: Draft, reading: Reading) -> None:
    if reading.exclusions:
        words = list(dict.fromkeys(span.phrase for span in reading.exclusions))
        quotes = ", ".join(f'"{span.quote}"' for span in reading.exclusions)
        draft.put("exclude", words, Provenance.EXPLICIT, f"you wrote {quotes}")


def _distinct(found: list[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Keep the first place of each value."""
    first: dict[str, tuple[str, Span]] = {}
    for value, span in found:
        first.setdefault(value, (value, span))
    return list(first.values())
