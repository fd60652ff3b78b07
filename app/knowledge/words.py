"""Prompts as words, lower case, without punctuation, each knowing where it stood; names as they are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from rapidfuzz import fuzz, process

from app.core.errors import LlmBadOutput

T = TypeVar("T")

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)*")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00b4": "'", "`": "'"})


@dataclass(frozen=True)
class Word:
    """A word without its apostrophes; `start` and `end` are its place in the cleaned text."""

    text: str
    start: int
    end: int


def clean(text: str) -> str:
    """Return the text in lower case, compatibility-normalised, accents removed, quotes made plain."""
    folded = unicodedata.normalize("NFKD", text.translate(_QUOTES)).casefold()
    return "".join(char for char in folded if not unicodedata.combining(char))


def origins(text: str) -> list[int]:
    """Return for each character of the cleaned text which character of the text it comes from, and then the end."""
    return [*(i for i, char in enumerate(text) for _ in clean(char)), len(text)]


def words_of(cleaned: str) -> list[Word]:
    """Split a cleaned text into its words."""
    return [Word(m.group().replace("'", ""), m.start(), m.end()) for m in _WORD.finditer(cleaned)]


@lru_cache(maxsize=32_768)
def phrase(name: str) -> str:
    """Return a name as it is compared: its words separated by single spaces."""
    return " ".join(word.text for word in words_of(clean(name)))


def comparable(value: object) -> str:
    """Return a value of a constraint as it is compared: numbers as numbers, words without their writing."""
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return phrase(str(value).replace("_", " "))


def with_article(noun: str) -> str:
    """Return the noun in small letters with its article: "an axe", "a shield"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun.lower()}"


def listing(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a", "a and b", "a, b and c", without underscores."""
    shown = [name.replace("_", " ") for name in names]
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def by_phrase(things: Iterable[T], names: Iterable[str]) -> dict[str, T]:
    """Return the things by comparable name; of several with one name the first."""
    found: dict[str, T] = {}
    for thing, name in zip(things, names, strict=True):
        found.setdefault(phrase(name), thing)
    return found


def named(text: str, things: Mapping[str, T], what: str) -> T:
    """Return the thing that a language model calls by this name.

    Raises:
        LlmBadOutput: there is none; the message names what comes closest.
    """
    found = things.get(phrase(text))
    if found is None:
        raise LlmBadOutput(f"there is no {what} called {text[:60]!r}{closest_to(text, things)}")
    return found


def closest_to(text: str, names: Iterable[str]) -> str:
    """Return "; the closest are a, b" or nothing."""
    best = process.extract(phrase(text), list(names), scorer=fuzz.WRatio, limit=3, score_cutoff=60)
    return f"; the closest are {', '.join(name for name, _, _ in best)}" if best else ""
