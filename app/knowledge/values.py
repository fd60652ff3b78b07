"""Values of constraints: how a JSON value and an answer's words are read, kind by kind, and what is allowed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from app.knowledge.catalogue import Catalogue
from app.knowledge.quantities import first_quantity
from app.knowledge.vocabulary import Phrases, vocabulary
from app.knowledge.words import phrase
from app.model.constraints import Count, InvariantType, InvariantValue, Kind, as_list

MAX_TEXT = 200
MAX_WORDS = 20
_ALLOWED_CONTROLS = frozenset("\t\n\r")
_NUMBER = re.compile(r"\D*(\d{1,9})\D*")
_BETWEEN = re.compile(r"\s*(?:[,;/]|\band\b|\bor\b)\s*", re.I)
_BETWEEN_NAMES = re.compile(r"\s*[,;/]\s*")
_EITHER = re.compile(r"\s*(?:/|\bor\b)\s*", re.I)
_NAMES = frozenset({Kind.NAME, Kind.PHRASE})
"""Kinds whose values may have an "and" of their own ("Hand of Wisdom and Action")."""
_YES, _NO = frozenset({"yes", "true", "y"}), frozenset({"no", "false", "n"})
MOST_TARGET = 1e12
"""From here on an engine's figure has no bound, so nobody can ask for it."""
_LIKE = 80.0
"""Likeness in percent from which a name is taken for one that the engine knows."""


class Unusable(ValueError):
    """The value is none that the constraint can have; the message says what it may be."""


def is_plain_text(text: str) -> bool:
    """Tell whether the text has no control characters (line breaks and tabs aside) and no half surrogates."""
    return all(char in _ALLOWED_CONTROLS or unicodedata.category(char) not in {"Cc", "Cs"} for char in text)


def words_of(constraint: InvariantType) -> Phrases:
    """Return the words that the constraint can have, each with the phrases that mean it."""
    words: Phrases = getattr(vocabulary(), constraint.words)
    return words


def allowed(constraint: InvariantType) -> str:
    """Return what the constraint can be, to be read after "must be"."""
    if constraint.kind is Kind.FLAG:
        return "true or false"
    if constraint.kind is Kind.NUMBER:
        return f"a whole number from {constraint.least} to {constraint.most}"
    if constraint.kind is Kind.TARGET:
        return f"a number above 0 and below {MOST_TARGET:,.0f}"
    if constraint.kind is Kind.WORD:
        one = f"one of {', '.join(words_of(constraint))}"
    else:
        what = "plain text" if constraint.kind is Kind.PHRASE else f"the {constraint.kind.value}"
        one = f"{what} of 1 to {MAX_TEXT} characters"
    return one if constraint.count is Count.ONE else f"{one}, or a list of at most {MAX_WORDS} such"


def value_of(constraint: InvariantType, value: object) -> InvariantValue:
    """Return a JSON value as the product writes it; names stay as they are, since only an engine knows them all.

    Raises:
        Unusable: the constraint cannot have the value.
    """
    found: InvariantValue = None
    if constraint.kind is Kind.FLAG:
        found = value if isinstance(value, bool) else None
    elif constraint.kind is Kind.NUMBER:
        number = value if isinstance(value, int) and not isinstance(value, bool) else constraint.least - 1
        found = number if constraint.least <= number <= constraint.most else None
    elif constraint.kind is Kind.TARGET:
        figure = value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
        found = float(figure) if 0 < figure < MOST_TARGET else None  # compared before: no float holds every integer
    elif isinstance(value, str) or (isinstance(value, list) and constraint.count is not Count.ONE):
        found = _texts(constraint, value if isinstance(value, list) else [value])
    if found is None:
        raise Unusable(f"{repr(value)[:60]} is not {allowed(constraint)}")
    return found


