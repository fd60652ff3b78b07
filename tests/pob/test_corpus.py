"""The corpus of prompts as people write them, read with Path of Building's names."""

from __future__ import annotations

import pytest

from app.engine.pob.backend import PobBackend
from app.knowledge.catalogue import Catalogue
from app.knowledge.feasibility import NOT_TO_BE_HAD
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


def test_names_of_the_vocabulary_exist(known: Catalogue) -> None:
    words = vocabulary()
    named = {*words.short_names.values(), *words.skill_names, *words.thing_names, *preferences().helpers}
    assert sorted(name for name in named if phrase(name) not in known.things) == []


def never(known: Catalogue, prompt: str) -> list[str]:
    return [one for one in extract_from(BuildRequest(prompt=prompt), known).assumptions if one.endswith(NOT_TO_BE_HAD)]


def test_nothing_of_what_people_write_is_called_impossible_that_is_not(known: Catalogue) -> None:
    found = {prompt: lines for prompt, _ in [*load(), *load(MORE), *load(THIRD)] if (lines := never(known, prompt))}
    assert found == {}


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("iron reflexes deadeye with 20k evasion", 'Iron Reflexes says "Converts all Evasion Rating to Armour"'),
        ("blood magic warrior, 2000 mana", 'Blood Magic says "You have no Mana"'),
        ("CI witch, 3000 life", 'Chaos Inoculation says "Maximum Life is 1"'),
        ("resolute technique crit mercenary", 'Resolute Technique says "Never deal Critical Hits"'),
        (
            "eldritch battery stormweaver, 5000 energy shield",
            'Eldritch Battery says "Convert 100% of maximum Energy Shield to maximum Mana"',
        ),
    ],
)
def test_what_a_keystone_takes_away_is_told(known: Catalogue, prompt: str, line: str) -> None:
    assert [told.split(":")[0] for told in never(known, prompt)] == [line]
