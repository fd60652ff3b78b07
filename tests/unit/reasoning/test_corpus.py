"""The corpus of prompts as people write them, read with the names that the sketch engine knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.sketch.backend import SketchBackend
from app.knowledge.catalogue import Catalogue
from app.knowledge.feasibility import impossible_among
from app.knowledge.vocabulary import vocabulary
from app.model.constraints import InvariantSet
from app.model.facts import NodeFact
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from
from tests.corpus.names import catalogue_of
from tests.corpus.score import MORE, THIRD, Wish, load, scored

LEAST_RECALL = 0.75
"""The sketch engine knows 30 skills and no unique of those that people name; what it lacks it must say."""


@pytest.fixture(scope="module")
def sketch() -> Catalogue:
    return catalogue_of(SketchBackend())


def understood(prompt: str, catalogue: Catalogue) -> InvariantSet:
    return extract_from(BuildRequest(prompt=prompt), catalogue)


def test_what_a_small_engine_does_not_know_is_said(sketch: Catalogue) -> None:
    score = scored(sketch, [*load(), *load(MORE), *load(THIRD)])

    assert score.silent == []
    assert score.unlisted == []
    assert score.recall >= LEAST_RECALL
    assert score.precision >= 0.9


@pytest.mark.parametrize(
    ("prompt", "wish", "met"),
    [
        ("life based witch", "defence=life", True),
        ("witch", "defence=life", False),
        ("at least 5k life", "life>=5000", True),
        ("at least 5k life", "life>=4000", False),
        ("no totems", "without=totem", True),
        ("totems", "without=totem", False),
        ("no totems", "style=totem", False),
        ("warrior with a shield", "with=shield", True),
        ("budget 10 divines", "budget=10 divines", True),
        ("budget 10 divines", "budget=20 divines", False),
        ("cheap build", "gear=mid", False),
    ],
)
def test_the_score_takes_no_wrong_reading_for_a_right_one(prompt: str, wish: str, met: bool, sketch: Catalogue) -> None:
    assert bool(Wish(wish).met_by(understood(prompt, sketch))) is met


def test_a_value_that_nobody_asked_for_is_counted(sketch: Catalogue) -> None:
    asked = scored(sketch, [("fire totem witch", [Wish("class=Witch"), Wish("damage_type=fire")])])

    assert asked.false == ["style=totem in 'fire totem witch'"]
    assert asked.precision == pytest.approx(2 / 3)


KEYSTONES = {
    "Iron Reflexes": "Converts all Evasion Rating to Armour",
    "Blood Magic": "You have no Mana",
    "Chaos Inoculation": "Maximum Life is 1",
    "Resolute Technique": "Never deal Critical Hits",
    "Eldritch Battery": "Convert 100% of maximum Energy Shield to maximum Mana",
}
"""Those that take a figure away, in Path of Building's words."""
UNPAIRED = "Of the weapons that anybody finds only maces can be held in both hands"
UNFOUND = "No skill is made for it and no unique item is one, so nobody finds any in this version of the game"


def test_of_what_people_write_nothing_is_called_impossible_but_what_is(sketch: Catalogue) -> None:
    nodes = [
        NodeFact(id=90_000 + at, name=name, kind="keystone", mods=[line])
        for at, (name, line) in enumerate(KEYSTONES.items())
    ]
    known = replace(sketch, nodes=(*(node for node in sketch.nodes if node.name not in KEYSTONES), *nodes))
    found = {}
    for prompt, _ in [*load(), *load(MORE), *load(THIRD)]:
        wished = {one.field: one.value for one in understood(prompt, known).invariants if one.is_wished}
        if never := impossible_among(wished, known, vocabulary()):
            found[prompt] = [one.sentence for one in never]
    assert found == {
        "CI but also 4k life": ['Chaos Inoculation says "Maximum Life is 1": at least 4,000 life cannot be had.'],
        **{
            prompt: [f"{UNFOUND}: {weapon} cannot be had."]
            for prompt, weapon in (
                ("something with axes", "an axe"),
                ("sword and board warrior", "a sword"),
                ("dual wield claws shadow", "a claw"),
            )
        },
        "gemling, dual crossbow? attribute stacking with astramentis": [
            f"{UNPAIRED}: a weapon in each hand cannot be had."
        ],
    }
