"""The corpus of prompts as people write them, read with Path of Building's names."""

from __future__ import annotations

import pytest

from app.engine.pob.backend import PobBackend
from app.knowledge.catalogue import Catalogue
from app.knowledge.vocabulary import preferences, vocabulary
from app.knowledge.words import phrase
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from
from tests.corpus.names import catalogue_of
from tests.corpus.score import MORE, THIRD, load, scored

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


def test_what_was_written_when_the_reader_knew_both(known: Catalogue) -> None:
    """At first sight 119 of 139 were met (85.6 %); what is listed besides is what a careful reader would ask about."""
    score = scored(known, load(THIRD))

    assert score.recall >= 0.98, score.lines()
    assert score.silent == []
    assert score.unlisted == []
    assert score.precision >= 0.85, score.lines()


@pytest.mark.parametrize(
    ("prompt", "charms"),
    [
        ("freeze immune ranger", ["Thawing Charm"]),
        ("monk, immune to freeze and shock", ["Thawing Charm", "Grounding Charm"]),
        ("ranger who can't be poisoned, never bleeding", ["Antidote Charm", "Staunching Charm"]),
        ("freeze and stun immune ranger", []),
    ],
)
def test_immunity_is_asked_of_a_charm(prompt: str, charms: list[str], known: Catalogue) -> None:
    found = extract_from(BuildRequest(prompt=prompt), known)
    assert (found.listed("with"), found.get("style")) == (charms, None)
    told = [text for text in found.assumptions if "gives immunity for the seconds" in text]
    assert len(told) == len(charms)
    assert bool(found.not_understood) is not bool(charms)


@pytest.mark.parametrize(
    ("prompt", "field", "wished", "ruled_out"),
    [
        ("no minions except spectres", "skill", "Summon Spectre", ["minions"]),
        ("no uniques other than Headhunter, deadeye", "with", ["Headhunter"], ["uniques"]),
    ],
)
def test_what_is_excepted_is_wished_for(
    prompt: str, field: str, wished: object, ruled_out: list[str], known: Catalogue
) -> None:
    found = extract_from(BuildRequest(prompt=prompt), known)
    assert (found.get(field), found.get("exclude"), found.not_understood) == (wished, ruled_out, [])


def test_names_of_the_vocabulary_exist(known: Catalogue) -> None:
    words = vocabulary()
    named = {*words.short_names.values(), *words.skill_names, *words.thing_names, *preferences().helpers}
    assert sorted(name for name in named if phrase(name) not in known.things) == []
