"""The last look: better supports and items with the evaluations that ideas have left, and nothing beyond them."""

from __future__ import annotations

from dataclasses import replace

from app.model.base import changed
from app.model.blueprint import Blueprint, GearItem, SkillGroup
from app.model.construction import StageNotes
from app.model.facts import AffixFact, BaseFact
from app.search.base import StageResult
from app.search.effort import FEWEST_TO_SHARE, left_to_share
from app.search.look import last_look
from tests.fakes.arithmetic import World, active, support
from tests.unit.search.conftest import PLAN, START, Context

GROUP = SkillGroup(gems=[changed(START.groups[0].gems[0], gem_id="zap", name="zap")])
GEMS = [active("zap"), support("much", "50 more"), support("little", "10 more")]
RING = BaseFact(name="Gold Ring", type="Ring", slots=["Ring 1", "Ring 2"], requirements={"level": 1})
AFFIXES = [
    AffixFact(id="hot", side="prefix", name="Hot", group="g1", level=1, lines=["30 inc"], weight=1),
    AffixFact(id="vast", side="suffix", name="Vast", group="g2", level=1, lines=["200 life"], weight=1),
]
WORLD = World(gems=GEMS, bases=[RING], affixes=AFFIXES)
BOUGHT = changed(START, groups=[GROUP], items={"Ring 1": GearItem(slot="Ring 1", base="Gold Ring", rarity="RARE")})


async def looked(context: Context, blueprint: Blueprint = BOUGHT, notes: StageNotes | None = None) -> StageResult:
    return await last_look(replace(context(WORLD, blueprint), notes=notes or StageNotes()))


async def test_supports_and_items_become_better(context: Context) -> None:
    result = await looked(context)
    assert [gem.gem_id for gem in result.blueprint.groups[0].gems] == ["zap", "little", "much"]
    ring = result.blueprint.items["Ring 1"]
    assert [roll.id for roll in (*ring.prefixes, *ring.suffixes)] == ["hot", "vast"]
    assert result.label == "a last look: better supports, Ring 1"
    assert 0 < result.notes.for_look <= FEWEST_TO_SHARE


async def test_a_second_look_finds_nothing_and_the_build_stays(context: Context) -> None:
    once = await looked(context)
    again = await looked(context, once.blueprint)
    assert again.blueprint == once.blueprint
    assert again.label == "a last look: nothing better"


async def test_what_was_chosen_by_name_stays(context: Context) -> None:
    own = changed(BOUGHT.items["Ring 1"], rarity="UNIQUE", title="Ring of Mine")
    build = changed(BOUGHT, items={"Ring 1": own})
    plan = replace(PLAN, delivery=changed(PLAN.delivery, supports=["little"]))
    result = await last_look(context(WORLD, build, plan))
    assert result.blueprint == build


async def test_supports_with_which_a_wish_is_lost_are_given_back(context: Context) -> None:
    async def unmet(blueprint: Blueprint) -> set[str]:
        return {"no rage"} if "much" in [gem.gem_id for gem in blueprint.groups[0].gems] else set()

    result = await last_look(context(WORLD, BOUGHT), unmet)
    assert result.blueprint.groups == BOUGHT.groups
    assert result.label == "a last look: better Ring 1"


async def test_it_costs_nothing_where_ideas_have_taken_all(context: Context) -> None:
    result = await looked(context, notes=StageNotes(evaluations=400, for_ideas=FEWEST_TO_SHARE))
    assert result.blueprint == BOUGHT
    assert result.label == "a last look: ideas have taken its evaluations"
    assert "for_look" not in result.notes.model_fields_set


async def test_little_left_is_for_supports_alone(context: Context) -> None:
    result = await looked(context, notes=StageNotes(evaluations=400, for_ideas=FEWEST_TO_SHARE - 4))
    assert result.label == "a last look: better supports"
    assert result.blueprint.items == BOUGHT.items


def test_the_share_is_of_what_was_tried_without_it_whoever_takes_it() -> None:
    assert left_to_share(StageNotes()) == FEWEST_TO_SHARE
    assert left_to_share(StageNotes(evaluations=10_000)) == 800
    for taken in ({"for_ideas": 300}, {"for_look": 300}, {"for_ideas": 100, "for_look": 200}):
        assert left_to_share(StageNotes(evaluations=10_300, **taken)) == 500
    assert left_to_share(StageNotes(evaluations=11_000, for_ideas=1_000)) == 0
