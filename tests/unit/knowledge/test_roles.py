from __future__ import annotations

import pytest

from app.knowledge.roles import BuildTraits, brought_about, clears, role_of, second_role, second_skills
from app.model.facts import GemFact
from app.model.groups import GroupRole, GroupUse
from app.model.names import Goal


def skill(name: str, *types: str, tags: tuple[str, ...] = (), spirit: float = 0.0) -> GemFact:
    return GemFact(id=name, name=name, kind="active", skill_types=list(types), tags=list(tags), spirit=spirit)


ARC = skill("Arc", "Spell", "Damage", tags=("spell", "lightning", "chaining", "area"))
CALLED = "While active, Fire Spells you use yourself will also summon Raging Spirits."
SPARK = skill("Spark", "Spell", "Damage", tags=("spell", "lightning", "projectile"))
COMET = skill("Comet", "Spell", "Damage", tags=("spell", "cold", "area"))
SLAM = skill("Sunder", "Attack", "Melee", "Slam", tags=("attack", "melee", "area", "slam"))
STRIKE = skill("Perfect Strike", "Attack", "MeleeSingleTarget", tags=("attack", "melee", "area", "strike"))
SHOT = skill("Lightning Arrow", "Attack", tags=("attack", "projectile", "area", "lightning"))


@pytest.mark.parametrize(
    ("fact", "role"),
    [
        (skill("Leap Slam", "Attack", "Travel", tags=("attack",)), GroupRole.MOVEMENT),
        (skill("Despair", "AppliesCurse", "Spell", tags=("spell", "curse")), GroupRole.CURSE),
        (skill("Sniper's Mark", "Mark", tags=("mark",)), GroupRole.MARK),
        (skill("Frost Bomb", "Spell", "Damage", tags=("spell", "cold")), GroupRole.EXPOSURE),
        (skill("Infernal Cry", "Warcry", tags=("warcry",)), GroupRole.WARCRY),
        (skill("Herald of Ice", "Herald", tags=("herald",), spirit=30), GroupRole.HERALD),
        (skill("War Banner", "Banner", tags=("banner",), spirit=30), GroupRole.BANNER),
        (skill("Wind Dancer", spirit=30), GroupRole.GUARD),
        (skill("Pain Offering", "Offering", "CreatesMinion", tags=("minion",)), GroupRole.OFFERING),
        (skill("Shockwave Totem", "SummonsTotem", tags=("totem", "attack")), GroupRole.TOTEM),
        (skill("Barrage", "Buff", "EmpowersOtherSkill", tags=("spell",)), GroupRole.EMPOWERMENT),
        (skill("Elemental Conflux", spirit=60), GroupRole.LASTING),
        (skill("Skeletal Warrior", "CreatesMinion", "Minion", tags=("minion",)), GroupRole.MINIONS),
        (ARC, GroupRole.CLEAR),
        (skill("Feast of Flesh", tags=("area",)), GroupRole.SUPPORTING),
    ],
)
def test_what_a_skill_is_for(fact: GemFact, role: GroupRole) -> None:
    assert role_of(fact, GroupRole.CLEAR) is role


def test_a_second_skill_is_for_what_the_main_one_is_not() -> None:
    assert second_role(Goal.BOSSING, ARC) is GroupRole.CLEAR
    assert second_role(Goal.MAPPING, ARC) is GroupRole.SINGLE_TARGET
    assert second_role(Goal.ALL_ROUND, ARC) is GroupRole.SINGLE_TARGET
    assert second_role(Goal.ALL_ROUND, STRIKE) is GroupRole.CLEAR
    seldom = skill("Hammer of the Gods", "Attack", "Slam", "HasUsageCondition", tags=("attack", "area", "slam"))
    assert second_role(Goal.MAPPING, seldom) is GroupRole.CLEAR, "packs, while the main skill is not ready"
    assert [clears(SLAM), clears(STRIKE)] == [True, False]


