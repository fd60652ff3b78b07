"""What is decided for a prompt, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.errors import LlmBadOutput
from app.model.names import Provenance, SubProblemName, SubProblemStatus
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import (
    AscendancyChoice,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.reasoning.base import ReasoningContext
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.ascendancy import AscendancyAnswer
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.damage_delivery import DeliveryAnswer, ways
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import FactsEngine, skill, small_facts
from tests.unit.reasoning.planning import decision, plan

Q = SubProblemName


@pytest.mark.parametrize(
    ("prompt", "ascendancy", "skill", "weapon", "off_hand"),
    [
        ("lightning sorceress for mapping", "Stormweaver", "Spark", "Wand", "Focus"),
        ("cold sorceress for bossing", "Stormweaver", "Frostbolt", "Wand", "Focus"),
        ("chaos witch", "Lich", "Essence Drain", "Wand", "Focus"),
        ("summoner witch", "Infernalist", "Skeletal Arsonist", "Sceptre", "Focus"),
        ("ranger", "Deadeye", "Lightning Arrow", "Bow", "Quiver"),
        ("poison ranger", "Pathfinder", "Poisonburst Arrow", "Bow", "Quiver"),
        ("warrior", "Titan", "Earthquake", "Two Hand Mace", None),
        ("warrior with a shield, one handed mace", "Titan", "Earthquake", "One Hand Mace", "Shield"),
        ("mercenary", "Gemling Legionnaire", "Explosive Shot", "Crossbow", None),
        ("huntress lightning", "Amazon", "Lightning Spear", "Spear", "Shield"),
        ("monk", "Invoker", "Ice Strike", "Quarterstaff", None),
        ("druid", "Shaman", "Furious Slam", "Talisman", None),
        ("sorceress with a staff", "Stormweaver", "Spark", "Staff", None),
        ("shield wall warrior", "Titan", "Shield Wall", "One Hand Mace", "Shield"),
        ("spark sorceress with a spear", "Stormweaver", "Spark", "Spear", "Shield"),
        ("skeletal arsonist witch with a bow", "Infernalist", "Skeletal Arsonist", "Bow", "Quiver"),
    ],
)
async def test_class_skill_and_weapon(
    prompt: str, ascendancy: str, skill: str, weapon: str, off_hand: str | None, world: FactsEngine
) -> None:
    ctx = await plan(prompt, world)

    chosen = decision(ctx, Q.ASCENDANCY).choice
    delivery = decision(ctx, Q.DAMAGE_DELIVERY).choice
    assert isinstance(chosen, AscendancyChoice)
    assert isinstance(delivery, DeliveryChoice)
    assert (chosen.ascendancy, delivery.skill_name) == (ascendancy, skill)
    assert (delivery.weapon_types, delivery.off_hand) == ([weapon], off_hand)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("lightning sorceress for mapping", "clears maps well"),
        ("monk for bossing", "does well against bosses"),
        ("warrior for bossing", "works in maps and against bosses"),
        ("lightning sorceress", "works in maps and against bosses"),
    ],
)
async def test_what_a_skill_is_said_to_be_good_for_is_what_it_was_judged_by(
    prompt: str, said: str, world: FactsEngine
) -> None:
    """Of every skill of a build for bosses it was said that it does well against them."""
    reason = decision(await plan(prompt, world), Q.DAMAGE_DELIVERY).reason
    assert said in reason


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("warbringer warcries with shield", "Shield"),
        ("huntress with a spear", "Spear"),
        ("titan with a two handed mace", "Two Hand Mace"),
    ],
)
async def test_every_way_that_is_raced_holds_what_was_asked_for(prompt: str, asked: str, world: FactsEngine) -> None:
    request = BuildRequest(prompt=prompt)
    found = await RulesReasoner().extract(request, world)
    brief = await Brief.of(ReasoningContext(request, found, BuildState(), world), bases=True, nodes=True)
    choices = [one.choice for one in ways(brief, 100) if isinstance(one.choice, DeliveryChoice)]
    assert choices
    assert all(asked in (*one.weapon_types, one.off_hand) for one in choices)


async def test_of_several_skills_that_were_named_each_is_raced_and_no_other(world: FactsEngine) -> None:
    request = BuildRequest(prompt="arc or frostbolt")
    found = await RulesReasoner().extract(request, world)
    assert found.get("skill") == ["Arc", "Frostbolt"]
    brief = await Brief.of(ReasoningContext(request, found, BuildState(), world), bases=True, nodes=True)
    named = [one.choice.skill_name for one in ways(brief, 100) if isinstance(one.choice, DeliveryChoice)]
    assert set(named) == {"Arc", "Frostbolt"}
    assert len(named) > len(set(named)), "each with further things to hold"
    ctx = await plan("arc or frostbolt", world)
    chosen = decision(ctx, Q.DAMAGE_DELIVERY)
    assert chosen.provenance is Provenance.INFERRED
    assert isinstance(chosen.choice, DeliveryChoice)
    assert chosen.choice.skill_name in {"Arc", "Frostbolt"}
    assert chosen.reason.startswith("You asked for Arc or Frostbolt; ")
    other = DeliveryAnswer.model_validate({"skill": "Spark", "reason": "it is faster", "rejected": []})
    with pytest.raises(LlmBadOutput, match="asked for Arc or Frostbolt"):
        QUESTIONS[Q.DAMAGE_DELIVERY].settle(other, brief, chosen)


async def test_of_several_ascendancies_that_were_named_each_is_raced_and_no_other(world: FactsEngine) -> None:
    request = BuildRequest(prompt="stormweaver or chronomancer with arc")
    found = await RulesReasoner().extract(request, world)
    assert found.get("ascendancy") == ["Stormweaver", "Chronomancer"]
    started = await RulesReasoner().contenders(await plan(request.prompt, world), 16)
    assert {one.ascendancy for own in started for one in own.ascendancies} == {"Stormweaver", "Chronomancer"}
    ctx = await plan(request.prompt, world)
    chosen = decision(ctx, Q.ASCENDANCY)
    assert (chosen.provenance, chosen.reason) == (Provenance.INFERRED, "You asked for Stormweaver or Chronomancer.")
    brief = await Brief.of(ctx, bases=True, nodes=True)
    third = next(name for name in brief.class_fact.ascendancies if name not in brief.ascendancies)
    answer = {"class": "Sorceress", "ascendancy": third, "reason": "it fits", "rejected": []}
    with pytest.raises(LlmBadOutput, match="asked for Stormweaver or Chronomancer"):
        QUESTIONS[Q.ASCENDANCY].settle(AscendancyAnswer.model_validate(answer), brief, chosen)


async def test_an_ascendancy_that_was_ruled_out_is_not_taken(world: FactsEngine) -> None:
    free = decision(await plan("sorceress with arc", world), Q.ASCENDANCY)
    prompt = f"sorceress with arc, but not a {free.name}"
    ctx = await plan(prompt, world)
    chosen = decision(ctx, Q.ASCENDANCY)
    named = {free.name, *(option.name for option in free.alternatives)}
    assert {chosen.name, *(option.name for option in chosen.alternatives)} == named - {free.name}
    started = await RulesReasoner().contenders(ctx, 16)
    assert free.name not in {one.ascendancy for own in started for one in own.ascendancies}
    answer = {"class": "Sorceress", "ascendancy": free.name, "reason": "it fits", "rejected": []}
    brief = await Brief.of(ctx, bases=True, nodes=True)
    with pytest.raises(LlmBadOutput, match=f"ruled {free.name} out"):
        QUESTIONS[Q.ASCENDANCY].settle(AscendancyAnswer.model_validate(answer), brief, chosen)


async def test_where_every_ascendancy_is_ruled_out_one_is_taken_all_the_same(world: FactsEngine) -> None:
    """And validation tells that it was ruled out."""
    every = (await Brief.of(await plan("sorceress", world))).class_fact.ascendancies
    chosen = decision(await plan(f"sorceress with arc, no {', no '.join(every)}", world), Q.ASCENDANCY)
    assert chosen.name in every


async def test_every_way_that_is_raced_is_of_all_kinds_that_were_asked_for() -> None:
    """Found with "druid shapeshift bear": the two bears left the race early, and a wolf won it."""
    facts = small_facts()
    wolves = [skill(name, "attack melee area wolf shapeshift strength", "Talisman") for name in ("Claw", "Bite")]
    world = FactsEngine(replace(facts, gem_facts=[*facts.gem_facts, *wolves]))
    request = BuildRequest(prompt="druid shapeshift bear")
    found = await RulesReasoner().extract(request, world)
    brief = await Brief.of(ReasoningContext(request, found, BuildState(), world), bases=True, nodes=True)
    assert brief.listed("style") == ["shapeshift", "bear"]
    named = {one.choice.skill_name for one in ways(brief, 100) if isinstance(one.choice, DeliveryChoice)}
    assert named == {"Furious Slam"}


async def test_a_bear_of_another_damage_type_is_raced_rather_than_the_type_without_a_bear(world: FactsEngine) -> None:
    """Found with "oracle bear fire": all bears deal physical damage, so fire spells raced alone, and no bear came."""
    request = BuildRequest(prompt="druid bear, lightning damage")
    found = await RulesReasoner().extract(request, world)
    brief = await Brief.of(ReasoningContext(request, found, BuildState(), world), bases=True, nodes=True)
    assert (brief.listed("style"), brief.listed("damage_type")) == (["bear"], ["lightning"])
    named = {one.choice.skill_name for one in ways(brief, 100) if isinstance(one.choice, DeliveryChoice)}
    assert named == {"Furious Slam"}


@pytest.mark.parametrize(
    ("prompt", "pool", "first"),
    [
        ("sorceress", "energy_shield", "energy_shield"),
        ("life-based sorceress", "life", "evasion"),
        ("low level sorceress, level 20", "hybrid", "energy_shield"),
        ("ranger", "life", "evasion"),
        ("warrior", "life", "armour"),
        ("monk", "hybrid", "evasion"),
        ("evasion mercenary", "life", "evasion"),
        ("warrior with energy shield", "energy_shield", "energy_shield"),
        ("sorceress without energy shield", "life", "evasion"),
        ("hybrid warrior", "hybrid", "armour"),
    ],
)
async def test_survivability(prompt: str, pool: str, first: str, world: FactsEngine) -> None:
    choice = decision(await plan(prompt, world), Q.SURVIVABILITY).choice

    assert isinstance(choice, SurvivabilityChoice)
    assert (choice.pool, choice.mitigation[0]) == (pool, first)
    assert choice.ehp_target > 0


async def test_hardcore_wants_more_life(world: FactsEngine) -> None:
    soft = decision(await plan("titan", world), Q.SURVIVABILITY).choice
    hard = decision(await plan("hardcore titan", world), Q.SURVIVABILITY).choice

    assert isinstance(soft, SurvivabilityChoice)
    assert isinstance(hard, SurvivabilityChoice)
    assert hard.ehp_weight > soft.ehp_weight
    assert hard.ehp_target > soft.ehp_target


async def test_a_glass_cannon_wants_less_life(world: FactsEngine) -> None:
    usual = decision(await plan("titan", world), Q.SURVIVABILITY).choice
    glass = decision(await plan("glass cannon titan", world), Q.SURVIVABILITY).choice

    assert isinstance(usual, SurvivabilityChoice)
    assert isinstance(glass, SurvivabilityChoice)
    assert glass.ehp_weight < usual.ehp_weight


async def test_scaling_looks_for_what_the_skill_is(world: FactsEngine) -> None:
    choice = decision(await plan("spark sorceress, no minions", world), Q.DAMAGE_SCALING).choice

    assert isinstance(choice, ScalingChoice)
    assert choice.damage_types == ["lightning"]
    assert {"Lightning Damage", "Spell Damage", "Projectile Damage", "Critical Hit Chance"} <= set(choice.keywords)
    assert {"Skill/SkeletalArsonist", "Support/MinionLife"} <= set(choice.excluded_gems)
    assert choice.excluded_nodes == [2]


async def test_damage_over_time_does_not_look_for_critical_hits(world: FactsEngine) -> None:
    choice = decision(await plan("contagion witch", world), Q.DAMAGE_SCALING).choice

    assert isinstance(choice, ScalingChoice)
    assert not any("Critical" in word for word in choice.keywords)


async def test_a_named_keystone_is_left_out(world: FactsEngine) -> None:
    choice = decision(await plan("spark sorceress, no chaos inoculation", world), Q.DAMAGE_SCALING).choice

    assert isinstance(choice, ScalingChoice)
    assert choice.excluded_nodes == [3]


async def test_spirit_goes_to_what_the_weapon_and_the_damage_allow(world: FactsEngine) -> None:
    archer = decision(await plan("lightning arrow deadeye", world), Q.SPIRIT_ALLOCATION).choice
    caster = decision(await plan("spark stormweaver", world), Q.SPIRIT_ALLOCATION).choice

    assert isinstance(archer, SpiritChoice)
    assert isinstance(caster, SpiritChoice)
    assert archer.skill_ids[0] == "Skill/HeraldofThunder"
    assert "Skill/WindDancer" not in archer.skill_ids, "a triggered skill is not asked for"
    assert "Skill/HeraldofThunder" not in caster.skill_ids, "a wand is no martial weapon"
    assert not any("Skeletal" in i for i in (*archer.skill_ids, *caster.skill_ids))


async def test_a_skill_that_was_asked_for_goes_along(world: FactsEngine) -> None:
    spirit = decision(await plan("lightning arrow with herald of ice", world), Q.SPIRIT_ALLOCATION).choice
    delivery = decision(await plan("spark with despair", world), Q.DAMAGE_DELIVERY).choice

    assert isinstance(spirit, SpiritChoice)
    assert isinstance(delivery, DeliveryChoice)
    assert spirit.skill_ids[0] == "Skill/HeraldofIce"
    assert delivery.helper_skills[0] == "Skill/Despair"


async def test_a_low_level_knows_only_early_skills(world: FactsEngine) -> None:
    ctx = await plan("cold sorceress level 10", world)

    delivery, chosen = decision(ctx, Q.DAMAGE_DELIVERY).choice, decision(ctx, Q.ASCENDANCY).choice
    assert isinstance(delivery, DeliveryChoice)
    assert isinstance(chosen, AscendancyChoice)
    assert delivery.skill_name in {"Ice Nova", "Frost Bomb"}
    assert chosen.ascendancy is None
    assert decision(ctx, Q.SPIRIT_ALLOCATION).choice == SpiritChoice()


async def test_requirements_follow_gems_supports_and_weapon(world: FactsEngine) -> None:
    caster = decision(await plan("spark stormweaver level 90", world), Q.STAT_REQUIREMENTS).choice
    fighter = decision(await plan("ice strike monk", world), Q.STAT_REQUIREMENTS).choice

    assert isinstance(caster, RequirementsChoice)
    assert isinstance(fighter, RequirementsChoice)
    assert caster.attributes == {"int": 205}
    assert fighter.attributes["dex"] == 127
    assert {caster.resistances[name] for name in ("fire", "cold", "lightning")} == {75}


async def test_mana_is_asked_for_in_proportion_to_the_cost(world: FactsEngine) -> None:
    late = decision(await plan("spark sorceress", world), Q.RESOURCE_SUSTAIN).choice
    early = decision(await plan("spark sorceress level 20", world), Q.RESOURCE_SUSTAIN).choice

    assert isinstance(late, SustainChoice)
    assert isinstance(early, SustainChoice)
    assert late.resource == "mana"
    assert late.recovery_per_second == pytest.approx(50 / 0.8 * 1.6)
    assert early.recovery_per_second < late.recovery_per_second / 2


async def test_every_decision_says_why_and_what_else_there_was(world: FactsEngine) -> None:
    ctx = await plan("lightning sorceress for mapping", world)

    for name in Q:
        found = decision(ctx, name)
        assert found.reason.endswith(".")
        assert 1 <= len(found.alternatives) <= 4
        assert all(option.rejected_because for option in found.alternatives)
        assert found.name not in {option.name for option in found.alternatives}


async def test_what_the_prompt_answers_is_decided_at_once(world: FactsEngine) -> None:
    ctx = await plan("spark stormweaver with energy shield", world)
    setup = await RulesReasoner().decompose(ctx)

    done = {name for name, sub in setup.sub_problems.items() if sub.status is SubProblemStatus.DECIDED}
    assert done == {Q.ASCENDANCY, Q.DAMAGE_DELIVERY, Q.SURVIVABILITY}
    for name in done:
        answer = setup.sub_problems[name].decision
        assert answer is not None
        assert answer.provenance is Provenance.EXPLICIT


async def test_the_same_prompt_gives_the_same_plan(world: FactsEngine) -> None:
    first, second = await plan("cold monk for bosses", world), await plan("cold monk for bosses", world)

    assert first.state == second.state
