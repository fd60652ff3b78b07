"""A session: building, changing, trying, inspecting; and how it says no."""

from __future__ import annotations

import time
from typing import Any

import pytest

from app.engine.protocol import Refused
from app.engine.sketch.backend import SketchBackend
from app.model.blueprint import Blueprint
from tests.unit.engine.sketch.samples import RECIPES, Builder

METRICS = ["DPS", "TotalEHP", "Life", "NoSuchMetric"]


@pytest.fixture
def loaded(backend: SketchBackend, builder: Builder) -> Blueprint:
    blueprint = builder.build(RECIPES[0])
    backend.handle("build", {"blueprint": blueprint.model_dump(mode="json")})
    return blueprint


def changes(builder: Builder, loaded: Blueprint) -> list[list[dict[str, Any]]]:
    far = builder.walk(builder.classes["Sorceress"]["start_node"], 140)[-1]
    ring = loaded.items["Ring 1"].model_dump(mode="json") | {"prefixes": []}
    group = loaded.groups[0].model_dump(mode="json")
    group["gems"] = group["gems"][:1]
    return [
        [{"op": "allocate", "nodes": [{"id": far}]}],
        [{"op": "deallocate", "nodes": [loaded.nodes[112].id]}],
        [{"op": "equip", "item": ring}, {"op": "unequip", "slot": "Belt"}],
        [{"op": "set_group", "index": 1, "group": group}],
        [{"op": "set_config", "key": "enemyIsBoss", "value": "None"}],
    ]


def test_a_what_if_keeps_nothing_and_repeats_exactly(
    backend: SketchBackend, builder: Builder, loaded: Blueprint
) -> None:
    candidates = changes(builder, loaded)
    before = backend.handle("stats", {})
    first = backend.handle("what_if", {"candidates": [[], *candidates, []], "metrics": METRICS})

    assert backend.handle("stats", {}) == before
    assert backend.handle("what_if", {"candidates": [[], *candidates, []], "metrics": METRICS}) == first
    assert first[0] == first[-1] == {m: before["values"][m] for m in METRICS if m in before["values"]}
    assert "NoSuchMetric" not in first[0]


@pytest.mark.parametrize("index", range(1, 5))
def test_a_committed_change_gives_what_the_what_if_said(
    backend: SketchBackend, builder: Builder, loaded: Blueprint, index: int
) -> None:
    candidate = changes(builder, loaded)[index]
    tried = backend.handle("what_if", {"candidates": [candidate], "metrics": METRICS})[0]
    report = backend.handle("apply", {"changes": candidate})

    values = backend.handle("stats", {})["values"]
    assert report["problems"] == []
    assert tried == {m: values[m] for m in METRICS if m in values}


def test_passives_that_do_not_connect_are_dropped_and_told(
    backend: SketchBackend, builder: Builder, loaded: Blueprint
) -> None:
    first = builder.walk(builder.classes["Sorceress"]["start_node"], 1)[0]
    report = backend.handle("apply", {"changes": [{"op": "deallocate", "nodes": [first]}]})

    assert report["dropped_nodes"]
    assert backend.handle("inspect", {})["points"]["used"] < len(loaded.nodes) - 8 - len(report["dropped_nodes"]) + 1


def test_a_foreign_ascendancy_passive_does_not_connect(
    backend: SketchBackend, builder: Builder, loaded: Blueprint
) -> None:
    foreign = next(n.id for n in builder.nodes.values() if n.ascendancy == "Titan" and n.kind == "notable")
    report = backend.handle("apply", {"changes": [{"op": "allocate", "nodes": [{"id": foreign}]}]})

    assert report["dropped_nodes"] == [foreign]


def test_a_change_that_cannot_be_made_is_told_and_the_rest_is_made(backend: SketchBackend, loaded: Blueprint) -> None:
    bad = {"op": "equip", "item": {"slot": "Helmet", "base": "No Such Hat"}}
    gone = {"op": "remove_group", "index": 9}
    report = backend.handle("apply", {"changes": [bad, gone, {"op": "unequip", "slot": "Belt"}]})

    assert len(report["problems"]) == 2
    assert "No Such Hat" in report["problems"][0]
    assert "Belt" not in backend.handle("export", {})


