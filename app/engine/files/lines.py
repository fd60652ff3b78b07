"""The lines that Path of Building parses one by one, each at a price: bounded before it sees them, whence they come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from lxml import etree

from app.core.errors import BadImport

MAX_TEXT_CHARS = 50_000
MAX_LINES = 2_000
"""In one text; the longest item of Path of Building's own has some 1,200, one for each notable it can allocate."""

MAX_LINES_OF_A_FILE = 5_000
MAX_ALIKE = 20
"""Lines of one text that differ in numbers at most; in builds of players there are at most 5."""

MAX_LINE_CHARS = 400
MAX_NUMBERS = 6
"""In one line: the search for ranges is exponential in them (and in those of the next line, which may be joined to it).
No line of the game has more than five."""

_NUMBER = re.compile(r"\d+")
_AMOUNT = re.compile(r"\d+\.?\d*")
_MARKS = re.compile(r"\{[^{}]*\}")
_UNIQUE_ID = re.compile(r"\s*Unique ID: [0-9a-fA-F]+\s*")


def parsed_texts(root: etree._Element) -> Iterator[str]:
    """Yield the texts of items, also those between their elements, and a build's own modifiers."""
    for item in root.iter("Item"):
        yield "\n".join(str(text) for text in item.itertext())
    for option in root.iter("Input"):
        if option.get("name") == "customMods":
            yield option.get("string", "")


def check_lines(root: etree._Element) -> None:
    """Return when the lines of a file that will be parsed are within the bounds.

    Raises:
        BadImport: too many lines, lines that are too long or have too many numbers, or too many that are alike.
    """
    if sum(check_text(text) for text in parsed_texts(root)) > MAX_LINES_OF_A_FILE:
        raise BadImport("the build's items and modifiers have too many lines")


@lru_cache(maxsize=512)
def check_text(text: str) -> int:
    """Return how many lines a text to be parsed has.

    Raises:
        BadImport: it or its lines are too long, too many, too much alike, or have too many numbers.
    """
    lines = [line for line in text.splitlines() if line and not line.isspace()]
    if len(text) > MAX_TEXT_CHARS or len(lines) > MAX_LINES or max(map(len, lines), default=0) > MAX_LINE_CHARS:
        raise BadImport("the build's items or modifiers have too many lines, or lines that are too long")
    for line in lines:
        if len(_AMOUNT.findall(_MARKS.sub("", line))) > MAX_NUMBERS and not _UNIQUE_ID.fullmatch(line):
            raise BadImport(f"a line of an item or modifier has too many numbers: {line[:80]}")
    alike = Counter(_NUMBER.sub("", line).strip() for line in lines).most_common(1)
    if alike and alike[0][1] > MAX_ALIKE:
        raise BadImport(f"an item or the modifiers have more than {MAX_ALIKE} lines like: {alike[0][0][:80]}")
    return len(lines)
