"""What Path of Building knows, in our shapes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from app.engine.pob.backend import PobBackend
from app.engine.protocol import Refused
from app.knowledge.weapons import IN_ONE_HAND, MARTIAL, UNFOUND, word_of
from app.model.facts import AffixFact, BaseFact, ClassFact, GemFact, NodeFact, RuneFact
from tests.pob.conftest import Facts

pytestmark = pytest.mark.pob


@pytest.mark.parametrize(
    ("op", "shape", "at_least"),
    [("classes", ClassFact, 8), ("gems", GemFact, 900), ("nodes", NodeFact, 4000), ("bases", BaseFact, 1000)],
)
def test_facts_have_their_shape_and_order(warm_backend: PobBackend, op: str, shape: Any, at_least: int) -> None:
    found = [shape.model_validate(fact) for fact in warm_backend.handle(op, {})]
    keys = [getattr(fact, "name" if op in ("classes", "bases") else "id") for fact in found]
    assert len(found) >= at_least
    assert keys == sorted(set(keys))


def test_neighbours_are_mutual_and_stay_inside(facts: Facts) -> None:
    for node in facts.nodes.values():
        for near in node["neighbours"]:
            other = facts.nodes[near]
            assert node["id"] in other["neighbours"]
            assert node.get("ascendancy") == other.get("ascendancy")


def test_everything_is_reachable_from_a_class_start(facts: Facts) -> None:
    start = facts.classes["Monk"]["start_node"]
    seen, queue = {start}, [start]
    while queue:
        for near in facts.nodes[queue.pop()]["neighbours"]:
            if near not in seen:
                seen.add(near)
                queue.append(near)
    tree = {n for n, node in facts.nodes.items() if not node.get("ascendancy") and node["kind"] != "start"}
    assert len(tree & seen) > 0.95 * len(tree)


def test_ascendancies_hang_together(facts: Facts) -> None:
    for found in facts.classes.values():
        assert facts.nodes[found["start_node"]]["kind"] == "start"
        for name in found["ascendancies"]:
            nodes = [node for node in facts.nodes.values() if node.get("ascendancy") == name]
            assert sum(node["kind"] == "ascendancy_start" for node in nodes) == 1, name
            assert len(nodes) > 10, name


def test_weapons_that_nobody_finds_are_those_that_nothing_is_made_for(facts: Facts, warm_backend: PobBackend) -> None:
    kinds = {base["name"]: word_of(BaseFact.model_validate(base)) for base in facts.bases.values()}
    asked_for = {kind for gem in facts.gems.values() for kind in gem.get("weapon_types", [])}
    uniques = {kinds.get(unique["base"]) for unique in warm_backend.handle("uniques", {})}
    held = {kind for kind in kinds.values() if kind in (*MARTIAL, *UNFOUND)}
    assert held == {*MARTIAL, *UNFOUND}
    assert {kind for kind in held if kind not in asked_for | uniques} == set(UNFOUND)


def test_a_keystone_lets_one_hand_hold_what_is_for_two(facts: Facts) -> None:
    for keystone in IN_ONE_HAND:
        (node,) = [node for node in facts.nodes.values() if node["name"] == keystone]
        assert node["kind"] == "keystone"
        assert "in one hand" in node["mods"][0]


def test_gems_say_what_they_need(facts: Facts) -> None:
    spark = GemFact.model_validate(facts.gems["Spark"])
    assert (spark.kind, spark.colour, spark.natural_max_level, spark.modelled) == ("active", "int", 20, True)
    assert {"Spell", "Projectile", "Lightning"} <= set(spark.skill_types)
    assert spark.level_requirements == sorted(spark.level_requirements)
    assert spark.costs["Mana"] > 0
    assert GemFact.model_validate(facts.gems["Leap Slam"]).weapon_types == ["One Hand Mace", "Two Hand Mace"]
    assert any(gem["lineage"] for gem in facts.gems.values())
    assert sum(gem["spirit"] > 0 for gem in facts.gems.values()) > 30
    families = [gem["family"] for gem in facts.gems.values() if gem.get("family")]
    assert len(families) > len(set(families)) > 50


def test_supports_fit_their_skill(warm_backend: PobBackend, facts: Facts) -> None:
    fitting = warm_backend.handle("supports_for", {"gem_id": facts.gems["Spark"]["id"]})
    names = {gem["name"] for gem in facts.gems.values() if gem["id"] in set(fitting)}
    assert fitting == sorted(fitting)
    assert "Unleash" in names
    assert "Fist of War I" not in names
    assert 100 < len(fitting) < 400
    with pytest.raises(Refused):
        warm_backend.handle("supports_for", {"gem_id": facts.gems["Unleash"]["id"]})


def test_affixes_belong_to_their_base(facts: Facts) -> None:
    ring, wand = facts.affixes("Sapphire Ring"), facts.affixes("Attuned Wand")
    assert "IncreasedLife8" in ring
    assert "IncreasedLife8" not in wand
    for affix in (*ring.values(), *wand.values()):
        fact = AffixFact.model_validate(affix)
        assert fact.weight > 0
        assert fact.lines
    with pytest.raises(Refused):
        facts.affixes("Sapphire Thing")


def test_runes_belong_to_their_base(warm_backend: PobBackend) -> None:
    runes = [RuneFact.model_validate(rune) for rune in warm_backend.handle("runes", {"base": "Attuned Wand"})]
    assert len(runes) > 30
    assert all(rune.lines for rune in runes)


def test_bases_say_where_they_fit(facts: Facts) -> None:
    slots = {slot for base in facts.bases.values() for slot in base["slots"]}
    assert {"Weapon 1", "Weapon 2", "Helmet", "Ring 2", "Charm 3", "Flask 1", "Flask 2", "Jewel"} <= slots
    assert facts.bases["Sapphire Ring"]["slots"] == ["Ring 1", "Ring 2"]
    assert "Weapon 1" in facts.bases["Attuned Wand"]["slots"]


def test_flasks_say_what_they_hold(facts: Facts) -> None:
    life = {name: base["flask"] for name, base in facts.bases.items() if base["slots"] == ["Flask 1"]}
    mana = {name: base["flask"] for name, base in facts.bases.items() if base["slots"] == ["Flask 2"]}
    assert facts.bases["Lesser Life Flask"]["flask"] == {
        "life": 50,
        "charges_used": 10,
        "charges_max": 60,
        "duration_s": 3,
    }
    assert all(flask["life"] > 0 and "mana" not in flask for flask in life.values())
    assert all(flask["mana"] > 0 and "life" not in flask for flask in mana.values())
    assert len(life) > 5
    assert len(mana) > 5
    assert facts.bases["Sapphire Ring"]["flask"] == {}


def test_the_quick_bit_operations_equal_path_of_buildings(warm_backend: PobBackend) -> None:
    chance = random.Random(1)
    pairs = [
        (chance.randrange(2**53) >> chance.randrange(53), chance.randrange(2**53) >> chance.randrange(53))
        for _ in range(3000)
    ]
    assert warm_backend.handle("check_bits", {"pairs": [list(pair) for pair in pairs]}) == 0
