"""Large moves: to another region of the tree, or to a far passive, where trades of branches lead nowhere."""

from __future__ import annotations

import random

import pytest

from app.model.blueprint import Blueprint
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.passives.planner import Planner
from app.search.passives.regions import UNLIKE, large_moves
from app.search.passives.tree import TreeLimits, TreeSearch
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context
from tests.unit.search.test_planner import ZERO, Known

NEAR, FAR = range(2, 14), range(20, 32)


def two_arms(far: int) -> World:
    """A dozen passives of 3 % in one direction, and in the other so much at the end of eleven that do nothing."""
    arms = [node(1, 2, 20, kind="start")]
    arms += [node(i, i + 1, mods=["3 inc"]) for i in NEAR[:-1]] + [node(NEAR[-1], mods=["3 inc"])]
    arms += [node(i, i + 1) for i in FAR[:-1]] + [node(FAR[-1], mods=[f"{far} inc"], kind="notable")]
    return World(nodes=arms, gems=[active("zap")])


async def improved(context: Context, world: World, moves: int) -> tuple[TreeSearch, Blueprint, int]:
    """A dozen points spent and improved: the search, what was there before, and how often that helped."""
    ctx = context(world)
    graph = PassiveGraph(world.nodes, [1])
    search = TreeSearch(await Incumbent.open(ctx), graph, limits=TreeLimits(moves=moves))
    assert await search.spend(12) == 0
    before = search.incumbent.blueprint
    helped = await search.improve()
    assert await ctx.session.blueprint() == search.incumbent.blueprint
    return search, before, helped


async def test_trades_do_not_leave_a_region_and_a_large_move_does(context: Context) -> None:
    stuck, before, helped = await improved(context, two_arms(90), 0)
    assert (stuck.owned, helped) == (frozenset(NEAR), 0)
    assert stuck.incumbent.blueprint == before
    search, _, helped = await improved(context, two_arms(90), 1)
    assert (search.owned, helped) == (frozenset(FAR), 1)
    assert search.spent == 12


async def test_a_move_that_ends_worse_is_taken_back(context: Context) -> None:
    search, before, helped = await improved(context, two_arms(30), 4)
    assert helped == search.accepted == 0
    assert search.owned == frozenset(NEAR)
    assert {n.id for n in search.incumbent.blueprint.nodes} == {n.id for n in before.nodes}


@pytest.mark.parametrize("seed", range(6))
def test_moves_cost_the_same_hang_together_and_keep_what_is_fixed(seed: int) -> None:
    """On a grid, from a tree grown by chance values."""
    chance = random.Random(seed)
    side = 14
    nodes = [
        node(i + 1, *(i + 1 + step for step in (1, side) if (step > 1 or (i + 1) % side) and i + step < side * side))
        for i in range(side * side)
    ]
    graph = PassiveGraph(nodes, [1])
    planner = Planner(graph, Known({n.id: chance.choice([0, 0, 1, 5]) for n in nodes}), lambda vector: sum(vector))  # type: ignore[arg-type]
    draft = planner.grown(planner.begin(frozenset(), {}, ZERO), 40)[-1]
    fixed = frozenset(chance.sample(sorted(draft.owned), 2))
    planner.fixed = graph.ways_to(fixed, draft.owned)
    moves = large_moves(planner, draft)
    assert moves, "something can be moved"
    for place, one in enumerate(moves):
        assert len(one.owned) == len(draft.owned)
        assert graph.connected(one.owned) == one.owned
        assert planner.fixed <= one.owned
        assert one.score == pytest.approx(sum(planner.vector_of(one.owned, {})))
        assert all(len(one.owned ^ other.owned) >= UNLIKE for other in (draft, *moves[:place]))
    assert [one.score for one in moves] == sorted((one.score for one in moves), reverse=True)
