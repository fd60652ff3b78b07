"""The constraint set while it is being written: fields, assumptions, and the questions worth asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

from app.model.base import changed
from app.model.constraints import INVARIANTS, Invariant, InvariantSet, InvariantValue, Question, shown
from app.model.names import GearTier, Goal, Provenance
from app.reasoning.prompt.page import Span, together
from app.reasoning.prompt.phrases import PromptReading


class Weight(IntEnum):
    """How much a question matters; the smallest is asked, the others become assumptions."""

    NOTHING_UNDERSTOOD = 0
    TWO_CLASSES = 1
    FOREIGN_CLASS = 2
    FOREIGN_SKILL = 3
    ASCENDANCY_OF_ANOTHER_CLASS = 4
    UNKNOWN_NAME = 5
    SKILL_AGAINST_DAMAGE_TYPE = 6


_POOLS = frozenset({"life", "energy_shield"})


@dataclass
class Draft:
    """Collects constraints; the first value set for a field stays. `fixed` are the fields that the request sets."""

    values: dict[str, Invariant] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    assumptions: list[str] = field(default_factory=list)
    questions: list[tuple[Weight, Question]] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)

    def put(
        self, name: str, value: InvariantValue, provenance: Provenance, reason: str, words: Sequence[str] = ()
    ) -> None:
        """Set a field unless it is set already; `words` are the user's own, one text for each value."""
        self.values.setdefault(
            name, Invariant(field=name, value=value, provenance=provenance, reason=reason, words=list(words))
        )

    def change(self, name: str, value: InvariantValue, words: Sequence[str]) -> None:
        """Set a field anew that is set already."""
        self.values[name] = changed(self.values[name], value=value, words=list(words))

    def fix(self, name: str, value: InvariantValue) -> None:
        """Set a field from the request, which wins over the prompt."""
        self.put(name, value, Provenance.EXPLICIT, "set in the request")
        self.fixed.add(name)

    def drop(self, name: str) -> None:
        """Take a field back, so that it is open again."""
        del self.values[name]
        self.fixed.discard(name)

    def default(self, name: str, reason: str) -> None:
        """Set a field to the table's default."""
        self.put(name, INVARIANTS[name].default, Provenance.DEFAULT, reason)

    def explicit(self, name: str, value: InvariantValue, span: Span) -> None:
        """Set a field from the user's own words."""
        doubt = "" if span.likeness >= 100 else f", read as {span.phrase}"
        self.put(name, value, Provenance.EXPLICIT, f'you wrote "{span.quote}"{doubt}', [span.written])

    def quoted(self, name: str, found: Sequence[tuple[str, Span]]) -> None:
        """Set a field of one or several values from the user's own words for each; the first words for a value stay."""
        first: dict[str, tuple[str, Span]] = {}
        for value, span in found:
            first.setdefault(value, (value, span))
        doubts = {span.quote: "" if span.likeness >= 100 else f", read as {span.phrase}" for _, span in found}
        reason = "you wrote " + " and ".join(f'"{quote}"{doubt}' for quote, doubt in doubts.items())
        words = [span.written for _, span in first.values()]
        self.put(name, INVARIANTS[name].holding(first), Provenance.EXPLICIT, reason, words)

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
        return InvariantSet(
            invariants=[self.values[name] for name in INVARIANTS if name in self.values],
            question=ordered[0][1] if ordered else None,
            assumptions=self.assumptions,
            not_understood=self.not_understood,
        )


def settle_demands(draft: Draft, reading: PromptReading) -> None:
    """Settle everything that does not say who the character is."""
    _level(draft, reading)
    _one_of(draft, "gear", sorted(reading.of("gear"), key=lambda pair: pair[0] != GearTier.MIRROR))
    draft.default("gear", "no gear quality was named")
    _goal(draft, reading)
    _defence(draft, reading)
    # much critical damage alone is none without a chance of it
    critical = [("critical", one.span) for one in reading.targets if one.name.startswith("critical_")]
    for name, more in (("weapon", []), ("style", critical), ("content", [])):
        if found := [*reading.of(name), *more]:
            draft.quoted(name, found)
        for value, span in reading.of(f"hint:{name}"):
            draft.infer(name, value, f'"{span.quote}" points to it')
    if found := reading.of("hardcore"):
        draft.explicit("hardcore", found[0][0] == "true_words", found[0][1])
    draft.default("hardcore", "hardcore was not mentioned")
    _one_of(draft, "budget", reading.of("budget"))
    if reading.exclusions:
        draft.quoted("exclude", [(span.phrase, span) for span in reading.exclusions])
    for target in reading.targets:
        known = draft.get(target.name)
        if draft.has(target.name) and known != target.value:
            label = INVARIANTS[target.name].label
            draft.assume(f'{label}: {shown(known)} was asked for already, so I left "{target.span.quote}" aside.')
        draft.explicit(target.name, target.value, target.span)


def _one_of(draft: Draft, name: str, found: Sequence[tuple[str, Span]]) -> None:
    """Set a field that has one value from the first words for one, and say which other words that leaves aside."""
    for value, span in found[1:]:
        if value != found[0][0] and span.quote != found[0][1].quote:
            chosen = f'"{found[0][1].quote}"'
            draft.assume(f'{INVARIANTS[name].label}: {chosen} was taken, so I left "{span.quote}" aside.')
    if found:
        draft.explicit(name, *found[0])


def _level(draft: Draft, reading: PromptReading) -> None:
    if reading.level is None:
        draft.default("level", "no level was named")
        return
    asked, span = reading.level
    known = INVARIANTS["level"]
    level = min(known.most, max(known.least, asked))
    if level != asked:
        draft.assume(f"Level {asked} does not exist; levels go from {known.least} to {known.most}, so I took {level}.")
    if draft.has("level") and draft.get("level") != level:
        draft.assume(f'The request sets level {draft.get("level")}, which wins over "{span.quote}" in the prompt.')
    draft.explicit("level", level, span)


def _goal(draft: Draft, reading: PromptReading) -> None:
    found = reading.of("goal")
    named = {value for value, _ in found}
    if {Goal.MAPPING, Goal.BOSSING} <= named or Goal.ALL_ROUND in named:
        draft.explicit("goal", Goal.ALL_ROUND.value, together([span for _, span in found]))
    elif found:
        draft.explicit("goal", *found[0])
    draft.default("goal", "no goal was named, so it should do a bit of everything")


def _defence(draft: Draft, reading: PromptReading) -> None:
    found = reading.of("defence")
    named = {value for value, _ in found}
    pools = sorted((span for value, span in found if value in _POOLS), key=lambda span: span.start)
    between = {word.text for one, other in pairwise(pools) for word in reading.words[one.end : other.start]}
    if named >= _POOLS and "or" in between:
        either = " or ".join(dict.fromkeys(span.quote for span in pools))
        draft.assume(f"Defence: {either}, as you leave the choice, is what is measured best.")
        found = [pair for pair in found if pair[0] not in {*_POOLS, "hybrid"}]
    elif named >= _POOLS:
        both = [span for value, span in found if value in {*_POOLS, "hybrid"}]
        found = [("hybrid", together(both)), *(pair for pair in found if pair[0] not in {*_POOLS, "hybrid"})]
    elif "hybrid" in named and len(named) > 2:  # "evasion and energy shield hybrid" says it twice
        found = [pair for pair in found if pair[0] != "hybrid"]
    if found:
        draft.quoted("defence", found)