def _texts(constraint: InvariantType, texts: list[object]) -> InvariantValue:
    """Return the texts as the constraint's word or words, or None when one of them is none."""
    if len(texts) > MAX_WORDS:
        return None
    found: list[str] = []
    for text in texts:
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT or not is_plain_text(text):
            return None
        if constraint.kind is Kind.WORD:
            meant = phrase(text)
            table = words_of(constraint).items()
            word = next((name for name, phrases in table if meant in (phrase(name), *phrases)), None)
            if word is None:
                return None
            found.append(word)
        else:
            found.append(text)
    return constraint.holding(found) if found or constraint.count is Count.LIST else None


def answer_of(constraint: InvariantType, text: str) -> InvariantValue:
    """Return what the words of an answer say about the constraint; where names end at an "and" `known_to` says.

    Raises:
        Unusable: they say nothing that the constraint can have.
    """
    meant = phrase(text)
    if constraint.kind is Kind.FLAG:
        words = words_of(constraint)
        if meant in _YES or meant in words["true_words"]:
            return True
        return value_of(constraint, False if meant in _NO or meant in words["false_words"] else text)
    if constraint.kind is Kind.NUMBER:
        number = _NUMBER.fullmatch(text)
        return value_of(constraint, int(number[1]) if number else text)
    if constraint.kind is Kind.TARGET:
        asked = first_quantity(text)
        return value_of(constraint, text if asked is None else asked)
    if constraint.count in (Count.ONE, Count.EITHER):
        return value_of(constraint, text)
    between = _BETWEEN_NAMES if constraint.kind in _NAMES else _BETWEEN
    parts: list[str] = [part for part in between.split(text.strip()) if part]
    if constraint.kind is Kind.WORD and any(meant in (phrase(n), *p) for n, p in words_of(constraint).items()):
        parts = [text]
    return value_of(constraint, parts)


def known_to(constraint: InvariantType, value: InvariantValue, catalogue: Catalogue) -> InvariantValue:
    """Return the value with names as the engine writes them; None when it knows nothing like one of them.

    A text that is no name as a whole is several, joined by "and" or "or"; those of which one is wanted by "or" alone.
    """
    if constraint.kind in _NAMES or constraint.count is Count.EITHER:
        between = _EITHER if constraint.count is Count.EITHER else _BETWEEN
        whole = [[text] if known_name(text, catalogue) else between.split(text) for text in as_list(value)]
        value = list(dict.fromkeys(part.strip() for parts in whole for part in parts if part.strip())) or value
    if constraint.kind is Kind.CLASS:
        names = [fact.name for fact in catalogue.classes]
    elif constraint.kind is Kind.ASCENDANCY:
        names = [name for fact in catalogue.classes for name in fact.ascendancies]
    elif constraint.kind is Kind.SKILL:
        names = [gem.name for gem in catalogue.active]
    elif constraint.kind is Kind.NAME:
        names = [things[0].name for things in catalogue.things.values()]
    else:
        return value
    found: list[str] = []
    for text in as_list(value):
        known = known_name(text, catalogue) if constraint.kind in (Kind.SKILL, Kind.NAME) else None
        known = None if constraint.kind is Kind.SKILL and known and catalogue.skill(known) is None else known
        best = None if known else closest(text, names)
        if known is None and (best is None or best[1] < _LIKE):
            return None
        found.append(known if known is not None else best[0] if best is not None else text)
    return constraint.holding(found)


def known_name(text: str, catalogue: Catalogue) -> str | None:
    """Return what a name or a short name stands for, as the engine writes it; None when the engine has no such thing.

    Of several things of one name the skill is meant.
    """
    gem = catalogue.skill(text)
    if gem is not None:
        return gem.name
    things = catalogue.things.get(phrase(vocabulary().short_names.get(phrase(text), text)))
    return things[0].name if things else None


def closest(word: str, names: Sequence[str]) -> tuple[str, float] | None:
    """Return the name most like a word that we do not know, with the likeness in percent, or None."""
    best = process.extractOne(word, names, scorer=fuzz.WRatio, processor=str.casefold)
    return None if best is None else (best[0], best[1])
