"""What a validator is told about a build in real Path of Building."""

from __future__ import annotations

import pytest

from app.model.stats import Inspection, Stats
from tests.pob.conftest import Child, Facts, rare

pytestmark = pytest.mark.pob

TO_TEMPEST_CALLER = (65413, 12882)


def _inspect(child: Child) -> Inspection:
    return Inspection.model_validate(child.call("inspect"))


def test_a_sound_build(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress())
    found = _inspect(child)
    assert found.modelled
    assert found.disabled_reason is None
    assert found.points["used"] == 60
    assert found.points["available"] == 89 + 24
    assert (found.points["ascendancy_used"], found.points["ascendancy_available"]) == (0, 8)
    assert found.idle_gems == []
    assert found.dropped_nodes == []


def test_a_granted_skill_that_the_figures_hang_on_is_told(child: Child, facts: Facts) -> None:
    """A staff's Sigil of Power was 12.6 % of a Sorceress's damage, and nobody said that it must be used."""
    blueprint = facts.sorceress()
    for base, told in (("Attuned Wand", []), ("Chiming Staff", [("Sigil of Power", "Chiming Staff")])):
        blueprint["items"]["Weapon 1"] = rare("Weapon 1", base)
        child.build(blueprint)
        stats = Stats.model_validate(child.call("stats"))
        found = stats.granted
        assert [(one.skill, one.source) for one in found] == told
        assert Stats.model_validate(child.call("stats")) == stats, "nothing is left switched off"
    (sigil,) = found
    assert 0.05 < sigil.damage < 0.3
    assert sigil.ehp == 0.0


def test_what_a_passive_grants_is_told_whether_or_not_figures_hang_on_it(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    blueprint["nodes"] += [{"id": node} for node in TO_TEMPEST_CALLER]
    child.build(blueprint)
    found = Stats.model_validate(child.call("stats")).granted
    assert [(one.skill, one.source, one.passive, one.damage) for one in found] == [
        ("Elemental Storm", "Tempest Caller", True, 0.0)
    ]


def test_supports_that_do_nothing(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    names = ["Spark", "Unleash", "Fist of War I", "Rapid Casting I", "Rapid Casting II"]
    blueprint["groups"] = [{"gems": [facts.gem(name) for name in names]}, {"gems": [facts.gem("Unleash")]}]
    child.build(blueprint)
    idle = {(finding.group, finding.gem): finding.reason for finding in _inspect(child).idle_gems}
    assert "supports no skill" in idle[1, 3]
    assert "another support of its kind" in idle[1, 4]
    assert "supports no skill" in idle[2, 1]
    assert (1, 5) not in idle
    assert (1, 2) not in idle


def test_of_equal_supports_in_one_slot_the_last_one_is_idle(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    groups = [[facts.gem(name) for name in ("Spark", "Rapid Casting I")] for _ in range(3)]
    blueprint["groups"] = [{"slot": "Weapon 1", "gems": gems} for gems in groups]
    for _ in range(3):
        child.build(blueprint)
        assert [(finding.group, finding.gem) for finding in _inspect(child).idle_gems] == [(2, 2), (3, 2)]


def test_supports_are_counted_per_colour(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    supports = [gem for gem in facts.gems.values() if gem["kind"] == "support" and not gem["lineage"]]
    red = next(gem for gem in supports if gem.get("colour") == "str")
    blueprint["groups"][1]["gems"].append({"gem_id": red["id"], "name": red["name"]})
    child.build(blueprint)
    assert _inspect(child).support_counts == {"str": 1, "dex": 0, "int": 1}
    blueprint["groups"][1]["gems"][1]["enabled"] = False
    child.build(blueprint)
    assert _inspect(child).support_counts == {"str": 0, "dex": 0, "int": 1}


def test_requirements_name_who_asks(child: Child, facts: Facts) -> None:
    child.build(facts.sorceress() | {"level": 20, "nodes": []})
    needs = _inspect(child).requirements
    intelligence = next(need for need in needs if need.attribute == "int")
    assert intelligence.required > intelligence.available
    assert intelligence.source
    levels = {need.source: need for need in needs if need.attribute == "level"}
    assert levels["Spark"].required > levels["Spark"].available == 20
    ring = next(need for source, need in levels.items() if source.startswith("Ring 1"))
    assert ring.required == int(facts.affixes("Sapphire Ring")["IncreasedLife8"]["level"] * 0.8)


def test_lines_that_count_for_nothing(child: Child, facts: Facts) -> None:
    text = (
        "Rarity: RARE\nOdd\nSapphire Ring\nItem Level: 80\nImplicits: 0\n+10 to maximum Life\nSmells faintly of roses"
    )
    ring = {"slot": "Ring 2", "base": "Sapphire Ring", "text": text}
    child.build(facts.sorceress() | {"items": {"Ring 2": ring}})
    assert [(found.slot, found.line) for found in _inspect(child).unparsed] == [("Ring 2", "Smells faintly of roses")]


def test_a_bonded_line_counts_only_for_those_who_can_use_it(child: Child, facts: Facts) -> None:
    line = "Bonded: Smells faintly of roses"
    text = f"Rarity: RARE\nOdder\nSapphire Ring\nItem Level: 80\nImplicits: 0\n+10 to maximum Life\n{line}"
    worn = {"Ring 2": {"slot": "Ring 2", "base": "Sapphire Ring", "text": text}}
    child.build(facts.sorceress() | {"items": worn})
    assert _inspect(child).unparsed == []
    permit = "Gain the benefits of Bonded modifiers on Runes and Idols"
    child.build(facts.sorceress() | {"items": worn, "config": {"customMods": permit}})
    assert [(found.slot, found.line) for found in _inspect(child).unparsed] == [("Ring 2", line)]


def test_a_skill_that_the_weapon_does_not_allow(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    blueprint["groups"] = [{"gems": [facts.gem("Leap Slam")]}]
    child.build(blueprint)
    found = _inspect(child)
    assert found.disabled_reason is not None
    assert not found.modelled
    assert child.stats()["DPS"] == 0, "nothing is counted"


def test_warnings_of_path_of_building(child: Child, facts: Facts) -> None:
    blueprint = facts.sorceress()
    blueprint["nodes"] = facts.passives("Sorceress", 130)
    blueprint["items"]["Ring 2"] = rare("Ring 2", "Sapphire Ring")
    child.build(blueprint)
    found = _inspect(child)
    assert "You have too many passive points allocated" in found.warnings
    assert found.points["used"] == 130
    assert not any("^" in line for line in found.warnings)
