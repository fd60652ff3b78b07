from __future__ import annotations

from app.model.blueprint import Allocate, Deallocate, PassiveNode
from app.model.names import Attribute
from app.search.base import SearchContext
from app.search.incumbent import Incumbent
from app.search.objective import METRICS
from app.search.passives.effects import Effects
from app.search.passives.graph import PassiveGraph, levelling_order, ordered
from app.search.passives.tree import TreeLimits, TreeSearch
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context

GEMS = [active("zap")]


def fork_world() -> World:
    """Two arms of three points: the left notable is worth 60 %, the right one 50 % with 5 % on the way."""
    nodes = [
        node(1, 2, 5, 8, kind="start"),
        node(2, 3),
        node(3, 4),
        node(4, mods=["60 inc"], kind="notable"),
        node(5, 6, mods=["5 inc"]),
        node(6, 7),
        node(7, mods=["50 inc"], kind="notable"),
        node(8, mods=["4 inc"]),
    ]
    return World(nodes=nodes, gems=GEMS)


def search_of(ctx: SearchContext, incumbent: Incumbent, **more: object) -> TreeSearch:
    world_nodes = ctx.engine.world.nodes  # type: ignore[attr-defined]
    return TreeSearch(incumbent, PassiveGraph(world_nodes, [1]), **more)  # type: ignore[arg-type]


async def grown(ctx: SearchContext, points: int, **more: object) -> tuple[TreeSearch, int]:
    incumbent = await Incumbent.open(ctx)
    search = search_of(ctx, incumbent, **more)
    return search, await search.spend(points)


async def test_buys_the_best_arm_for_the_points(context: Context) -> None:
    search, left = await grown(context(fork_world()), 3)
    assert left == 0
    assert search.owned == {2, 3, 4}


async def test_spends_exactly_what_there_is(context: Context) -> None:
    for points in range(1, 8):
        search, left = await grown(context(fork_world()), points)
        assert (left, search.spent) == (0, points)


async def test_reports_points_that_nothing_can_take(context: Context) -> None:
    search, left = await grown(context(fork_world()), 9)
    assert (left, search.spent) == (2, 7)


async def test_session_and_blueprint_agree(context: Context) -> None:
    ctx = context(fork_world())
    search, _ = await grown(ctx, 4)
    assert await ctx.session.blueprint() == search.incumbent.blueprint


async def test_never_buys_banned_passives(context: Context) -> None:
    search, _ = await grown(context(fork_world()), 3, banned=frozenset({4}))
    assert search.owned == {5, 6, 7}


async def test_trading_escapes_the_greedy_trap(context: Context) -> None:
    """80 % next door are bought first, and then the 200 % behind three steps are one point too far."""
    nodes = [
        node(1, 2, 3, kind="start"),
        node(2, mods=["80 inc"], kind="notable"),
        node(3, 4),
        node(4, 5),
        node(5, mods=["200 inc"], kind="notable"),
    ]
    ctx = context(World(nodes=nodes, gems=GEMS))
    search, _ = await grown(ctx, 3)
    assert search.owned == {2, 3, 4}
    assert await search.improve() == 1
    assert search.owned == {3, 4, 5}


async def test_trading_ends_where_a_round_gains_too_little_for_its_trials(context: Context) -> None:
    """Two of eight arms can be held, and the two best are two trades away: at a high rate the first is the last."""
    arms = [node(10 * i, 10 * i + 1, mods=[f"{i} inc"], kind="notable") for i in range(1, 9)]
    tips = [node(10 * i + 1, mods=[f"{10 * i} inc"], kind="notable") for i in range(1, 9)]
    nodes = [node(1, *(10 * i for i in range(1, 9)), kind="start"), *arms, *tips]
    trials: list[int] = []
    for rate in (0.0, 1.0):
        incumbent = await Incumbent.open(context(World(nodes=nodes, gems=GEMS)))
        await incumbent.commit([Allocate(nodes=[PassiveNode(id=n) for n in (10, 11, 20, 21)])])
        search = TreeSearch(incumbent, PassiveGraph(nodes, [1]), limits=TreeLimits(rate=rate, chain=1))
        assert await search.improve() == (1 if rate else 2)
        trials.append(search.trials)
    assert trials[1] < trials[0]


async def test_trading_leaves_a_good_tree_alone(context: Context) -> None:
    search, _ = await grown(context(fork_world()), 6)
    before = search.incumbent.blueprint
    assert await search.improve() == 0
    assert search.incumbent.blueprint == before


