"""Groups for a purpose, on an engine that adds up numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.engine.base import Outputs
from app.model.base import changed
from app.model.blueprint import Blueprint, Change, SkillGroup, apply_changes
from app.model.constraints import Invariant, InvariantSet
from app.model.facts import GemFact
from app.model.groups import GroupRole
from app.model.names import GearTier, Goal, Provenance
from app.model.stats import Inspection
from app.search.base import SearchContext
from app.search.incumbent import Incumbent
from app.search.skills.further import (
    FurtherSkills,
    for_purposes,
    group_uses,
    labelled,
    measured_roles,
    roles_of,
    uncalled,
    without_unpaid,
    without_useless,
)
from app.search.skills.gems import by_id, gem
from app.search.skills.secondary import MOST_GROUPS, SkillSearch
from app.search.skills.supports import SupportRules
from app.search.stages.skills import further_skills, helper_skills, persistent_skills
from tests.fakes.arithmetic import ArithmeticEngine, ArithmeticSession, World, active, support
from tests.unit.search.conftest import Context


def real(name: str, effect: str = "", **more: object) -> GemFact:
    return active(name, effect, **{"colour": "int", "tier": 1, **more})


ZAP = real("zap", skill_types=["Spell", "Damage"], tags=["spell", "lightning", "projectile"])
BOLT = real("Bolt", skill_types=["Spell", "Damage"], tags=["spell", "lightning", "area"])
LEAP = real("Leap Slam", skill_types=["Attack", "Travel"], tags=["attack", "travel"])
HEX = real("Enfeeble", tags=["curse"])
GUARD = real("Magma Barrier", "20 spirit", spirit=20)


def led(blueprint: Blueprint) -> list[str]:
    return [group.gems[0].gem_id for group in blueprint.groups]


async def added(ctx: SearchContext) -> list[str]:
    return led((await further_skills(ctx)).blueprint)[1:]


async def test_places_that_are_left_are_filled_each_role_once(context: Context) -> None:
    gems = [ZAP, BOLT, LEAP, real("Blink"), HEX, real("Temporal Chains", tags=["curse"]), GUARD]
    assert await added(context(World(gems=gems, spirit=30), goal=Goal.BOSSING)) == [
        "Leap Slam",
        "Bolt",
        "Magma Barrier",
        "Enfeeble",
    ]


def test_minions_that_no_spell_of_the_build_calls() -> None:
    said = "While active, Fire Spells you use yourself will also summon them."
    called = real("Spirits", said, skill_types=["Minion", "Buff"], tags=["minion", "fire"])
    fire = real("Fireball", skill_types=["Spell", "Damage"], tags=["spell", "fire"])
    groups = [SkillGroup(gems=[gem(fact, 90)]) for fact in (called, BOLT, fire)]
    build, facts = Blueprint(class_name="X", level=90, groups=groups), by_id([called, BOLT, fire])
    assert uncalled(changed(build, groups=groups[:2]), facts) == [called]
    assert uncalled(build, facts) == []


async def test_spirit_is_for_what_the_character_can_have_and_call(context: Context) -> None:
    said = "While active, Fire Spells you use yourself will also summon them. 20 inc"
    gems = [
        ZAP,
        real("Called", said, spirit=30, skill_types=["Minion", "Buff"]),
        real("Granted", "20 inc", spirit=30, tier=0),
        real("Cut", "10 inc", spirit=30),
    ]
    assert led((await persistent_skills(context(World(gems=gems, spirit=100)))).blueprint) == ["zap", "Cut"]


async def test_no_spirit_no_persistent_skill_and_none_that_is_reserved_free(context: Context) -> None:
    ctx = context(World(gems=[ZAP, GUARD], spirit=10))
    assert await added(ctx) == []
    kept = replace(ctx.plan, spirit=changed(ctx.plan.spirit, reserve_free=15.0))
    assert await added(context(World(gems=[ZAP, GUARD], spirit=30), plan=kept)) == []
    assert await added(context(World(gems=[ZAP, GUARD], spirit=30))) == ["Magma Barrier"]


async def test_what_raises_damage_for_a_purpose_and_cannot_be_switched_off_is_left_out(context: Context) -> None:
    gems = [ZAP, real("Emergency Reload", "50 inc"), real("Mana Tempest")]
    assert await added(context(World(gems=gems))) == ["Mana Tempest"]


async def test_what_a_held_gem_gives_at_every_level_may_raise_figures(context: Context) -> None:
    """A Gemling has more life by each gem: he got neither a skill for packs nor one to move with."""
    held = [changed(fact, description="40 life") for fact in (BOLT, LEAP)]
    assert await added(context(World(gems=[ZAP, *held]), goal=Goal.BOSSING)) == ["Leap Slam", "Bolt"]


class Levelled(ArithmeticSession):
    """A second skill adds damage to all, the more the higher its level."""

    def _outputs(self, blueprint: Blueprint) -> Outputs:
        found = super()._outputs(blueprint)
        return {**found, "DPS": found["DPS"] + sum(group.gems[0].level for group in blueprint.groups[1:])}


async def test_what_a_skill_does_may_not(context: Context) -> None:
    world = World(gems=[ZAP, BOLT, LEAP])
    ctx = context(world, goal=Goal.BOSSING)
    session = Levelled(ArithmeticEngine(world))
    await session.build(ctx.blueprint)
    assert await added(replace(ctx, session=session)) == []


async def test_a_helper_that_cannot_be_paid_for_is_left_out_but_none_that_was_named_nor_the_main_skill(
    context: Context,
) -> None:
    """Curses of a Blood Mage cost life; beside Chaos Inoculation there is one point of it."""
    ctx = context(World(gems=[ZAP, BOLT, HEX, LEAP]))
    groups = [*ctx.blueprint.groups, *(SkillGroup(gems=[gem(fact, 90)]) for fact in (HEX, BOLT, LEAP))]
    blueprint = changed(ctx.blueprint, groups=groups)
    await ctx.session.build(blueprint)
    incumbent = await Incumbent.open(replace(ctx, blueprint=blueprint))
    names = ("Enfeeble", "zap", "Bolt")
    warned = Inspection(warnings=[f"You do not have enough Life to use: {name}" for name in names])
    assert warned.unpaid == warned.warnings
    assert Inspection(warnings=["Too many gems: Leap Slam"]).unpaid == []
    assert await without_unpaid(incumbent, warned, {"Bolt"}) == ["Enfeeble"]
    assert led(incumbent.blueprint) == ["zap", "Bolt", "Leap Slam"]
    assert led(await ctx.session.blueprint()) == ["zap", "Bolt", "Leap Slam"]
    assert await without_unpaid(incumbent, Inspection(), set()) == []


async def test_a_helper_that_changes_nothing_any_more_makes_way_for_the_usual_one(context: Context) -> None:
    """A Despair that was chosen for chaos damage stood beside a Spark without any, told to weaken enemies."""
    despair = real("Despair", tags=["curse"])
    mark = real("Sharp Mark", "20 inc", tags=["mark"], skill_types=["Mark"])
    slowed = real("Slow Cry", "-20 life", tags=["warcry"], skill_types=["Warcry"])
    ctx = context(World(gems=[ZAP, HEX, despair, mark, slowed]))
    groups = [*ctx.blueprint.groups, *(SkillGroup(gems=[gem(fact, 90)]) for fact in (despair, mark, slowed))]
    blueprint = changed(ctx.blueprint, groups=groups)
    await ctx.session.build(blueprint)
    there = replace(ctx, blueprint=blueprint)
    assert await added(there) == ["Sharp Mark", "Slow Cry", "Enfeeble"]
    for kept in ({"Despair"}, set[str]()):
        await ctx.session.build(blueprint)
        incumbent = await Incumbent.open(there)
        await without_useless(incumbent, by_id([ZAP, HEX, despair, mark, slowed]), kept)
        assert led(incumbent.blueprint) == ["zap", *sorted(kept), "Sharp Mark", "Slow Cry"]


class Switched(ArithmeticSession):
    """What a gem does is counted unless it is switched off."""

    def _outputs(self, blueprint: Blueprint) -> Outputs:
        groups = [g for g in blueprint.groups if g.gems[0].choices.get("enableGlobal1", True)]
        return super()._outputs(changed(blueprint, groups=groups))


async def test_what_the_engine_would_count_as_always_up_is_switched_off(context: Context) -> None:
    world = World(gems=[ZAP, real("Mana Tempest", "50 inc")])
    ctx = context(world)
    session = Switched(ArithmeticEngine(world))
    await session.build(ctx.blueprint)
    before = (await session.what_if([[]], ["DPS"]))[0]
    found = (await further_skills(replace(ctx, session=session))).blueprint
    assert led(found) == ["zap", "Mana Tempest"]
    assert found.groups[1].gems[0].choices == {"enableGlobal1": False, "enableGlobal2": False}
    assert (await session.what_if([[]], ["DPS"]))[0] == before
    uses = await group_uses(session, found, by_id(world.gems), Goal.MAPPING)
    assert [(use.role, use.damage, use.counted) for use in uses] == [
        (GroupRole.MAIN, None, None),
        (GroupRole.EMPOWERMENT, None, False),
    ]


async def test_who_is_short_of_attributes_gets_no_support_for_them(context: Context) -> None:
    quick = [support("Rapid Attacks I", tier=1, colour="dex"), support("Rapid Attacks II", tier=2, colour="dex")]
    for dex, wanted in ((4.0, ["Leap Slam"]), (5.0, ["Leap Slam", "Rapid Attacks II"])):
        ctx = context(World(gems=[ZAP, LEAP, *quick], attributes={"dex": dex, "str": 50.0, "int": 50.0}))
        found = (await further_skills(ctx)).blueprint
        assert [one.name for one in found.groups[1].gems] == wanted


class Costly(ArithmeticSession):
    """Warns while a skill is there that cannot be paid for."""

    async def inspect(self) -> Inspection:
        names = [group.gems[0].name for group in self.held.groups]
        short = ["You do not have enough Mana to use: Enfeeble"] if "Enfeeble" in names else []
        return changed(await super().inspect(), warnings=short)


async def test_what_the_engine_warns_of_goes_again_and_nothing_else(context: Context) -> None:
    world = World(gems=[ZAP, LEAP, HEX])
    ctx = context(world)
    session = Costly(ArithmeticEngine(world))
    await session.build(ctx.blueprint)
    assert await added(replace(ctx, session=session)) == ["Leap Slam"]


async def test_a_curse_that_cannot_be_paid_for_is_no_helper(context: Context) -> None:
    """Found on a minion build: a Blood Mage with one point of life was chosen for what a curse would have added."""
    world = World(gems=[ZAP, real("Enfeeble", "50 inc", tags=["curse"]), real("Despair", "20 inc", tags=["curse"])])
    ctx = context(world)
    assert led((await helper_skills(ctx)).blueprint) == ["zap", "Enfeeble"]
    session = Costly(ArithmeticEngine(world))
    await session.build(ctx.blueprint)
    found = await helper_skills(replace(ctx, session=session))
    assert led(found.blueprint) == led(await session.blueprint()) == ["zap"]
    assert found.label == "helpers: Enfeeble, Enfeeble left out: it cannot be paid for"
    named = Invariant(field="with", value=["Enfeeble"], provenance=Provenance.EXPLICIT, reason="you wrote it")
    asked = replace(ctx, session=session, invariants=InvariantSet(invariants=[named]))
    await session.build(ctx.blueprint)
    assert led((await helper_skills(asked)).blueprint) == ["zap", "Enfeeble"], "kept, and told"


async def test_a_mark_that_the_build_brings_about_no_more_makes_room(context: Context) -> None:
    """A begun build dealt more physical damage: its mark stayed, and a second one was told to be used beside it."""
    bloody = real("Bloodhound's Mark", "50 inc", tags=["mark"])
    gems = [ZAP, bloody, real("Voltaic Mark", "20 inc", tags=["mark"])]
    for had in ([bloody], []):
        ctx = context(World(gems=gems))
        build = changed(ctx.blueprint, groups=[*ctx.blueprint.groups, *(SkillGroup(gems=[gem(f, 90)]) for f in had)])
        await ctx.session.build(build)
        assert led((await helper_skills(replace(ctx, blueprint=build))).blueprint) == ["zap", "Voltaic Mark"]


async def test_a_planned_mark_that_the_build_does_not_bring_about_is_no_helper(context: Context) -> None:
    """A Gemling had more by each gem: a mark for critical hits was told to be used with 5 % of these."""
    snipe = real("Sniper's Mark", "20 inc", tags=["mark"])
    ctx = context(World(gems=[ZAP, snipe]))
    plan = replace(ctx.plan, delivery=changed(ctx.plan.delivery, helper_skills=[snipe.id]))
    assert led((await helper_skills(replace(ctx, plan=plan))).blueprint) == ["zap"]
    named = Invariant(field="with", value=[snipe.name], provenance=Provenance.EXPLICIT, reason="you wrote it")
    asked = replace(ctx, plan=plan, invariants=InvariantSet(invariants=[named]))
    assert led((await helper_skills(asked)).blueprint) == ["zap", snipe.id]


async def test_wishes_rule(context: Context) -> None:
    gems = [ZAP, LEAP, HEX, GUARD]
    ctx = context(World(gems=gems, spirit=30))
    without = replace(ctx.plan, scaling=changed(ctx.plan.scaling, excluded_gems=["Enfeeble", "Magma Barrier"]))
    assert await added(replace(ctx, plan=without)) == ["Leap Slam"]
    said = Invariant(field="style", value=["one_button"], provenance=Provenance.EXPLICIT, reason="you wrote it")
    alone = replace(context(World(gems=gems, spirit=30)), invariants=InvariantSet(invariants=[said]))
    assert await added(alone) == ["Magma Barrier"]


async def test_no_more_groups_than_a_character_holds(context: Context) -> None:
    others = [real(f"aura{i}") for i in range(MOST_GROUPS - 1)]
    ctx = context(World(gems=[ZAP, LEAP, *others]))
    groups = [*ctx.blueprint.groups, *(changed(ctx.blueprint.groups[0], gems=[gem(fact, 90)]) for fact in others)]
    full = changed(ctx.blueprint, groups=groups)
    await ctx.session.build(full)
    assert led((await further_skills(replace(ctx, blueprint=full))).blueprint) == led(full)


async def test_groups_say_what_they_are_for(context: Context) -> None:
    world = World(gems=[ZAP, BOLT, LEAP, real("Despair", "25 inc", tags=["curse"])])
    ctx = context(world)
    facts = by_id(world.gems)
    groups = [*ctx.blueprint.groups, *(changed(ctx.blueprint.groups[0], gems=[gem(f, 90)]) for f in world.gems[1:])]
    build = changed(ctx.blueprint, groups=groups)
    assert roles_of(build, facts, Goal.BOSSING) == [
        GroupRole.MAIN,
        GroupRole.CLEAR,
        GroupRole.MOVEMENT,
        GroupRole.CURSE,
    ]
    assert [g.label for g in labelled(build, roles_of(build, facts, Goal.MAPPING)).groups] == [
        "Zap (main skill)",
        "Bolt (single target)",
        "Leap Slam (movement)",
        "Despair (curse)",
    ]
    await ctx.session.build(build)
    uses = await group_uses(ctx.session, build, facts, Goal.BOSSING)
    assert [use.damage for use in uses] == [None, None, None, 0.2]
    assert [use.alone is not None for use in uses] == [False, True, False, False]
    assert for_purposes(build, facts, {"Leap Slam"}) == [2]


async def test_the_best_tier_of_a_support_is_taken_and_one_of_a_family(context: Context) -> None:
    gems = [LEAP, ZAP, support("Efficiency I", tier=1, family="E"), support("Efficiency II", tier=4, family="E")]
    ctx = context(World(gems=gems))
    incumbent = await Incumbent.open(ctx)
    search = SkillSearch(incumbent, 90, frozenset())
    further = FurtherSkills(search, by_id(gems), SupportRules(90, GearTier.MID, slots=5), GroupRole.CLEAR)
    assert await further.add(GroupRole.MOVEMENT, [LEAP]) == LEAP
    await further.support(2, GroupRole.MOVEMENT, [fact.id for fact in gems])
    assert [one.name for one in incumbent.blueprint.groups[1].gems] == ["Leap Slam", "Efficiency II"]


class Unequal(ArithmeticSession):
    """A skill that is the main one deals what its description says, in hundreds."""

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        found = await super().what_if(candidates, metrics)
        mains = [apply_changes(self.held, changes).main for changes in candidates]
        rates = {"zap": 9.0, "Bolt": 8.0, "Lance": 9.5}
        return [
            {**outputs, "DPS": rates.get(main.gems[0].gem_id if main else "", 0.0)}
            for outputs, main in zip(found, mains, strict=True)
        ]


async def test_what_deals_less_than_the_main_skill_is_none_for_single_targets(context: Context) -> None:
    """Found on a Deadeye: 25,512 a second told as for what outlasts a main skill that deals 35,879."""
    lance = real("Lance", skill_types=["Spell", "Damage"], tags=["spell", "lightning", "area"])
    world = World(gems=[ZAP, BOLT, lance])
    ctx, facts = context(world), by_id(world.gems)
    session = Unequal(ArithmeticEngine(world))
    groups = [changed(ctx.blueprint.groups[0], gems=[gem(fact, 90)]) for fact in world.gems]
    build = changed(ctx.blueprint, groups=groups)
    await session.build(build)
    assert await measured_roles(session, build, facts, Goal.MAPPING) == [
        GroupRole.MAIN,
        GroupRole.CLEAR,
        GroupRole.SINGLE_TARGET,
    ]


async def test_a_skill_for_packs_keeps_its_area(context: Context) -> None:
    narrow = support("Concentrated Area", "90 inc", tier=1, family="ConcentratedEffect")
    world = World(gems=[ZAP, BOLT, narrow, support("Focus", "10 inc", tier=1)])
    found = (await further_skills(context(world, goal=Goal.BOSSING))).blueprint
    assert [one.name for one in found.groups[1].gems[1:] if one.name == "Concentrated Area"] == []


async def test_who_presses_one_button_gets_no_planned_helper(context: Context) -> None:
    ctx = context(World(gems=[ZAP, real("Despair", "50 inc", tags=["curse"])]))
    planned = replace(ctx.plan, delivery=changed(ctx.plan.delivery, helper_skills=["Despair"]))
    said = Invariant(field="style", value=["one_button"], provenance=Provenance.EXPLICIT, reason="you wrote it")
    for invariants, wanted in ((InvariantSet(), ["zap", "Despair"]), (InvariantSet(invariants=[said]), ["zap"])):
        found = await helper_skills(replace(ctx, plan=planned, invariants=invariants))
        assert led(found.blueprint) == wanted
        await ctx.session.build(ctx.blueprint)
