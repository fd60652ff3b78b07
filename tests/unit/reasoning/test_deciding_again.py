"""Answers after a conflict: stronger, cheaper or different, and never one that failed."""

from __future__ import annotations

from typing import Any

import pytest

from app.knowledge.gems import dealt
from app.model.conflicts import BuildConflict, Suggestion
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.state import Elimination
from app.model.sub_problems import (
    Constraint,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.reasoning.base import ReasoningContext
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import FactsEngine
from tests.unit.reasoning.planning import again, decision, plan, with_decision

Q = SubProblemName


def demand(kind: Demand, conflict: str = "c", **values: Any) -> Constraint:
    return Constraint(conflict_id=conflict, demand=kind, values=values)


def eliminating(ctx: ReasoningContext, name: SubProblemName, *options: str) -> ReasoningContext:
    gone = [Elimination(sub_problem=name, option=option, reason="worse") for option in options]
    state = ctx.state.model_copy(update={"eliminated": gone})
    return ReasoningContext(ctx.request, ctx.invariants, state, ctx.engine)


async def test_more_damage_and_more_life_raise_their_weights(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    damage = await again(ctx, Q.DAMAGE_SCALING, constraints=[demand(Demand.MORE_DAMAGE)] * 2)
    life = await again(ctx, Q.SURVIVABILITY, constraints=[demand(Demand.MORE_EFFECTIVE_LIFE)])

    before, after = decision(ctx, Q.DAMAGE_SCALING).choice, damage.choice
    assert isinstance(before, ScalingChoice)
    assert isinstance(after, ScalingChoice)
    assert after.damage_weight == before.damage_weight * 1.5 * 1.5
    assert damage.name != decision(ctx, Q.DAMAGE_SCALING).name
    assert isinstance(life.choice, SurvivabilityChoice)
    assert life.choice.ehp_weight == 1.5


async def test_a_weight_that_failed_is_passed_over(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    first = await again(ctx, Q.DAMAGE_SCALING, constraints=[demand(Demand.MORE_DAMAGE)])
    gone = eliminating(ctx, Q.DAMAGE_SCALING, first.name)
    second = await again(gone, Q.DAMAGE_SCALING, constraints=[demand(Demand.MORE_DAMAGE)])

    assert second.name != first.name
    assert isinstance(second.choice, ScalingChoice)
    assert second.choice.damage_weight > 2


async def test_another_skill_is_not_one_that_was_tried(world: FactsEngine) -> None:
    ctx = await plan("cold sorceress", world)
    tried = []
    for _ in range(4):
        tried.append(decision(ctx, Q.DAMAGE_DELIVERY))
        changes = {"prior_attempts": tried, "constraints": [demand(Demand.OTHER_SKILL)]}
        found = await again(ctx, Q.DAMAGE_DELIVERY, **changes)
        assert isinstance(found.choice, DeliveryChoice)
        assert found.choice.skill_id not in {d.choice.skill_id for d in tried if isinstance(d.choice, DeliveryChoice)}
        ctx = with_decision(ctx, Q.DAMAGE_DELIVERY, found)


async def test_a_figure_that_is_urged_gets_another_ascendancy_once_more(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    first = decision(ctx, Q.ASCENDANCY)
    assert (await again(ctx, Q.ASCENDANCY, prior_attempts=[first])).name == first.name
    for kind in (Demand.MORE_DAMAGE, Demand.MORE_EFFECTIVE_LIFE):
        other = await again(ctx, Q.ASCENDANCY, prior_attempts=[first], constraints=[demand(kind)])
        assert other.name != first.name
        assert "tried before" in str({o.name: o.rejected_because for o in other.alternatives}[first.name])
    named = await plan("spark stormweaver", world)
    asked = decision(named, Q.ASCENDANCY)
    kept = await again(named, Q.ASCENDANCY, prior_attempts=[asked], constraints=[demand(Demand.MORE_DAMAGE)])
    assert kept.name == asked.name == "Stormweaver"


async def test_another_skill_for_a_damage_type_deals_it(world: FactsEngine) -> None:
    ctx = await plan("chaos witch", world)
    first = decision(ctx, Q.DAMAGE_DELIVERY)
    for kind in ("cold", "fire"):
        changes = {"prior_attempts": [first], "constraints": [demand(Demand.OTHER_SKILL, element=kind)]}
        found = (await again(ctx, Q.DAMAGE_DELIVERY, **changes)).choice
        assert isinstance(found, DeliveryChoice)
        gem = next(gem for gem in await world.facts.gems() if gem.id == found.skill_id)
        assert kind in dealt(gem)


async def test_another_weapon_keeps_the_skill(world: FactsEngine) -> None:
    ctx = await plan("earthquake warrior", world)
    first = decision(ctx, Q.DAMAGE_DELIVERY)
    changes = {"prior_attempts": [first], "constraints": [demand(Demand.OTHER_WEAPON)]}
    found = (await again(ctx, Q.DAMAGE_DELIVERY, **changes)).choice

    assert isinstance(found, DeliveryChoice)
    assert (found.skill_name, found.weapon_types) == ("Earthquake", ["One Hand Mace"])


async def test_a_skill_that_was_asked_for_is_kept_whatever_happens(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    first = decision(ctx, Q.DAMAGE_DELIVERY)
    changes = {"prior_attempts": [first], "constraints": [demand(Demand.OTHER_SKILL)]}
    found = await again(eliminating(ctx, Q.DAMAGE_DELIVERY, first.name), Q.DAMAGE_DELIVERY, **changes)

    assert isinstance(found.choice, DeliveryChoice)
    assert found.choice.skill_name == "Spark"
    assert found.name != first.name


async def test_an_eliminated_option_is_rejected_for_having_failed(world: FactsEngine) -> None:
    ctx = await plan("cold sorceress", world)
    first = decision(ctx, Q.DAMAGE_DELIVERY)
    found = await again(eliminating(ctx, Q.DAMAGE_DELIVERY, first.name), Q.DAMAGE_DELIVERY)

    assert found.name != first.name
    reasons = {option.name: option.rejected_because for option in found.alternatives}
    assert "worse" in str(reasons[first.name])


async def test_less_spirit_drops_the_last_skill(world: FactsEngine) -> None:
    ctx = await plan("lightning arrow deadeye with herald of ice", world)
    before = decision(ctx, Q.SPIRIT_ALLOCATION).choice
    found = await again(ctx, Q.SPIRIT_ALLOCATION, constraints=[demand(Demand.LESS_SPIRIT, over=12.0)])

    assert isinstance(before, SpiritChoice)
    assert isinstance(found.choice, SpiritChoice)
    assert found.choice.skill_ids == before.skill_ids[:-1]
    assert found.choice.reserve_free == 12.0


async def test_recovery_attributes_and_resistances_rise(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    mana = (await again(ctx, Q.RESOURCE_SUSTAIN, constraints=[demand(Demand.MORE_RECOVERY, missing=40)])).choice
    cheap = (await again(ctx, Q.RESOURCE_SUSTAIN, constraints=[demand(Demand.CHEAPER_SKILL)])).choice
    wants = [
        demand(Demand.MORE_ATTRIBUTES, attribute="dex", required=60),
        demand(Demand.MORE_RESISTANCE, element="fire", missing=8),
    ]
    needs = (await again(ctx, Q.STAT_REQUIREMENTS, constraints=wants)).choice

    assert isinstance(mana, SustainChoice)
    assert isinstance(cheap, SustainChoice)
    assert isinstance(needs, RequirementsChoice)
    assert mana.recovery_per_second > 140
    assert cheap.prefer_cheaper_supports
    assert needs.attributes["dex"] >= 60
    assert needs.attributes["int"] == 205
    assert (needs.resistances["fire"], needs.resistances["cold"]) == (83, 75)


async def test_what_was_excluded_later_is_left_out(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    found = await again(ctx, Q.DAMAGE_SCALING, constraints=[demand(Demand.DROP_SUPPORT, excluded="Pierce")])

    assert isinstance(found.choice, ScalingChoice)
    assert found.choice.excluded_gems == ["Support/Pierce"]


async def test_a_passive_is_left_out_by_its_name(world: FactsEngine) -> None:
    node = (await world.facts.nodes())[0]
    ctx = await plan("spark sorceress", world)
    found = await again(ctx, Q.DAMAGE_SCALING, constraints=[demand(Demand.DROP_SUPPORT, excluded=node.name)])
    assert isinstance(found.choice, ScalingChoice)
    assert node.id in found.choice.excluded_nodes


async def test_the_first_untried_suggestion_is_picked(world: FactsEngine) -> None:
    ways = [
        Suggestion(strategy=name, sub_problem=Q.DAMAGE_SCALING, demand=Demand.MORE_DAMAGE) for name in ("a", "b", "c")
    ]
    gap = BuildConflict(
        id="gap",
        type=ConflictType.DAMAGE_GAP,
        severity=Severity.BLOCKING,
        affected=[Q.DAMAGE_SCALING],
        suggested_solutions=ways,
        tried=["a"],
    )
    spent = gap.model_copy(update={"id": "spent", "tried": ["a", "b", "c"]})
    picks = (await RulesReasoner().resolve(await plan("spark", world), [gap, spent])).picks

    assert [(conflict.id, pick.strategy) for conflict, pick in picks] == [("gap", "b")]


@pytest.mark.parametrize(
    ("prompt", "damage", "life"),
    [
        ("spark sorceress for mapping", 1.0, 1.0),
        ("spark sorceress for bossing", 1.2, 1.15),
        ("hardcore spark sorceress for mapping", 0.85, 1.5),
        ("spark sorceress for leveling", 1.0, 0.8),
    ],
)
async def test_goal_and_hardcore_are_weighed_in_the_answers(
    world: FactsEngine, prompt: str, damage: float, life: float
) -> None:
    ctx = await plan(prompt, world)
    scaling, survivability = decision(ctx, Q.DAMAGE_SCALING).choice, decision(ctx, Q.SURVIVABILITY).choice
    assert isinstance(scaling, ScalingChoice)
    assert isinstance(survivability, SurvivabilityChoice)
    assert (scaling.damage_weight, survivability.ehp_weight) == (damage, life)


async def test_gear_asked_for_hit_points_weighs_them_once_per_demand(world: FactsEngine) -> None:
    ctx = await plan("spark sorceress", world)
    for count in (1, 2):
        found = await again(ctx, Q.STAT_REQUIREMENTS, constraints=[demand(Demand.MORE_EFFECTIVE_LIFE)] * count)
        assert isinstance(found.choice, RequirementsChoice)
        assert found.choice.ehp_weight == 1.5**count
        assert found.name != decision(ctx, Q.STAT_REQUIREMENTS).name
