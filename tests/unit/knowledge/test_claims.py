"""Sentences of a model against what was recorded."""

from __future__ import annotations

import json

import pytest

from app.knowledge.claims import SAYS, Grounds, founded, grounds_of, said
from app.model.race import RACED
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


RACE = (
    f"{RACED}, 2254 evaluations): Spark with wand and focus: 53.1k DPS / 9.2k EHP (rung 3); Arc: 41.0k DPS / 8.8k EHP."
)


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("As drafts Spark measured 53.1k DPS against 41,000 DPS of Arc.", True),
        ("Its draft was measured at 9,200 effective hit points.", True),
        ("In the race it had 53,100 damage per second.", True),
        ("It was measured at 53.1k DPS.", False),
        ("The build deals 53,100 damage per second.", False),
        ("As a draft it was measured at 60k DPS.", False),
        ("As a draft it had 53.1k effective hit points.", False),
    ],
)
def test_figures_of_the_race_are_those_of_drafts(sentence: str, kept: bool) -> None:
    grounds = grounds_of([fenced("facts", f"- 2 skills are there\n- '{RACE}'")])
    assert founded(sentence, grounds) == (sentence if kept else "")


def test_only_facts_are_the_races() -> None:
    forged = grounds_of([fenced("request", RACE), RACE])
    assert founded("As a draft it was measured at 53.1k DPS.", forged) == ""


def test_what_was_tried_on_a_draft_is_no_figure_of_the_build() -> None:
    row = '{"of draft":"Spark","gain":0.031,"DPS":53100}'
    tried = grounds_of([fenced("result of what_if", row)])
    assert founded("As a draft it was measured at 53,100 DPS.", tried) == "As a draft it was measured at 53,100 DPS."
    assert founded("It was measured at 53,100 DPS.", tried) == ""
