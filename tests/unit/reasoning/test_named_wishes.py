"""Answers follow what was named and what was asked for in styles: pools, ascendancies, weapons, Spirit, main skills."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.errors import LlmBadOutput
from app.model.base import changed
from app.model.constraints import Invariant, InvariantSet
from app.model.names import Provenance, SubProblemName
from app.model.record import BuildRequest
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    DeliveryChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
)
from app.reasoning.base import ReasoningContext
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.brief import Brief
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import FactsEngine, skill, small_facts
from tests.unit.reasoning.planning import decision, plan_with

Q = SubProblemName


async def planned(world: FactsEngine, prompt: str, **fields: list[str]) -> ReasoningContext:
    request = BuildRequest(prompt=prompt)
    found = await RulesReasoner().extract(request, world)
    said = [
        Invariant(field=name.rstrip("_"), value=value, provenance=Provenance.EXPLICIT, reason="said")
        for name, value in fields.items()
    ]
    kept = [one for one in found.invariants if one.field not in {i.field for i in said}]
    invariants: InvariantSet = changed(found, invariants=[*kept, *said])
    return await plan_with(request, world, invariants)


async def answers(world: FactsEngine, prompt: str, **fields: list[str]) -> dict[SubProblemName, Choice]:
    ctx = await planned(world, prompt, **fields)
    return {name: decision(ctx, name).choice for name in SubProblemName}


async def test_a_named_keystone_decides_the_pool(world: FactsEngine) -> None:
    for name, pool in (("Chaos Inoculation", "energy_shield"), ("Blood Magic", "life"), ("Mind Over Matter", "hybrid")):
        survival = (await answers(world, "titan with maces", with_=[name]))[Q.SURVIVABILITY]
        assert isinstance(survival, SurvivabilityChoice)
        assert survival.pool == pool


async def test_a_named_ascendancy_passive_decides_the_ascendancy(world: FactsEngine) -> None:
    for name, owner in (("Titanic", "Titan"), ("Roots", "Warbringer")):
        found = (await answers(world, "warrior with maces", with_=[name]))[Q.ASCENDANCY]
        assert isinstance(found, AscendancyChoice)
        assert found.ascendancy == owner


async def test_a_named_base_is_what_is_held(world: FactsEngine) -> None:
    for base, kind in (("Massive Greathammer", "Two Hand Mace"), ("Torment Club", "One Hand Mace")):
        found = (await answers(world, "warrior", with_=[base]))[Q.DAMAGE_DELIVERY]
        assert isinstance(found, DeliveryChoice)
        assert found.weapon_types == [kind]


async def test_named_persistent_skills_come_first(world: FactsEngine) -> None:
    found = (await answers(world, "spark sorceress", with_=["scavenged plating"]))[Q.SPIRIT_ALLOCATION]
    assert isinstance(found, SpiritChoice)
    assert found.skill_ids[0] == "Skill/ScavengedPlating"


async def test_no_spirit_gems_reserves_nothing(world: FactsEngine) -> None:
    found = (await answers(world, "spark sorceress", exclude=["spirit gems"]))[Q.SPIRIT_ALLOCATION]
    assert isinstance(found, SpiritChoice)
    assert found.skill_ids == []


async def test_what_is_named_is_not_excluded_by_a_word_for_more(world: FactsEngine) -> None:
    found = (await answers(world, "spark sorceress", exclude=["minions"], with_=["Sacrifice"]))[Q.DAMAGE_SCALING]
    assert isinstance(found, ScalingChoice)
    assert "Skill/RaiseZombie" in found.excluded_gems
    assert "Skill/Sacrifice" not in found.excluded_gems


async def test_without_skeletons_a_summoner_brings_something_else(world: FactsEngine) -> None:
    found = (await answers(world, "witch summoner", exclude=["skeletons"], style=["minion"]))[Q.DAMAGE_DELIVERY]
    assert isinstance(found, DeliveryChoice)
    assert found.minion
    assert not found.skill_name.startswith("Skeletal")


async def test_a_wished_style_weighs_more_than_what_a_class_usually_plays(world: FactsEngine) -> None:
    found = (await answers(world, "warrior", style=["totem"]))[Q.DAMAGE_DELIVERY]
    assert isinstance(found, DeliveryChoice)
    assert found.skill_name == "Ancestral Warrior Totem"


async def test_who_asks_for_block_as_a_figure_holds_a_shield(world: FactsEngine) -> None:
    usual = (await answers(world, "boneshatter warrior"))[Q.DAMAGE_DELIVERY]
    found = (await answers(world, "boneshatter warrior, 35% block"))[Q.DAMAGE_DELIVERY]
    held = (await answers(world, "boneshatter warrior, two handed mace, 35% block"))[Q.DAMAGE_DELIVERY]
    assert isinstance(usual, DeliveryChoice)
    assert isinstance(found, DeliveryChoice)
    assert isinstance(held, DeliveryChoice)
    assert (usual.off_hand, found.off_hand) == (None, "Shield")
    assert held.weapon_types == ["Two Hand Mace"], "what was asked for by name is held"


async def test_max_block_holds_a_shield(world: FactsEngine) -> None:
    found = (await answers(world, "mace warrior", style=["max_block"], weapon=["One Hand Mace"]))[Q.DAMAGE_DELIVERY]
    assert isinstance(found, DeliveryChoice)
    assert found.off_hand == "Shield"


async def test_damage_over_time_is_dealt_by_a_skill_whose_damage_over_time_is_calculated() -> None:
    facts = small_facts()
    chaos = "spell duration chaos intelligence damageovertime"
    gems = [*facts.gem_facts, skill("Contagion", f"{chaos} area"), skill("Essence Drain", f"{chaos} damage projectile")]
    world = FactsEngine(replace(facts, gem_facts=gems))
    made = await answers(world, "witch", style=["damage_over_time"], damage_type=["chaos"])
    found, scaling = made[Q.DAMAGE_DELIVERY], made[Q.DAMAGE_SCALING]
    assert isinstance(found, DeliveryChoice)
    assert isinstance(scaling, ScalingChoice)
    assert found.skill_name == "Contagion"
    assert not any("Critical" in word for word in scaling.keywords)


async def test_a_model_may_not_choose_a_pool_that_a_named_keystone_takes_away(world: FactsEngine) -> None:
    ctx = await planned(world, "spark sorceress", with_=["Chaos Inoculation"])
    brief, kind = await Brief.of(ctx, bases=True, nodes=True), QUESTIONS[Q.SURVIVABILITY]
    usual = decision(ctx, Q.SURVIVABILITY)
    life = {"reason": "because", "pool": "life", "mitigation": ["evasion"]}
    with pytest.raises(LlmBadOutput, match="Chaos Inoculation"):
        kind.decision(kind.answer.model_validate(life), brief, usual)
    shield = {**life, "pool": "energy_shield"}
    choice = kind.decision(kind.answer.model_validate(shield), brief, usual).choice
    assert isinstance(choice, SurvivabilityChoice)
    assert choice.pool == "energy_shield"
