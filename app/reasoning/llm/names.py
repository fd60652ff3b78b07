"""Finding what a model named, and telling it what comes closest when there is no such thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from rapidfuzz import fuzz, process

from app.core.errors import LlmBadOutput
from app.reasoning.rules.words import phrase

T = TypeVar("T")
_HINTS = 3
_SHOWN = 60


def by_phrase(things: Iterable[T], names: Iterable[str]) -> dict[str, T]:
    """Return the things by comparable name; of several with one name the first."""
    found: dict[str, T] = {}
    for thing, name in zip(things, names, strict=True):
        found.setdefault(phrase(name), thing)
    return found


def named(text: str, things: Mapping[str, T], what: str) -> T:
    """Return the thing of that name.

    Raises:
        LlmBadOutput: there is none; the message names what comes closest.
    """
    found = things.get(phrase(text))
    if found is None:
        raise LlmBadOutput(f"there is no {what} called {text[:_SHOWN]!r}{closest_to(text, things)}")
    return found


def closest_to(text: str, names: Iterable[str]) -> str:
    """Return "; the closest are a, b" or nothing."""
    best = process.extract(phrase(text), list(names), scorer=fuzz.WRatio, limit=_HINTS, score_cutoff=60)
    return f"; the closest are {', '.join(name for name, _, _ in best)}" if best else ""
