"""The corpus of prompts as people write them, read with the names that the sketch engine knows."""

from __future__ import annotations

import pytest

from app.engine.sketch.backend import SketchBackend
from app.knowledge.catalogue import Catalogue
from app.model.constraints import InvariantSet
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