def test_second_skills_deal_the_same_damage_in_the_same_way() -> None:
    offered = [ARC, SPARK, COMET, SLAM, STRIKE, SHOT]
    assert second_skills(offered, SPARK, GroupRole.SINGLE_TARGET) == [ARC]
    assert second_skills(offered, SLAM, GroupRole.CLEAR) == [SHOT]  # whether the weapon suits is the offer's to say
    assert second_skills(offered, SLAM, GroupRole.SINGLE_TARGET) == [STRIKE, SHOT]


@pytest.mark.parametrize("kind", ["payoff", "channelling", "travel", "remnant", "totem"])
def test_what_needs_something_first_is_no_second_skill(kind: str) -> None:
    odd = ARC.model_copy(update={"id": "odd", "tags": [*ARC.tags, kind]})
    assert second_skills([odd], SPARK, GroupRole.CLEAR) == []


def test_what_waits_is_no_second_skill() -> None:
    """Found on a Mercenary and a Huntress: 82,527 a second of a Rapid Shot that heat stops, and packs died of walls."""
    hot = "Reaching maximum Heat will prevent you from firing for a short time."
    walls = "Raise a wall. Walls explode when shattered, dealing damage around them."
    for said in (hot, walls):
        waiting = SHOT.model_copy(update={"id": "waiting", "description": said})
        assert second_skills([waiting, SHOT], SLAM, GroupRole.SINGLE_TARGET) == [SHOT]


def test_beside_a_skill_that_cools_down_the_second_one_does_not() -> None:
    """Found on a Mercenary: Explosive Grenade, and Oil Grenade for the time until it is ready."""
    cooling = SHOT.model_copy(update={"id": "cooling", "skill_types": [*SHOT.skill_types, "Cooldown"]})
    assert second_skills([cooling, SHOT], SLAM, GroupRole.CLEAR) == [cooling, SHOT]
    rare = SLAM.model_copy(update={"skill_types": [*SLAM.skill_types, "Cooldown"]})
    assert second_skills([cooling, SHOT], rare, GroupRole.CLEAR) == [SHOT]


def test_what_the_build_cannot_bring_about() -> None:
    bleeding = skill("Bloodhound's Mark", "Mark", tags=("mark",))
    assert not brought_about(bleeding, [SPARK], BuildTraits({"lightning": 1.0}))
    assert not brought_about(bleeding, [SPARK], BuildTraits({"lightning": 0.9, "physical": 0.1}))
    assert brought_about(bleeding, [SHOT], BuildTraits({"physical": 0.6}))
    barrage, again = skill("Barrage"), skill("Lightning Arrow", "Attack", "Barrageable", tags=("attack",))
    assert [brought_about(barrage, used, BuildTraits({})) for used in ([again], [SHOT])] == [True, False]
    bomb = skill("Frost Bomb")
    assert [brought_about(bomb, [ARC], BuildTraits({kind: 1.0})) for kind in ("chaos", "physical", "fire")] == [
        False,
        False,
        True,
    ]
    offering = skill("Soul Offering", "Offering", tags=("offering",))
    skeletons = skill("Skeletal Arsonist", "CreatesSkeletonMinion")
    assert [brought_about(offering, used, BuildTraits({})) for used in ([SPARK], [skeletons], [skeletons, SPARK])] == [
        False,
        False,
        True,
    ]
    spirits = skill("Raging Spirits", "Minion").model_copy(update={"description": CALLED})
    fire = skill("Fireball", "Spell", "Damage", tags=("spell", "fire"))
    curse, meta = (
        skill("Flammability", "Spell", tags=("spell", "fire")),
        skill("Set Off", "Spell", "Damage", "Triggered"),
    )
    assert brought_about(spirits, [spirits, fire], BuildTraits({}))
    assert not brought_about(
        spirits, [spirits, SPARK, curse, meta.model_copy(update={"tags": ["fire"]})], BuildTraits({})
    )
    cry = skill("Infernal Cry", "Warcry", tags=("warcry",))
    tempest = skill("Mana Tempest")
    assert [brought_about(cry, used, BuildTraits({})) for used in ([SLAM], [SPARK, SHOT])] == [True, False]
    totem = SLAM.model_copy(update={"id": "totem", "tags": [*SLAM.tags, "totem"]})
    assert not brought_about(cry, [SHOT, totem], BuildTraits({})), "found on a Deadeye with a Shockwave Totem"
    assert [brought_about(tempest, used, BuildTraits({})) for used in ([ARC], [SLAM])] == [True, False]
    assert not brought_about(tempest, [ARC], BuildTraits({}, on_life=True)), (
        "found on a Titan whose mask brings Blood Magic"
    )


