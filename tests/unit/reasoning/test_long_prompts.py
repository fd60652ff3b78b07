"""Prompts of 10,000 characters that say the same over and over: read within a second, also by the refiner's words."""

from __future__ import annotations

import random
import time

import pytest

from app.knowledge.catalogue import Catalogue
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from
from app.reasoning.prompt.refinement import read_refinement

LENGTH = 10_000
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


def prompts() -> dict[str, str]:
    found = {repr(unit): (unit * LENGTH)[:LENGTH] for unit in REPEATED}
    found["a list of exclusions"] = "no " + "fire, cold, " * (LENGTH // 12 - 2) + "fire or cold"
    for word in ("keep", "only change", "keep a but", "level", "1", "at least", "lose", "5%"):
        found[f"{word} and blanks"] = word + " " * (LENGTH - len(word))
    letters = random.Random(1)
    words = ["".join(letters.choices("aeioulnrst", k=letters.randint(4, 9))) for _ in range(LENGTH // 7)]
    return found | {"words like words": " ".join(words)[:LENGTH]}


@pytest.mark.parametrize("name", prompts())
def test_a_long_prompt_is_read_at_once(catalogue: Catalogue, name: str) -> None:
    prompt = prompts()[name]
    request = BuildRequest(prompt="any").model_copy(update={"prompt": prompt})
    started = time.process_time()
    extract_from(request, catalogue)
    read_refinement(prompt)
    assert time.process_time() - started < 1
