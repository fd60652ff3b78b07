"""Which defences are worth measuring, and what the question makes of the figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model.base import changed
from app.model.names import SubProblemName
from app.model.race import Race
from app.model.sub_problems import DraftFigures, SurvivabilityChoice
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.contenders import contenders_of
from app.reasoning.questions.survivability import defences
from tests.fakes.engine import FactsEngine
from tests.unit.reasoning.planning import decision, plan
from tests.unit.reasoning.test_named_wishes import planned

Q = SubProblemName
ARMOUR, EVASION, SHIELD = "life with armour", "life with evasion", "energy shield"


async def brief_of(prompt: str, world: FactsEngine) -> Brief:
    return await Brief.of(await plan(prompt, world), bases=True, nodes=True)


def after_race(brief: Brief, **scores: float) -> Brief:
    """Return the brief once a race measured the defences, named with underscores, to have these scores."""
    names = {ARMOUR: "armour", EVASION: "evasion", SHIELD: "shield"}
    found = {
        name: DraftFigures(dps=20_000, ehp=1_000 * scores[key], score=scores[key], rung=4)
        for name, key in names.items()
        if key in scores
    }
    (won, *_) = contenders_of(brief, 1)
    ran = [DraftFigures(dps=9_000, ehp=3_000, score=1.0, rung=rung) for rung in (1, 2, 3)]
    race = Race(contenders=[changed(won, figures=ran, by_defence=found)], rungs=3, evaluations=70, over=True)
    return replace(brief, race=race)


@pytest.mark.parametrize(
    ("prompt", "worth"),
    [
        ("ranger", [EVASION, ARMOUR, SHIELD]),
        ("warrior", [ARMOUR, EVASION, SHIELD]),
        ("sorceress", [SHIELD, ARMOUR, EVASION]),
        ("monk", ["hybrid with evasion and energy shield", ARMOUR, EVASION, SHIELD]),
        ("ranger without energy shield", [EVASION, ARMOUR]),
        ("life-based sorceress", [EVASION]),
        ("evasion mercenary", [EVASION]),
        ("warrior with energy shield", ["energy shield with energy shield and armour"]),
    ],
)
async def test_words_cut_what_is_measured(prompt: str, worth: list[str], world: FactsEngine) -> None:
    assert [choice.title for choice in defences(await brief_of(prompt, world))] == worth


async def test_a_named_keystone_says_which(world: FactsEngine) -> None:
    brief = await Brief.of(await planned(world, "spark sorceress", with_=["Chaos Inoculation"]), bases=True)
    assert [choice.pool for choice in defences(brief)] == ["energy_shield"]


async def test_what_measured_best_is_taken_and_both_figures_are_told(world: FactsEngine) -> None:
    brief = after_race(await brief_of("ranger", world), armour=2.0, evasion=3.0, shield=6.0)
    decided = QUESTIONS[Q.SURVIVABILITY].decide(brief)
    assert isinstance(decided.choice, SurvivabilityChoice)
    assert (decided.name, decided.choice.pool) == (SHIELD, "energy_shield")
    assert "attributes make evasion cheap" in decided.reason, "not that energy shield were cheap for a Ranger"
    assert "Measured best of 3" in decided.reason
    assert "6.0k EHP as a draft" in decided.reason
    against = {one.name: one.rejected_because for one in decided.alternatives}
    assert (
        against[EVASION] == "measured 20.0k DPS / 3.0k EHP against 20.0k DPS / 6.0k EHP as drafts, not finished builds"
    )
    (_, told) = QUESTIONS[Q.SURVIVABILITY].gather(brief)
    assert told.measured[SHIELD].ehp == 6_000


async def test_between_equals_the_cheap_one_stays_and_nothing_is_decided_by_one_figure(world: FactsEngine) -> None:
    brief = await brief_of("ranger", world)
    for measured in (after_race(brief, armour=3.0, evasion=3.0, shield=3.0), after_race(brief, shield=9.0), brief):
        assert QUESTIONS[Q.SURVIVABILITY].decide(measured).name == EVASION


async def test_words_are_stronger_than_figures(world: FactsEngine) -> None:
    brief = after_race(await brief_of("evasion ranger", world), armour=1.0, evasion=2.0, shield=9.0)
    assert QUESTIONS[Q.SURVIVABILITY].decide(brief).name == EVASION


async def test_plans_without_a_race_are_as_before(world: FactsEngine) -> None:
    assert decision(await plan("ranger", world), Q.SURVIVABILITY).name == EVASION