def test_a_full_build_passes_inspection(backend: SketchBackend, loaded: Blueprint) -> None:
    found = backend.handle("inspect", {})

    assert found["points"] == {
        "used": 113,
        "used_set1": 0,
        "used_set2": 0,
        "available": 113,
        "ascendancy_used": 8,
        "ascendancy_available": 8,
    }
    assert found["dropped_nodes"] == found["unparsed"] == found["idle_gems"] == found["warnings"] == []
    assert found["support_counts"] == {"str": 0, "dex": 0, "int": 3}
    assert found["disabled_reason"] is None
    assert found["modelled"] is True
    assert {r["attribute"] for r in found["requirements"]} >= {"int", "level"}


def test_requirements_name_the_largest_and_who_asks(backend: SketchBackend, builder: Builder) -> None:
    blueprint = builder.build(next(r for r in RECIPES if r.skill == "Boneshatter"))
    backend.handle("build", {"blueprint": blueprint.model_dump(mode="json")})
    strength = next(r for r in backend.handle("inspect", {})["requirements"] if r["attribute"] == "str")
    values = backend.handle("stats", {})["values"]

    assert strength["required"] == values["ReqStr"]
    assert strength["available"] == values["Str"]
    assert strength["source"]


def test_idle_gems_are_found(backend: SketchBackend, builder: Builder, loaded: Blueprint) -> None:
    group = loaded.groups[0].model_dump(mode="json")
    for name in ("Heavy Swing", "Rapid Casting II"):
        group["gems"].append({"gem_id": builder.gems[name], "name": name, "level": 1})
    backend.handle("apply", {"changes": [{"op": "set_group", "index": 1, "group": group}]})

    found = {f["name"]: f["reason"] for f in backend.handle("inspect", {})["idle_gems"]}
    assert found == {
        "Heavy Swing": "it supports no skill of its group",
        "Rapid Casting I": "another support of its kind takes its place",
    }


def test_overspent_spirit_is_a_warning(backend: SketchBackend, builder: Builder, loaded: Blueprint) -> None:
    group = {"gems": [{"gem_id": builder.gems["Archmage"], "name": "Archmage", "level": 18}]}
    other = {"gems": [{"gem_id": builder.gems["Attrition"], "name": "Attrition", "level": 18}]}
    sets = [{"op": "set_group", "index": i, "group": g} for i, g in ((2, group), (3, other))]
    backend.handle("apply", {"changes": sets})

    assert any("Spirit" in line for line in backend.handle("inspect", {})["warnings"])


@pytest.mark.parametrize(
    ("op", "args", "code"),
    [
        ("no_such_op", {}, "refused"),
        ("build", {}, "refused"),
        ("build", {"blueprint": {"class_name": "Marauder", "level": 1}}, "unknown_fact"),
        ("build", {"blueprint": {"class_name": "Witch", "ascendancy": "Titan", "level": 1}}, "unknown_fact"),
        ("affixes", {"base": "No Such Hat"}, "unknown_fact"),
        ("runes", {"base": "No Such Hat"}, "unknown_fact"),
        ("supports_for", {"gem_id": "no/such/gem"}, "unknown_fact"),
        ("load", {"xml": "<nonsense"}, "refused"),
        ("apply", {"changes": [{"op": "explode"}]}, "refused"),
    ],
)
def test_wrong_requests_are_refused_and_the_build_stays(
    backend: SketchBackend, loaded: Blueprint, op: str, args: dict[str, Any], code: str
) -> None:
    before = backend.handle("stats", {})
    with pytest.raises(Refused) as caught:
        backend.handle(op, args)

    assert caught.value.code == code
    assert backend.handle("stats", {}) == before


@pytest.mark.parametrize("op", ["stats", "inspect", "export"])
def test_without_a_build_there_is_nothing_to_tell(op: str) -> None:
    with pytest.raises(Refused, match="no build"):
        SketchBackend().handle(op, {})


def test_what_ifs_are_quick(backend: SketchBackend, builder: Builder, loaded: Blueprint) -> None:
    """The promise is a thousand a second; a slow machine may take four times as long."""
    candidates = [[{"op": "allocate", "nodes": [{"id": i}]}] for i in sorted(builder.nodes)[:1000]]
    start = time.process_time()
    backend.handle("what_if", {"candidates": candidates, "metrics": METRICS})

    assert time.process_time() - start < 4
