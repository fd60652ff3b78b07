"""What somebody ruled out, held against gems, passives and items: the same for who searches and who judges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from app.knowledge.gems import DAMAGE_TYPES, ELEMENTS, can_be_cut, tags
from app.knowledge.vocabulary import Phrases, Vocabulary, vocabulary
from app.knowledge.weapons import matches, word_of
from app.knowledge.words import phrase
from app.model.constraints import InvariantSet
from app.model.facts import BaseFact, GemFact, NodeFact

_BELONGS = {
    term.casefold(): term
    for term in ("Flask", "Charm", "Jewel", "Ring", "Amulet", "Belt", "Boots", "Gloves", "Helmet", "Body Armour")
}
"""Excluded kinds of items and the bases that are of the kind: their slot stays empty."""
_NOT_OF_LINES = frozenset({"unique", "meta", "spirit", "elemental", *_BELONGS})
_NOT_OWN = re.compile(r"against you|\bon you\b|you take|armour, evasion and energy shield")
"""Lines that others' deeds are in, and those of whatever defence one has ("no evasion" leaves such a rune)."""
_DEFENSIVE = re.compile(r"taken|damage reduction")
"""Words of lines with a damage type that protect from it."""
_NOT_OF_GEMS = frozenset(_BELONGS)
_UNTAGGED = frozenset({"poison"})
"""Excluded kinds that no tag speaks of: the name does ("Poisonburst Arrow")."""
_STEMS = {"skeleton": "skeletal"}
"""How the game's names say what players say."""

_GRANTS = re.compile(r"Grants Skill: (?:Level \S+ )?(.+?)(?: Minion)?$", re.MULTILINE)


def granted_by(lines: Iterable[str]) -> set[str]:
    """Return the names of the skills that lines of an item or a passive grant."""
    return {match[1] for line in lines for match in _GRANTS.finditer(line)}


def granting(nodes: Iterable[NodeFact], skill: str) -> tuple[NodeFact, ...]:
    """Return the passives that grant the skill of this name."""
    return tuple(node for node in nodes if skill in granted_by(node.mods))


def grants(skill: GemFact, bases: Iterable[BaseFact]) -> list[BaseFact]:
    """Return the bases of which a skill that cannot be cut needs one; none for one that can, or that no base grants."""
    return [] if can_be_cut(skill) else [base for base in bases if skill.name in granted_by(base.implicits)]


@dataclass(frozen=True)
class Exclusions:
    """Excluded things: the words as written, the kinds of thing and the weapons they stand for.

    `loose` are words that stand for no kind: they are looked for in names ("zombies" is in Raise Zombie). `people` are
    classes and ascendancies.
    """

    written: frozenset[str]
    terms: frozenset[str]
    weapons: frozenset[str]
    loose: frozenset[str]
    people: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str], vocabulary: Vocabulary) -> Exclusions:
        """Translate excluded words."""
        written = frozenset(phrase(word) for word in words)
        terms = _canonical(written, vocabulary.exclusions)
        weapons = _canonical(written, vocabulary.weapons)
        loose = {word for word in written if not _canonical({word}, vocabulary.exclusions | vocabulary.weapons)}
        people = _canonical(written, vocabulary.classes | vocabulary.ascendancies)
        return cls(written, terms, weapons, frozenset(loose), people)

    def gem(self, gem: GemFact) -> bool:
        """Say whether the gem is excluded: by name or a word of it, by one of its tags, or because it takes Spirit."""
        if not self.written:
            return False
        name = phrase(gem.name)
        if name in self.written or any(_singular(word) in f" {name} " for word in self.loose):
            return True
        if any(f" {term}" in f" {name}" for term in self.terms & _UNTAGGED):
            return True
        if "spirit" in self.terms and gem.spirit > 0:
            return True
        unwanted = {term.replace(" ", "") for term in self.terms - _NOT_OF_GEMS}
        unwanted |= set(ELEMENTS) if "elemental" in self.terms else set()
        return bool(unwanted & tags(gem))

    def node(self, node: NodeFact) -> bool:
        """Say whether the passive is excluded: by name, or because a line speaks of something excluded."""
        if not self.written:
            return False
        if phrase(node.name) in self.written | self.terms:
            return True
        return self.said(node.mods)

    def said(self, lines: Iterable[str]) -> bool:
        """Say whether a line of a passive or an item speaks of something excluded that the character would have.

        What others do to the character is not its own: "reduced Critical Damage Bonus against you" is no critical hit,
        "Fire Damage taken" no fire damage.
        """
        words = {_spoken(term): term in DAMAGE_TYPES for term in self.terms - _NOT_OF_LINES}
        own = [line for line in map(str.casefold, lines) if words and not _NOT_OWN.search(line)]
        return any(
            word in line and not (dealt and _DEFENSIVE.search(line)) for line in own for word, dealt in words.items()
        )

    def item(self, title: str, base: BaseFact, *, unique: bool, lines: Iterable[str] = ()) -> bool:
        """Say whether an item is excluded: by its name or base, as a unique, as a kind of item or weapon, because of
        a skill that its base grants, or by what it says: `lines`, beside what is said by its base.
        """
        if not self.written:
            return False
        if self.said(lines) or (base.type != "Charm" and self.said(base.implicits)):
            return True  # what a charm of its own says is against what others do
        granted = granted_by(base.implicits)
        if any(self.gem(GemFact(id=name, name=name, kind="active")) for name in granted):
            return True
        if phrase(base.name) in self.written or (unique and phrase(title) in self.written):
            return True
        if unique and "unique" in self.terms:
            return True
        if any(term in self.terms and base.type == kind for term, kind in _BELONGS.items()):
            return True
        return bool(self.weapons) and matches(self.weapons, word_of(base))


def ruled_out(invariants: InvariantSet) -> Exclusions:
    """Return what the constraints of a build rule out."""
    return Exclusions.of(invariants.listed("exclude"), vocabulary())


def _canonical(written: Set[str], table: Phrases) -> frozenset[str]:
    return frozenset(name for name, texts in table.items() if written & {name, *texts})


def _spoken(term: str) -> str:
    """Return how a passive's line speaks of the term; a damage type is excluded as damage, not as resistance."""
    if term in DAMAGE_TYPES:
        return f"{term} damage"
    return {"life": "maximum life", "curse": "curse", "mark": "marked"}.get(term, term)


def _singular(word: str) -> str:
    """Return the word as a whole word of a name: "skeletons" as " skeletal ", "zombies" as " zombie "."""
    one = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    return f" {_STEMS.get(one, one)} "
