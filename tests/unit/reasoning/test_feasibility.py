"""Figures that no build can have, and nothing else, are said to be so before anything is built."""

from __future__ import annotations

from typing import Any

import pytest

from app.knowledge.catalogue import Catalogue
from app.knowledge.feasibility import NOT_TO_BE_HAD, impossible, lines_of
from app.knowledge.vocabulary import vocabulary
from app.model.facts import NodeFact, UniqueFact
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from

NEVER_ABOVE = "No maximum resistance is ever above 90 %"
ONE_LIFE = NodeFact(id=901, name="Last Breath", kind="keystone", mods=["Maximum Life is 1", "Immune to Chaos Damage"])
TURNED = NodeFact(id=902, name="Hard Shell", kind="keystone", mods=["Converts all Evasion Rating to Armour"])
STEADY = NodeFact(id=903, name="Sure Hand", kind="keystone", mods=["Never deal Critical Hits"])
NOT_ASKED = NodeFact(id=904, name="Dry Well", kind="keystone", mods=["You have no Mana"])
EMPTY = UniqueFact(name="Empty Skull", base="Helm", type="Helmet", level=1, text="", lines=["You have no Mana"])


@pytest.fixture
def wider(catalogue: Catalogue) -> Catalogue:
    nodes = (*catalogue.nodes, ONE_LIFE, TURNED, STEADY, NOT_ASKED)
    return Catalogue(catalogue.classes, catalogue.gems, nodes, (EMPTY,), catalogue.bases)


def told(wider: Catalogue, prompt: str, **fields: Any) -> list[str]:
    found = extract_from(BuildRequest(prompt=prompt, **fields), wider).assumptions
    return [line for line in found if line.endswith(NOT_TO_BE_HAD)]


LUCKY = "No chance to block is ever above 90 %, which is 99 % where the better of two rolls counts"
IMMUNE = f"{NEVER_ABOVE}, and being immune to chaos damage counts as 100 %"
NO_DAMAGE = "Every damage type is ruled out, and all damage is of one"
UNPAIRED = "Of the weapons that anybody finds only maces can be held in both hands"
UNFOUND = "No skill is made for it and no unique item is one, so nobody finds any in this version of the game"
LIFE, ARMOUR = 'Last Breath says "Maximum Life is 1"', 'Hard Shell says "Converts all Evasion Rating to Armour"'
MANA, CRITICAL = 'Empty Skull says "You have no Mana"', 'Sure Hand says "Never deal Critical Hits"'


@pytest.mark.parametrize(
    ("prompt", "why", "wish"),
    [
        ("spark sorceress with 95% fire resistance", NEVER_ABOVE, "at least 95 % fire resistance"),
        ("sorceress, 100% all res", NEVER_ABOVE, "at least 100 % each elemental resistance"),
        ("witch with 120% chaos resistance", IMMUNE, "at least 120 % chaos resistance"),
        ("warrior with 100% block chance", LUCKY, "at least 100 % chance to block"),
        ("2h axe warrior", UNFOUND, "an axe"),
        ("sword and board warrior", UNFOUND, "a sword"),
        ("dual wield daggers huntress", UNFOUND, "a dagger"),
        ("dual wield wands sorceress", UNPAIRED, "a weapon in each hand"),
        ("sorceress with last breath and 5000 life", LIFE, "at least 5,000 life"),
        ("ranger with hard shell, 10k evasion", ARMOUR, "at least 10,000 evasion rating"),
        ("sorceress with empty skull, 3000 mana", MANA, "at least 3,000 mana"),
        ("crit sorceress with sure hand", CRITICAL, "critical hits"),
        (
            "sorceress with 100k dps, no physical, no elemental, no chaos",
            NO_DAMAGE,
            "at least 100,000 damage per second",
        ),
    ],
)
def test_what_no_build_has_is_said(wider: Catalogue, prompt: str, why: str, wish: str) -> None:
    assert told(wider, prompt) == [f"{why}: {wish} cannot be had."]


@pytest.mark.parametrize(
    "prompt",
    [
        "spark sorceress with 90% fire resistance, 90% all res, 90% chaos res",
        "witch with 100% chaos resistance",
        "warrior with 99% block chance",
        "huntress with 100% evade chance",
        "crit sorceress with 100% crit chance and 900% crit damage",
        "sorceress with last breath and 5000 energy shield",
        "sorceress with last breath and 40k ehp, life based",
        "sorceress without dry well, 3000 mana",
        "sorceress with 3000 mana",
        "ranger with hard shell, 10k armour",
        "crit sorceress with last breath",
        "sorceress with 100k dps, no physical damage, no fire damage, no chaos damage",
        "mace and shield warrior, no swords, no axes",
        "dual wield maces warrior, dual wield",
        "dual wield warrior",
        "mana cost at most 1, 20 million dps, 500k ehp, level 2",
    ],
)
def test_what_is_merely_hard_is_not(wider: Catalogue, prompt: str) -> None:
    assert told(wider, prompt) == []


def test_what_the_request_sets_counts_too(wider: Catalogue) -> None:
    assert len(told(wider, "spark sorceress", overrides={"cold_resistance": 91})) == 1
    assert told(wider, "spark sorceress", overrides={"cold_resistance": 90}) == []


def test_lines_are_of_what_was_named_alone() -> None:
    nodes = [ONE_LIFE, NOT_ASKED, NodeFact(id=1, name="Empty Skull", kind="notable", mods=["+5 life"])]
    assert lines_of(["last breath", "Empty Skull"], nodes, [EMPTY]) == {
        "Last Breath": ONE_LIFE.mods,
        "Empty Skull": EMPTY.lines,
    }
    assert lines_of([], nodes, [EMPTY]) == {}


def test_what_nobody_asked_for_is_no_wish() -> None:
    named = {"Last Breath": ONE_LIFE.mods}
    assert impossible({"with": ["Last Breath"]}, named, vocabulary()) == []
    assert impossible({"life": 1}, named, vocabulary()) == []
    assert [one.field for one in impossible({"life": 2}, named, vocabulary())] == ["life"]
