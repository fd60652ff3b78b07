"""Jewels with a radius, and unique ones, through real Path of Building: what they do, where, and what the file says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.model.facts import UniqueFact
from app.model.stats import DPS, EHP, MOVEMENT
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob

FIGURES = [DPS, EHP, "Life", "Mana", "EnergyShield", "CritChance", "Armour", "Evasion", "Spirit", "FireResist"]
SPELL_DAMAGE = "JewelRadiusSpellDamage"
LARGE = "JewelRadiusLargeSize"
KINDS = ("socket", "notable")


def build_with_socket(facts: Facts) -> tuple[dict[str, Any], str]:
    """A sorceress with so many passives that a jewel socket is among notables, and the name of its slot."""
    nodes = facts.passives("Sorceress", 400)
    kinds = {kind: [one["id"] for one in nodes if facts.nodes[one["id"]]["kind"] == kind] for kind in KINDS}
    socket = min(kinds["socket"], key=lambda one: min(distance(facts, one, other) for other in kinds["notable"]))
    return facts.sorceress() | {"nodes": nodes}, f"Jewel {socket}"


def distance(facts: Facts, one: int, other: int) -> float:
    a, b = facts.nodes[one], facts.nodes[other]
    return float(((a["x"] - b["x"]) ** 2 + (a["y"] - b["y"]) ** 2) ** 0.5)


def time_lost(slot: str, base: str, *, prefixes: list[str], suffixes: list[str]) -> dict[str, Any]:
    return {"op": "equip", "item": rare(slot, base, prefixes=prefixes, suffixes=suffixes)}


def unique(facts: Facts, name: str, line: str, slot: str) -> dict[str, Any]:
    fact = next(UniqueFact(**one) for one in facts.backend.handle("uniques", {}) if one["name"] == name)
    text = fact.text_with([next(choice for choice in fact.choices if line in choice)])
    item = {"slot": slot, "base": fact.base, "rarity": "UNIQUE", "title": fact.name, "text": text}
    return {"op": "equip", "item": item}


def test_a_radius_jewel_does_more_the_larger_it_is_and_the_same_when_it_is_put_in(child: Child, facts: Facts) -> None:
    build, slot = build_with_socket(facts)
    child.build(build)
    small = time_lost(slot, "Time-Lost Sapphire", prefixes=[SPELL_DAMAGE], suffixes=["JewelRadiusNotableEffectNew"])
    large = time_lost(
        slot, "Time-Lost Sapphire", prefixes=[SPELL_DAMAGE, LARGE], suffixes=["JewelRadiusNotableEffectNew"]
    )
    plain = time_lost(slot, "Time-Lost Sapphire", prefixes=[], suffixes=[])
    none, bare, little, much = child.call("what_if", candidates=[[], [plain], [small], [large]], metrics=FIGURES)
    assert none == bare
    assert none[DPS] < little[DPS] < much[DPS]
    for change, promised in ((small, little), (large, much), (small, little)):
        child.call("apply", changes=[change])
        (measured,) = child.call("what_if", candidates=[[]], metrics=FIGURES)
        assert measured == pytest.approx(promised)


def test_two_radius_jewels_tried_one_after_another_do_not_mix(child: Child, facts: Facts) -> None:
    """Whatever stands in the socket, the same jewel is worth the same there."""
    build, slot = build_with_socket(facts)
    child.build(build)
    damage = time_lost(slot, "Time-Lost Sapphire", prefixes=[SPELL_DAMAGE], suffixes=[])
    mana = time_lost(slot, "Time-Lost Sapphire", prefixes=["JewelRadiusEnergyShield"], suffixes=[])
    first = child.call("what_if", candidates=[[damage], [mana], [damage], []], metrics=FIGURES)
    child.call("apply", changes=[mana])
    again = child.call("what_if", candidates=[[damage], [mana], [], [damage]], metrics=FIGURES)
    assert first[0] == first[2] == again[0] == again[3]
    assert first[1] == again[1] == again[2]
    assert first[1] != first[3]


def test_the_file_has_the_radius_and_is_read_back(child: Child, facts: Facts) -> None:
    build, slot = build_with_socket(facts)
    child.build(build)
    child.call(
        "apply", changes=[time_lost(slot, "Time-Lost Ruby", prefixes=[LARGE], suffixes=["JewelRadiusSmallNodeEffect"])]
    )
    told, xml = child.stats(), child.call("export")
    assert len(re.findall(r"^\s*Radius: Small$", xml, re.M)) == 1
    assert "Upgrades Radius to Large" in xml
    child.call("load", xml=xml)
    assert child.stats() == told
    assert not [finding for finding in child.call("inspect")["unparsed"] if finding["slot"] == slot]


def test_the_radius_reaches_what_the_tree_draws_there(child: Child, facts: Facts) -> None:
    """What a jewel gives notables is lost with each that is near the socket, and with none farther away."""
    build, slot = build_with_socket(facts)
    owned = [wish["id"] for wish in build["nodes"] if facts.nodes[wish["id"]]["kind"] == "notable"]
    gone = [{"op": "deallocate", "nodes": [node]} for node in owned]
    child.build(build)
    found = []
    for suffixes in ([], ["JewelRadiusMovementSpeed"]):
        child.call("apply", changes=[time_lost(slot, "Time-Lost Emerald", prefixes=[], suffixes=suffixes)])
        outputs = child.call("what_if", candidates=[[], *([one] for one in gone)], metrics=[MOVEMENT])
        found.append([one[MOVEMENT] for one in outputs])
    plain, reached = found
    at = int(slot.removeprefix("Jewel "))
    near = {
        node: distance(facts, at, node)
        for node, a, b in zip(owned, plain[1:], reached[1:], strict=True)
        if reached[0] - b > plain[0] - a + 5e-3
    }
    assert near
    assert reached[0] == pytest.approx(plain[0] + 0.01 * len(near))
    assert max(near.values()) < min(distance(facts, at, node) for node in owned if node not in near)


def test_a_line_of_choice_does_what_it_says(child: Child, facts: Facts) -> None:
    """The level of the skill that is named, and of no other."""
    build, slot = build_with_socket(facts)
    child.build(build)
    own = unique(facts, "Prism of Belief", "all Spark Skills", slot)
    other = unique(facts, "Prism of Belief", "all Comet Skills", slot)
    none, spark, comet = child.call("what_if", candidates=[[], [own], [other]], metrics=[DPS, "Life"])
    assert spark[DPS] > none[DPS]
    assert comet == none
    child.call("apply", changes=[own])
    assert "to Level of all Spark Skills" in child.call("export")


def test_facts_know_limits_and_choices(facts: Facts) -> None:
    jewels = [UniqueFact(**one) for one in facts.backend.handle("uniques", {}) if one["type"] == "Jewel"]
    by_name = {one.name: one for one in jewels}
    assert (by_name["Prism of Belief"].chosen, by_name["Against the Darkness"].chosen) == (1, 2)
    assert by_name["Grand Spectrum"].limit == 3
    assert by_name["Grand Spectrum"].choices == []
    assert all(one.limit == 1 for one in jewels if one.name != "Grand Spectrum")
    assert all(one.chosen < len(one.choices) for one in jewels if one.choices)
    others = [one for one in facts.backend.handle("uniques", {}) if one["type"] != "Jewel"]
    assert all(not one["choices"] and one["chosen"] == 0 for one in others)
