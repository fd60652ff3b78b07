"""The calculator, checked against numbers worked out by hand from the game's formulas."""

from __future__ import annotations

from typing import Any

import pytest

from app.engine.sketch.backend import SketchBackend
from app.engine.sketch.pack import Pack
from app.model.blueprint import Blueprint, Gem, PassiveNode, SkillGroup
from app.model.stats import Stats
from tests.unit.engine.sketch.samples import RECIPES, SPELL, Builder, Recipe


def bare(class_name: str = "Sorceress", level: int = 90, **fields: Any) -> Blueprint:
    return Blueprint(class_name=class_name, level=level, **fields)


def numbers(backend: SketchBackend, blueprint: Blueprint) -> dict[str, float]:
    backend.handle("build", {"blueprint": blueprint.model_dump(mode="json")})
    values = backend.handle("stats", {})["values"]
    assert isinstance(values, dict)
    return values


def test_a_bare_character_has_what_path_of_building_gives_it(backend: SketchBackend) -> None:
    """(16 + 20 + 12 x 90 + 2 x 7) x 1.05 life, (30 + 4 x 90 + 2 x 15) x 1.05 mana, -60 + 10 resistance."""
    values = numbers(backend, bare())

    assert values["Life"] == 1186
    assert values["Mana"] == 441
    assert (values["FireResist"], values["ChaosResist"]) == (-50, 0)
    assert (values["Str"], values["Dex"], values["Int"]) == (7, 7, 15)
    assert values["Spirit"] == 100
    assert values["ManaRegenRecovery"] == 17.6


def test_resistance_stops_at_its_maximum_and_tells_the_rest(backend: SketchBackend, builder: Builder) -> None:
    values = numbers(backend, builder.build(RECIPES[0]))

    assert values["ColdResist"] == 75
    assert values["ColdResistOverCap"] == values["ColdResistTotal"] - 75 > 0
    assert values["MissingColdResist"] == 0


def test_the_configured_penalty_and_enemy_count(backend: SketchBackend) -> None:
    easy = numbers(backend, bare(config={"resistancePenalty": 0, "enemyIsBoss": "None"}))
    hard = numbers(backend, bare())

    assert easy["FireResist"] == 10
    assert easy["PhysicalMaximumHitTaken"] == hard["PhysicalMaximumHitTaken"] == hard["Life"]


def test_a_support_multiplies_damage_by_its_figure(backend: SketchBackend, builder: Builder) -> None:
    plain = builder.build(Recipe("Sorceress", "Spark", "Wand", "Energy Shield"))
    supported = builder.build(Recipe("Sorceress", "Spark", "Wand", "Energy Shield", ("Deliberation",)))

    assert numbers(backend, supported)["DPS"] == pytest.approx(1.2 * numbers(backend, plain)["DPS"])


def test_critical_hits_can_be_forbidden(backend: SketchBackend, builder: Builder) -> None:
    values = numbers(backend, builder.build(RECIPES[0]))

    assert SPELL[0] == "Controlled Destruction"
    assert values["CritChance"] == 0
    assert values["AverageDamage"] == pytest.approx(values["AverageHit"])


def test_of_one_family_only_the_last_support_acts(backend: SketchBackend, builder: Builder) -> None:
    two = builder.build(Recipe("Witch", "Fireball", "Wand", "Energy Shield", ("Rapid Casting II", "Rapid Casting I")))
    one = builder.build(Recipe("Witch", "Fireball", "Wand", "Energy Shield", ("Rapid Casting I",)))

    assert numbers(backend, two)["Speed"] == numbers(backend, one)["Speed"]


def test_spirit_is_reserved_and_its_skill_acts(backend: SketchBackend, builder: Builder) -> None:
    plain = builder.build(RECIPES[0])
    conflux = Gem(gem_id=builder.gems["Elemental Conflux"], name="Elemental Conflux", level=18)
    lasting = plain.model_copy(update={"groups": [*plain.groups, SkillGroup(gems=[conflux])]})

    before, after = numbers(backend, plain), numbers(backend, lasting)
    assert after["SpiritUnreserved"] == before["SpiritUnreserved"] - 60
    assert after["DPS"] > before["DPS"]


