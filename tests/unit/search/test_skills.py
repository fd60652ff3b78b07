from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.base import Outputs
from app.model.blueprint import Blueprint
from app.model.names import GearTier
from app.search.incumbent import Incumbent
from app.search.skills.gems import by_id
from app.search.skills.secondary import SkillSearch, usable_with
from app.search.stages.foundation import founded
from tests.fakes.arithmetic import ArithmeticEngine, ArithmeticSession, World, active
from tests.unit.search.conftest import PLAN, START, Context


async def add(context: Context, world: World, most: int = 3, **more: object) -> list[str]:
    incumbent = await Incumbent.open(context(world))
    search = SkillSearch(incumbent, 90, frozenset({"Wand"}), **more)  # type: ignore[arg-type]
    added = await search.add([g for g in world.gems if g.id != "zap"], most)
    assert [g.gems[0].gem_id for g in incumbent.blueprint.groups] == ["zap", *(f.id for f in added)]
    assert set(by_id(world.gems)) >= {f.id for f in added}
    return [fact.id for fact in added]


async def test_adds_what_helps_most_within_the_spirit(context: Context) -> None:
    gems = [
        active("zap"),
        active("big", "60 inc, 80 spirit", spirit=80),
        active("mid", "50 inc, 50 spirit", spirit=50),
        active("small", "20 inc, 40 spirit", spirit=40),
        active("none", "", spirit=10),
    ]
    assert await add(context, World(gems=gems, spirit=100)) == ["big"]
    assert await add(context, World(gems=gems, spirit=170)) == ["big", "mid", "small"]


async def test_keeps_what_the_plan_reserves_free(context: Context) -> None:
    gems = [active("zap"), active("aura", "60 inc, 80 spirit", spirit=80)]
    assert await add(context, World(gems=gems, spirit=100), reserve_free=30.0) == []


async def test_skills_of_other_weapons_are_not_offered(context: Context) -> None:
    gems = [active("zap"), active("cry", "60 inc", weapon_types=["Two Hand Mace"])]
    assert await add(context, World(gems=gems)) == []


async def test_one_curse_and_one_mark(context: Context) -> None:
    gems = [
        active("zap"),
        active("a", "30 inc", tags=["Curse"]),
        active("b", "20 inc", tags=["Curse"]),
        active("c", "10 inc", tags=["Mark"]),
    ]
    assert await add(context, World(gems=gems)) == ["a", "c"]


async def test_idle_spirit_is_filled_in_the_plans_order_without_a_measured_gain(context: Context) -> None:
    gems = [
        active("zap"),
        active("herald", "30 spirit", spirit=30),
        active("harmful", "-20 inc, 10 spirit", spirit=10),
        active("dear", "90 spirit", spirit=90),
        active("buff", "60 spirit", spirit=60),
    ]
    world = World(gems=gems, spirit=100)
    incumbent = await Incumbent.open(context(world))
    search = SkillSearch(incumbent, 90, frozenset({"Wand"}))
    filled = await search.fill([g for g in gems if g.id != "zap"])
    assert [fact.id for fact in filled] == ["herald", "buff"]
    assert incumbent.outputs["SpiritUnreserved"] == 10


async def test_added_skills_have_the_quality_of_the_gear_tier(context: Context) -> None:
    world = World(gems=[active("zap"), active("aura", "60 inc")])
    incumbent = await Incumbent.open(context(world))
    for gear, quality in zip(GearTier, (0, 10, 20, 20), strict=True):
        search = SkillSearch(incumbent, 90, frozenset(), gear=gear)
        assert {offer.group.gems[0].quality for offer in search.offers(world.gems)} == {quality}


@pytest.mark.parametrize(
    ("words", "held", "fits"),
    [
        ("Spear", {"Spear", "Shield"}, True),
        ("Any Shield", {"Spear", "Shield"}, True),
        ("Any Shield", {"Bow", "Quiver"}, False),
        ("Any Melee Martial Weapon", {"Quarterstaff"}, True),
        ("Any Melee Martial Weapon", {"Bow", "Quiver"}, False),
        ("Any Martial Weapon", {"Bow", "Quiver"}, True),
        ("Any Martial Weapon", {"Wand", "Focus"}, False),
        ("Any Martial Weapon", {"Sceptre", "Shield", "Armoured Shield"}, False),
        ("Talisman", {"Staff"}, False),
    ],
)
def test_words_for_weapons(words: str, held: set[str], fits: bool) -> None:
    assert usable_with(words, frozenset(held)) is fits


class Herd(ArithmeticSession):
    """Each minion of the first group deals the same damage and reserves 30 Spirit."""

    def _outputs(self, blueprint: Blueprint) -> Outputs:
        outputs, number = super()._outputs(blueprint), float(blueprint.groups[0].gems[0].choices.get("count", 1))
        spirit = outputs["SpiritUnreserved"] - 30 * number
        return {**outputs, "DPS": outputs["DPS"] * number, "SpiritUnreserved": spirit}


async def test_minions_count_as_often_as_the_spirit_feeds_them(context: Context) -> None:
    minion = active("zap", "10 inc", skill_types=["Minion", "MultipleReservation"])
    ctx = context(World(gems=[minion], spirit=100))
    counted = START.model_copy(update={"groups": [START.groups[0].model_copy(update={"in_full_dps": True})]})
    session = Herd(ArithmeticEngine(World(gems=[minion], spirit=100)))
    await session.build(counted)
    incumbent = await Incumbent.open(replace(ctx, session=session, blueprint=counted))
    search = SkillSearch(incumbent, 90, frozenset(), reserve_free=10.0, counted=True)
    assert await search.recruit(1, minion) == 3
    assert incumbent.blueprint.groups[0].gems[0].choices == {"count": 3}
    tighter = SkillSearch(incumbent, 90, frozenset(), reserve_free=60.0, counted=True)
    assert await tighter.recruit(1, minion) == 1


@pytest.mark.parametrize(("types", "choices"), [(["Minion", "MultipleReservation"], {"count": 3}), (["Minion"], {})])
async def test_a_build_of_minions_begins_with_as_many_as_spirit_feeds(
    context: Context, types: list[str], choices: dict[str, int]
) -> None:
    """In the race's drafts one minion of each kind counted, so those that reserve little lost: seven of them won."""
    world = World(gems=[active("zap", "10 inc", skill_types=types)], spirit=100)
    plan = replace(PLAN, delivery=PLAN.delivery.model_copy(update={"minion": True}))
    ctx = replace(context(world, plan=plan), session=Herd(ArithmeticEngine(world)))
    blueprint = await founded(ctx)
    assert blueprint.groups[0].gems[0].choices == choices
    (found,) = await ctx.session.what_if([[]], ["SpiritUnreserved"])
    assert found["SpiritUnreserved"] == 100 - 30 * choices.get("count", 1), "the session holds them"
