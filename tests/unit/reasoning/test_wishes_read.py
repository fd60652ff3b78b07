"""Figures, exclusions, contradictions and leftovers: what a prompt says beyond names."""

from __future__ import annotations

import pytest

from app.knowledge.catalogue import Catalogue
from app.model.constraints import InvariantSet, as_list
from app.model.names import Provenance
from app.model.record import BuildRequest
from app.reasoning.prompt.extract import extract_from


def understood(prompt: str, catalogue: Catalogue) -> InvariantSet:
    return extract_from(BuildRequest(prompt=prompt), catalogue)


@pytest.mark.parametrize(
    ("prompt", "targets"),
    [
        ("spark at least 20000000 dps and 90000 ehp", {"dps": 20e6, "ehp": 90e3}),
        ("dps > 300k ehp > 25k", {"dps": 300e3, "ehp": 25e3}),
        ("1,5 Mio dps", {"dps": 1.5e6}),
        ("ehp über 40.000", {"ehp": 40e3}),
        ("chaos resistance 75", {"chaos_resistance": 75, "damage_type": None}),
        ("fire and cold res 80", {"fire_resistance": 80, "cold_resistance": 80}),
        ("75/75/60 res", {"fire_resistance": 75, "cold_resistance": 75, "lightning_resistance": 60}),
        ("capped ele res", {"elemental_resistances": 75}),
        ("90 max fire res", {"fire_resistance": 90, "damage_type": None}),
        ("survive a 10k phys hit", {"physical_hit": 10e3, "damage_type": None}),
        ("under 200 mana cost", {"mana_cost": 200}),
        ("30% movement speed minimum", {"movement_speed": 30}),
        ("cast rate 5/s", {"cast_rate": 5}),
        ("60-90k ehp", {"ehp": 60e3}),
        ("level 90 5k life", {"level": 90, "life": 5e3}),
        ("niveau 80, 2.5k str", {"level": 80, "strength": 2500}),
        ("without dropping below 25k ehp", {"ehp": 25e3, "exclude": None}),
        ("dps over 300k but never under 25k ehp", {"dps": 300e3, "ehp": 25e3}),
        ("elemental resistances maxed, chaos res", {"elemental_resistances": 75, "chaos_resistance": None}),
        ("chaos res positive", {"chaos_resistance": 1, "damage_type": None}),
        ("positive chaos resistance and capped fire res", {"chaos_resistance": 1, "fire_resistance": 75}),
        ("bis, mirror tier", {"gear": "mirror"}),
        ("phys to cold", {"damage_type": "cold"}),
        ("nothing too squishy", {"style": "tanky"}),
    ],
)
def test_figures_become_targets(prompt: str, targets: dict[str, float | None], catalogue: Catalogue) -> None:
    found = understood(f"{prompt}, sorceress", catalogue)
    explicit = {one.field: one.value for one in found.invariants if one.provenance is Provenance.EXPLICIT}

    assert {name: explicit.get(name) for name in targets} == targets


@pytest.mark.parametrize("prompt", ["at most 5k life witch", "over 200 mana cost witch"])
def test_a_figure_the_wrong_way_round_is_not_turned_about(prompt: str, catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert found.get("life") is None
    assert found.get("mana_cost") is None
    assert found.not_understood


@pytest.mark.parametrize(
    ("prompt", "excluded"),
    [
        ("I hate totems, lightning", ["totems"]),
        ("witch, no minions, fire", ["minions"]),
        ("no minions, totems or curses", ["minions", "totems", "curses"]),
        ("mace warrior that doesn't use slams", ["slams"]),
        ("no minons witch", ["minions"]),
    ],
)
def test_what_is_ruled_out_is_not_also_wished_for(prompt: str, excluded: list[str], catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert found.get("exclude") == excluded
    assert found.get("style") is None


def test_of_two_words_for_one_answer_the_other_is_named(catalogue: Catalogue) -> None:
    found = understood("cheap spark sorceress, endgame gear", catalogue)

    assert found.get("gear") == "starter"
    assert 'Gear: "cheap" was taken, so I left "endgame gear" aside.' in found.assumptions


def test_words_that_belong_to_nothing_are_listed_as_written(catalogue: Catalogue) -> None:
    found = understood("Sorceress with Frobnicated gizmos and spark, without Blorps", catalogue)

    assert found.not_understood == ["Frobnicated gizmos", "without Blorps"]
    assert found.get("exclude") is None


def test_a_foreign_name_is_asked_about_and_listed(catalogue: Catalogue) -> None:
    found = understood("cold dot occultist for bossing", catalogue)

    assert found.not_understood == ["occultist"]
    assert found.question is not None


def test_each_value_has_the_users_own_words(catalogue: Catalogue) -> None:
    found = understood("Fire and COLD Sorceress, at least 5K life", catalogue)

    for one in found.invariants:
        explicit = one.provenance is Provenance.EXPLICIT
        assert len(one.words) == (len(as_list(one.value)) if explicit else 0), one
    assert found.find("damage_type").words == ["Fire", "COLD"]  # type: ignore[union-attr]
    assert found.find("life").words == ["at least 5K life"]  # type: ignore[union-attr]


def test_a_contradiction_is_settled_in_words(catalogue: Catalogue) -> None:
    found = understood("spark but no lightning", catalogue)

    assert (found.get("skill"), found.get("exclude")) == ("Spark", ["lightning"])
    assert any(text.startswith("Damage type: Spark deals lightning") for text in found.assumptions)


@pytest.mark.parametrize("prompt", ["spark sorceress, no rings", "spark sorceress without rings"])
def test_a_kind_of_item_is_ruled_out(prompt: str, catalogue: Catalogue) -> None:
    found = understood(prompt, catalogue)

    assert as_list(found.get("exclude")) == ["rings"]
    assert found.not_understood == []


def test_a_damage_type_and_a_style_that_no_skill_has_together_are_said(catalogue: Catalogue) -> None:
    both = understood("cold dot witch", catalogue)
    assert any("no skill deals cold and is damage over time" in line for line in both.assumptions)
    possible = understood("chaos dot witch", catalogue)
    assert not any("no skill deals" in line for line in possible.assumptions)
