"""Wishes by name that cannot all be met are said to be so before anything is built."""

from __future__ import annotations

import pytest

from app.knowledge.catalogue import Catalogue
from app.knowledge.gems import usual_spirit
from app.model.base import changed
from app.model.facts import BaseFact, GemFact, UniqueFact
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from

REST = "what gear does not add stays off."


def gem(name: str, **more: object) -> GemFact:
    known = {"id": name, "name": name, "kind": "active", "tags": ["spell", "lightning"], "colour": "int"}
    return GemFact.model_validate({**known, **more})


@pytest.fixture
def wider(catalogue: Catalogue) -> Catalogue:
    """Everything that the other tests know, and things with a level, a weapon, a slot or a price."""
    gems = [
        gem("Late Bolt", level_requirements=[58], tier=1),
        gem("Mace Slam", tags=["attack", "melee"], weapon_types=["Two Hand Mace", "One Hand Mace"]),
        gem("Quiet Aura", spirit=70.0, tags=["persistent"]),
        gem("Loud Aura", spirit=70.0, tags=["persistent"]),
    ]
    bases = [BaseFact(name=name, type=name, slots=[name]) for name in ("Helmet", "Ring")]
    uniques = [
        UniqueFact(name=name, base=base, type=base, level=level, text="")
        for name, base, level in (("Iron Face", "Helmet", 1), ("Old Crown", "Helmet", 1), ("Last Band", "Ring", 70))
    ]
    return Catalogue(catalogue.classes, (*catalogue.gems, *gems), catalogue.nodes, tuple(uniques), tuple(bases))


def told(wider: Catalogue, prompt: str) -> list[str]:
    found = extract_from(BuildRequest(prompt=prompt), wider).assumptions
    return [line for line in found if line.endswith(("cannot be had.", "stays off.", "can be worn."))]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        (
            "late bolt sorceress at level 40",
            "Late Bolt can first be used at level 58, and the character is level 40: both cannot be had.",
        ),
        ("mace slam with a wand", "Mace Slam needs Two Hand Mace or One Hand Mace, not Wand: both cannot be had."),
        (
            "sorceress with quiet aura and loud aura",
            "Quiet Aura and Loud Aura reserve 140 Spirit together, and about 130 is usual at level 90: " + REST,
        ),
        (
            "spark sorceress with last band, level 60",
            "Last Band can first be worn at level 70, and the character is level 60: both cannot be had.",
        ),
        (
            "sorceress with iron face and old crown",
            "Iron Face and Old Crown go into one slot (helmet): one of them can be worn.",
        ),
    ],
)
def test_what_cannot_be_is_said(wider: Catalogue, prompt: str, line: str) -> None:
    assert told(wider, prompt) == [line]


@pytest.mark.parametrize(
    "prompt",
    [
        "late bolt sorceress",
        "mace slam with a mace",
        "mace slam with a two hand mace and a shield",
        "sorceress with quiet aura",
        "sorceress with quiet aura and loud aura and a sceptre",
        "sorceress with iron face and last band",
        "spark with a bow",
    ],
)
def test_what_can_be_is_not(wider: Catalogue, prompt: str) -> None:
    assert told(wider, prompt) == []


def test_what_the_request_sets_counts_too(wider: Catalogue) -> None:
    request = BuildRequest(prompt="late bolt sorceress", level=12)
    assert "the character is level 12" in " ".join(extract_from(request, wider).assumptions)
    other = changed(request, level=90)
    assert "cannot be had" not in " ".join(extract_from(other, wider).assumptions)


def test_spirit_grows_with_the_campaign() -> None:
    assert [usual_spirit(level) for level in (1, 11, 36, 60, 61, 90)] == [0.0, 30.0, 60.0, 60.0, 130.0, 130.0]
    assert usual_spirit(90, sceptre=True) == 230.0
