"""Whatever is typed, constraints come out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.knowledge.catalogue import Catalogue
from app.model.constraints import InvariantSet
from app.model.names import GearTier, Goal
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from
from tests.fakes.engine import small_facts

_FACTS = small_facts()
_CATALOGUE = Catalogue(
    tuple(sorted(_FACTS.class_facts, key=lambda fact: fact.name)),
    tuple(sorted(_FACTS.gem_facts, key=lambda fact: fact.id)),
)
_NAMES = ["spark", "warrior", "sorceress", "titan", "lich", "occultist", "vortex", "rf", "explosive", "show", "cold"]
_OTHERS = [
    "no",
    "without",
    "nor",
    "or",
    "the",
    "using",
    "level",
    "200",
    "-3",
    "build",
    "minions",
    "life",
    "boss",
    "maps",
]
_WORDS = st.sampled_from([*_NAMES, *_OTHERS, "hc", "ssf"])


def _is_valid(found: InvariantSet) -> None:
    fields = [invariant.field for invariant in found.invariants]
    assert len(fields) == len(set(fields))
    assert found.get("class") in {fact.name for fact in _CATALOGUE.classes}
    assert found.get("damage_type")
    assert found.get("goal") in set(Goal)
    assert found.get("gear") in set(GearTier)
    assert 1 <= found.number("level") <= 100
    assert all(invariant.reason for invariant in found.invariants)
    if found.question is not None:
        assert found.question.assumed


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=3, max_size=300))
def test_any_text(text: str) -> None:
    _is_valid(extract_from(BuildRequest(prompt=text), _CATALOGUE))


@settings(max_examples=200, deadline=None)
@given(st.lists(_WORDS, min_size=1, max_size=12))
def test_any_heap_of_words_we_know(words: list[str]) -> None:
    prompt = " ".join(words)
    found = extract_from(BuildRequest(prompt=prompt.ljust(3)), _CATALOGUE)

    _is_valid(found)
    assert found == extract_from(BuildRequest(prompt=prompt.ljust(3)), _CATALOGUE)


def test_the_longest_prompt() -> None:
    _is_valid(extract_from(BuildRequest(prompt="lightnink bowlt " * 250), _CATALOGUE))
