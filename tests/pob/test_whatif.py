"""What-ifs in real Path of Building: equal to committing, leaving no trace."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from app.engine.pob.backend import PobBackend
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob

ONLY_IN_THE_MAIN_PASS = (
    "ExtraPoints",
    "PassivePointsToWeaponSetPoints",
    "WeaponSetPassivePoints",
    "Spec:",
    "AreaOfEffectRadius",
)


def _candidates(facts: Facts, blueprint: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    held = {node["id"] for node in blueprint["nodes"]}
    near = sorted({n for node in held for n in facts.nodes[node]["neighbours"]} - held)
    free = [
        n for n in near if facts.nodes[n]["kind"] not in ("start", "attribute") and not facts.nodes[n].get("ascendancy")
    ]
    travel = next(n for n in held if facts.nodes[n]["kind"] == "attribute")
    staff = next(name for name, base in facts.bases.items() if base["type"] == "Staff" and base["implicits"])
    spark = {"gems": [facts.gem("Spark"), facts.gem("Unleash"), facts.gem("Considered Casting")]}
    return {
        "a passive": [{"op": "allocate", "nodes": [facts.wish(free[0])]}],
        "another passive": [{"op": "allocate", "nodes": [facts.wish(free[-1])]}],
        "another attribute": [{"op": "allocate", "nodes": [facts.wish(travel, "dex")]}],
        "a removal": [{"op": "deallocate", "nodes": [blueprint["nodes"][-1]["id"]]}],
        "a support": [{"op": "set_group", "index": 1, "group": spark}],
        "full dps": [{"op": "set_group", "index": 1, "group": spark | {"in_full_dps": True}}],
        "a new group": [
            {"op": "set_group", "index": 3, "group": {"gems": [facts.gem("Comet")]}},
            {"op": "set_main", "index": 3},
        ],
        "one group less": [{"op": "remove_group", "index": 2}],
        "the main one less": [{"op": "remove_group", "index": 1}],
        "another main": [{"op": "set_main", "index": 2}],
        "a ring": [{"op": "equip", "item": rare("Ring 2", "Sapphire Ring", ["IncreasedLife8"], ["FireResist5"])}],
        "two items": [
            {"op": "equip", "item": rare("Ring 1", "Sapphire Ring", ["IncreasedLife2"])},
            {"op": "equip", "item": rare("Ring 2", "Sapphire Ring", ["IncreasedLife3"])},
        ],
        "a staff with a skill": [{"op": "equip", "item": rare("Weapon 1", staff)}],
        "no weapon": [{"op": "unequip", "slot": "Weapon 1"}],
        "no first charm": [{"op": "unequip", "slot": "Charm 1"}],
        "no boss": [{"op": "set_config", "key": "enemyIsBoss", "value": "None"}],
        "shocked": [{"op": "set_config", "key": "conditionEnemyShocked", "value": True}],
        "all sorts": [
            {"op": "deallocate", "nodes": [blueprint["nodes"][-1]["id"]]},
            {"op": "equip", "item": rare("Ring 2", "Sapphire Ring", ["IncreasedLife8"])},
            {"op": "set_config", "key": "resistancePenalty", "value": -30},
        ],
    }


def test_candidates_equal_committed_changes(warm_backend: PobBackend, child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    child.build(blueprint)
    before = child.stats()
    metrics = sorted(before)
    candidates = _candidates(facts, blueprint)
    answers = child.call("what_if", candidates=list(candidates.values()), metrics=metrics)
    assert child.stats() == before
    assert child.call("what_if", candidates=list(candidates.values()), metrics=metrics) == answers
    for (name, changes), answer in zip(candidates.items(), answers, strict=True):
        report = child.call("apply", changes=changes)
        assert report == {"dropped_nodes": [], "problems": []}, name
        assert _differences(answer, child.stats()) == {}, name
        child.build(blueprint)


def _differences(answer: dict[str, float], stats: dict[str, float]) -> dict[str, tuple[float, float | None]]:
    return {
        key: (value, stats.get(key))
        for key, value in answer.items()
        if not key.startswith(ONLY_IN_THE_MAIN_PASS)
        and not math.isclose(value, stats.get(key, 0.0), rel_tol=1e-9, abs_tol=1e-9)
    }


def test_no_change_gives_the_current_build(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    stats = child.stats()
    metrics = ["DPS", "CombinedDPS", "FullDPS", "Life", "TotalEHP", "ReqInt", "NoSuchThing", "Minion.Life"]
    (answer,) = child.call("what_if", candidates=[[]], metrics=metrics)
    assert answer == {key: stats[key] for key in metrics if key in stats}
    assert "NoSuchThing" not in answer


def test_damage_alone_is_the_same_as_with_everything_else(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    child.build(blueprint)
    candidates = list(_candidates(facts, blueprint).values())
    alone = child.call("what_if", candidates=candidates, metrics=["DPS"])
    together = child.call("what_if", candidates=candidates, metrics=["DPS", "TotalEHP"])
    assert [answer.get("DPS") for answer in alone] == [answer.get("DPS") for answer in together]


def test_impossible_candidates_answer_nothing(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    before = child.stats()
    life = child.call("what_if", candidates=[[]], metrics=["Life"])[0]
    impossible: list[list[dict[str, Any]]] = [
        [{"op": "allocate", "nodes": [{"id": 1, "weapon_set": 0, "attribute": None}]}],
        [{"op": "equip", "item": rare("Ring 1", "No Such Ring")}],
        [{"op": "set_group", "index": 7, "group": {"gems": [facts.gem("Spark")]}}],
        [{"op": "set_config", "key": "enemyIsBoss", "value": "None"}, {"op": "set_config", "key": "x", "value": 1}],
        [{"op": "unequip", "slot": "Tail"}],
    ]
    assert child.call("what_if", candidates=[*impossible, []], metrics=["Life"]) == [{}, {}, {}, {}, {}, life]
    assert child.stats() == before


def test_weapon_set_passives_leave_no_trace(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    held = {node["id"] for node in blueprint["nodes"]}
    near = sorted({n for node in held for n in facts.nodes[node]["neighbours"]} - held)
    free = [n for n in near if facts.nodes[n]["kind"] == "normal" and not facts.nodes[n].get("ascendancy")]
    child.build(blueprint)
    metrics = sorted(child.stats())
    sets = [
        [[{"op": "allocate", "nodes": [facts.wish(node, weapon_set=number)]}] for node in free] for number in (0, 1, 2)
    ]
    normal = child.call("what_if", candidates=sets[0], metrics=metrics)
    first = child.call("what_if", candidates=sets[1], metrics=metrics)
    second = child.call("what_if", candidates=sets[2], metrics=metrics)
    assert child.call("what_if", candidates=sets[0], metrics=metrics) == normal
    assert first == normal
    assert second == child.call("what_if", candidates=[[]] * len(free), metrics=metrics)


@pytest.mark.slow
def test_real_players_builds(child: Child, facts: Facts, few_real_builds: list[Path]) -> None:
    for path in few_real_builds:
        child.call("load", xml=path.read_text(encoding="utf-8"))
        before = child.stats()
        metrics = sorted(before)
        ring = rare("Ring 1", "Sapphire Ring", ["IncreasedLife8"], ["FireResist5"])
        candidates = [[], [{"op": "equip", "item": ring}], [{"op": "unequip", "slot": "Weapon 1"}]]
        answers = child.call("what_if", candidates=candidates, metrics=metrics)
        assert child.stats() == before, path.name
        assert _differences(answers[0], before) == {}, path.name
        child.call("apply", changes=candidates[1])
        assert _differences(answers[1], child.stats()) == {}, path.name


@pytest.mark.parametrize("ascendancy", ["Gemling Legionnaire", "Acolyte of Chayula", "Infernalist"])
def test_passives_that_grant_skills_come_and_go_with_them(
    warm_backend: PobBackend, child: Child, facts: Facts, ascendancy: str
) -> None:
    hero = next(name for name, found in facts.classes.items() if ascendancy in found["ascendancies"])
    own = [n["id"] for n in facts.nodes.values() if n.get("ascendancy") == ascendancy and n["kind"] != "start"]
    without: dict[str, Any] = {
        "class_name": hero,
        "ascendancy": ascendancy,
        "level": 90,
        "nodes": facts.passives(hero, 30),
        "groups": [{"gems": [facts.gem("Spark")]}],
        "main_group": 1,
    }
    full = without | {"nodes": without["nodes"] + [facts.wish(node) for node in own]}
    dropped = set(child.build(full)["dropped_nodes"])
    held = [node for node in own if node not in dropped]
    with_all = child.stats()
    fresh = Child(warm_backend)
    fresh.build(without)
    bare = fresh.stats()
    assert len(bare.keys() ^ with_all.keys()) + len(_differences(bare, with_all)) > 10

    metrics = sorted(bare.keys() | with_all.keys())
    (removed,) = child.call("what_if", candidates=[[{"op": "deallocate", "nodes": held}]], metrics=metrics)
    added = [[{"op": "allocate", "nodes": [facts.wish(node) for node in held]}]]
    (grown,) = fresh.call("what_if", candidates=added, metrics=metrics)
    assert child.stats() == with_all
    fresh.close()
    assert _differences(removed, bare) == {}
    assert _differences(grown, with_all) == {}
