"""Loading blueprints and committing changes in real Path of Building."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.engine.protocol import Refused
from app.model.blueprint import Blueprint, Change, apply_changes
from app.model.stats import BuildReport, Stats
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob


def test_a_blueprint_becomes_a_build(child: Child, facts: Facts) -> None:
    report = BuildReport.model_validate(child.build(facts.sorceress()))
    stats = Stats.model_validate(child.call("stats"))
    assert report == BuildReport()
    assert stats.engine.name == "pob"
    assert stats.engine.tree_version == "0_5"
    assert stats.dps == stats.get("DPS") > 0
    assert stats.get("Life") > 1000
    assert len(stats.values) > 600


def test_parts_of_the_blueprint_count(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress() | {"items": {}, "nodes": [], "ascendancy": None})
    bare = child.stats()
    ring = rare("Ring 1", "Sapphire Ring", prefixes=["IncreasedLife8"], suffixes=["FireResist5"], roll=1.0)
    child.build(facts.sorceress() | {"items": {"Ring 1": ring}, "nodes": [], "ascendancy": None})
    ringed = child.stats()
    affixes = facts.affixes("Sapphire Ring")
    assert 1.0 <= (ringed["Life"] - bare["Life"]) / highest(affixes["IncreasedLife8"]) < 1.06
    assert ringed["FireResist"] - bare["FireResist"] == highest(affixes["FireResist5"])
    child.build(facts.sorceress())
    assert child.stats()["DPS"] > ringed["DPS"]


def highest(affix: dict[str, Any]) -> int:
    """The upper end of the range in an affix's only line."""
    return int(re.findall(r"-(\d+)\)", affix["lines"][0])[0])


def test_the_attribute_choice_counts(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    attribute = next(node for node in blueprint["nodes"] if node["attribute"])
    child.build(blueprint)
    before = child.stats()
    attribute["attribute"] = "str"
    child.build(blueprint)
    after = child.stats()
    assert after["Str"] == before["Str"] + 5
    assert after["Int"] == before["Int"] - 5


def test_unconnected_passives_are_reported(child: Child, facts: Facts) -> None:
    far = facts.passives("Warrior", 30)[-1]["id"]
    blueprint = facts.sorceress()
    blueprint["nodes"].append(facts.wish(far))
    assert child.build(blueprint)["dropped_nodes"] == [far]
    assert child.call("inspect")["dropped_nodes"] == [far]


def test_weapon_set_passives(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    leaf = blueprint["nodes"][-1]
    child.build(blueprint)
    both = child.call("inspect")["points"]
    leaf["weapon_set"] = 2
    child.build(blueprint)
    points = child.call("inspect")["points"]
    assert (both["used"], both["used_set2"]) == (60, 0)
    assert (points["used"], points["used_set2"]) == (60, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"class_name": "Wizard"}, "unknown class"),
        ({"ascendancy": "Deadeye"}, "not an ascendancy of Sorceress"),
        ({"ascendancy": "Archmage"}, "unknown ascendancy"),
        ({"groups": [{"gems": [{"gem_id": "nothing", "name": "x"}]}]}, "unknown gem"),
        ({"main_group": 3}, "no skill group 3"),
        ({"items": {"Ring 1": rare("Ring 1", "Bronze Ring")}}, "unknown item base"),
        ({"items": {"Ring 1": rare("Ring 1", "Attuned Wand")}}, "does not fit"),
        ({"items": {"Tail": rare("Tail", "Sapphire Ring")}}, "unknown item slot"),
        ({"items": {"Ring 1": rare("Ring 1", "Sapphire Ring", prefixes=["Nonsense1"])}}, "unknown prefix"),
        ({"items": {"Ring 1": rare("Ring 1", "Sapphire Ring", prefixes=["FireResist5"])}}, "unknown prefix"),
        ({"items": {"Ring 1": rare("Ring 1", "Sapphire Ring", prefixes=["IncreasedLife1"] * 4)}}, "more than 3 prefix"),
        ({"config": {"madeUp": True}}, "unknown configuration option"),
        ({"config": {"enemyLevel": "high"}}, "does not take"),
    ],
)
def test_wrong_blueprints_are_refused_and_harm_nothing(
    child: Child, facts: Facts, change: dict[str, Any], words: str
) -> None:
    child.build(facts.sorceress())
    before = child.stats()
    with pytest.raises(Refused, match=words):
        child.build(facts.sorceress() | change)
    assert child.stats() == before


def test_nothing_can_be_asked_before_a_build_is_loaded(child: Child) -> None:
    with pytest.raises(Refused, match="no build"):
        child.call("stats")
    with pytest.raises(Refused, match="unknown operation"):
        child.call("dance")


