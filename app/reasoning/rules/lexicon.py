"""Every phrase we understand, from the vocabulary files and from the names the engine knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from app.reasoning.rules.catalogue import Catalogue
from app.reasoning.rules.vocabulary import Phrases, Vocabulary
from app.reasoning.rules.words import phrase

Meaning = tuple[str, str]
"""A field (class, skill, damage_type, style, foreign ...) and a value for it."""


@dataclass(frozen=True)
class Lexicon:
    """Phrases and what each may mean."""

    terms: dict[str, tuple[Meaning, ...]]
    vocabulary: Vocabulary

    @classmethod
    def of(cls, words: Vocabulary, catalogue: Catalogue, skills: Iterable[str] = ()) -> Lexicon:
        """Join the vocabulary with the engine's names; `skills` exist in the game, known to the engine or not."""
        terms: dict[str, dict[Meaning, None]] = {}
        every = sorted({*skills, *words.skill_aliases.values()})
        missing = [(phrase(name), ("missing", name)) for name in every if catalogue.skill(name) is None]
        for text, meaning in (*_names(catalogue), *_vocabulary(words, catalogue), *missing):
            terms.setdefault(text, {})[meaning] = None
        return cls({text: tuple(meanings) for text, meanings in terms.items() if text}, words)

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest phrase."""
        return max(text.count(" ") + 1 for text in self.terms)

    @cached_property
    def known_words(self) -> frozenset[str]:
        """Words that stand for something by themselves, so that they are never taken for a misspelling."""
        single = {text for text in self.terms if " " not in text}
        return frozenset(single | self.vocabulary.plain_words)

    @cached_property
    def guessable(self) -> dict[str, tuple[Meaning, ...]]:
        """Phrases that may be recognised by likeness: names of classes, ascendancies, skills, and foreign names."""
        fields = {"class", "ascendancy", "skill", "foreign"}
        return {
            text: kept
            for text, meanings in sorted(self.terms.items())
            if len(text) >= 5 and (kept := tuple(m for m in meanings if m[0] in fields))
            if text not in self.vocabulary.ordinary_skills
        }


def _names(catalogue: Catalogue) -> Iterator[tuple[str, Meaning]]:
    for fact in catalogue.classes:
        yield phrase(fact.name), ("class", fact.name)
        for ascendancy in fact.ascendancies:
            yield phrase(ascendancy), ("ascendancy", ascendancy)
    for name, gem in sorted(catalogue.by_name.items()):
        yield name, ("skill", gem.name)


def _vocabulary(words: Vocabulary, catalogue: Catalogue) -> Iterator[tuple[str, Meaning]]:
    yield from _phrases("class", words.classes)
    yield from _phrases("ascendancy", words.ascendancies)
    yield from _phrases("damage_type", words.damage_types)
    yield from _phrases("style", words.styles)
    yield from _phrases("goal", words.goals)
    yield from _phrases("defence", words.defences)
    yield from _phrases("hardcore", words.hardcore)
    yield from _phrases("gear", words.gear)
    yield from _phrases("budget", words.budget)
    yield from _phrases("weapon", words.weapons)
    yield from _phrases("content", words.content)
    for text, fields in words.hints.items():
        yield from ((text, (f"hint:{name}", value)) for name, value in fields.items())
    for text, name in words.skill_aliases.items():
        if gem := catalogue.skill(name):
            yield text, ("skill", gem.name)
    yield from ((text, ("neutral", text)) for text in words.neutral)
    for text in words.foreign:
        yield text, ("foreign", text)


def _phrases(field: str, phrases: Phrases) -> Iterator[tuple[str, Meaning]]:
    for value, texts in phrases.items():
        yield from ((text, (field, value)) for text in texts)