def test_a_mark_for_critical_hits_and_what_adds_to_hits_want_them() -> None:
    mark, tempest = skill("Sniper's Mark", "Mark", tags=("mark",)), skill("Mana Tempest")
    blood = skill("Bloodhound's Mark", "Mark", tags=("mark",))
    assert [brought_about(blood, [ARC], BuildTraits({kind: 1.0})) for kind in ("chaos", "physical")] == [False, True]
    seldom, often = BuildTraits({}, critical=0.07), BuildTraits({}, critical=0.25)
    assert [brought_about(mark, [ARC], damage) for damage in (seldom, often)] == [False, True]
    slow, mixed = BuildTraits({}, hits=0.25), BuildTraits({}, hits=0.5)
    assert [brought_about(tempest, [ARC], damage) for damage in (slow, mixed)] == [False, True]


def test_what_acts_by_itself_has_something_to_act_on() -> None:
    """Found on a Deadeye without energy shield (Ghost Dance), and on two without minions (Grim Feast)."""
    thunder, feast = skill("Herald of Thunder", tags=("herald",)), skill("Grim Feast")
    stormy = BuildTraits({"lightning": 1.0})
    assert [brought_about(thunder, used, stormy) for used in ([SHOT], [ARC])] == [True, False]
    assert not brought_about(thunder, [SHOT], BuildTraits({"fire": 1.0}))
    assert [brought_about(feast, used, stormy) for used in ([ARC], [skill("Skeletal Arsonist", "Minion")])] == [
        False,
        True,
    ]
    ghosts = skill("Ghost Dance")
    shares: tuple[dict[str, float], ...] = (
        {},
        {"energy_shield": 0.02, "evasion": 1.0},
        {"energy_shield": 0.4, "evasion": 0.5},
    )
    assert [brought_about(ghosts, [ARC], BuildTraits({}, defences=had)) for had in shares] == [False, False, True]


def test_a_dark_effigy_wants_chaos_damage_over_time() -> None:
    effigy = skill("Dark Effigy", "SummonsTotem", tags=("spell", "totem", "chaos"))
    found = [BuildTraits({kind: 1.0}, hits=hits) for kind, hits in (("chaos", 0.2), ("chaos", 1.0), ("fire", 0.2))]
    assert [brought_about(effigy, [ARC], damage) for damage in found] == [True, False, False]


def test_a_use_tells_figures_only_where_there_are_any() -> None:
    use = GroupUse(skill="Leap Slam", role=GroupRole.MOVEMENT, purpose="crosses ground")
    assert use.line == "Leap Slam - movement: crosses ground"
    told = GroupUse(
        skill="Arc",
        role=GroupRole.CLEAR,
        purpose="kills packs",
        supports=["Unleash"],
        damage=0.051,
        alone=1234.5,
        counted=False,
        weapon_set=2,
    ).line
    assert told == (
        "Arc with Unleash - clear: kills packs; 5.1% of the damage hangs on it; "
        "1,234 damage per second by itself, not in the sum; its effect is not in the figures; weapon set 2"
    )
