from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from app.model.facts import GemFact
from app.model.names import GearTier
from app.search.incumbent import Incumbent
from app.search.skills.gems import by_id, support_slots, usable_level
from app.search.skills.supports import SupportRules, SupportSelection, Team
from tests.fakes.arithmetic import World, active, support
from tests.unit.search.conftest import Context


async def best_team(context: Context, world: World, slots: int = 2, **rules: object) -> Team:
    ctx = context(world)
    incumbent = await Incumbent.open(ctx)
    made = SupportRules(90, GearTier.MID, slots=slots, **rules)  # type: ignore[arg-type]
    search = SupportSelection(incumbent, 1, made, by_id(world.gems))
    team = await search.run(await ctx.engine.facts.supports_for("zap"))
    assert [g.gem_id for g in incumbent.blueprint.groups[0].gems] == ["zap", *team]
    return team


def gems(*supports: GemFact) -> list[GemFact]:
    return [active("zap"), *supports]


async def test_finds_the_pair_that_greedy_misses(context: Context) -> None:
    world = World(
        gems=gems(support("a", "30 more"), support("b", "10 more"), support("c", "10 more"), support("d", "20 more")),
        synergies={frozenset({"b", "c"}): 80.0},
    )
    assert await best_team(context, world) == ("b", "c")


async def test_agrees_with_trying_every_set(context: Context) -> None:
    effects = {"a": 21, "b": 13, "c": 34, "d": 8, "e": 27, "f": 5}
    world = World(
        gems=gems(*(support(k, f"{v} more") for k, v in effects.items())),
        synergies={frozenset({"b", "d"}): 30.0, frozenset({"e", "f"}): 12.0},
    )
    found = await best_team(context, world, slots=3)

    def damage(team: Sequence[str]) -> float:
        total = 1.0
        for name in team:
            total *= 1 + effects[name] / 100
        for pair, bonus in world.synergies.items():
            total *= 1 + bonus / 100 if pair <= set(team) else 1
        return total

    assert found == max(combinations(sorted(effects), 3), key=damage)


async def test_never_two_of_a_family(context: Context) -> None:
    world = World(
        gems=gems(
            support("fast1", "20 more", family="fast"),
            support("fast2", "30 more", family="fast"),
            support("z", "5 more"),
        )
    )
    assert await best_team(context, world) == ("fast2", "z")


async def test_leaves_out_what_changes_nothing(context: Context) -> None:
    world = World(gems=gems(support("a", "20 more"), support("idle", "")))
    assert await best_team(context, world) == ("a",)


async def test_lineage_supports_are_for_endgame_gear(context: Context) -> None:
    world = World(gems=gems(support("boss", "90 more", lineage=True), support("z", "5 more")))
    assert await best_team(context, world) == ("z",)


async def test_what_is_not_had_at_each_use_is_taken_only_by_name(context: Context) -> None:
    waiting = support("run", "90 more. Supported Skills can only be used after you have moved.")
    world = World(gems=gems(waiting, support("z", "5 more")))
    assert await best_team(context, world) == ("z",)
    assert await best_team(context, world, required=("run",)) == ("run", "z")


async def test_excluded_supports_stay_out(context: Context) -> None:
    world = World(gems=gems(support("a", "20 more"), support("b", "10 more")))
    assert await best_team(context, world, excluded=frozenset({"a"})) == ("b",)


async def test_unpayable_supports_lose_to_payable_ones(context: Context) -> None:
    world = World(gems=gems(support("dear", "40 more, 900 cost"), support("fair", "30 more")), regen=20.0)
    assert await best_team(context, world, slots=1) == ("fair",)


async def test_colours_must_fit_into_the_attributes(context: Context) -> None:
    red = [support(name, "20 more", colour="str") for name in ("r1", "r2")]
    world = World(gems=gems(*red, support("g", "15 more", colour="dex")), attributes={"str": 6, "dex": 6})
    assert await best_team(context, world) == ("g", "r1")


async def test_words_choose_where_the_engine_sees_no_damage(context: Context) -> None:
    world = World(gems=gems(support("hot", "0 fire"), support("cool", "0 cold")), modelled=False)
    assert await best_team(context, world, slots=1, keywords=["fire"]) in {("hot",), ()}


def test_gem_level_follows_the_character() -> None:
    fact = active("zap", level_requirements=[1, 6, 10, 14], natural_max_level=20)
    assert [usable_level(fact, level) for level in (1, 9, 14, 90)] == [1, 2, 4, 4]
    assert usable_level(active("late", level_requirements=[41]), 40) == 0


def test_support_slots_grow_with_level() -> None:
    assert [support_slots(level) for level in (1, 20, 45, 65, 90)] == [2, 3, 4, 5, 5]


@pytest.mark.parametrize("gear", [GearTier.ENDGAME, GearTier.MIRROR])
async def test_lineage_supports_are_rare_even_at_endgame(context: Context, gear: GearTier) -> None:
    rare = [support(name, f"{50 - i} more", lineage=True) for i, name in enumerate("abc")]
    world = World(gems=gems(*rare, support("d", "5 more")))
    assert await best_team(context, world, slots=3) == ("d",)
    ctx = context(world)
    for left, team in ((0, ("d",)), (1, ("a", "d")), (2, ("a", "b", "d"))):
        incumbent = await Incumbent.open(ctx)
        rules = SupportRules(90, gear, slots=3, lineage=left)
        found = await SupportSelection(incumbent, 1, rules, by_id(world.gems)).run("abcd")
        assert found == team
