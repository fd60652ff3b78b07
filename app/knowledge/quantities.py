"""Quantities as people write them: 20000000, 2.5m, 250.000, 1,5 Mio, 90k, 75 %."""

from __future__ import annotations

import re

_TIMES = {
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "m": 1e6, "mil": 1e6, "mill": 1e6, "mio": 1e6, "million": 1e6,
    "millions": 1e6, "b": 1e9, "bil": 1e9, "billion": 1e9,
}  # fmt: skip
QUANTITY = r"(?P<digits>\d+(?:[.,'\u2019 ]\d{3})+(?![\d])(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)?)"
QUANTITY += (
    rf"\s?(?P<times>(?:{'|'.join(sorted(_TIMES, key=len, reverse=True))})(?![a-z]))?\+?\s?(?P<percent>%|per ?cent)?"
)
"""A quantity in a text in lower case, as a regular expression with the groups digits, times and percent."""

_WHOLE = re.compile(rf"\s*{QUANTITY}\s*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,'\u2019 ]\d{3})+")


def quantity(text: str) -> float | None:
    """Return the number that a text in any case is, or None when it is something else.

    A point or comma before exactly three digits separates thousands ("1.250" is 1,250), except before a million
    or billion ("1.250m" is 1,250,000).
    """
    found = _WHOLE.fullmatch(text.lower())
    return None if found is None else number_of(found["digits"], found["times"])


def first_quantity(text: str) -> float | None:
    """Return the first number in a text in any case, or None when there is none."""
    found = re.search(QUANTITY, text.lower())
    return None if found is None else number_of(found["digits"], found["times"])


def number_of(digits: str, times: str | None) -> float:
    """Return the number of a matched quantity."""
    factor = _TIMES[times] if times else 1.0
    grouped = _THOUSANDS.fullmatch(digits)
    if grouped and not (factor >= 1e6 and len(re.findall(r"[.,]", digits)) == 1):
        return float(re.sub(r"\D", "", digits)) * factor
    head, separator, tail = re.sub(r"['\u2019 ]", "", digits).replace(",", ".").rpartition(".")
    return float(f"{head.replace('.', '')}.{tail}" if separator else tail) * factor
