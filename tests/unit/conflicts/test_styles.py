"""What a style, a damage type or a defence means on a finished build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.conflicts.case import Case
from app.conflicts.styles import STYLES, WITHOUT_EFFECT
from app.conflicts.wishes import asked_for, wishes_of
from app.knowledge.vocabulary import vocabulary
from app.model.blueprint import GearItem, Gem, PassiveNode, SkillGroup
from app.model.constraints import Invariant, InvariantSet, InvariantValue
from app.model.damage import DamageBreakdown, DamageKind, DamageSource
from app.model.facts import BaseFact, GemFact, NodeFact
from app.model.names import Provenance
from app.model.wishes import WishState

MakeCase = Callable[..., Case]
MET, UNMET, SILENT = WishState.MET, WishState.UNMET, WishState.NO_EFFECT


def gem(name: str, *tags: str, kind: str = "active") -> GemFact:
    return GemFact.model_validate({"id": name, "name": name, "kind": kind, "tags": tags})


GEMS = {
    one.id: one
    for one in (
        gem("Bolt", "spell", "lightning", "projectile"),
        gem("Cut", "attack", "melee", "slam"),
        gem("Ally", "minion", "createsminion"),
        gem("Drain", "spell", "chaos", "damageovertime"),
        gem("Cry", "warcry"),
        gem("Ballista", "totem", kind="support"),
    )
}


def judged(case: MakeCase, field: str, value: InvariantValue, skills: str, **build: Any) -> list[WishState]:
    """The first of the skills is the main one, those joined by "+" share a group."""
    groups = [SkillGroup(gems=[Gem(gem_id=one, name=one) for one in names.split("+")]) for names in skills.split()]
    asked = Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason="said so")
    blueprint = {"groups": groups, **build.pop("blueprint", {})}
    built = case(invariants=InvariantSet(invariants=[asked]), gems=GEMS, blueprint=blueprint, **build)
    return [found.state for found in wishes_of(built)]


def test_every_style_of_the_vocabulary_has_a_check_or_is_said_to_have_none() -> None:
    assert set(vocabulary().styles) <= {*STYLES, *WITHOUT_EFFECT}


@pytest.mark.parametrize(
    ("style", "skills", "state"),
    [
        ("spell", "Bolt", MET),
        ("spell", "Cut", UNMET),
        ("attack", "Cut", MET),
        ("slam", "Cut", MET),
        ("projectile", "Cut", UNMET),
        ("minion", "Ally", MET),
        ("minion", "Bolt Ally", UNMET),
        ("totem", "Bolt+Ballista", MET),
        ("totem", "Bolt", UNMET),
        ("warcry", "Bolt Cry", MET),
        ("warcry", "Bolt", UNMET),
        ("curse", "Bolt", UNMET),
        ("wolf", "Cut", UNMET),
        ("damage_over_time", "Drain", MET),
        ("damage_over_time", "Bolt", SILENT),
        ("poison", "Drain", SILENT),
        ("critical", "Bolt", SILENT),
        ("max_block", "Bolt", SILENT),
        ("one_shot", "Bolt", SILENT),
        ("one_button", "Bolt", MET),
        ("one_button", "Bolt Cry", UNMET),
        ("juggling", "Bolt", SILENT),
    ],
)
def test_by_what_the_gems_are(case: MakeCase, style: str, skills: str, state: WishState) -> None:
    assert judged(case, "style", style, skills) == [state]


@pytest.mark.parametrize(
    ("style", "values", "state"),
    [
        ("damage_over_time", {"TotalDotDPS": 600.0, "CombinedDPS": 1000.0}, MET),
        ("damage_over_time", {"TotalDotDPS": 400.0, "CombinedDPS": 1000.0}, UNMET),
        ("ignite", {"TotalDotDPS": 600.0, "IgniteDPS": 600.0, "CombinedDPS": 1000.0}, MET),
        ("poison", {"TotalDotDPS": 600.0, "IgniteDPS": 600.0, "CombinedDPS": 1000.0}, UNMET),
        ("bleed", {"TotalDotDPS": 300.0, "TotalBleedDPS": 300.0, "CombinedDPS": 1000.0}, MET),
        ("critical", {"CritChance": 50.0, "CritMultiplier": 3.0}, MET),
        ("critical", {"CritChance": 9.6, "CritMultiplier": 2.45}, UNMET),
        ("max_block", {"EffectiveBlockChance": 50.0, "BlockChanceMax": 50.0}, MET),
        ("max_block", {"EffectiveBlockChance": 0.0, "BlockChanceMax": 50.0}, UNMET),
        ("strength_stacking", {"Str": 400.0, "Dex": 50.0, "Int": 90.0}, MET),
        ("life_stacking", {"Life": 3000.0, "Mana": 500.0}, MET),
        ("mana_stacking", {"Life": 3000.0, "Mana": 500.0}, UNMET),
        ("mana_stacking", {"Life": 1000.0, "EnergyShield": 5000.0, "Mana": 2300.0}, MET),
        ("armour_stacking", {"Armour": 900.0, "Evasion": 700.0}, UNMET),
        ("fast", {"EffectiveMovementSpeedMod": 1.3}, MET),
        ("fast", {"EffectiveMovementSpeedMod": 1.1}, UNMET),
        ("tanky", {"TotalEHP": 10_000_000.0}, MET),
        ("glass_cannon", {"DPS": 10_000_000.0, "TotalEHP": 9_000.0}, MET),
        ("glass_cannon", {"DPS": 10_000.0, "TotalEHP": 10_000_000.0}, UNMET),
        ("glass_cannon", {"DPS": 10.0, "TotalEHP": 1.0}, UNMET),
        ("leech", {"LifeLeechGainRate": 5.0}, MET),
        ("leech", {}, UNMET),
        ("regeneration", {"Life": 1000.0, "LifeRegenRecovery": 30.0}, MET),
        ("regeneration", {"Life": 1000.0, "LifeRegenRecovery": 3.0}, UNMET),
        ("unarmed", {}, MET),
        ("dual_wield", {}, UNMET),
        ("strength_stacking", {"Str": 100.0, "Dex": 50.0, "Int": 90.0}, UNMET),
        ("attribute_stacking", {"Str": 10.0, "Dex": 50.0, "Int": 90.0}, MET),
    ],
)
def test_by_what_the_figures_are(case: MakeCase, style: str, values: dict[str, float], state: WishState) -> None:
    assert judged(case, "style", style, "Bolt", values=values) == [state]


def test_what_no_build_can_hold_is_not_tried_for(case: MakeCase) -> None:
    """Found with "dual wield wands sorceress": three rounds with other skills, none of which could."""
    wished = {"style": "dual_wield", "weapon": ["Wand", "Axe"]}
    asked = [
        Invariant(field=name, value=value, provenance=Provenance.EXPLICIT, reason="said so")
        for name, value in wished.items()
    ]
    built = case(invariants=InvariantSet(invariants=asked), gems=GEMS)
    found = {wish.wish: wish for wish in wishes_of(built) if wish.state is UNMET}
    assert "no build can" in str(found["played as dual wield"].nearest)
    assert "no build can" in str(found["holding an axe"].nearest)
    assert "no build can" not in str(found["holding a wand"].nearest)
    tried = [one.next_suggestion.text for one in asked_for(built) if one.next_suggestion is not None]
    assert tried == ["hold a wand"]


@pytest.mark.parametrize(
    ("wished", "held", "told"),
    [
        (["Spear", "Sceptre"], ["Spear", "Shield"], {"holding a spear": MET, "holding a sceptre": UNMET}),
        (["Spear", "Sceptre"], ["Spear", "Sceptre"], {"holding a spear": MET, "holding a sceptre": MET}),
        (["Staff", "Sceptre"], ["Sceptre", "Shield"], {"holding a staff or sceptre": MET}),
        (["Mace", "Shield"], ["One Hand Mace", "Shield"], {"holding a mace": MET, "holding a shield": MET}),
        (["Mace", "Axe"], ["One Hand Mace", "Shield"], {"holding a mace": MET, "holding an axe": UNMET}),
    ],
)
def test_of_weapons_for_one_hand_one_is_enough(
    case: MakeCase, wished: list[str], held: list[str], told: dict[str, WishState]
) -> None:
    """Found with "spear amazon with sceptre": told as holding a sceptre, with spear and buckler in her hands."""
    asked = Invariant(field="weapon", value=wished, provenance=Provenance.EXPLICIT, reason="said so")
    items = {slot: GearItem(slot=slot, base=kind) for slot, kind in zip(("Weapon 1", "Weapon 2"), held, strict=True)}
    bases = [BaseFact(name=kind, type=kind) for kind in held]
    built = case(invariants=InvariantSet(invariants=[asked]), gems=GEMS, blueprint={"items": items}, bases=bases)
    assert {wish.wish: wish.state for wish in wishes_of(built)} == told


@pytest.mark.parametrize("main", ["Bolt", "Ally"])
@pytest.mark.parametrize(
    ("style", "state"), [("ignite", MET), ("damage_over_time", MET), ("poison", UNMET), ("bleed", UNMET)]
)
def test_by_the_sources_of_the_damage_that_counts(case: MakeCase, main: str, style: str, state: WishState) -> None:
    """Minions' too: one minion's ignite was 2 % of its own damage, and told so, but 0.5 % of what all of them deal."""
    sources = [
        DamageSource(name=main, kind=kind, dps=dps)
        for kind, dps in ((DamageKind.HIT, 400.0), (DamageKind.IGNITE, 600.0))
    ]
    counted = case().stats.model_copy(update={"damage": DamageBreakdown.of(sources)})
    asked = Invariant(field="style", value=style, provenance=Provenance.EXPLICIT, reason="said so")
    groups = [SkillGroup(gems=[Gem(gem_id=main, name=main)])]
    values = {"Minion.TotalDotDPS": 0.0, "Minion.CombinedDPS": 1000.0}
    built = case(invariants=InvariantSet(invariants=[asked]), gems=GEMS, values=values, blueprint={"groups": groups})
    assert [found.state for found in wishes_of(replace(built, stats=counted))] == [state]


@pytest.mark.parametrize(
    ("style", "text", "told"),
    [
        ("fast", "boots with more movement speed", None),
        ("tanky", "weigh defence higher in passives and gear", None),
        ("mana_stacking", "more mana on gear and passives", "mana_stacking"),
        ("totem", "a main skill that is played as asked", "totem"),
        ("critical", "weigh the damage asked for higher", "critical"),
    ],
)
def test_the_way_out_is_where_the_figure_comes_from(case: MakeCase, style: str, text: str, told: str | None) -> None:
    asked = Invariant(field="style", value=style, provenance=Provenance.EXPLICIT, reason="said so")
    groups = [SkillGroup(gems=[Gem(gem_id="Bolt", name="Bolt")])]
    values = {"EffectiveMovementSpeedMod": 1.1, "TotalEHP": 100.0, "Life": 3000.0, "Mana": 500.0}
    values |= {"CritChance": 10.0, "CritMultiplier": 2.0}
    built = case(invariants=InvariantSet(invariants=[asked]), gems=GEMS, values=values, blueprint={"groups": groups})
    (found,) = [one for one in asked_for(built) if one.subject == f"style {style}"]
    assert found.suggested_solutions[0].text == text
    assert found.suggested_solutions[0].values.style == told


def test_a_minions_figures_are_the_minions(case: MakeCase) -> None:
    values = {"TotalDotDPS": 900.0, "Minion.TotalDotDPS": 0.0, "Minion.CombinedDPS": 1000.0}
    assert judged(case, "style", "damage_over_time", "Ally", values=values) == [UNMET]


@pytest.mark.parametrize(
    ("asked", "states"),
    [
        ("chaos", [MET]),
        ("fire", [UNMET]),
        (["chaos", "fire"], [MET, UNMET]),
        ("elemental", [UNMET]),
    ],
)
def test_a_damage_type_is_what_the_file_deals(case: MakeCase, asked: InvariantValue, states: list[WishState]) -> None:
    """A fire skill whose damage was turned into chaos deals chaos."""
    hits = {"ChaosHitAverage": 1800.0, "ColdHitAverage": 200.0, "TotalDPS": 2000.0, "IgniteDPS": 300.0}
    assert judged(case, "damage_type", asked, "Bolt", values=hits) == states


@pytest.mark.parametrize(
    ("also_asked", "ways"),
    [
        ([], ["other_skill", "asked_damage", "other_ascendancy"]),
        ([("skill", "Bolt")], ["asked_damage", "other_ascendancy"]),
        ([("skill", "Bolt"), ("ascendancy", "Stormweaver")], ["asked_damage"]),
    ],
)
def test_a_type_that_an_ascendancy_crowds_out_may_get_another_one(
    case: MakeCase, also_asked: list[tuple[str, str]], ways: list[str]
) -> None:
    """What was asked for by name stays: then weighing the type higher is all there is."""
    asked = [
        Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason="said so")
        for field, value in [("damage_type", "lightning"), *also_asked]
    ]
    groups = [SkillGroup(gems=[Gem(gem_id="Bolt", name="Bolt")])]
    values = {"LightningHitAverage": 400.0, "ChaosHitAverage": 600.0, "TotalDPS": 1000.0}
    built = case(invariants=InvariantSet(invariants=asked), gems=GEMS, values=values, blueprint={"groups": groups})
    (found,) = [one for one in asked_for(built) if one.subject == "damage_type lightning"]
    assert [way.strategy for way in found.suggested_solutions] == ways


@pytest.mark.parametrize(
    ("values", "sources", "asked", "state"),
    [
        ({"ChaosDot": 900.0, "TotalDot": 900.0}, [], "chaos", MET),
        ({"ChaosDot": 900.0, "TotalDot": 900.0}, [], "lightning", UNMET),
        # A part that is calculated apart has no type of its own: the skill's counts.
        ({"TotalDPS": 100.0, "FireHitAverage": 9.0}, [100.0, 900.0], "chaos", MET),
        ({"TotalDPS": 100.0, "FireHitAverage": 9.0}, [100.0, 10.0], "chaos", UNMET),
        # Path of Building shows hits of a cloud, too, which hits nobody.
        ({"TotalDPS": 100.0, "FireHitAverage": 9.0}, [0.0, 10.0], "chaos", MET),
        # Hits that the engine does not split say nothing; what little is known must not stand for all.
        ({"TotalDPS": 100.0, "BleedDPS": 10.0}, [], "physical", UNMET),
    ],
)
def test_damage_over_time_has_a_type(
    case: MakeCase, values: dict[str, float], sources: list[float], asked: str, state: WishState
) -> None:
    kinds = (DamageKind.HIT, DamageKind.DAMAGE_OVER_TIME)
    dealt = zip(kinds, sources, strict=False)
    found = [DamageSource(name="Drain", kind=kind, dps=dps) for kind, dps in dealt if dps]
    groups = [SkillGroup(gems=[Gem(gem_id="Drain", name="Drain")])]
    invariant = Invariant(field="damage_type", value=asked, provenance=Provenance.EXPLICIT, reason="said so")
    built = case(
        invariants=InvariantSet(invariants=[invariant]), gems=GEMS, blueprint={"groups": groups}, values=values
    )
    stats = built.stats.model_copy(update={"damage": DamageBreakdown.of(found)})
    assert [one.state for one in wishes_of(replace(built, stats=stats))] == [state]


def test_without_shares_a_damage_type_is_what_the_skill_says(case: MakeCase) -> None:
    assert judged(case, "damage_type", "lightning", "Bolt") == [MET]
    assert judged(case, "damage_type", "fire", "Bolt") == [UNMET]
    assert judged(case, "damage_type", "elemental", "Bolt") == [MET]


@pytest.mark.parametrize(
    ("layer", "values", "state"),
    [
        ("life", {"Life": 2000.0, "EnergyShield": 100.0}, MET),
        ("life", {"Life": 1.0, "EnergyShield": 5000.0}, UNMET),
        ("energy_shield", {"Life": 1.0, "EnergyShield": 5000.0}, MET),
        ("hybrid", {"Life": 1000.0, "EnergyShield": 2000.0}, MET),
        ("hybrid", {"Life": 1000.0, "EnergyShield": 100.0}, UNMET),
        ("evasion", {"Evasion": 9000.0, "EvadeChance": 47.0, "Armour": 9500.0}, MET),
        # Once told as met: a Monk for "evasion and energy shield" with 662 evasion.
        ("evasion", {"Evasion": 662.0, "EvadeChance": 6.0, "Armour": 0.0}, UNMET),
        ("armour", {"Armour": 5600.0, "PhysicalDamageReduction": 52.0}, MET),
        ("armour", {"Armour": 300.0, "PhysicalDamageReduction": 5.0}, UNMET),
        ("block", {"EffectiveBlockChance": 40.0}, MET),
        ("block", {"EffectiveBlockChance": 5.0}, UNMET),
        ("mana", {}, UNMET),
        ("luck", {}, SILENT),
    ],
)
def test_defences(case: MakeCase, layer: str, values: dict[str, float], state: WishState) -> None:
    assert judged(case, "defence", layer, "Bolt", values=values) == [state]


def test_mana_takes_damage_by_its_keystone(case: MakeCase) -> None:
    nodes = {7: NodeFact(id=7, name="Mind Over Matter", kind="keystone")}
    build = {"nodes": [PassiveNode(id=7)]}
    assert judged(case, "defence", "mana", "Bolt", nodes=nodes, blueprint=build) == [MET]


def test_of_two_defences_each_holds_its_share(case: MakeCase) -> None:
    values = {"EvadeChance": 20.0, "PhysicalDamageReduction": 10.0}
    assert judged(case, "defence", ["evasion", "armour"], "Bolt", values=values) == [MET, UNMET]
