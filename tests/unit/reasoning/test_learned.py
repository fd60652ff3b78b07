"""Who starts in a race once earlier ones are remembered: the table first, what was measured more and more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.base import changed
from app.model.memory import RaceMemory, RaceResult, agreement
from app.model.names import SubProblemName
from app.model.sub_problems import DeliveryChoice, Option, SubProblem
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.contenders import contenders_of, likeliest_first
from tests.contract.storage.test_memory import a_race, a_result
from tests.fakes.engine import FactsEngine
from tests.unit.reasoning.planning import plan

TABLE = ("arc", "spark", "comet", "firestorm")


def ways(*skills: str) -> list[Option]:
    return [
        Option(name=one, choice=DeliveryChoice(skill_id=one, skill_name=one, weapon_types=["Wand"]), reason="")
        for one in skills
    ]


def order(*races: RaceMemory, class_name: str = "Sorceress") -> list[str]:
    return [one.name for one in likeliest_first(ways(*TABLE), class_name, races)]


def race(**behind: float) -> RaceMemory:
    """A race of ways in the table's order, each so far behind."""
    return a_race("a", [a_result(skill, TABLE.index(skill), far) for skill, far in behind.items()])


def test_without_races_the_table_orders() -> None:
    assert order() == list(TABLE)
    assert order(race(arc=2.0, spark=0.0), class_name="Monk") == list(TABLE)


def test_what_lost_far_behind_starts_after_what_was_never_measured() -> None:
    assert order(race(arc=3.0, spark=0.0)) == ["spark", "comet", "firestorm", "arc"]


def test_a_table_that_agreed_is_given_up_slowly() -> None:
    good = race(arc=0.0, spark=1.0, comet=2.0)
    upset = a_race("b", [a_result("spark", 1, 0.0), a_result("firestorm", 3, 0.5)])
    assert agreement([good.results, upset.results]) == 1.0
    assert order(good, upset)[0] == "arc"
    assert order(good, *[upset] * 20)[:2] == ["arc", "spark"]


def test_many_races_outweigh_the_table() -> None:
    few, many = [race(arc=0.3, spark=0.2, comet=0.4)], [race(arc=0.3, spark=0.2, comet=0.4)] * 30
    assert order(*few)[0] == "arc"
    assert order(*many)[:2] == ["spark", "arc"]


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ((0.0, 1.0, 2.0), 1.0),
        ((2.0, 1.0, 0.0), 0.0),
        ((1.0, 0.0, 2.0), 1 / 3),
        ((0.0, 0.0, 0.0), 0.0),
        ((0.0, 0.0, 1.0), 1.0),
        ((), 0.0),
    ],
)
def test_agreement_is_the_share_of_pairs_above_chance(behind: tuple[float, ...], expected: float) -> None:
    results = [a_result(f"skill{place}", place, far) for place, far in enumerate(behind)]
    assert agreement([results]) == pytest.approx(expected)


@given(st.lists(st.lists(st.floats(0, 9), min_size=4, max_size=4), max_size=4))
def test_nobody_is_lost_or_doubled(found: list[list[float]]) -> None:
    races = [race(**dict(zip(TABLE, behind, strict=True))) for behind in found]
    assert sorted(order(*races)) == sorted(TABLE)


async def test_contenders_start_in_the_learned_order(world: FactsEngine) -> None:
    spark = next(gem for gem in await world.facts.gems() if gem.name == "Spark")
    arc = changed(spark, id="arc", name="Arc")
    facts = replace(world.facts, gem_facts=[*world.facts.gem_facts, arc])
    brief = await Brief.of(await plan("sorceress", replace(world, facts=facts)), bases=True, nodes=True)
    brief = replace(brief, sub_problems={name: SubProblem(name=name) for name in SubProblemName})
    usual = contenders_of(brief, 2)
    assert len(usual) == 2
    results: list[RaceResult] = []
    for place, one in enumerate(usual):
        choice = one.option.choice
        assert isinstance(choice, DeliveryChoice)
        far = 0.0 if place else 5.0
        results.append(a_result(choice.skill_id, place, far, hands=choice.hands))
    learned = contenders_of(replace(brief, races=(a_race("a", results),)), 2)
    assert len(learned) == 2
    assert learned[0].option.name == usual[1].option.name
    assert contenders_of(replace(brief, races=(a_race("a", []),)), 2) == usual
