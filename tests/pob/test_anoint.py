"""Anointed amulets through real Path of Building: what one allocates, what it refuses, what the file says."""

from __future__ import annotations

import random
from typing import Any

import pytest

from app.engine.protocol import Refused
from app.model.stats import DPS, EHP
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob

FIGURES = [
    DPS,
    EHP,
    "Life",
    "Mana",
    "EnergyShield",
    "Evasion",
    "Armour",
    "CritChance",
    "FireResist",
    "Str",
    "Dex",
    "Int",
]


def amulet(notable: str = "", base: str = "Gold Amulet") -> dict[str, Any]:
    return rare("Amulet" if base == "Gold Amulet" else "Ring 1", base) | {"anoint": notable}


def anointable(facts: Facts) -> list[dict[str, Any]]:
    names = [node["name"] for node in facts.nodes.values() if node["kind"] == "notable"]
    return [node for node in facts.nodes.values() if node["recipe"] and names.count(node["name"]) == 1]


def test_facts_know_what_anoints(facts: Facts) -> None:
    known = anointable(facts)
    assert len(known) > 800
    assert all(len(node["recipe"]) == 3 and node["kind"] == "notable" for node in known)


def test_an_anointed_notable_does_what_an_allocated_one_does(child: Child, facts: Facts) -> None:
    """Out of reach as well; and once it is allocated, being anointed with it adds nothing."""
    build = facts.sorceress()
    child.build(build | {"items": build["items"] | {"Amulet": amulet()}})
    moved = 0
    for node in random.Random(11).sample(anointable(facts), 40):
        wish = {"op": "allocate", "nodes": [facts.wish(node["id"])]}
        on = {"op": "equip", "item": amulet(node["name"])}
        plain, allocated, anointed, both = child.call(
            "what_if", candidates=[[], [wish], [on], [wish, on]], metrics=FIGURES
        )
        assert allocated == anointed == both, node["name"]
        moved += anointed != plain
    assert moved >= 10


def test_the_file_says_so_and_is_read_back(child: Child, facts: Facts) -> None:
    build = facts.sorceress()
    child.build(build | {"items": build["items"] | {"Amulet": amulet()}})
    bare = child.stats()
    affixed = amulet("Storm Swell") | {"prefixes": [{"id": "IncreasedLife4", "roll": 0.5}]}
    child.call("apply", changes=[{"op": "equip", "item": affixed}])
    told = child.stats()
    xml = child.call("export")
    assert xml.count("{enchant}Allocates Storm Swell") == 1
    assert "Prefix: {range:0.5}IncreasedLife4" in xml or "Prefix: {range:0.500}IncreasedLife4" in xml
    assert told["Life"] > bare["Life"]
    child.call("load", xml=xml)
    assert child.stats() == told
    assert "Allocates Storm Swell" in child.call("blueprint")["items"]["Amulet"]["text"]
    assert child.call("export").count("{enchant}Allocates Storm Swell") == 1


def test_a_unique_amulet_is_anointed_beside_its_text(child: Child, facts: Facts) -> None:
    unique = next(u for u in child.call("uniques") if u["type"] == "Amulet" and not u["unparsed"])
    item = {
        "slot": "Amulet",
        "base": unique["base"],
        "rarity": "UNIQUE",
        "title": unique["name"],
        "text": unique["text"],
    }
    build = facts.sorceress()
    child.build(build | {"items": build["items"] | {"Amulet": item | {"anoint": "Storm Swell"}}})
    xml = child.call("export")
    assert unique["name"] in xml
    assert xml.count("{enchant}Allocates Storm Swell") == 1


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (amulet("Storm Sell"), "there is no notable"),
        (amulet("Storm Swell", base="Sapphire Ring"), "cannot be anointed"),
    ],
)
def test_what_cannot_be_anointed_is_refused(child: Child, facts: Facts, item: dict[str, Any], reason: str) -> None:
    build = facts.sorceress()
    with pytest.raises(Refused, match=reason):
        child.build(build | {"items": build["items"] | {item["slot"]: item}})