def test_impossible_changes_are_reported_and_the_others_made(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    report = child.call(
        "apply",
        changes=[
            {"op": "allocate", "nodes": [{"id": 1, "weapon_set": 0, "attribute": None}]},
            {"op": "remove_group", "index": 9},
            {"op": "equip", "item": rare("Ring 2", "Sapphire Ring", prefixes=["IncreasedLife8"])},
            {"op": "set_config", "key": "enemyIsBoss", "value": False},
        ],
    )
    assert len(report["problems"]) == 3
    child2 = facts.sorceress()
    child2["items"]["Ring 2"] = rare("Ring 2", "Sapphire Ring", prefixes=["IncreasedLife8"])
    applied = child.stats()
    child.build(child2)
    assert child.stats() == applied


def test_cut_off_passives_are_dropped_and_reported(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    child.build(blueprint)
    first, last = blueprint["nodes"][0]["id"], blueprint["nodes"][1]["id"]
    report = child.call("apply", changes=[{"op": "deallocate", "nodes": [first]}])
    assert first not in report["dropped_nodes"]
    kept = {node["id"] for node in blueprint["nodes"]} - {first} - set(report["dropped_nodes"])
    assert last in kept
    assert child.call("inspect")["points"]["used"] == len(kept)


def test_an_off_hand_that_does_not_fit_is_taken_off(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    blueprint["items"]["Weapon 2"] = rare("Weapon 2", next(n for n, b in facts.bases.items() if b["type"] == "Focus"))
    assert child.build(blueprint)["problems"] == []
    staff = next(name for name, base in facts.bases.items() if base["type"] == "Staff")
    report = child.call("apply", changes=[{"op": "equip", "item": rare("Weapon 1", staff)}])
    assert report["problems"] == [
        "Weapon 2: Test, " + blueprint["items"]["Weapon 2"]["base"] + " does not go with the main hand"
    ]


@pytest.mark.parametrize("seed", range(6))
def test_applying_changes_equals_building_the_changed_blueprint(child: Child, facts: Facts, seed: int) -> None:
    chance = random.Random(seed)
    blueprint = facts.sorceress()
    child.build(blueprint)
    for _ in range(4):
        changes = [_change(chance, facts, blueprint) for _ in range(3)]
        report = child.call("apply", changes=changes)
        model = apply_changes(Blueprint.model_validate(blueprint), _parsed(changes))
        blueprint = model.model_dump(mode="json")
        blueprint["nodes"] = [n for n in blueprint["nodes"] if n["id"] not in report["dropped_nodes"]]
    applied = child.stats()
    child.build(copy.deepcopy(blueprint))
    assert _differences(applied, child.stats()) == {}


def _parsed(changes: list[dict[str, Any]]) -> list[Change]:
    return TypeAdapter(list[Change]).validate_python(changes)


def _differences(one: dict[str, float], other: dict[str, float]) -> dict[str, tuple[float | None, float | None]]:
    return {key: (one.get(key), other.get(key)) for key in one | other if one.get(key) != other.get(key)}


def _change(chance: random.Random, facts: Facts, blueprint: dict[str, Any]) -> dict[str, Any]:
    nodes = [node["id"] for node in blueprint["nodes"]]
    held = set(nodes)
    kinds = ["equip", "unequip", "set_group", "append", "set_main", "config", "allocate", "deallocate"]
    match chance.choice(kinds):
        case "equip":
            slot = chance.choice(["Ring 1", "Ring 2"])
            life = f"IncreasedLife{chance.randint(1, 8)}"
            return {
                "op": "equip",
                "item": rare(slot, "Sapphire Ring", [life], ["FireResist3"], chance.choice([0.0, 1.0])),
            }
        case "unequip":
            return {"op": "unequip", "slot": chance.choice(["Weapon 1", "Ring 1", "Charm 1"])}
        case "set_group":
            support = chance.choice(["Unleash", "Controlled Destruction", "Rapid Casting I"])
            gems = [facts.gem("Spark"), *([facts.gem(support)] if support in facts.gems else [])]
            return {"op": "set_group", "index": 1, "group": {"gems": gems, "in_full_dps": chance.random() < 0.5}}
        case "append":
            gems = [facts.gem(chance.choice(["Comet", "Ice Nova", "Frost Bomb"]))]
            return {"op": "set_group", "index": len(blueprint["groups"]), "group": {"gems": gems}}
        case "set_main":
            return {"op": "set_main", "index": chance.randint(1, 2)}
        case "config":
            return {"op": "set_config", "key": "enemyIsBoss", "value": chance.choice(["None", "Boss", None])}
        case "allocate":
            near = sorted({n for node in nodes for n in facts.nodes[node]["neighbours"]} - held)
            open_nodes = [n for n in near if facts.nodes[n]["kind"] != "start" and not facts.nodes[n].get("ascendancy")]
            return {"op": "allocate", "nodes": [facts.wish(chance.choice(open_nodes), chance.choice(["str", "dex"]))]}
        case _:
            return {"op": "deallocate", "nodes": [chance.choice(nodes[30:])]}
