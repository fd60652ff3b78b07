"""Every rule just below, at and just above its bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.conflicts.case import Case
from app.conflicts.strength import UNEXPLAINED, chaos_resistance
from app.conflicts.table import RULES, find_conflicts, related
from app.model.base import changed
from app.model.blueprint import GearItem, Gem, PassiveNode, SkillGroup
from app.model.conflicts import BuildConflict, Details, Evidence
from app.model.constraints import Invariant, InvariantSet, InvariantValue
from app.model.damage import DamageBreakdown, DamageKind, DamageSource
from app.model.demands import floors_for
from app.model.facts import BaseFact, GemFact, NodeFact, UniqueFact
from app.model.names import ConflictType, Demand, GearTier, Provenance, Role, Severity, SubProblemName
from app.model.stats import GemFinding, ItemFinding, Requirement
from app.model.sub_problems import ScalingChoice, SustainChoice

MakeCase = Callable[..., Case]
BLOCKING, WARNING = Severity.BLOCKING, Severity.WARNING


def verdicts(case: Case) -> dict[str, Severity]:
    return {f"{found.type.value}/{found.subject}": found.severity for found in find_conflicts(case)}


def only(case: Case) -> BuildConflict:
    [found] = find_conflicts(case)
    return found


def test_a_sound_build_has_no_conflict(case: MakeCase) -> None:
    assert find_conflicts(case()) == []


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        (112, {"tree_overflow/unspent": WARNING}),
        (113, {}),
        (114, {"tree_overflow/passives": BLOCKING}),
    ],
)
def test_passives_cost_what_level_and_quests_give(case: MakeCase, used: int, expected: dict[str, Severity]) -> None:
    assert verdicts(case(points={"used": used})) == expected


@pytest.mark.parametrize(
    ("used", "expected"),
    [(116, {"tree_overflow/unspent": WARNING}), (117, {}), (118, {"tree_overflow/passives": BLOCKING})],
)
def test_points_that_passives_grant_are_there_to_be_spent(
    case: MakeCase, used: int, expected: dict[str, Severity]
) -> None:
    assert verdicts(case(points={"used": used, "available": 117, "granted": 4})) == expected


@pytest.mark.parametrize(
    ("used", "imported", "expected"),
    [
        (35, False, {}),
        (36, False, {"tree_overflow/passives": BLOCKING}),
        (52, True, {}),
        (53, True, {"tree_overflow/passives": BLOCKING}),
    ],
)
def test_at_level_28_a_build_of_ours_has_the_points_of_four_quests_and_nobody_more_than_all(
    case: MakeCase, used: int, imported: bool, expected: dict[str, Severity]
) -> None:
    points = {"used": used, "available": 51, "ascendancy_used": 2}
    found = verdicts(case(level=28, points=points, imported=imported))
    assert {name: verdict for name, verdict in found.items() if name.startswith("tree_overflow")} == expected


BREW = NodeFact(id=7, name="Brew", kind="notable", mods=["Grants Skill: Concoction"])
CUT = GemFact(id="spark", name="Spark", kind="active", tier=1)
BREWED = GemFact(id="concoction", name="Concoction", kind="active")


@pytest.mark.parametrize(
    ("nodes", "imported", "expected"),
    [
        ([], False, {"illegal_item/skill Concoction": BLOCKING}),
        ([PassiveNode(id=7)], False, {}),
        ([], True, {}),
    ],
)
def test_a_skill_that_is_no_gem_has_to_be_granted(
    case: MakeCase, nodes: list[PassiveNode], imported: bool, expected: dict[str, Severity]
) -> None:
    """Found on "unarmed monk": Shattering Concoction, which only passives of the Pathfinder grant."""
    groups = [SkillGroup(gems=[Gem(gem_id="spark", name="Spark")])]
    groups += [SkillGroup(gems=[Gem(gem_id="concoction", name="Concoction")])]
    gems = {"spark": CUT, "concoction": BREWED}
    built = case(blueprint={"groups": groups, "nodes": nodes}, gems=gems, nodes={7: BREW}, imported=imported)
    found = verdicts(built)
    assert {name: verdict for name, verdict in found.items() if name.startswith("illegal_item")} == expected


@pytest.mark.parametrize(("newest", "expected"), [("0_5", {}), ("0_6", {"tree_overflow/older": WARNING}), ("", {})])
def test_an_older_passive_tree_is_told(case: MakeCase, newest: str, expected: dict[str, Severity]) -> None:
    built = case(newest_tree=newest)
    assert verdicts(built) == expected
    told = [one.message for one in find_conflicts(built)]
    assert told == ["The passive tree is 0_5, an older one than 0_6: today's passives may be others."] * len(expected)


@pytest.mark.parametrize(("used", "expected"), [(24, {}), (25, {"tree_overflow/weapon_set": BLOCKING})])
def test_weapon_set_points(case: MakeCase, used: int, expected: dict[str, Severity]) -> None:
    assert verdicts(case(points={"used_set2": used})) == expected


@pytest.mark.parametrize(
    ("level", "used", "expected"),
    [
        (90, 7, {"tree_overflow/ascendancy": BLOCKING}),
        (90, 8, {}),
        (90, 9, {"tree_overflow/ascendancy": BLOCKING}),
        (75, 7, {"tree_overflow/ascendancy": BLOCKING}),
        (74, 5, {"tree_overflow/ascendancy": WARNING}),
        (74, 6, {}),
        (74, 8, {"tree_overflow/ascendancy": WARNING}),
    ],
)
def test_ascendancy_points(case: MakeCase, level: int, used: int, expected: dict[str, Severity]) -> None:
    assert verdicts(case(level=level, points={"ascendancy_used": used})) == expected


def test_passives_that_are_not_connected_block(case: MakeCase) -> None:
    found = only(case(inspection={"dropped_nodes": [7, 3]}))
    assert (found.type, found.severity, found.evidence) == (
        ConflictType.TREE_OVERFLOW,
        BLOCKING,
        Evidence(nodes=[3, 7]),
    )


@pytest.mark.parametrize(("available", "blocked"), [(99, True), (100, False), (101, False)])
def test_attribute_requirements(case: MakeCase, available: int, blocked: bool) -> None:
    need = Requirement(attribute="int", required=100, available=available, source="Attuned Wand")
    expected = {"stat_requirement/int": BLOCKING} if blocked else {}
    assert verdicts(case(inspection={"requirements": [need]})) == expected


def test_only_the_worst_requirement_of_an_attribute_is_reported(case: MakeCase) -> None:
    needs = [Requirement(attribute="str", required=n, available=50, source=f"item {n}") for n in (60, 90, 70)]
    found = only(case(inspection={"requirements": needs}))
    assert found.evidence.required == 90
    assert [s.demand for s in found.suggested_solutions] == [Demand.MORE_ATTRIBUTES, Demand.REPLACE_ITEM]


def test_a_level_requirement_asks_for_another_item_only(case: MakeCase) -> None:
    need = Requirement(attribute="level", required=91, available=90, source="Gold Ring")
    found = only(case(inspection={"requirements": [need]}))
    assert [s.demand for s in found.suggested_solutions] == [Demand.REPLACE_ITEM]


@pytest.mark.parametrize(("strength", "blocked"), [(24, True), (25, False), (26, False)])
def test_five_per_support_and_colour(case: MakeCase, strength: int, blocked: bool) -> None:
    expected = {"attribute_squeeze/str": BLOCKING} if blocked else {}
    assert verdicts(case(values={"Str": strength}, inspection={"support_counts": {"str": 5}})) == expected


def test_the_engines_own_support_requirement_is_not_reported_twice(case: MakeCase) -> None:
    need = Requirement(attribute="str", required=60, available=50, source="Support Gems")
    found = verdicts(case(inspection={"requirements": [need], "support_counts": {"str": 12}}))
    assert found == {"attribute_squeeze/str": BLOCKING}


def test_a_disabled_main_skill_makes_missing_damage_a_symptom(case: MakeCase) -> None:
    reason = "Main Hand weapon is not usable with this skill"
    conflicts = find_conflicts(case(values={"CombinedDPS": 5.0}, inspection={"disabled_reason": reason}))
    roles = {found.type: found.role for found in conflicts}
    assert roles == {ConflictType.CORE_ASSUMPTION_INVALIDATED: Role.ROOT, ConflictType.DAMAGE_GAP: Role.SYMPTOM}


def test_no_main_skill_blocks(case: MakeCase) -> None:
    assert verdicts(case(blueprint={"main_group": 0}))["core_assumption_invalidated/main_skill"] is BLOCKING


@pytest.mark.parametrize(("level", "blocked"), [(20, False), (21, True)])
def test_gem_level(case: MakeCase, level: int, blocked: bool) -> None:
    groups = [SkillGroup(gems=[Gem(gem_id="spark", name="Spark", level=level)])]
    expected = {"stat_requirement/gem Spark": BLOCKING} if blocked else {}
    assert verdicts(case(blueprint={"groups": groups})) == expected


@pytest.mark.parametrize(
    ("level", "kind", "blocked"), [(44, "support", True), (45, "support", False), (9, "active", True)]
)
def test_a_gem_that_comes_later_is_not_used(case: MakeCase, level: int, kind: str, blocked: bool) -> None:
    levels = [1, 3, 6, 10] if kind == "active" else [1]
    late = GemFact.model_validate(
        {"id": "spark", "name": "Spark", "kind": kind, "tier": 4, "level_requirements": levels}
    )
    fine = {"ascendancy_used": 0} if level < 20 else {"ascendancy_used": 4}
    found = verdicts(case(level=level, gems={"spark": late}, points=fine))
    assert ("stat_requirement/early Spark" in found) is blocked
    theirs = verdicts(case(level=level, gems={"spark": late}, points=fine, imported=True))
    assert "stat_requirement/early Spark" not in theirs


@pytest.mark.parametrize(("free", "blocked"), [(-1, True), (0, False), (1, False)])
def test_spirit(case: MakeCase, free: int, blocked: bool) -> None:
    expected = {"spirit_overflow/spirit": BLOCKING} if blocked else {}
    assert verdicts(case(values={"SpiritUnreserved": free})) == expected


MANA_FLASK = BaseFact(
    name="Mana Flask", type="Flask", flask={"mana": 300, "charges_used": 10, "charges_max": 75, "duration_s": 3}
)


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (50, {}),
        (52.7, {}),  # 500 mana last 185 s: nobody runs dry in a fight
        (53, {"sustain_gap/mana": WARNING}),
        (75, {"sustain_gap/mana": WARNING}),
        (75.1, {"sustain_gap/mana": BLOCKING}),
    ],
)
def test_mana_lasts_twenty_seconds_without_a_flask(case: MakeCase, cost: float, expected: dict[str, Severity]) -> None:
    assert verdicts(case(values={"ManaPerSecondCost": cost})) == expected


@pytest.mark.parametrize(("cost", "severity"), [(201, WARNING), (201.1, BLOCKING)])
def test_a_worn_mana_flask_counts_with_all_its_charges(case: MakeCase, cost: float, severity: Severity) -> None:
    flask = GearItem(slot="Flask 2", base="Mana Flask", rarity="NORMAL", quality=20)
    built = case(values={"ManaPerSecondCost": cost}, items=[flask], bases=[MANA_FLASK])
    assert only(built).severity is severity  # 500 mana + 7 uses of 360 over 20 s = 151 per second


def test_leech_and_gain_on_hit_count_as_recovery(case: MakeCase) -> None:
    assert verdicts(case(values={"ManaPerSecondCost": 90.0, "ManaLeechGainRate": 40.0})) == {}


def test_mana_that_drains_away_is_told_and_paid_for(case: MakeCase) -> None:
    found = only(case(values={"ManaPerSecondCost": 90.0, "ManaRegenRecovery": -41.0, "ManaUnreserved": 1310.0}))
    assert "costs 90 mana per second, -41 are recovered; pool and flask last 10 s" in found.message


@pytest.mark.parametrize(("cost", "blocked"), [(30, False), (30.4, False), (30.5, True)])
def test_life_costs_are_recovered_in_full(case: MakeCase, cost: float, blocked: bool) -> None:
    expected = {"sustain_gap/life": BLOCKING} if blocked else {}
    paid = {"LifePerSecondCost": cost, "LifeRegenRecovery": 30.0, "EnergyShieldRecharge": 200.0}
    assert verdicts(case(values=paid)) == expected


@pytest.mark.parametrize(
    ("values", "blocked"),
    [
        ({"ManaCost": 500.0}, None),
        ({"ManaCost": 501.0}, "mana"),
        ({"ManaCost": 900.0, "ManaPool": 1_000.0}, None),  # energy shield pays too
        ({"LifeCost": 500.0, "LifeUnreserved": 2_000.0}, None),
        ({"LifeCost": 624.0, "LifeUnreserved": 2_069.0}, "life"),
        ({"ESCost": 10.0, "EnergyShield": 9.0}, "energy shield"),
    ],
)
def test_a_use_that_cannot_be_paid_is_blocking_whatever_is_recovered(
    case: MakeCase, values: dict[str, float], blocked: str | None
) -> None:
    rich = {"ManaRegenRecovery": 1e6, "LifeRegenRecovery": 1e6, "ManaPerSecondCost": 9.0, "LifePerSecondCost": 9.0}
    expected = {f"sustain_gap/{blocked}": BLOCKING} if blocked else {}
    assert verdicts(case(values={**rich, **values})) == expected


def test_one_resource_is_said_to_be_short_once(case: MakeCase) -> None:
    assert verdicts(case(values={"ManaCost": 900.0, "ManaPerSecondCost": 900.0})) == {"sustain_gap/mana": BLOCKING}


def test_cheaper_supports_are_not_suggested_twice(case: MakeCase) -> None:
    choices = {SubProblemName.RESOURCE_SUSTAIN: SustainChoice(prefer_cheaper_supports=True)}
    found = only(case(values={"ManaPerSecondCost": 500.0}, choices=choices))
    assert [s.strategy for s in found.suggested_solutions] == ["more_recovery", "other_skill"]


@pytest.mark.parametrize(
    ("level", "value", "expected"),
    [
        (76, 74, BLOCKING),
        (76, 75, None),
        (76, 80, None),
        (75, 59, BLOCKING),
        (75, 60, WARNING),
        (75, 74, WARNING),
        (75, 75, None),
    ],
)
@pytest.mark.parametrize("element", ["Fire", "Cold", "Lightning"])
def test_elemental_resistance(case: MakeCase, element: str, level: int, value: int, expected: Severity | None) -> None:
    found = verdicts(case(level=level, values={f"{element}Resist": value}))
    assert found == ({f"resistance_gap/{element.lower()}": expected} if expected else {})


@pytest.mark.parametrize(
    ("level", "hardcore", "value", "told"),
    [
        (85, False, 20.0, "three quarters of real players (level 76-89) have 21% or more"),
        (85, False, 21.0, None),
        (85, True, 31.0, "half of real players (level 76-89) have 32% or more"),
        (70, False, -7.0, "three quarters of real players (level 60-75) have 9% or more"),
        (59, False, -7.0, None),
    ],
)
def test_low_chaos_resistance_is_told(
    case: MakeCase, level: int, hardcore: bool, value: float, told: str | None
) -> None:
    made = case(level=level, values={"ChaosResist": value})
    floors = floors_for(level, GearTier.MID, hardcore=hardcore)
    found = chaos_resistance(replace(made, demands=changed(made.demands, hardcore=hardcore, floors=floors)))
    assert [one.severity for one in found] == ([WARNING] if told else [])
    assert all(one.message == f"Chaos resistance is {value:.0f}%: {told}." for one in found)


def test_too_little_resistance_makes_missing_hit_points_a_symptom(case: MakeCase) -> None:
    conflicts = find_conflicts(case(values={"FireResist": 10.0, "TotalEHP": 500.0}))
    assert [(c.subject, c.role) for c in conflicts] == [("fire", Role.ROOT), ("ehp", Role.SYMPTOM)]


def test_a_symptom_becomes_a_root_when_its_cause_is_gone(case: MakeCase) -> None:
    conflicts = find_conflicts(case(values={"FireResist": 10.0, "TotalEHP": 500.0}))
    assert [c.role for c in related(conflicts[1:])] == [Role.ROOT]


@pytest.mark.parametrize(("dps", "expected"), [(7_099, BLOCKING), (7_100, WARNING), (13_999, WARNING), (14_000, None)])
def test_damage_floor_of_mid_gear_at_level_90(case: MakeCase, dps: float, expected: Severity | None) -> None:
    assert verdicts(case(values={"CombinedDPS": dps})) == ({"damage_gap/dps": expected} if expected else {})


def test_damage_above_three_times_the_upper_quartile_is_explained_or_not_validated(case: MakeCase) -> None:
    assert verdicts(case(values={"CombinedDPS": 69_000.0})) == {}
    far = case(values={"CombinedDPS": 69_001.0})
    assert [(found.subject, found.severity) for found in find_conflicts(far)] == [(UNEXPLAINED, WARNING)]
    sources = [
        DamageSource(name="Spark", kind=DamageKind.HIT, dps=60_000.0),
        DamageSource(name="Spark", kind=DamageKind.IGNITE, dps=9_001.0),
        DamageSource(name="Comet", kind=DamageKind.SECOND_SKILL, dps=9e9),
    ]
    told = replace(far, stats=changed(far.stats, damage=DamageBreakdown.of(sources)))
    found = only(told)
    assert (found.subject, found.severity) == ("explained", WARNING)
    assert "Spark hit 87%; Spark ignite 13%." in found.message


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["Attack", "Slam"], {}),
        (["Attack", "HasUsageCondition"], {"damage_gap/not always": WARNING}),
        (["Spell", "TargetsDestructibleCorpses"], {"damage_gap/not always": WARNING}),
    ],
)
def test_what_waits_for_something_does_not_deal_its_figure_all_the_time(
    case: MakeCase, types: list[str], expected: dict[str, Severity]
) -> None:
    main = GemFact(id="spark", name="Spark", kind="active", skill_types=types)
    assert verdicts(case(gems={"spark": main})) == expected
    assert verdicts(case(gems={"spark": main}, values={"CombinedDPS": None})).keys() == {"damage_gap/unmodelled"}


def test_what_waits_and_deals_nothing_is_not_told_what_others_deal(case: MakeCase) -> None:
    """A Raise Zombie beside other minions was told that their damage is what it deals whenever it is ready."""
    waiting = case(gems={"spark": GemFact(id="spark", name="Spark", kind="active", skill_types=["HasUsageCondition"])})
    assert only(waiting).message.endswith("damage per second is what it deals then, not what it deals all the time.")
    others = [DamageSource(name="Sniper", kind=DamageKind.MINION, dps=30_000.0)]
    stats = changed(waiting.stats, damage=DamageBreakdown.of(others, not_counted="corpse"))
    told = only(replace(waiting, stats=stats)).message
    assert told.endswith("and the 50,000 damage per second told are dealt by what fights beside it.")


WAITING = "Supported Skills can only be used after you have moved a certain distance."
DRAINING = "Bow Attacks consume 10% of your maximum Life Flask Charges if possible to deal added Physical damage"


def test_what_supports_and_items_do_at_times_is_not_had_for_long(case: MakeCase) -> None:
    gems = {
        name: GemFact(id=name, name=name, kind=kind, description=WAITING)
        for name, kind in (("spark", "active"), ("Faster", "support"), ("Unused", "support"))
    }
    groups = [SkillGroup(gems=[Gem(gem_id=name, name=name) for name in ("spark", "Faster")])]
    quiver = GearItem(slot="Weapon 2", base="Quiver", rarity="UNIQUE", title="The Draw", text=f"The Draw\n{DRAINING}")
    found = only(case(gems=gems, blueprint={"groups": groups}, items=[]))
    assert (found.subject, found.severity) == ("at times", WARNING)
    assert "calculates Faster as if" in found.message
    assert only(case(items=[quiver])).message.startswith("The engine calculates The Draw as if")
    assert find_conflicts(case(gems=gems, items=[changed(quiver, text="The Draw\n+5% to Fire Resistance")])) == []


@pytest.mark.parametrize(
    ("rate", "cooldown", "told"), [(0.25, 0.0, True), (0.49, 0.0, True), (0.5, 0.0, False), (0.25, 4.0, False)]
)
def test_a_use_that_takes_long_is_told(case: MakeCase, rate: float, cooldown: float, told: bool) -> None:
    """Found on a Titan: a Sunder of four seconds with a club that is a third slower, 97,036 damage per second."""
    gems = {"spark": GemFact(id="spark", name="Sunder", kind="active")}
    found = find_conflicts(case(gems=gems, values={"Speed": rate, "Cooldown": cooldown}))
    assert [one.subject for one in found] == (["slow"] if told else [])
    assert all(one.message.startswith(f"One use of Sunder takes {1 / rate:.1f} seconds") for one in found)


def test_a_cooldown_that_a_support_brings_is_told(case: MakeCase) -> None:
    """Found on a Lich for mapping: Essence Drain and Contagion, both with Hourglass, ready once in ten seconds."""
    said = "Supports any damaging skill, causing it to deal significantly more damage but gain a long cooldown."
    gems = {
        "spark": GemFact(id="spark", name="Drain", kind="active"),
        "glass": GemFact(id="glass", name="Glass", kind="support", description=said),
    }
    groups = [SkillGroup(gems=[Gem(gem_id=name, name=gems[name].name) for name in ("spark", "glass")])]
    found = only(case(gems=gems, blueprint={"groups": groups}, values={"Speed": 0.1, "Cooldown": 10.0}))
    assert (found.subject, found.severity) == ("slow", WARNING)
    assert found.message.startswith("With Glass Drain can be used only once in 10.0 seconds")


def test_minions_that_no_spell_calls_are_told(case: MakeCase) -> None:
    said = "While active, Fire Spells you use yourself will also summon Spirits."
    gems = {
        "spark": GemFact(id="spark", name="Spirits", kind="active", skill_types=["Minion"], description=said),
        "fire": GemFact(
            id="fire", name="Fireball", kind="active", skill_types=["Spell", "Damage"], tags=["fire", "spell"]
        ),
    }
    groups = [SkillGroup(gems=[Gem(gem_id=name, name=name)]) for name in ("spark", "fire")]
    found = only(case(gems=gems, blueprint={"groups": groups[:1]}))
    assert (found.type, found.subject, found.severity) == (ConflictType.DAMAGE_GAP, "uncalled", WARNING)
    assert found.message.startswith("Spirits come when fire spells are used, and the build has none")
    assert find_conflicts(case(gems=gems, blueprint={"groups": groups})) == []


UNHIT = "30% increased Evasion Rating if you haven't been Hit Recently"
FIRST = "80% increased Magnitude of Poison you inflict on targets that are not Poisoned"
DELAYED = "4 seconds after being Damaged by an Enemy Hit, take Damage equal to 30% of that Hit's Damage"


def test_what_only_who_is_not_hit_has_or_what_is_paid_for_later_is_told(case: MakeCase) -> None:
    passives = {
        place: NodeFact(id=place, name=name, kind="notable", mods=[line])
        for place, name, line in (
            (1, "Careful", UNHIT),
            (2, "Phased", DELAYED),
            (3, "Plain", "5% increased Life"),
            (4, "Sting", FIRST),
        )
    }
    ring = GearItem(slot="Ring 1", base="Ring", rarity="UNIQUE", title="The Band", text=f"The Band\n{UNHIT}")
    held = {"nodes": [PassiveNode(id=node) for node in passives]}
    found = only(case(nodes=passives, blueprint=held, items=[ring]))
    assert (found.type, found.subject, found.severity) == (ConflictType.SURVIVABILITY_GAP, "at times", WARNING)
    assert "Careful, The Band as if nothing ever hit the character and Sting as if every hit were" in found.message
    assert "the first and Phased without what it takes" in found.message
    assert find_conflicts(case(nodes=passives, blueprint={"nodes": [PassiveNode(id=3)]}, items=[])) == []


@pytest.mark.parametrize(("ehp", "expected"), [(5_999, BLOCKING), (6_000, WARNING), (7_499, WARNING), (7_500, None)])
def test_hit_point_floor_of_mid_gear_at_level_90(case: MakeCase, ehp: float, expected: Severity | None) -> None:
    assert verdicts(case(values={"TotalEHP": ehp})) == ({"survivability_gap/ehp": expected} if expected else {})


@pytest.mark.parametrize(
    ("metric", "subject", "least", "good"),
    [
        ("PhysicalMaximumHitTaken", "physical hit", 2_796, 3_276),
        ("ColdMaximumHitTaken", "elemental hit", 5_500, 8_200),
        ("LifeRegenRecovery", "recovery", 105, 116),
        ("EnergyShieldRecharge", "recovery", 105, 116),
    ],
)
def test_floors_of_hits_and_recovery(case: MakeCase, metric: str, subject: str, least: float, good: float) -> None:
    def found(value: float) -> dict[str, Severity]:
        return verdicts(case(values={"FireMaximumHitTaken": 9_000.0, metric: value}))

    name = f"survivability_gap/{subject}"
    assert found(least - 1) == {name: BLOCKING}
    assert found(least) == found(good - 1) == {name: WARNING}
    assert found(good) == {}


def test_an_evasion_build_that_one_blow_kills_is_told_so(case: MakeCase) -> None:
    found = only(case(values={"TotalEHP": 60_000.0, "PhysicalMaximumHitTaken": 2_669.0}))
    assert found.severity is BLOCKING
    assert "2,669" in found.message
    assert "2,796 is the least and 3,276 is good" in found.message
    assert [s.strategy for s in found.suggested_solutions] == ["more_layers", "gear_defence"]


def test_missing_resistance_explains_a_weak_elemental_hit_but_not_a_physical_one(case: MakeCase) -> None:
    weak = {"FireResist": 0.0, "FireMaximumHitTaken": 900.0, "PhysicalMaximumHitTaken": 900.0}
    roles = {c.subject: c.role for c in find_conflicts(case(values=weak))}
    assert roles == {"fire": Role.ROOT, "elemental hit": Role.SYMPTOM, "physical hit": Role.ROOT}


def test_an_unmodelled_skill_is_said_so_and_not_called_zero(case: MakeCase) -> None:
    found = only(case(values={"CombinedDPS": None}, inspection={"modelled": False}))
    assert (found.subject, found.severity, found.evidence.available) == ("unmodelled", WARNING, None)
    assert "unknown" in found.message


def test_a_modelled_skill_without_damage_blocks(case: MakeCase) -> None:
    assert verdicts(case(values={"CombinedDPS": None})) == {"damage_gap/unmodelled": BLOCKING}


def test_a_bonded_line_is_conditional_text_and_not_a_fault(case: MakeCase) -> None:
    bonded = ItemFinding(slot="Gloves", line="Bonded: 30% increased Freeze Buildup", reason="not understood")
    other = ItemFinding(slot="Gloves", line="+25 to maximum Runic Ward", reason="not understood")
    assert find_conflicts(case(inspection={"unparsed": [bonded]})) == []
    assert only(case(inspection={"unparsed": [bonded, other]})).subject == "unparsed Gloves +25 to maximum Runic Ward"


def test_unparsed_lines_and_illegal_items_block(case: MakeCase) -> None:
    unparsed = ItemFinding(slot="Ring 1", line="15% increased Light Radius", reason="not understood")
    illegal = ItemFinding(slot="Ring 2", line="Gold Ring", reason="7 affixes, the gear tier allows 5")
    conflicts = find_conflicts(case(inspection={"unparsed": [unparsed]}, findings=(illegal,)))
    assert [c.evidence.slot for c in conflicts] == ["Ring 2", "Ring 1"]
    assert {(c.type, c.severity) for c in conflicts} == {(ConflictType.ILLEGAL_ITEM, BLOCKING)}


BELT = BaseFact(name="Utility Belt", type="Belt", slots=["Belt"])


def with_unique(case: MakeCase, name: str, source: str, gear: GearTier, asked: bool = True) -> Case:
    """A build that wears a unique which was asked for, or not."""
    fact = UniqueFact(name=name, base=BELT.name, type="Belt", level=55, text="...", source=source)
    worn = GearItem(slot="Belt", base=BELT.name, rarity="UNIQUE", title=name, text="...")
    limits = changed(floors_for(90, gear).gear, named=[name.lower()] if asked else [])
    made = case(items=[worn], bases=[BELT], uniques=[fact])
    return replace(made, demands=changed(made.demands, floors=changed(made.demands.floors, gear=limits)))


@pytest.mark.parametrize(
    ("name", "source", "gear", "told"),
    [
        ("Mageblood", "", GearTier.MID, "chase: hardly anybody finds one"),
        ("Mageblood", "", GearTier.ENDGAME, "chase: hardly anybody finds one"),
        ("Mageblood", "", GearTier.MIRROR, ""),
        ("Ingenuity", "Drops from The King", GearTier.MID, "rare: drops from The King"),
        ("Ingenuity", "Drops from The King", GearTier.ENDGAME, ""),
        ("Infernoclasp", "No longer obtainable", GearTier.MIRROR, "can no longer be obtained"),
        ("Byrnabas", "", GearTier.STARTER, ""),
    ],
)
def test_a_unique_that_was_asked_for_and_is_hard_to_come_by_is_a_caveat(
    case: MakeCase, name: str, source: str, gear: GearTier, told: str
) -> None:
    found = find_conflicts(with_unique(case, name, source, gear))
    assert [conflict.severity for conflict in found] == ([WARNING] if told else [])
    assert all(name in conflict.message and told in conflict.message for conflict in found)
    assert find_conflicts(with_unique(case, name, source, gear, asked=False)) == []


def test_what_a_base_says_of_itself_needs_no_understanding(case: MakeCase) -> None:
    line = "Used when you become Frozen"
    charm = BaseFact(name="Thawing Charm", type="Charm", implicits=[line])
    worn = [GearItem(slot="Charm 1", base=charm.name, rarity="NORMAL")]
    told = [ItemFinding(slot="Charm 1", line=text, reason="not counted") for text in (line, "Sings at night")]
    conflicts = find_conflicts(case(inspection={"unparsed": told}, bases=[charm], items=worn))
    assert [c.evidence.line for c in conflicts] == ["Sings at night"]


@pytest.mark.parametrize(
    ("weapon", "off_hand", "allowed"),
    [("Bow", "Quiver", True), ("Bow", "Shield", False), ("Staff", "Focus", False), ("Wand", "Focus", True)],
)
def test_hands(case: MakeCase, weapon: str, off_hand: str, allowed: bool) -> None:
    items = [GearItem(slot="Weapon 1", base=weapon), GearItem(slot="Weapon 2", base=off_hand)]
    bases = [BaseFact(name=weapon, type=weapon), BaseFact(name=off_hand, type=off_hand)]
    found = verdicts(case(items=items, bases=bases))
    assert found == ({} if allowed else {"gear_slot_contention/Weapon 2": BLOCKING})


@pytest.mark.parametrize(("limit", "blocked"), [(1, True), (2, False), (3, False)])
def test_charms(case: MakeCase, limit: int, blocked: bool) -> None:
    charms = [GearItem(slot=f"Charm {n}", base="Ruby Charm", rarity="NORMAL", active=n < 3) for n in (1, 2, 3)]
    found = verdicts(case(items=charms, values={"CharmLimit": limit}))
    assert found == ({"gear_slot_contention/Charm": BLOCKING} if blocked else {})


def test_a_gem_without_effect_blocks(case: MakeCase) -> None:
    idle = GemFinding(group=1, gem=3, name="Magnified Area", reason="supports no skill here")
    found = only(case(inspection={"idle_gems": [idle]}))
    assert (found.type, found.severity) == (ConflictType.INEFFECTIVE_SUPPORT, BLOCKING)
    wanted = Details(gem="Magnified Area", group=1, position=3, local=True)
    assert found.suggested_solutions[0].values == wanted


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("You do not have enough Mana to use: Spark", {ConflictType.SUSTAIN_GAP}),
        ("You cannot pay Life costs of skills while You have Eternal Life allocated", {ConflictType.SUSTAIN_GAP}),
        ("You have too many gems in your Spark socket group", {ConflictType.GEAR_SLOT_CONTENTION}),
        ("You are exceeding jewel limit with the jewel X", {ConflictType.ILLEGAL_ITEM}),
        ("You have too many passive points allocated", set()),
        ("You do not meet the Intelligence requirement", set()),
    ],
)
def test_engine_warnings_block_unless_they_have_a_rule_of_their_own(
    case: MakeCase, line: str, expected: set[ConflictType]
) -> None:
    conflicts = find_conflicts(case(inspection={"warnings": [line]}))
    assert {c.type for c in conflicts} == expected
    assert all(c.severity is BLOCKING for c in conflicts)


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ("class", "Sorceress", True),
        ("class", "Witch", False),
        ("ascendancy", "stormweaver", True),
        ("ascendancy", "Chronomancer", False),
        ("skill", "spark", True),
        ("skill", "Comet", False),
        ("ascendancy", ["Chronomancer", "Stormweaver"], True),
        ("skill", ["Comet", "Spark"], True),
        ("skill", ["Comet", "Arc"], False),
        ("level", 90, True),
        ("level", 91, False),
    ],
)
def test_the_build_is_the_one_asked_for(case: MakeCase, field: str, value: InvariantValue, kept: bool) -> None:
    asked = Invariant(field=field, value=value, provenance=Provenance.EXPLICIT, reason="prompt")
    found = verdicts(case(invariants=InvariantSet(invariants=[asked])))
    assert found == ({} if kept else {f"invariant_violated/{field}": BLOCKING})


def test_what_was_excluded_is_not_used(case: MakeCase) -> None:
    choice = ScalingChoice(excluded_gems=["spark", "comet"], excluded_nodes=[5, 6])
    built = case(choices={SubProblemName.DAMAGE_SCALING: choice}, blueprint={"nodes": [PassiveNode(id=6)]})
    assert set(verdicts(built)) == {"invariant_violated/gem Spark", "invariant_violated/passive 6"}


def test_ids_are_stable_and_every_conflict_offers_a_way_out(case: MakeCase) -> None:
    faults = {"CombinedDPS": 1.0, "TotalEHP": 1.0, "FireResist": 0.0, "SpiritUnreserved": -5.0}
    conflicts = find_conflicts(case(values=faults))
    assert [c.id for c in conflicts] == [
        "spirit_overflow:spirit_allocation:spirit",
        "resistance_gap:stat_requirements+survivability:fire",
        "survivability_gap:stat_requirements+survivability:ehp",
        "damage_gap:damage_delivery+damage_scaling:dps",
    ]
    assert all(c.suggested_solutions and c.message and c.evidence.model_fields_set for c in conflicts)


def test_no_rule_is_listed_twice() -> None:
    assert len(set(RULES)) == len(RULES)
