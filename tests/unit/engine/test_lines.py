"""What Path of Building may be given to parse: texts of the game pass, those that hold it up do not."""

from __future__ import annotations

import time

import pytest

from app.core.errors import BadImport
from app.engine.files.lines import MAX_ALIKE, MAX_LINE_CHARS, MAX_LINES, MAX_NUMBERS, MAX_TEXT_CHARS, check_text

HEAD = "Rarity: RARE\nDoom Loop\nSapphire Ring\n"
NUMBERS = "1 2 3 4 5 6 7 8 9"
HELD_UP = {
    "equal lines": "+10 to maximum Life\n" * 1_500,
    "lines that differ in a number": "\n".join(f"{number}% increased Fire Damage" for number in range(1_500)),
    "a line with many numbers": HEAD + NUMBERS,
    "numbers behind marks": HEAD + "{range:0.5}" + NUMBERS,
    "an id that is none": HEAD + "Unique ID: " + NUMBERS,
    "a long line": HEAD + "a" * (MAX_LINE_CHARS + 1),
    "many lines": "\n".join(chr(0x4E00 + number) for number in range(MAX_LINES + 1)),
    "a long text": "a\n" * MAX_TEXT_CHARS,
    "blanks": " " * (MAX_TEXT_CHARS + 1),
    "open marks": "{" * MAX_LINE_CHARS + "\n" + NUMBERS,
}


@pytest.mark.parametrize("name", HELD_UP)
def test_texts_that_would_hold_it_up_are_refused_at_once(name: str) -> None:
    started = time.process_time()
    with pytest.raises(BadImport):
        check_text(HELD_UP[name])
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "line",
    [
        "Adds " + " to ".join(map(str, range(MAX_NUMBERS))),
        "{tags:life}{range:0.123}+(10-19) to maximum Life",
        "Unique ID: 0123456789abcdef0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778",
        "a" * MAX_LINE_CHARS,
        "\n".join(["+10 to maximum Life"] * MAX_ALIKE),
    ],
)
def test_texts_of_the_game_pass(line: str) -> None:
    assert check_text(HEAD + line) == 3 + line.count("\n") + 1
