"""What "no X" rules out among gems, weapons and passives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.model.facts import GemFact, NodeFact
from app.reasoning.rules.gems import DAMAGE_TYPES, tags
from app.reasoning.rules.vocabulary import Phrases, Vocabulary
from app.reasoning.rules.words import phrase


@dataclass(frozen=True)
class Exclusions:
    """Excluded things: the words as written, and the tags and weapons they stand for."""

    written: frozenset[str]
    terms: frozenset[str]
    weapons: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str], vocabulary: Vocabulary) -> Exclusions:
        """Translate excluded words."""
        written = frozenset(phrase(word) for word in words)
        terms = _canonical(written, vocabulary.exclusions)
        weapons = _canonical(written, vocabulary.weapons)
        return cls(written, terms, weapons)

    def gem(self, gem: GemFact) -> bool:
        """Say whether the gem is excluded, by name or by one of its tags."""
        if not self.written:
            return False
        if phrase(gem.name) in self.written:
            return True
        return bool({term.replace(" ", "") for term in self.terms} & tags(gem))

    def node(self, node: NodeFact) -> bool:
        """Say whether the passive is excluded: by name, or because a line speaks of something excluded."""
        if not self.written:
            return False
        if phrase(node.name) in self.written | self.terms:
            return True
        lines = " / ".join(node.mods).casefold()
        return any(_spoken(term) in lines for term in self.terms if term not in {"unique", "flask", "charm", "meta"})


def _canonical(written: frozenset[str], table: Phrases) -> frozenset[str]:
    return frozenset(name for name, texts in table.items() if written & {name, *texts})


def _spoken(term: str) -> str:
    """Return how a passive's line speaks of the term; a damage type is excluded as damage, not as resistance."""
    if term in DAMAGE_TYPES:
        return f"{term} damage"
    return {"life": "maximum life", "curse": "curse", "mark": "marked"}.get(term, term)
