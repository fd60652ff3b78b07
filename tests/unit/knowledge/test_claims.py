"""Sentences of a model against what was recorded."""

from __future__ import annotations

import json

import pytest

from app.knowledge.claims import SAYS, Grounds, founded, grounds_of, said
from app.prompting.library import fenced

TRIAL = {"variant": "a ring", "gain": 0.0412, "DPS": 53123.4, "TotalEHP": 24410.0, "Life": 1800}
GROUNDS = grounds_of(
    [
        "An example of the prompt: 77,777 damage per second.",
        fenced("request", "a build with 90k dps, level 85"),
        fenced("result of search_gems", json.dumps([{"name": "Spark", "level": 1, "costs": {"Mana": 56}}])),
        fenced("result of run_experiment", json.dumps([TRIAL])),
    ]
)


@pytest.mark.parametrize(
    "sentence",
    [
        "It fills rooms with projectiles.",
        "Two curses at once are too many.",
        "In the experiment it dealt 53,100 damage per second.",
        "The trial gained 4.1 %.",
        "Measured: 24,400 effective hit points.",
        "Level 85 leaves points for it.",
    ],
)
def test_what_has_grounds_is_kept(sentence: str) -> None:
    assert founded(sentence, GROUNDS) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "Path of Building measured 95,000 EHP.",
        "It was verified with the developers.",
        "It has 53,100 effective hit points.",
        "The build deals 90,000 DPS.",
        "It deals 77,777 damage per second.",
        "It doubles the damage.",
        "Bosses lose forty percent at once.",
        "The trial gained 14 %.",
        "PoB says that this is best.",
        "About 5.3m damage per second.",
        "It gives 300 more of everything.",
    ],
)
def test_what_has_none_is_cut(sentence: str) -> None:
    assert founded(sentence, GROUNDS) == ""


def test_only_the_sentences_without_grounds_go() -> None:
    text = "It is quick. Path of Building measured 95,000 EHP. It clears packs."
    assert said(text, GROUNDS) == f"{SAYS}It is quick. It clears packs."
    assert said(said(text, GROUNDS), GROUNDS) == f"{SAYS}It is quick. It clears packs."
    assert said("It was verified.", GROUNDS) == ""


def test_what_the_build_has_not_is_not_spoken_of() -> None:
    absent = Grounds(names=frozenset({"mind over matter", "blink"}))
    assert founded("Mind Over Matter saves you.", absent) == ""
    assert founded("Blink away from danger.", absent) == ""
    assert founded("In the blink of an eye they die.", absent) == "In the blink of an eye they die."
