"""Answers against facts: what exists and fits becomes a decision, everything else is refused with a hint."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.errors import LlmBadOutput
from app.model.names import Demand, Provenance, SubProblemName
from app.model.state import Elimination
from app.model.sub_problems import (
    Constraint,
    Decision,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SurvivabilityChoice,
)
from app.reasoning.base import ReasoningContext
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.brief import Brief
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import FactsEngine
from tests.unit.reasoning.planning import plan

Q = SubProblemName
SORCERESS = "lightning sorceress for mapping"


async def settle(
    world: FactsEngine, name: SubProblemName, answer: dict[str, Any], prompt: str = SORCERESS, **question: Any
) -> Decision:
    """Return what becomes of an answer to a question of a build."""
    ctx = await plan(prompt, world)
    eliminated = question.pop("eliminated", [])
    sub = ctx.state.sub_problems[name].model_copy(update=question)
    state = ctx.state.model_copy(
        update={"sub_problems": {**ctx.state.sub_problems, name: sub}, "eliminated": eliminated}
    )
    asked = ReasoningContext(ctx.request, ctx.invariants, state, ctx.engine)
    rules = (await RulesReasoner().explore(asked, name, [])).decision
    brief = await Brief.of(asked, bases=True, nodes=True)
    kind = QUESTIONS[name]
    return kind.decision(kind.answer.model_validate({"reason": "because", **answer}), brief, rules)


async def test_a_skill_by_name_with_what_it_is_held_with(world: FactsEngine) -> None:
    got = await settle(
        world, Q.DAMAGE_DELIVERY, {"skill": "arc", "weapon_types": ["staff"], "helper_skills": ["Despair"]}
    )
    assert isinstance(got.choice, DeliveryChoice)
    assert (got.name, got.choice.skill_id, got.choice.off_hand) == ("Arc with staff", "Skill/Arc", None)
    assert got.choice.helper_skills == ["Skill/Despair"]
    assert got.alternatives[0].name.startswith("Spark")
    assert got.provenance is Provenance.INFERRED


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"skill": "Sparkk"}, "there is no skill called 'Sparkk'; the closest are spark"),
        ({"skill": "Archmage"}, "cannot be the main skill"),
        ({"skill": "Arc", "weapon_types": ["Bow"]}, "Arc can be used with"),
        ({"skill": "Arc", "helper_skills": ["Nothing"]}, "there is no skill called 'Nothing'"),
    ],
)
async def test_a_main_skill_that_does_not_fit(world: FactsEngine, answer: dict[str, Any], words: str) -> None:
    with pytest.raises(LlmBadOutput, match=words):
        await settle(world, Q.DAMAGE_DELIVERY, answer)


@pytest.mark.parametrize(
    ("prompt", "skill", "words"),
    [
        ("arc sorceress", "Spark", "the user asked for Arc"),
        ("sorceress, no lightning", "Spark", "ruled out Spark"),
        ("minion witch", "Spark", "the user asked for minions"),
        ("level 8 sorceress", "Comet", "needs level"),
    ],
)
async def test_the_users_words_bind(world: FactsEngine, prompt: str, skill: str, words: str) -> None:
    with pytest.raises(LlmBadOutput, match=words):
        await settle(world, Q.DAMAGE_DELIVERY, {"skill": skill}, prompt)


async def test_what_a_conflict_asks_to_change_must_change(world: FactsEngine) -> None:
    ctx = await plan(SORCERESS, world)
    before = ctx.state.sub_problems[Q.DAMAGE_DELIVERY].decision
    assert before is not None
    demand = Constraint(conflict_id="c", demand=Demand.OTHER_SKILL, text="it deals no damage")
    question: dict[str, Any] = {"prior_attempts": [before], "constraints": [demand], "decision": None}
    with pytest.raises(LlmBadOutput, match="another skill than Spark is needed"):
        await settle(world, Q.DAMAGE_DELIVERY, {"skill": "Spark"}, **question)
    got = await settle(world, Q.DAMAGE_DELIVERY, {"skill": "Arc"}, **question)
    assert got.name.startswith("Arc")


async def test_what_failed_is_not_tried_again(world: FactsEngine) -> None:
    failed = [Elimination(sub_problem=Q.DAMAGE_DELIVERY, option="Arc with wand and focus", reason="worse")]
    with pytest.raises(LlmBadOutput, match="tried before"):
        await settle(world, Q.DAMAGE_DELIVERY, {"skill": "Arc"}, eliminated=failed)


async def test_an_ascendancy_belongs_to_the_class(world: FactsEngine) -> None:
    got = await settle(world, Q.ASCENDANCY, {"class": "Sorceress", "ascendancy": "chronomancer"})
    assert got.name == "Chronomancer"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"class": "Witch", "ascendancy": "Lich"}, "the class is Sorceress"),
        ({"class": "Sorceress", "ascendancy": "Lich"}, "no ascendancy of the Sorceress"),
        ({"class": "Sorceress", "ascendancy": None}, "the level allows an ascendancy"),
        ({"class": "Sorceress", "ascendancy": "Stormweaver", "notables": ["Titanic"]}, "no passive of the Stormweaver"),
    ]
    for answer, words in wrong:
        with pytest.raises(LlmBadOutput, match=words):
            await settle(world, Q.ASCENDANCY, answer)


async def test_an_ascendancy_asked_for_stays(world: FactsEngine) -> None:
    with pytest.raises(LlmBadOutput, match="the user asked for Stormweaver"):
        await settle(world, Q.ASCENDANCY, {"class": "Sorceress", "ascendancy": "Chronomancer"}, "stormweaver spark")


async def test_scaling_keeps_what_the_user_ruled_out(world: FactsEngine) -> None:
    answer = {
        "damage_types": ["lightning"],
        "keywords": ["Cast Speed"],
        "excluded_supports": ["Pierce"],
        "damage_weight": 2,
    }
    got = await settle(world, Q.DAMAGE_SCALING, answer, "lightning sorceress, no minions")
    assert isinstance(got.choice, ScalingChoice)
    assert {"Support/Pierce", "Support/MinionLife"} <= set(got.choice.excluded_gems)
    assert got.choice.damage_weight == 2.0
    with pytest.raises(LlmBadOutput, match="deals lightning damage, not chaos"):
        await settle(world, Q.DAMAGE_SCALING, {**answer, "damage_types": ["chaos"]})


async def test_a_defence_asked_for_stays(world: FactsEngine) -> None:
    got = await settle(world, Q.SURVIVABILITY, {"pool": "life", "mitigation": ["armour"], "ehp_weight": 1.5})
    assert isinstance(got.choice, SurvivabilityChoice)
    assert (got.choice.pool, got.choice.mitigation, got.choice.ehp_weight) == ("life", ["armour"], 1.5)
    for prompt, words in [
        ("energy shield sorceress", "the user asked for"),
        ("sorceress without life", "ruled out life"),
    ]:
        with pytest.raises(LlmBadOutput, match=words):
            await settle(world, Q.SURVIVABILITY, {"pool": "life", "mitigation": ["armour"]}, prompt)


async def test_spirit_does_not_exceed_what_there_is(world: FactsEngine) -> None:
    got = await settle(world, Q.SPIRIT_ALLOCATION, {"skills": ["Archmage", "Grim Feast"]})
    assert got.name == "Archmage and Grim Feast"
    with pytest.raises(LlmBadOutput, match="reserve 260 Spirit"):
        await settle(world, Q.SPIRIT_ALLOCATION, {"skills": ["Archmage", "Cast on Critical", "Sacrifice"]})
    with pytest.raises(LlmBadOutput, match="no skill that reserves Spirit"):
        await settle(world, Q.SPIRIT_ALLOCATION, {"skills": ["Spark"]})


async def test_requirements_are_never_lowered(world: FactsEngine) -> None:
    got = await settle(world, Q.STAT_REQUIREMENTS, {"attributes": {"int": 5, "str": 40}, "resistances": {"fire": 10}})
    assert isinstance(got.choice, RequirementsChoice)
    assert got.choice.attributes["int"] > 100
    assert got.choice.attributes["str"] == 40
    assert got.choice.resistances["fire"] == 75


async def test_a_skill_that_costs_mana_is_paid_for(world: FactsEngine) -> None:
    got = await settle(world, Q.RESOURCE_SUSTAIN, {"resource": "mana", "recovery_per_second": 99999 / 20})
    assert got.name.startswith("mana, ")
    with pytest.raises(LlmBadOutput, match="costs mana"):
        await settle(world, Q.RESOURCE_SUSTAIN, {"resource": "none", "recovery_per_second": 0})
