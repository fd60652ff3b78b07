"""Prompts of 10,000 characters that say the same over and over take no longer than their length lets them.

What is compared are times of one run: a quarter of the prompt takes a quarter of the time, a sixteenth where time goes
with the square of the length. The refiner's words are read, too.
"""

from __future__ import annotations

import random
import time

import pytest

from app.knowledge.catalogue import Catalogue
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from
from app.reasoning.prompt.refinement import read_refinement

LENGTH, PART = 10_000, 4
MOST = 2.25 * PART
TRIES = 3
"""A busy machine may slow one of two readings down; what grows with the square is slow every time."""
REPEATED = [
    "sorcerss sparkk ",
    "a",
    "a ",
    "1",
    "1 ",
    "1/",
    "1,",
    "1 % / ",
    "9 k to ",
    "50 div ",
    "level ",
    "90th ",
    "no ",
    "no zzzqx yyyqv xxxqw ",
    "without the ",
    "keep the ",
    "keep everything else ",
    "only change ",
    "lose 5% ",
    "at least 5000 life ",
    "capped fire and cold ",
    "fire/cold/",
    " " * 10 + "a",
    "-",
    ",",
    "\n",
    "\ufb00",
    "'",
]


def prompts(length: int) -> dict[str, str]:
    found = {repr(unit): (unit * length)[:length] for unit in REPEATED}
    found["a list of exclusions"] = "no " + "fire, cold, " * (length // 12 - 2) + "fire or cold"
    for word in ("keep", "only change", "keep a but", "level", "1", "at least", "lose", "5%"):
        found[f"{word} and blanks"] = word + " " * (length - len(word))
    letters = random.Random(1)
    words = ["".join(letters.choices("aeioulnrst", k=letters.randint(4, 9))) for _ in range(length // 7)]
    return found | {"words like words": " ".join(words)[:length]}


def seconds(prompt: str, catalogue: Catalogue) -> float:
    """Return the processor time that reading takes."""
    request = BuildRequest(prompt="any").model_copy(update={"prompt": prompt})
    started = time.process_time()
    extract_from(request, catalogue)
    read_refinement(prompt)
    return time.process_time() - started


@pytest.mark.parametrize("name", prompts(LENGTH))
def test_a_long_prompt_takes_no_longer_than_its_length(catalogue: Catalogue, name: str) -> None:
    for _ in range(TRIES):
        short, long = (seconds(prompts(length)[name], catalogue) for length in (LENGTH // PART, LENGTH))
        print(f"{name}: {short:.3f} s, {long:.3f} s, {long / short:.1f} times")
        if long < MOST * short + 0.05:
            return
    pytest.fail(f"{long / short:.1f} times as long for {PART} times the words, in each of {TRIES} tries")