async def test_shrink_gives_the_cheapest_points_back(context: Context) -> None:
    search, _ = await grown(context(fork_world()), 7)
    await search.shrink(1)
    assert search.owned == {2, 3, 4, 5, 6, 7}


async def test_travel_passives_give_the_attribute_that_helps(context: Context) -> None:
    nodes = [node(1, 2, kind="start"), node(2, 3, kind="attribute"), node(3, mods=["40 inc"], kind="notable")]
    world = World(nodes=nodes, gems=[active("zap", "15 need_dex")], attributes={"dex": 10})
    search, _ = await grown(context(world), 2)
    assert {n.id: n.attribute for n in search.incumbent.blueprint.nodes} == {2: Attribute.DEXTERITY, 3: None}


async def test_words_decide_where_the_engine_sees_nothing(context: Context) -> None:
    nodes = [
        node(1, 2, 3, kind="start"),
        node(2, mods=["9 cold stuff"], kind="notable"),
        node(3, mods=["9 fire stuff"], kind="notable"),
    ]
    world = World(nodes=nodes, gems=GEMS, modelled=False)
    search, _ = await grown(context(world), 1, keywords=["fire"])
    assert search.owned == {3}


async def test_equal_worlds_give_equal_trees(context: Context) -> None:
    first, _ = await grown(context(fork_world()), 5)
    second, _ = await grown(context(fork_world()), 5)
    assert first.incumbent.blueprint == second.incumbent.blueprint


async def test_locked_passives_open_once_their_key_is_owned(context: Context) -> None:
    nodes = [
        node(1, 2, 3, kind="start"),
        node(2, mods=["10 inc"], kind="notable"),
        node(3, mods=["90 inc"], kind="notable", unlocked_by=[2]),
    ]
    search, _ = await grown(context(World(nodes=nodes, gems=GEMS)), 2)
    assert [n.id for n in search.incumbent.blueprint.nodes] == [2, 3]


def test_branch_of_names_all_that_hangs_on_a_passive() -> None:
    graph = PassiveGraph(fork_world().nodes, [1])
    assert graph.branch_of(3, frozenset({2, 3, 4, 8})) == {3, 4}


def test_routes_prefer_the_worthier_of_two_equal_ways() -> None:
    nodes = [node(1, 2, 3, kind="start"), node(2, 4), node(3, 4), node(4)]
    graph = PassiveGraph(nodes, [1])
    assert graph.routes(frozenset(), 2)[4].nodes == (2, 4)
    assert graph.routes(frozenset(), 2, lambda n: 0.5 * (n == 3))[4].nodes == (3, 4)


def test_cuts_are_what_each_passive_takes_with_it() -> None:
    """On a ring nothing hangs on a single passive; on the arm behind it all that follows does."""
    nodes = [node(1, 2, 3, kind="start"), node(2, 4), node(3, 4), node(4, 5), node(5, 6), node(6)]
    graph, owned = PassiveGraph(nodes, [1]), frozenset({2, 3, 4, 5, 6})
    assert set(graph.branches(owned)) == {graph.branch_of(n, owned) for n in owned}
    assert frozenset({2}) in graph.branches(owned)
    assert frozenset({4, 5, 6}) in graph.branches(owned)


async def test_passives_that_read_the_same_are_tried_once(context: Context) -> None:
    nodes = [node(1, *range(2, 40), kind="start"), *(node(i, mods=["5 inc"]) for i in range(2, 40))]
    search, _ = await grown(context(World(nodes=nodes, gems=GEMS)), 1)
    assert search.trials < 10


async def test_a_cluster_that_pays_only_together_is_kept(context: Context) -> None:
    """The first of two passives is worth nothing alone; the way to the good one leads through it."""
    nodes = [
        node(1, 2, 3, 6, kind="start"),
        node(2, mods=["10 inc"]),
        node(3, 4),
        node(4, 5),
        node(5, mods=["90 inc"]),
        node(6, mods=["12 inc"]),
    ]
    search, _ = await grown(context(World(nodes=nodes, gems=GEMS)), 3)
    assert search.owned == {3, 4, 5}


async def test_a_broken_promise_is_studied_and_the_next_plan_avoids_it(context: Context) -> None:
    """Damage needs the attribute of one of two passives: either may go, both may not."""
    nodes = [
        node(1, 2, 3, 4, kind="start"),
        node(2, mods=["20 dex"]),
        node(3, mods=["20 dex", "1 inc"]),
        node(4, 5, mods=["6 inc"]),
        node(5, mods=["60 inc"], kind="notable"),
    ]
    world = World(nodes=nodes, gems=[active("zap", "15 need_dex")])
    ctx = context(world)
    incumbent = await Incumbent.open(ctx)
    await incumbent.commit([Allocate(nodes=[PassiveNode(id=2), PassiveNode(id=3), PassiveNode(id=4)])])
    search = search_of(ctx, incumbent)
    await search.improve()
    assert search.owned == {3, 4, 5}


