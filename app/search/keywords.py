"""The fallback when a calculator sees no gain: does a text speak of what the plan scales?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def mentions(lines: Iterable[str], keywords: Sequence[str]) -> int:
    """Return how many lines contain at least one of the keywords, ignoring case."""
    words = [word.lower() for word in keywords if word]
    return sum(1 for line in lines if any(word in line.lower() for word in words))
