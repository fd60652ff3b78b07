"""Somebody's own character: what it has is no fault, and every fault comes with a step that a player can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.conflicts.case import Case
from app.conflicts.order import by_hand
from app.conflicts.steps import step
from app.conflicts.table import find_conflicts
from app.model.blueprint import GearItem, Gem, SkillGroup
from app.model.demands import owned
from app.model.facts import BaseFact
from app.model.names import ConflictType, Severity, SubProblemName
from app.model.stats import GemFinding, ItemFinding, Requirement
from app.model.sub_problems import DeliveryChoice

MakeCase = Callable[..., Case]
BLOCKING, WARNING = Severity.BLOCKING, Severity.WARNING
PLANNED = DeliveryChoice(skill_id="spark", skill_name="Spark", weapon_types=["Wand"])
SCEPTRE = BaseFact(name="Rattling Sceptre", type="Sceptre")
UNREAD = [ItemFinding(slot="Belt", line=f"gain {n} of a modifier", reason="not counted") for n in range(7)]


def verdicts(case: Case) -> dict[str, Severity]:
    return {f"{found.type.value}/{found.subject}": found.severity for found in find_conflicts(case)}


@pytest.mark.parametrize(
    ("ours", "theirs", "built"),
    [
        ("tree_overflow/passives", {}, {"points": {"used": 114}}),
        (
            "tree_overflow/passives",
            {"tree_overflow/passives": BLOCKING},
            {"points": {"used": 115}},
        ),
        ("tree_overflow/ascendancy", {}, {"level": 71, "points": {"ascendancy_used": 8}}),
        (
            "tree_overflow/ascendancy",
            {"tree_overflow/ascendancy": BLOCKING},
            {"points": {"ascendancy_used": 10}},
        ),
        (
            "stat_requirement/gem Spark",
            {},
            {"blueprint": {"groups": [SkillGroup(gems=[Gem(gem_id="spark", name="Spark", level=21, quality=23)])]}},
        ),
        (
            "illegal_item/unparsed Belt gain 0 of a modifier",
            {"illegal_item/uncounted": WARNING},
            {"inspection": {"unparsed": UNREAD}},
        ),
        (
            "core_assumption_invalidated/weapon",
            {},
            {"choices": {SubProblemName.DAMAGE_DELIVERY: PLANNED}},
        ),
        (
            "ineffective_support/1 Premeditation",
            {"ineffective_support/unknown 1 Premeditation": WARNING},
            {
                "inspection": {
                    "idle_gems": [
                        GemFinding(group=1, gem=2, name="Premeditation", reason="Unrecognised gem name 'Premeditation'")
                    ]
                }
            },
        ),
        (
            "ineffective_support/1 Fork",
            {"ineffective_support/1 Fork": BLOCKING},
            {"inspection": {"idle_gems": [GemFinding(group=1, gem=2, name="Fork", reason="it supports no skill")]}},
        ),
        (
            "gear_slot_contention/You have too many gem groups allocated.",
            {"gear_slot_contention/You have too many gem groups allocated.": WARNING},
            {"inspection": {"warnings": ["You have too many gem groups allocated."]}},
        ),
        ("sustain_gap/life", {"sustain_gap/life": WARNING}, {"values": {"LifePerSecondCost": 20.0}}),
        ("sustain_gap/life", {"sustain_gap/life": BLOCKING}, {"values": {"LifePerSecondCost": 101.0}}),
        (
            "spirit_overflow/spirit",
            {"spirit_overflow/spirit": WARNING},
            {
                "values": {"SpiritUnreserved": -100.0},
                "items": [GearItem(slot="Weapon 1 Swap", base="Rattling Sceptre", rarity="RARE", text="Sceptre")],
                "bases": [SCEPTRE],
            },
        ),
        ("spirit_overflow/spirit", {"spirit_overflow/spirit": BLOCKING}, {"values": {"SpiritUnreserved": -100.0}}),
    ],
)
def test_what_somebody_has_is_no_fault(
    case: MakeCase, ours: str, theirs: dict[str, Severity], built: dict[str, Any]
) -> None:
    assert ours in verdicts(case(**built)) or ours.startswith("gear_slot")
    assert verdicts(case(**built, imported=True)) == theirs


def test_a_granted_main_skill_is_a_main_skill(case: MakeCase) -> None:
    granted = case(blueprint={"main_group": 0, "main_granted": "SkillGem"})
    assert "core_assumption_invalidated/main_skill" not in verdicts(granted)


def test_uncounted_lines_are_told_together(case: MakeCase) -> None:
    (found,) = find_conflicts(case(inspection={"unparsed": UNREAD}, imported=True))
    assert found.message.startswith('The engine does not count 7 lines of items: "gain 0 of a modifier" (Belt), ')
    assert " and 2 more. The figures lack" in found.message


@pytest.mark.parametrize(
    ("built", "wanted"),
    [
        ({"values": {"FireResist": 66.0}}, "get 9% more fire resistance from rings"),
        ({"values": {"ManaPerSecondCost": 90.0}}, "get 40 more mana per second"),
        ({"values": {"ManaCost": 800.0, "ManaPool": 500.0}}, "until one use costs at most 500"),
        (
            {"inspection": {"requirements": [Requirement(attribute="int", required=100, available=93, source="Wand")]}},
            "get 7 more Intelligence: attribute passives give 5 each",
        ),
        (
            {"inspection": {"requirements": [Requirement(attribute="level", required=95, available=90, source="Bow")]}},
            "use Bow at a lower level until the character is level 95.",
        ),
        ({"values": {"Str": 20.0}, "inspection": {"support_counts": {"str": 5}}}, "get 5 more Strength"),
        ({"values": {"SpiritUnreserved": -37.0}}, "switch off persistent skills that reserve 37 Spirit"),
        ({"points": {"used": 110}}, "spend 3 more points on passives"),
        ({"points": {"used": 118, "available": 113}}, "passives at the ends of branches"),
        ({"points": {"ascendancy_used": 6}}, "spend 2 more ascendancy points"),
        ({"points": {"ascendancy_used": 9}}, "take back 1 ascendancy points"),
        ({"values": {"CombinedDPS": 90_000.0}}, "look in Path of Building's Calcs tab"),
        ({"values": {"CombinedDPS": 9_000.0}}, "raise the weapon's damage"),
        ({"values": {"CombinedDPS": None}, "inspection": {"modelled": False}}, "read in the game what the skill deals"),
        ({"values": {"TotalEHP": 100.0}}, "put life, energy shield or resistances"),
        ({"values": {"PhysicalMaximumHitTaken": 100.0}}, "get more armour"),
    ],
)
@pytest.mark.parametrize("imported", [False, True])
def test_every_conflict_comes_with_a_step_and_its_figures(
    case: MakeCase, built: dict[str, Any], wanted: str, imported: bool
) -> None:
    conflicts = find_conflicts(case(**built, imported=imported))
    assert any(wanted in line for line in by_hand(conflicts)), by_hand(conflicts)
    assert not any(".0" in line for line in by_hand(conflicts))
    assert all(found.suggested_solutions for found in conflicts)


def test_a_step_that_the_suggestion_says_is_not_said_twice(case: MakeCase) -> None:
    idle = [GemFinding(group=1, gem=2, name="Fork", reason="it supports no skill")]
    (found,) = find_conflicts(case(inspection={"idle_gems": idle}))
    assert found.type is ConflictType.INEFFECTIVE_SUPPORT
    assert step(found) is None
    assert by_hand([found]) == ["By hand: leave Fork out."]


@pytest.mark.parametrize(("level", "value", "told"), [(13, 10.0, False), (40, 10.0, True), (89, 66.0, True)])
def test_a_character_on_its_way_need_not_have_the_resistances_of_the_endgame(
    case: MakeCase, level: int, value: float, told: bool
) -> None:
    built = case(level=level, values={"FireResist": value}, points={"ascendancy_used": 8})
    theirs = replace(built, imported=True, demands=owned(built.demands))
    assert [("resistance_gap/fire" in verdicts(one)) for one in (built, theirs)] == [told, told]
    assert owned(owned(built.demands)) == owned(built.demands)
