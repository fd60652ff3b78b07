"""Every phrase we understand, from the vocabulary files and from the names the engine knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process

from app.knowledge.catalogue import Catalogue
from app.knowledge.vocabulary import Vocabulary
from app.knowledge.words import phrase
from app.model.constraints import INVARIANTS

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
        for text, meaning in (*_meanings(words, catalogue), *missing):
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


def _meanings(words: Vocabulary, catalogue: Catalogue) -> Iterator[tuple[str, Meaning]]:
    """Yield the names of the engine, then the words of the vocabulary, each with what it means."""
    for fact in catalogue.classes:
        yield phrase(fact.name), ("class", fact.name)
        for ascendancy in fact.ascendancies:
            yield phrase(ascendancy), ("ascendancy", ascendancy)
    for name, skill in sorted(catalogue.by_name.items()):
        yield name, ("skill", skill.name)
    sections = {"class": words.classes, "ascendancy": words.ascendancies}
    sections |= {name: getattr(words, one.words) for name, one in INVARIANTS.items() if one.words}
    for field, phrases in sections.items():
        for value, texts in phrases.items():
            yield from ((text, (field, value)) for text in texts)
    for text, fields in words.hints.items():
        yield from ((text, (f"hint:{name}", value)) for name, value in fields.items())
    for text, name in words.skill_aliases.items():
        if gem := catalogue.skill(name):
            yield text, ("skill", gem.name)
    yield from ((text, ("neutral", text)) for text in words.neutral)
    for text in words.foreign:
        yield text, ("foreign", text)


Guess = tuple[int, int, str, float]
"""First word, end (exclusive), the phrase meant, likeness in percent."""

_LIKE_SHORT, _LIKE_LONG, _LIKE_PERSON = 87.0, 85.0, 84.0
_LIKE_PHRASE, _LIKE_JOINED = 84.0, 92.0
_LIKE_KNOWN_WORD, _LIKE_OTHER_WORD = 90.0, 70.0
_LONGEST_GUESS = 4


def guesses(words: Sequence[str], used: frozenset[int], lexicon: Lexicon) -> list[Guess]:
    """Return likely misspellings of names among the words that are not used yet."""
    joined = {text.replace(" ", ""): text for text in sorted(lexicon.guessable, reverse=True)}
    return [
        guess
        for size in range(1, _LONGEST_GUESS + 1)
        for start in range(len(words) - size + 1)
        if not any(i in used for i in range(start, start + size))
        for guess in _guess(start, words[start : start + size], joined, lexicon)
    ]


def _guess(start: int, words: Sequence[str], joined: dict[str, str], lexicon: Lexicon) -> Iterator[Guess]:
    text = "".join(words)
    single = len(words) == 1
    means_itself = all(word in (lexicon.known_words if single else lexicon.vocabulary.plain_words) for word in words)
    if len(text) < 5 or len(text) > 40 or means_itself:
        return
    for found, likeness, _ in process.extract(
        text, joined.keys(), scorer=fuzz.ratio, score_cutoff=_LIKE_PHRASE - 1, limit=4
    ):
        if _is_close(words, joined[found], likeness, lexicon):
            yield start, start + len(words), joined[found], min(likeness, 99.9)
            return


def _is_close(words: Sequence[str], name: str, likeness: float, lexicon: Lexicon) -> bool:
    """Say whether the words can stand for the name; a word with a meaning of its own hardly can for one of it."""
    parts = name.split()
    if words[0][0] != parts[0][0]:
        return False
    if len(parts) != len(words):
        return likeness >= _LIKE_JOINED
    if len(parts) == 1:
        person = any(field in {"class", "ascendancy"} for field, _ in lexicon.guessable[name])
        return likeness >= (_LIKE_PERSON if person else _LIKE_SHORT if len(name) <= 6 else _LIKE_LONG)
    return likeness >= _LIKE_PHRASE and all(
        word.rstrip("s") == part.rstrip("s")
        or fuzz.ratio(word, part) >= (_LIKE_KNOWN_WORD if word in lexicon.known_words else _LIKE_OTHER_WORD)
        for word, part in zip(words, parts, strict=True)
    )
