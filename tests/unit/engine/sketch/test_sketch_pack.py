"""The pack holds together: enough to make a full build for every class, and small."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from pydantic import BaseModel

from app.core.config import resource_dir
from app.engine.sketch.backend import SketchBackend
from app.engine.sketch.facts import can_spawn, slots_of
from app.engine.sketch.lines import Wording, parts, span_parts
from app.engine.sketch.pack import Amount, Pack
from app.model.facts import AffixFact, BaseFact, ClassFact, GemFact, NodeFact, RuneFact
from tests.unit.engine.sketch.samples import Builder

CLASSES = ["Druid", "Huntress", "Mercenary", "Monk", "Ranger", "Sorceress", "Warrior", "Witch"]
MOST_BYTES = 400_000
POINTS_AT_90, ASCENDANCY_POINTS = 113, 8
RESISTANCE_TO_GAIN = 75 + 50


def test_the_pack_is_small() -> None:
    files = list((resource_dir("domain") / "facts").glob("*.yaml"))

    assert sum(file.stat().st_size for file in files) < MOST_BYTES


def test_the_answers_have_the_shapes_of_every_engine(backend: SketchBackend) -> None:
    shapes: dict[str, type[BaseModel]] = {"classes": ClassFact, "gems": GemFact, "nodes": NodeFact, "bases": BaseFact}
    for op, shape in shapes.items():
        found = [shape.model_validate(entry) for entry in backend.handle(op, {})]
        assert found
    for base in backend.handle("bases", {}):
        affixes = [AffixFact.model_validate(a) for a in backend.handle("affixes", {"base": base["name"]})]
        assert len({a.id for a in affixes}) == len(affixes)
        [RuneFact.model_validate(r) for r in backend.handle("runes", {"base": base["name"]})]


def test_all_classes_and_their_ascendancies_are_there(backend: SketchBackend) -> None:
    classes = backend.handle("classes", {})

    assert [c["name"] for c in classes] == CLASSES
    assert all(c["ascendancies"] for c in classes)


@pytest.mark.parametrize("name", CLASSES)
def test_a_level_90_character_can_spend_every_point(builder: Builder, name: str) -> None:
    hero = builder.classes[name]

    assert len(set(builder.walk(hero["start_node"], POINTS_AT_90))) == POINTS_AT_90
    for ascendancy in hero["ascendancies"]:
        start = next(
            n.id for n in builder.nodes.values() if n.kind == "ascendancy_start" and n.ascendancy == ascendancy
        )
        reached = builder.walk(start, ASCENDANCY_POINTS)
        assert {builder.nodes[i].ascendancy for i in reached} == {ascendancy}


def test_connections_go_both_ways(builder: Builder) -> None:
    for node in builder.nodes.values():
        for other in node.neighbours:
            assert node.id in builder.nodes[other].neighbours


def test_every_stat_named_anywhere_is_known(pack: Pack) -> None:
    named = {stat for p in pack.passives.values() for stat in p.gives}
    named |= {stat for b in pack.bases.values() for stat in (*b.implicit, *b.buff)}
    named |= {stat for f in pack.families for stat in f.stats}
    named |= {stat for r in pack.runes.values() for given in r.given.values() for stat in given if stat != "other"}

    assert named <= set(pack.stats)


def test_amounts_have_as_many_numbers_as_their_line(pack: Pack) -> None:
    def numbers(stat: str) -> int:
        return pack.stats[stat].line.count("#") or 1

    for passive in pack.passives.values():
        assert all(len(parts(amount)) == numbers(stat) for stat, amount in passive.gives.items())
    for affix in pack.affixes.values():
        for stat, spans in zip(affix.family.stats, affix.spans, strict=True):
            assert len(span_parts(spans)) == numbers(stat), affix.id


def test_wordings_are_unambiguous(pack: Pack) -> None:
    counts = Counter(stat.line for stat in pack.stats.values())

    assert [line for line, count in counts.items() if count > 1] == []


def test_every_wording_is_read_back(pack: Pack) -> None:
    wording = Wording(pack)
    for key, stat in pack.stats.items():
        amount: Amount = (1, 7, (3.0, 9.0))[stat.line.count("#")]
        assert wording.read(wording.line(key, amount)) == (key, amount)


def test_every_affix_family_can_appear_somewhere(pack: Pack) -> None:
    for family in pack.families:
        assert any(can_spawn(family, base) for base in pack.bases.values()), family.group


def test_skills_can_be_used_with_weapons_of_the_pack(pack: Pack) -> None:
    held = {base.type for base in pack.bases.values() if base.weapon}
    for skill in pack.skills.values():
        assert not skill.weapons or set(skill.weapons) & held, skill.name
        assert set(skill.supports) <= set(pack.gems_by_name)


def test_each_class_has_a_skill_of_its_own_attribute(pack: Pack) -> None:
    for hero in pack.classes.values():
        strongest = hero.attributes.index(max(hero.attributes))
        fitting = [s for s in pack.skills.values() if s.deals_damage and s.attributes[strongest]]
        assert fitting, hero.name


@pytest.mark.parametrize("colour", ["str", "dex", "int"])
def test_each_colour_has_supports(pack: Pack, colour: str) -> None:
    assert sum(support.colour == colour for support in pack.supports.values()) >= 4


@pytest.mark.parametrize("element", ["Fire", "Cold", "Lightning"])
def test_affixes_of_modest_gear_reach_the_resistance_cap(backend: SketchBackend, pack: Pack, element: str) -> None:
    lowest = 0.0
    for base in ("Ruby Ring", "Sapphire Ring", "Stellar Amulet", "Plate Belt", "Rusted Greathelm"):
        affixes = backend.handle("affixes", {"base": base})
        lines = [a["lines"][0] for a in affixes if a["group"] == f"{element}Resistance" and a["level"] <= 65]
        ranges = [tuple(map(int, re.findall(r"\d+", line))) for line in lines]
        lowest += max((low for low, _ in ranges), default=0)

    assert lowest >= RESISTANCE_TO_GAIN


def test_every_slot_can_be_filled(pack: Pack) -> None:
    slots = {slot for base in pack.bases.values() for slot in slots_of(base)}

    assert slots >= {"Weapon 1", "Weapon 2", "Helmet", "Body Armour", "Gloves", "Boots", "Amulet", "Ring 1", "Ring 2"}
    assert slots >= {"Belt", "Charm 1", "Charm 3", "Flask 1", "Flask 2", "Jewel"}
