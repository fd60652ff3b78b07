"""Orders of questions, opinions about a build, and picks among ways out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.core.errors import LlmBadOutput
from app.knowledge.claims import KnownFacts
from app.model.conflicts import BuildConflict, Evidence, Suggestion
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.reasoning.base import Decomposition, ReasoningContext
from app.reasoning.llm.answers import AssessAnswer, DecomposeAnswer, ResolveAnswer, findings, ordered, picks
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import FactsEngine
from tests.unit.reasoning.planning import plan

Q = SubProblemName


async def context(world: FactsEngine, iteration: int = 0) -> ReasoningContext:
    ctx = await plan("lightning sorceress for mapping", world)
    state = ctx.state.model_copy(update={"iteration": iteration})
    return ReasoningContext(ctx.request, ctx.invariants, state, ctx.engine)


async def test_an_order_keeps_what_cannot_be_answered_without_the_main_skill(world: FactsEngine) -> None:
    rules: Decomposition = await RulesReasoner().decompose(await context(world))
    answer = {"sub_problems": [{"name": "damage_scaling"}, {"name": "survivability", "depends_on": ["survivability"]}]}
    got = ordered(DecomposeAnswer.model_validate(answer), rules).sub_problems
    assert got[Q.DAMAGE_SCALING].depends_on == [Q.DAMAGE_DELIVERY]
    assert got[Q.SURVIVABILITY].depends_on == []
    assert got[Q.SPIRIT_ALLOCATION] == rules.sub_problems[Q.SPIRIT_ALLOCATION]


def finding(**more: Any) -> dict[str, Any]:
    base = {"subject": "slow", "sub_problem": "damage_delivery", "severity": "blocking", "demand": "other_skill"}
    return {**base, "message": "It is slow.", **more}


def assessed(*found: dict[str, Any]) -> AssessAnswer:
    return AssessAnswer.model_validate({"findings": list(found), "reason": "r"})


async def test_one_opinion_may_send_a_build_back_once(world: FactsEngine) -> None:
    answer = assessed(finding(), finding(subject="odd"))
    first = findings(answer, await context(world), "scripted-1")
    assert [conflict.severity for conflict in first] == [Severity.BLOCKING, Severity.WARNING]
    assert first[0].id == "goal_mismatch:damage_delivery:opinion_slow"
    assert first[0].evidence == Evidence(judged_by="scripted-1")
    assert first[0].message == "The model: It is slow."
    later = findings(answer, await context(world, iteration=1), "scripted-1")
    assert {conflict.severity for conflict in later} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Spark does not deal lightning damage.", 0),
        ("It doesn't deal any Lightning damage.", 0),
        ("It does not deal cold damage.", 1),
        ("Lightning damage is what it deals, but slowly.", 1),
    ],
)
async def test_an_opinion_that_facts_contradict_is_none(world: FactsEngine, message: str, kept: int) -> None:
    answer = assessed(finding(message=message))
    assert len(findings(answer, await context(world), "m", deals=["lightning"])) == kept


FALSE = [
    "Spark is a bow skill.",
    "Spark is an attack and wants a bow.",
    "Ice Strike is a melee spell. Lightning Arrow is not a bow skill.",
    "Boneshatter isn't an attack.",
    "Archmage needs no Spirit.",
    "It is slow; Comet reserves Spirit.",
    "Comet needs level 2.",
    "The Stormweaver is an ascendancy of the Witch.",
    "Titan does not belong to the Warrior.",
    "Pierce cannot support Spark.",
    "Minion Life applies to Arc.",
]
TRUE_OR_UNKNOWN = [
    "Spark is a spell, and slow.",
    "Spark is not a bow skill.",
    "Lightning Arrow is a bow attack, but slow.",
    "Herald of Ice is a bow skill.",
    "Archmage reserves Spirit.",
    "Comet needs no Spirit.",
    "Comet needs level 6.",
    "Comet needs level 2 gems.",
    "Spark is an area of concern.",
    "If Spark is a bow skill, a wand is wrong.",
    "Stormweaver is an ascendancy of the Sorceress.",
    "Stormweaver is the wrong choice.",
    "Pierce supports Spark.",
    "Minion Life does not apply to Arc.",
    "It feels like a bow skill.",
]


def changed_supports(known: KnownFacts) -> KnownFacts:
    """Return the facts where Pierce alone fits: in the small world all supports fit all skills."""
    return replace(
        known, supports={skill: frozenset({"Support/Pierce"}) & fits for skill, fits in known.supports.items()}
    )


@pytest.mark.parametrize(("message", "kept"), [*((one, 0) for one in FALSE), *((one, 1) for one in TRUE_OR_UNKNOWN)])
async def test_a_claim_that_the_facts_contradict_blocks_nothing(world: FactsEngine, message: str, kept: int) -> None:
    known = changed_supports(await KnownFacts.about(message, world))
    assert len(findings(assessed(finding(message=message)), await context(world), "m", known=known)) == kept


async def test_a_demand_must_fit_its_question(world: FactsEngine) -> None:
    with pytest.raises(LlmBadOutput, match="survivability takes the demands more_effective_life"):
        findings(assessed(finding(sub_problem="survivability")), await context(world), "m")


def conflict() -> BuildConflict:
    ways = [
        Suggestion(strategy=name, sub_problem=Q.DAMAGE_SCALING, demand=Demand.MORE_DAMAGE) for name in ("a", "b", "c")
    ]
    return BuildConflict(
        id="damage_gap:damage_scaling:dps",
        type=ConflictType.DAMAGE_GAP,
        severity=Severity.BLOCKING,
        affected=[Q.DAMAGE_SCALING],
        suggested_solutions=ways,
        tried=["a"],
    )


def resolved(*found: tuple[str, str]) -> ResolveAnswer:
    return ResolveAnswer.model_validate({"picks": [{"conflict": c, "strategy": s, "reason": "r"} for c, s in found]})


def test_picks_are_among_what_is_left() -> None:
    one = conflict()
    assert picks(resolved((one.id, "c")), [one]).picks[0][1].strategy == "c"
    assert picks(resolved(), [one]).picks[0][1].strategy == "b"
    with pytest.raises(LlmBadOutput, match="the strategies that are left are b, c"):
        picks(resolved((one.id, "a")), [one])
    with pytest.raises(LlmBadOutput, match="there is no conflict"):
        picks(resolved(("another", "a")), [one])