def test_a_skill_needs_its_weapon(backend: SketchBackend, builder: Builder) -> None:
    armed = builder.build(next(r for r in RECIPES if r.skill == "Lightning Arrow"))
    unarmed = armed.model_copy(update={"items": {k: v for k, v in armed.items.items() if k != "Weapon 1"}})

    assert numbers(backend, armed)["DPS"] > 0
    assert numbers(backend, unarmed)["DPS"] == 0
    assert backend.handle("inspect", {})["disabled_reason"] == "Main Hand weapon is not usable with this skill"


def test_bolts_are_paid_once_per_reload(backend: SketchBackend, builder: Builder) -> None:
    values = numbers(backend, builder.build(next(r for r in RECIPES if r.skill == "Armour Piercing Rounds")))

    assert values["ManaPerSecondCost"] < values["ManaCost"] * values["Speed"] / 10


def test_passives_of_the_other_weapon_set_do_not_count(backend: SketchBackend, builder: Builder, pack: Pack) -> None:
    start = builder.classes["Sorceress"]["start_node"]
    path = builder.walk(start, 113)
    damage = next(i for i in path if "spell_damage" in pack.passives[i].gives)
    skill = SkillGroup(gems=[Gem(gem_id=builder.gems["Spark"], name="Spark", level=18)])

    def with_set(weapon_set: int, slot: str | None) -> float:
        nodes = [PassiveNode.model_validate({"id": i, "weapon_set": weapon_set if i == damage else 0}) for i in path]
        group = skill.model_copy(update={"slot": slot})
        return numbers(backend, bare(nodes=nodes, groups=[group], main_group=1))["DPS"]

    assert with_set(1, None) == with_set(0, None) > with_set(2, None)
    assert with_set(2, "Weapon 1 Swap") == with_set(0, None)


def test_other_groups_are_told_beside_the_main_skill_and_not_added(backend: SketchBackend, builder: Builder) -> None:
    plain = builder.build(RECIPES[0])
    counted = [group.model_copy(update={"in_full_dps": True}) for group in (*plain.groups, *plain.groups)]
    double = plain.model_copy(update={"groups": counted})
    alone, values = numbers(backend, plain), numbers(backend, double)

    assert values["FullDPS"] == pytest.approx(2 * alone["DPS"])
    assert values["DPS"] == pytest.approx(alone["DPS"])
    backend.handle("build", {"blueprint": double.model_dump(mode="json")})
    damage = Stats.model_validate(backend.handle("stats", {})).damage
    assert damage.per_second
    assert damage.dps == pytest.approx(alone["DPS"])
    assert [(source.kind, source.share) for source in damage.sources] == [("hit", 1.0), ("second_skill", 0.0)]


def test_armour_and_evasion_help_and_resistance_caps_the_largest_hit(backend: SketchBackend, builder: Builder) -> None:
    for recipe in (RECIPES[0], next(r for r in RECIPES if r.skill == "Boneshatter")):
        naked = builder.build(recipe).model_copy(update={"items": {}})
        values, without = numbers(backend, builder.build(recipe)), numbers(backend, naked)
        assert values["TotalEHP"] > 2 * without["TotalEHP"]
        assert values["FireMaximumHitTaken"] >= values["Life"] / 0.31


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.skill)
def test_every_skill_of_the_pack_deals_damage_and_costs_mana(
    backend: SketchBackend, builder: Builder, recipe: Recipe
) -> None:
    values = numbers(backend, builder.build(recipe))

    assert values["DPS"] > 100
    assert values["ManaPerSecondCost"] > 0
    assert all(value == value and abs(value) < 1e12 for value in values.values())