async def test_fixed_passives_stay(context: Context) -> None:
    ctx = context(fork_world())
    incumbent = await Incumbent.open(ctx)
    await incumbent.commit([Allocate(nodes=[PassiveNode(id=8), PassiveNode(id=5)])])
    search = search_of(ctx, incumbent, fixed=frozenset({8}))
    await search.clear()
    assert search.owned == {8}
    await search.shrink(1)
    assert search.owned == {8}


async def test_levelling_takes_the_best_way_first_and_every_prefix_connects(context: Context) -> None:
    search, _ = await grown(context(fork_world()), 7)
    order = await search.levelling()
    assert order[:3] == [2, 3, 4]
    for length in range(len(order) + 1):
        prefix = frozenset(order[:length])
        assert search.graph.connected(prefix) == prefix
    blueprint = ordered(search.incumbent.blueprint, order)
    assert [n.id for n in blueprint.nodes] == order


def test_levelling_respects_keys() -> None:
    nodes = [node(1, 2, 3, kind="start"), node(2), node(3, unlocked_by=[2])]
    assert levelling_order(PassiveGraph(nodes, [1]), frozenset({2, 3}), lambda n: float(n)) == [2, 3]


async def test_dropped_passives_leave_the_blueprint(context: Context) -> None:
    ctx = context(fork_world())
    incumbent = await Incumbent.open(ctx)
    await incumbent.commit([Allocate(nodes=[PassiveNode(id=2), PassiveNode(id=7)])])
    assert [n.id for n in incumbent.blueprint.nodes] == [2]


async def test_what_was_measured_on_a_build_is_not_measured_on_it_again(context: Context) -> None:
    search, _ = await grown(context(fork_world()), 4)
    order, tried = await search.levelling(), search.trials
    assert await search.levelling() == order
    assert search.trials == tried
    await search.shrink(1)
    assert await search.levelling() == order[:3]
    assert search.trials > tried


async def test_what_a_passive_does_is_known_for_the_keystones_there_are(context: Context) -> None:
    """With resistance at its cap a line of it does nothing; a keystone that lowers it makes it count."""
    nodes = [node(1, 2, 3, kind="start"), node(2, mods=["-50 fire"], kind="keystone"), node(3, mods=["10 fire"])]
    ctx = context(World(nodes=nodes, gems=GEMS))
    incumbent = await Incumbent.open(ctx)
    effects = Effects(incumbent, PassiveGraph(nodes, [1]))
    fire = METRICS.index("FireResist")

    async def learned() -> float:
        await effects.learn([3])
        effect = effects.of(3)
        assert effect is not None
        return effect[fire]

    assert await learned() == 0
    await incumbent.commit([Allocate(nodes=[PassiveNode(id=2)])])
    assert await learned() == 10
    await incumbent.commit([Deallocate(nodes=[2])])
    tried = incumbent.trials
    assert await learned() == 0
    assert incumbent.trials == tried, "what is known to do nothing is not tried again"


async def test_only_the_best_routes_are_measured_anew_where_that_is_asked_for(context: Context) -> None:
    """Six arms, two of which are owned: on another tree all that is owned is measured again, and one arm of four."""
    arms = [node(10 * i, mods=[f"{i} inc"], kind="notable") for i in range(1, 7)]
    nodes = [node(1, *(10 * i for i in range(1, 7)), kind="start"), *arms]
    tried: list[int] = []
    for renewed in (None, 1):
        incumbent = await Incumbent.open(context(World(nodes=nodes, gems=GEMS)))
        await incumbent.commit([Allocate(nodes=[PassiveNode(id=10)])])
        search = TreeSearch(incumbent, PassiveGraph(nodes, [1]), limits=TreeLimits(renewed=renewed))
        await search.learn()
        assert search.trials == 6, "what is not known is measured either way"
        await incumbent.commit([Allocate(nodes=[PassiveNode(id=20)])])
        before = search.trials
        await search.learn()
        tried.append(search.trials - before)
        await search.improve()
        assert search.owned == {50, 60}, "and the search ends with the same tree"
    assert tried == [6, 3]
