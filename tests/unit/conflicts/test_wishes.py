"""Each wish against small builds: met, unmet with its way out, not understood, without effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.conflicts.case import Case
from app.conflicts.table import find_conflicts
from app.conflicts.wishes import CHECKS, wishes_of, with_attempts
from app.knowledge.things import Thing, ThingKind, by_name
from app.model.base import changed
from app.model.blueprint import GearItem, Gem, PassiveNode, SkillGroup
from app.model.constraints import INVARIANTS, READ_FROM_FILE, Invariant, InvariantSet, InvariantValue
from app.model.facts import BaseFact, GemFact, NodeFact
from app.model.names import ConflictType, Demand, GearTier, Provenance, Role, Severity, SubProblemName
from app.model.wishes import WishOutcome, WishState

MakeCase = Callable[..., Case]
Q = SubProblemName
MET, UNMET, SILENT = WishState.MET, WishState.UNMET, WishState.NO_EFFECT

SPARK = GemFact(id="spark", name="Spark", kind="active", tags=["lightning", "spell", "projectile"], tier=1)
FASTER = GemFact(id="faster", name="Rapid Casting", kind="support")
HERALD = GemFact(id="herald", name="Herald of Ice", kind="active", tags=["herald", "cold"], spirit=30, tier=1)
RIFT = GemFact(id="rift", name="Temporal Rift", kind="active", tags=["spell"])
COMET = GemFact(id="comet", name="Comet", kind="active", tags=["cold", "spell"], level_requirements=[31], tier=1)
CLERIC = GemFact(id="cleric", name="Skeletal Cleric", kind="active", tags=["minion"], spirit=50)
GEMS = {gem.id: gem for gem in (SPARK, FASTER, HERALD, RIFT, COMET, CLERIC)}
NODES = {
    1: NodeFact(id=1, name="Chaos Inoculation", kind="keystone"),
    2: NodeFact(id=2, name="Burning Nature", kind="notable", mods=["25% increased Fire Damage"]),
    3: NodeFact(id=3, name="Stormborn", kind="notable", ascendancy="Invoker"),
}
WAND, SHIELD = BaseFact(name="Attuned Wand", type="Wand"), BaseFact(name="Crude Shield", type="Shield")
SCEPTRE = BaseFact(
    name="Rattling Sceptre", type="Sceptre", implicits=["Grants Skill: Level (1-20) Skeletal Warrior Minion"]
)
THINGS = by_name(
    [
        *(Thing(ThingKind.SUPPORT if g.kind == "support" else ThingKind.SKILL, g.id, g.name) for g in GEMS.values()),
        *(Thing(ThingKind(n.kind), str(n.id), n.name) for n in NODES.values()),
        Thing(ThingKind.UNIQUE, "Silk Robe", "Ghostwrithe"),
        Thing(ThingKind.UNIQUE, "Diamond", "Megalomaniac"),
        Thing(ThingKind.UNIQUE, "Timeless Jewel", "Undying Hate"),
        Thing(ThingKind.BASE, "Attuned Wand", "Attuned Wand"),
    ]
)


def wish(field: str, value: InvariantValue, *words: str, provenance: Provenance = Provenance.EXPLICIT) -> Invariant:
    return Invariant(field=field, value=value, provenance=provenance, reason="said so", words=list(words))


def wishing(case: MakeCase, *asked: Invariant, lost: tuple[str, ...] = (), **build: Any) -> Case:
    known = InvariantSet(invariants=list(asked), not_understood=list(lost))
    return case(invariants=known, **{"gems": GEMS, "nodes": NODES, "things": THINGS, **build})


def only(case: Case) -> WishOutcome:
    [found] = wishes_of(case)
    blocked = [c for c in find_conflicts(case) if c.type is ConflictType.INVARIANT_VIOLATED]
    assert [c.severity for c in blocked] == ([Severity.BLOCKING] if found.state is UNMET else [])
    return found


def demands(case: Case) -> list[tuple[SubProblemName, Demand]]:
    [found] = [c for c in find_conflicts(case) if c.type is ConflictType.INVARIANT_VIOLATED]
    return [(way.sub_problem, way.demand) for way in found.suggested_solutions]


def test_every_constraint_of_the_table_has_a_check() -> None:
    assert set(CHECKS) == set(INVARIANTS)


@pytest.mark.parametrize(
    ("field", "value", "state", "reached"),
    [
        ("dps", 50_000, MET, 50_000.0),
        ("dps", 50_001, MET, 50_000.0),  # what rounds to the target as it is shown
        ("dps", 60_000, UNMET, 50_000.0),
        ("ehp", 20_000, MET, 20_000.0),
        ("ehp", 25_000, UNMET, 20_000.0),
        ("elemental_resistances", 75, MET, 75.0),
        ("fire_resistance", 80, UNMET, 75.0),
        ("mana", 500, MET, 500.0),
        ("block", 50, SILENT, None),
        ("movement_speed", 30, UNMET, 10.0),
        ("mana_cost", 40, MET, 30.0),
        ("mana_cost", 20, UNMET, 30.0),
    ],
)
def test_targets(case: MakeCase, field: str, value: float, state: WishState, reached: float | None) -> None:
    values = {"EffectiveMovementSpeedMod": 1.1, "ManaCost": 30.0, "EffectiveBlockChance": None}
    found = only(wishing(case, wish(field, value), values=values))
    assert (found.kind, found.state, found.target) == (field, state, value)
    assert found.reached == (pytest.approx(reached) if reached is not None else None)


def test_an_unmet_target_tells_words_nearest_and_the_way_out(case: MakeCase) -> None:
    built = wishing(case, wish("ehp", 90_000, "90k ehp"))
    found = only(built)
    assert (found.wish, found.words) == ("at least 90,000 effective hit points", "90k ehp")
    assert found.nearest == "20,000 effective hit points, 70,000 effective hit points short"
    more = Demand.MORE_EFFECTIVE_LIFE
    assert demands(built) == [(Q.SURVIVABILITY, more), (Q.STAT_REQUIREMENTS, more), (Q.ASCENDANCY, more)]
    [blocked] = [c for c in find_conflicts(built) if c.type is ConflictType.INVARIANT_VIOLATED]
    assert {way.values.target for way in blocked.suggested_solutions} == {"ehp"}


def test_an_ascendancy_that_was_asked_for_is_not_exchanged_for_a_figure(case: MakeCase) -> None:
    bound = wish("ascendancy", "Stormweaver")
    for figure in (wish("ehp", 90_000), wish("dps", 1e7)):
        assert Q.ASCENDANCY in {question for question, _ in demands(wishing(case, figure))}
        assert Q.ASCENDANCY not in {question for question, _ in demands(wishing(case, figure, bound))}
        built = wishing(case, figure)
        early = replace(built, blueprint=changed(built.blueprint, ascendancy=None))
        assert Q.ASCENDANCY not in {question for question, _ in demands(early)}


def test_a_unique_jewel_without_a_socket_is_a_matter_of_passive_points(case: MakeCase) -> None:
    jewels = [BaseFact(name="Diamond", type="Jewel")]
    built = wishing(case, wish("with", ["Megalomaniac"]), bases=jewels)
    found = only(built)
    assert found.state is UNMET
    assert found.nearest == "not in the file; the passive points reach no jewel socket for Megalomaniac"
    assert demands(built)[0] == (Q.DAMAGE_SCALING, Demand.FEWER_POINTS)
    worn = [GearItem(slot="Jewel 7", base="Diamond", rarity="UNIQUE", title="Megalomaniac")]
    set_in = only(wishing(case, wish("with", ["Megalomaniac"]), bases=jewels, items=worn))
    assert (set_in.state, set_in.reached) == (MET, "worn: Jewel 7")


def test_a_jewel_that_is_not_calculated_is_said_to_be_so_and_nothing_is_tried_for_it(case: MakeCase) -> None:
    built = wishing(case, wish("with", ["Undying Hate"]))
    assert only(built).nearest == "not in the file; test does not calculate what Undying Hate does"
    assert demands(built) == []


def test_another_skill_for_a_damage_type_is_one_that_deals_it(case: MakeCase) -> None:
    built = wishing(case, wish("damage_type", "cold"))
    [found] = [c for c in find_conflicts(built) if c.type is ConflictType.INVARIANT_VIOLATED]
    other = next(way for way in found.suggested_solutions if way.demand is Demand.OTHER_SKILL)
    assert other.values.element == "cold"


def test_a_figure_that_is_not_measured_is_not_met_in_silence(case: MakeCase) -> None:
    found = only(wishing(case, wish("chaos_resistance", 75)))
    assert (found.state, found.nearest) == (SILENT, "it would need an engine that calculates chaos resistance")


def test_a_skill_asked_for_by_name_is_not_exchanged_for_damage(case: MakeCase) -> None:
    free, bound = wish("dps", 1e7), wish("skill", "Spark")
    assert (Q.DAMAGE_DELIVERY, Demand.OTHER_SKILL) in demands(wishing(case, free))
    assert (Q.DAMAGE_DELIVERY, Demand.OTHER_WEAPON) in demands(wishing(case, free, bound))
    assert (Q.DAMAGE_DELIVERY, Demand.OTHER_SKILL) not in demands(wishing(case, free, bound))


def test_a_wish_and_a_floor_for_one_figure_are_one_matter(case: MakeCase) -> None:
    built = wishing(case, wish("dps", 20_000_000), values={"CombinedDPS": 4_000.0})
    roles = {c.type: c.role for c in find_conflicts(built)}
    assert roles == {ConflictType.INVARIANT_VIOLATED: Role.ROOT, ConflictType.DAMAGE_GAP: Role.SYMPTOM}
    lower = wishing(case, wish("dps", 5_000), values={"CombinedDPS": 4_000.0})
    roles = {c.type: c.role for c in find_conflicts(lower)}
    assert roles == {ConflictType.INVARIANT_VIOLATED: Role.SYMPTOM, ConflictType.DAMAGE_GAP: Role.ROOT}


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("Spark", "a skill of the build"),
        ("rapid casting", "in the group of Spark"),
        ("Chaos Inoculation", "allocated"),
        ("Ghostwrithe", "worn: Body Armour"),
        ("Attuned Wand", "worn: Weapon 1"),
        ("Skeletal Warrior", "granted by an item"),
    ],
)
def test_named_things_that_are_there(case: MakeCase, name: str, reached: str) -> None:
    items = [
        GearItem(slot="Weapon 1", base="Attuned Wand"),
        GearItem(slot="Weapon 2", base="Rattling Sceptre"),
        GearItem(slot="Body Armour", base="Tattered Robe", rarity="UNIQUE", title="Ghostwrithe"),
    ]
    groups = [SkillGroup(gems=[Gem(gem_id="spark", name="Spark"), Gem(gem_id="faster", name="Rapid Casting")])]
    build = {"groups": groups, "nodes": [PassiveNode(id=1)]}
    built = wishing(case, wish("with", [name], name), items=items, bases=[WAND, SCEPTRE], blueprint=build)
    assert (only(built).state, only(built).reached) == (MET, reached)


@pytest.mark.parametrize(
    ("name", "nearest", "question"),
    [
        ("Herald of Ice", "not in the file", Q.SPIRIT_ALLOCATION),
        ("Rapid Casting", "not in the file", Q.DAMAGE_SCALING),
        ("Chaos Inoculation", "not in the file", Q.DAMAGE_SCALING),
        ("Stormborn", "Stormborn belongs to the ascendancy Invoker", Q.DAMAGE_SCALING),
        ("Comet", "Comet can be used from level 31, the character is 20", Q.DAMAGE_SCALING),
        ("Ghostwrithe", "not in the file", Q.STAT_REQUIREMENTS),
        ("Temporal Rift", "Temporal Rift is no gem", Q.DAMAGE_SCALING),
        ("Nothing Such", "test knows nothing of this name", None),
    ],
)
def test_named_things_that_are_missing(
    case: MakeCase, name: str, nearest: str, question: SubProblemName | None
) -> None:
    built = wishing(case, wish("with", [name]), level=20, points={"ascendancy_used": 0})
    found = only(built)
    assert (found.state, found.reached) == (UNMET, None)
    assert found.nearest is not None
    assert found.nearest.startswith(nearest)
    assert demands(built)[:1] == [] if question is None else demands(built)[0][0] is question


def test_a_gem_that_is_switched_off_is_not_there(case: MakeCase) -> None:
    groups = [
        SkillGroup(gems=[Gem(gem_id="spark", name="Spark")]),
        SkillGroup(gems=[Gem(gem_id="herald", name="Herald of Ice")], enabled=False),
    ]
    built = wishing(case, wish("with", ["Herald of Ice"]), blueprint={"groups": groups})
    assert only(built).state is UNMET


@pytest.mark.parametrize(
    ("word", "left", "question"),
    [
        ("skeletons", "Skeletal Cleric, skeletal warrior (granted) and Rattling Sceptre", Q.SPIRIT_ALLOCATION),
        ("spirit gems", "Skeletal Cleric", Q.SPIRIT_ALLOCATION),
        ("lightning", "Spark", Q.DAMAGE_DELIVERY),
        ("rapid casting", "Rapid Casting", Q.DAMAGE_SCALING),
        ("burning nature", "Burning Nature", Q.DAMAGE_SCALING),
        ("uniques", "Ghostwrithe", Q.STAT_REQUIREMENTS),
        ("sceptres", "Rattling Sceptre", Q.STAT_REQUIREMENTS),
        ("sorc", "Sorceress", Q.ASCENDANCY),
        ("stormweaver", "Stormweaver", Q.ASCENDANCY),
        ("witch", None, None),
        ("totems", None, None),
        ("bows", None, None),
    ],
)
def test_what_was_ruled_out(case: MakeCase, word: str, left: str | None, question: SubProblemName | None) -> None:
    groups = [
        SkillGroup(gems=[Gem(gem_id="spark", name="Spark"), Gem(gem_id="faster", name="Rapid Casting")]),
        SkillGroup(gems=[Gem(gem_id="cleric", name="Skeletal Cleric")]),
    ]
    items = [
        GearItem(slot="Weapon 1", base="Rattling Sceptre"),
        GearItem(slot="Body Armour", base="Tattered Robe", rarity="UNIQUE", title="Ghostwrithe"),
    ]
    robe = BaseFact(name="Tattered Robe", type="Body Armour")
    build = {"groups": groups, "nodes": [PassiveNode(id=2)], "class_name": "Sorceress", "ascendancy": "Stormweaver"}
    built = wishing(case, wish("exclude", [word], f"no {word}"), items=items, bases=[SCEPTRE, robe], blueprint=build)
    found = only(built)
    assert (found.state, found.reached) == ((UNMET, left) if left else (MET, "nothing of it"))
    if question is not None:
        assert question in [where for where, _ in demands(built)]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("(10-20)% increased Critical Damage Bonus for Attack Damage", "Emerald"),
        ("Hits against you have 30% reduced Critical Damage Bonus", None),
        ("+(10-20) to maximum Life", None),
    ],
)
def test_a_line_of_a_rare_item_is_left_in_too(case: MakeCase, line: str, left: str | None) -> None:
    items, bases = [GearItem(slot="Jewel 4", base="Emerald")], [BaseFact(name="Emerald", type="Jewel")]
    asked = wish("exclude", ["crit"], "no crit")
    built = wishing(case, asked, items=items, bases=bases, said={"Jewel 4": [line]})
    found = only(built)
    assert (found.state, found.reached) == ((UNMET, left) if left else (MET, "nothing of it"))


@pytest.mark.parametrize(
    ("shield", "reached", "state"),
    [
        (0.0, "nothing of it", MET),
        (57.0, "57 Energy Shield beside 2,994 life", MET),
        (1_000.0, "1,000 Energy Shield beside 2,994 life", UNMET),
    ],
)
def test_no_energy_shield_is_told_by_its_figure(case: MakeCase, shield: float, reached: str, state: WishState) -> None:
    built = wishing(case, wish("exclude", ["es"], "no es"), values={"EnergyShield": shield, "Life": 2_994.0})
    found = only(built)
    assert (found.reached, found.state) == (reached, state)


def test_what_was_named_is_not_among_what_a_word_rules_out(case: MakeCase) -> None:
    groups = [SkillGroup(gems=[Gem(gem_id="cleric", name="Skeletal Cleric")])]
    asked = (wish("with", ["Skeletal Cleric"]), wish("exclude", ["skeletons"]))
    built = wishing(case, *asked, blueprint={"groups": groups})
    assert [found.state for found in wishes_of(built)] == [MET, MET]


@pytest.mark.parametrize(
    ("asked", "states"),
    [
        (["Wand"], [MET]),
        (["Staff"], [UNMET]),
        (["Wand", "Shield"], [MET, MET]),
        (["Staff", "Wand"], [MET, MET]),  # one or the other
        (["Wand", "Focus"], [MET, UNMET]),
        (["Unarmed"], [UNMET]),
    ],
)
def test_weapons_are_what_is_really_held(case: MakeCase, asked: list[str], states: list[WishState]) -> None:
    items = [GearItem(slot="Weapon 1", base="Attuned Wand"), GearItem(slot="Weapon 2", base="Crude Shield")]
    built = wishing(case, wish("weapon", asked), items=items, bases=[WAND, SHIELD])
    assert [found.state for found in wishes_of(built)] == states


@pytest.mark.parametrize(
    ("field", "value", "state"),
    [
        ("class", "Sorceress", MET),
        ("ascendancy", "Chronomancer", UNMET),
        ("level", 90, MET),
        ("skill", "Spark", MET),
        ("gear", GearTier.MID.value, MET),
        ("gear", GearTier.ENDGAME.value, UNMET),
        ("goal", "all_round", MET),
        ("goal", "bossing", UNMET),
        ("hardcore", True, UNMET),
        ("hardcore", False, MET),
        ("content", ["delirium"], SILENT),
        ("budget", "medium", MET),
        ("budget", "low", SILENT),
    ],
)
def test_the_rest_of_the_table(case: MakeCase, field: str, value: InvariantValue, state: WishState) -> None:
    assert only(wishing(case, wish(field, value))).state is state


def test_what_was_not_understood_is_told_last_and_blocks_nothing(case: MakeCase) -> None:
    built = wishing(case, wish("class", "Sorceress", "sorc"), lost=("quux builds",))
    first, last = wishes_of(built)
    assert (first.words, first.state) == ("sorc", MET)
    assert (last.words, last.kind, last.state) == ("quux builds", "", WishState.NOT_UNDERSTOOD)
    assert find_conflicts(built) == []


def test_what_nobody_said_is_no_wish(case: MakeCase) -> None:
    inferred = wish("style", "minion", provenance=Provenance.INFERRED)
    assert wishes_of(wishing(case, inferred)) == []
    assert find_conflicts(wishing(case, inferred)) == []


def test_who_the_character_is_holds_whoever_said_it(case: MakeCase) -> None:
    inferred = wish("class", "Witch", provenance=Provenance.INFERRED)
    [found] = find_conflicts(wishing(case, inferred))
    assert (found.subject, wishes_of(wishing(case, inferred))) == ("class", [])


def test_somebody_elses_file_has_no_wishes(case: MakeCase) -> None:
    read = changed(wish("dps", 1e9), reason=READ_FROM_FILE)
    built = wishing(case, read, imported=True)
    assert (wishes_of(built), find_conflicts(built)) == ([], [])


def test_a_refinement_of_somebody_elses_file_has_the_wishes_of_its_prompt(case: MakeCase) -> None:
    built = wishing(case, wish("dps", 1e9), lost=("quux",), imported=True)
    assert [found.state for found in wishes_of(built)] == [WishState.UNMET, WishState.NOT_UNDERSTOOD]
    assert [found.subject for found in find_conflicts(built)] == ["dps"]


def test_what_was_tried_is_told_with_the_nearest(case: MakeCase) -> None:
    built = wishing(case, wish("dps", 1e9))
    [unmet] = find_conflicts(built)
    [found] = with_attempts(wishes_of(built), [changed(unmet, tried=["more_damage"])])
    assert found.nearest is not None
    assert found.nearest.endswith("short; tried: weigh damage higher in passives and gear")


def test_what_no_build_can_have_is_unmet_for_a_reason_and_without_a_way(case: MakeCase) -> None:
    asked = wishing(case, wish("fire_resistance", 95.0, "95% fire res"))
    why = "no build can: No maximum resistance is ever above 90 %"
    assert only(asked).nearest == f"75 %, 20 % short; {why}"
    assert demands(asked) == []
    one_life = NodeFact(id=1, name="Chaos Inoculation", kind="keystone", mods=["Maximum Life is 1"])
    both = [wish("with", ["Chaos Inoculation"], "CI"), wish("life", 5000.0, "5000 life")]
    found = {one.kind: one for one in wishes_of(wishing(case, *both, nodes={1: one_life}))}
    assert (
        found["life"].nearest
        == '2,000 life, 3,000 life short; no build can: Chaos Inoculation says "Maximum Life is 1"'
    )
    possible = wishing(case, wish("fire_resistance", 90.0, "90% fire res"))
    assert only(possible).nearest == "75 %, 15 % short"
    assert demands(possible) != []
