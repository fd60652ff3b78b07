"""Large moves: to another region or a far passive, by another aim, anew, or from another tree."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.facts import NodeFact
from app.search.base import SearchContext
from app.search.incumbent import Incumbent
from app.search.objective import Objective, objective_for
from app.search.passives.graph import PassiveGraph
from app.search.passives.large_moves import UNLIKE, LargeMoves, bare, crossed, large_moves, scaled
from app.search.passives.planner import Planner, TreeDraft
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
    helped = await LargeMoves(search, moves).improve()
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


async def test_a_keystone_that_ruins_a_tree_is_taken_with_what_suits_it(context: Context) -> None:
    keystone, suiting = 43, 53
    arm = [node(i, i + 1, mods=["3 inc"]) for i in NEAR]
    ways = [node(i, i + 1) for i in (40, 41, 42, 50, 51, 52)]
    pair = [node(keystone, mods=["-250 more"], kind="keystone"), node(suiting, mods=["-300 more"])]
    beside = [node(i) for i in range(60, 68)]
    start = node(1, 2, 40, 50, *(one.id for one in beside), kind="start")
    world = World(nodes=[start, *arm, node(NEAR[-1] + 1), *ways, *pair, *beside], gems=[active("zap")])
    stuck, _, _ = await improved(context, world, 0)
    assert not stuck.owned & {keystone, suiting}, "each alone turns all damage into less than nothing"
    search, _, helped = await improved(context, world, 1)
    assert {keystone, suiting} <= search.owned, "together they triple it"
    assert (helped, search.spent) == (1, 12)
    assert search.fixed | search.planner.fixed == frozenset(), "it may be given back again"


def grid(side: int, mods: Callable[[], list[str]] = list) -> list[NodeFact]:
    """Return a square of passives, each beside its neighbours."""
    steps = [(i, [1] * ((i + 1) % side > 0) + [side]) for i in range(side * side)]
    return [node(i + 1, *(i + 1 + s for s in ways if i + s < side * side), mods=mods()) for i, ways in steps]


def grown_by_chance(seed: int) -> tuple[Planner, TreeDraft, TreeDraft]:
    """Return a planner with chance values, a tree grown by them, and one of the same cost grown by others."""
    chance = random.Random(seed)
    nodes = grid(14)
    graph = PassiveGraph(nodes, [1])
    worth, unlike = ({n.id: chance.choice([0, 0, 1, 5]) for n in nodes} for _ in range(2))
    planner, other = (Planner(graph, Known(values), lambda vector: sum(vector)) for values in (worth, unlike))  # type: ignore[arg-type]
    draft, donor = (one.grown(one.begin(frozenset(), {}, ZERO), 40)[-1] for one in (planner, other))
    planner.fixed = graph.ways_to(frozenset(chance.sample(sorted(draft.owned), 2)), draft.owned)
    return planner, draft, planner.draft(donor.owned, {}, planner.vector_of(donor.owned, {}))


@pytest.mark.parametrize("seed", range(6))
def test_moves_cost_the_same_hang_together_and_keep_what_is_fixed(seed: int) -> None:
    """On a grid, from a tree grown by chance values."""
    planner, draft, _ = grown_by_chance(seed)
    graph = planner.graph
    moves = large_moves(planner, draft)
    assert moves, "something can be moved"
    for place, one in enumerate(moves):
        assert len(one.owned) == len(draft.owned)
        assert graph.connected(one.owned) == one.owned
        assert planner.fixed <= one.owned
        assert one.score == pytest.approx(sum(planner.vector_of(one.owned, {})))
        assert all(len(one.owned ^ other.owned) >= UNLIKE for other in (draft, *moves[:place]))
    assert [one.score for one in moves] == sorted((one.score for one in moves), reverse=True)


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_crossed_tree_costs_the_same_and_has_a_limb_of_both(seed: int) -> None:
    planner, draft, donor = grown_by_chance(seed)
    trees = crossed(planner, draft, donor)
    assert trees, "something can be taken over"
    for one in trees:
        assert len(one.owned) == len(draft.owned)
        assert planner.graph.connected(one.owned) == one.owned
        assert planner.fixed <= one.owned
    assert any((one.owned & donor.owned) - draft.owned and (one.owned & draft.owned) - donor.owned for one in trees)


def test_nothing_is_taken_over_that_what_is_not_fixed_cannot_pay_for() -> None:
    planner, draft, donor = grown_by_chance(0)
    assert (len(planner.fixed), len(draft.owned)) == (28, 40)
    assert crossed(planner, draft, donor) == []
    assert crossed(replace(planner, fixed=frozenset()), draft, donor)


def demanding(context: Context, seed: int, keystones: int = 0) -> tuple[SearchContext, PassiveGraph, Objective]:
    """A grid of damage and life by chance, and an objective that asks for more life than is there."""
    chance = random.Random(seed)
    lines = ["3 inc", "5 inc", "9 inc", "30 life", "60 life", "2 more"]
    nodes = grid(10, lambda: chance.choices([[], [chance.choice(lines)]], [2, 1])[0])
    for place in chance.sample(range(20, len(nodes)), keystones):
        bargain = chance.choice([["-60 more", "2000 life"], ["60 more", "-800 life"], ["-40 inc", "40 more"]])
        nodes[place] = changed(nodes[place], kind="keystone", mods=bargain)
    world = World(nodes=nodes, gems=[active("zap")])
    ctx = context(world)
    return ctx, PassiveGraph(world.nodes, [1]), replace(objective_for(ctx), minima={"TotalEHP": 1500.0})


SEEDS = range(10)


class OnlyFromTheBest(LargeMoves):
    """All moves, but none from a tree that came near."""

    async def _beside(self) -> bool:
        return False


async def score_of(context: Context, seed: int, moves: int, keystones: int = 0) -> float:
    """Return the score that is reached with so many moves of each kind."""
    ctx, graph, objective = demanding(context, seed, keystones)
    search = TreeSearch(await Incumbent.open(ctx, objective), graph, limits=TreeLimits(reach=5))
    judged = search.incumbent.objective
    assert await search.spend(16) == 0
    local = search.incumbent.score
    helped = await LargeMoves(search, moves).improve()
    assert search.incumbent.objective == judged, "another aim was for a while"
    assert await ctx.session.blueprint() == search.incumbent.blueprint
    assert search.spent == 16
    assert search.fixed | search.planner.fixed == frozenset(), "keystones were kept for a while"
    assert search.incumbent.score == pytest.approx(await search.incumbent.measure())
    assert (search.incumbent.score > local) == (helped > 0)
    return search.incumbent.score


async def test_with_large_moves_a_tree_is_never_worse_and_often_better(context: Context) -> None:
    without = [await score_of(context, seed, 0) for seed in SEEDS]
    moved = [await score_of(context, seed, 2) for seed in SEEDS]
    gained = [more - less for more, less in zip(moved, without, strict=True)]
    assert min(gained) >= -1e-9
    assert sum(gain > 1e-3 for gain in gained) >= 3
    assert sum(gained) > 0.5
    assert await score_of(context, 3, 2) == moved[3], "the same tree again"


async def test_trees_are_grown_around_keystones_and_never_end_worse(context: Context) -> None:
    """In the last world the keystones are further from the start than there are points for."""
    without = [await score_of(context, seed, 0, keystones=5) for seed in (0, 2, 3, 9)]
    moved = [await score_of(context, seed, 2, keystones=5) for seed in (0, 2, 3, 9)]
    gained = [more - less for more, less in zip(moved, without, strict=True)]
    assert min(gained) >= -1e-9
    assert sum(gain > 1e-3 for gain in gained) >= 3


def test_another_aim_leaves_what_is_measured_alone(context: Context) -> None:
    _, _, objective = demanding(context, 0)
    easier = scaled(objective, 0.5)
    assert (easier.minima, easier.ehp_weight) == ({"TotalEHP": 750.0}, 0.25 * objective.ehp_weight)
    assert scaled(replace(objective, minima={"SpiritUnreserved": -3.0}), 0.5).minima == {"SpiritUnreserved": -3.0}
    free = bare(objective)
    assert not free.guards
    assert not free.minima
    assert free.metrics == easier.metrics == objective.metrics


async def test_what_only_a_tree_that_came_near_can_see_is_found(context: Context) -> None:
    """Two ways of thirteen passives of about 3 % behind three that do nothing, and far along the worse one the best."""
    good, nearly, best, leaves = range(2, 18), range(30, 46), range(60, 70), (80, 81)

    def way(passives: range, mods: str, fork: int = 0) -> list[NodeFact]:
        links = {i: [i + 1] for i in passives[:-1]} | {passives[-1]: []}
        links[passives[7]] += [fork] if fork else []
        return [node(i, *links[i], mods=[mods] if place >= 3 else []) for place, i in enumerate(passives)]

    arms = [*way(good, "3 inc"), *way(nearly, "2.99 inc", best[0]), *(node(i, i + 1) for i in best[:-1])]
    arms += [node(best[-1], mods=["150 inc"], kind="notable"), *(node(i, mods=["0.1 inc"]) for i in leaves)]
    world = World(nodes=[node(1, good[0], nearly[0], *leaves, kind="start"), *arms], gems=[active("zap")])
    for large, owned in ((OnlyFromTheBest, {*good, *leaves}), (LargeMoves, {*nearly[:8], *best})):
        search = TreeSearch(await Incumbent.open(context(world)), PassiveGraph(world.nodes, [1]))
        assert await search.spend(18) == 0
        await large(search, 4).improve()
        assert search.owned == owned
