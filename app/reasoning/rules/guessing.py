"""Recognising misspelt names by likeness, carefully: an ordinary word must not become a skill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz, process

from app.reasoning.rules.lexicon import Lexicon

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
    if len(text) < 5 or len(text) > 40 or _means_itself(words, lexicon):
        return
    for found, likeness, _ in process.extract(
        text, joined.keys(), scorer=fuzz.ratio, score_cutoff=_LIKE_PHRASE - 1, limit=4
    ):
        if _is_close(words, joined[found], likeness, lexicon):
            yield start, start + len(words), joined[found], min(likeness, 99.9)
            return


def _means_itself(words: Sequence[str], lexicon: Lexicon) -> bool:
    if len(words) == 1:
        return words[0] in lexicon.known_words
    return all(word in lexicon.vocabulary.plain_words for word in words)


def _is_close(words: Sequence[str], name: str, likeness: float, lexicon: Lexicon) -> bool:
    parts = name.split()
    if words[0][0] != parts[0][0]:
        return False
    if len(parts) != len(words):
        return likeness >= _LIKE_JOINED
    if len(parts) > 1:
        return likeness >= _LIKE_PHRASE and all(_pair(a, b, lexicon) for a, b in zip(words, parts, strict=True))
    return likeness >= _single_cutoff(name, lexicon)


def _pair(word: str, part: str, lexicon: Lexicon) -> bool:
    """Say whether a written word can stand for a name's word; a word with a meaning of its own hardly can."""
    need = _LIKE_KNOWN_WORD if word in lexicon.known_words else _LIKE_OTHER_WORD
    return word.rstrip("s") == part.rstrip("s") or fuzz.ratio(word, part) >= need


def _single_cutoff(name: str, lexicon: Lexicon) -> float:
    if any(field in {"class", "ascendancy"} for field, _ in lexicon.guessable[name]):
        return _LIKE_PERSON
    return _LIKE_SHORT if len(name) <= 6 else _LIKE_LONG


def closest(word: str, names: Sequence[str]) -> tuple[str, float] | None:
    """Return the name most like a word that we do not know, with the likeness in percent, or None."""
    best = process.extractOne(word, names, scorer=fuzz.WRatio, processor=str.casefold)
    return None if best is None else (best[0], best[1])
