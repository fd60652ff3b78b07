"""The corpus of prompts as people write them, read with Path of Building's names."""

from __future__ import annotations

import pytest

from app.engine.pob.backend import PobBackend
from app.knowledge.catalogue import Catalogue
from app.knowledge.vocabulary import preferences, vocabulary
from app.knowledge.words import phrase
from tests.corpus.names import catalogue_of
from tests.corpus.score import MORE, load, scored

pytestmark = pytest.mark.pob


@pytest.fixture(scope="module")
def known(warm_backend: PobBackend) -> Catalogue:
    return catalogue_of(warm_backend)


def test_what_people_write_is_understood(known: Catalogue) -> None:
    score = scored(known, load())

    assert score.recall >= 0.98, score.lines()
    assert score.silent == []
    assert score.unlisted == []
    assert score.precision >= 0.95, score.lines()


def test_what_they_write_in_other_words_too(known: Catalogue) -> None:
    score = scored(known, load(MORE))

    assert score.recall >= 0.98, score.lines()
    assert score.unlisted == []
    assert score.precision >= 0.93, score.lines()


def test_names_of_the_vocabulary_exist(known: Catalogue) -> None:
    words = vocabulary()
    named = {*words.short_names.values(), *words.skill_names, *words.thing_names, *preferences().helpers}
    assert sorted(name for name in named if phrase(name) not in known.things) == []
