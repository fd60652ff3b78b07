from __future__ import annotations

from app.search.incumbent import Incumbent
from app.search.passives.ascendancy import AscendancySelection
from app.search.passives.graph import PassiveGraph
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context

NODES = [
    node(100, 101, 103, 105, kind="ascendancy_start", ascendancy="Top"),
    node(101, 102, ascendancy="Top", mods=["1 inc"]),
    node(102, 110, ascendancy="Top", kind="notable", mods=["20 inc"]),
    node(110, 111, ascendancy="Top"),
    node(111, ascendancy="Top", kind="notable", mods=["90 inc"]),
    node(103, 104, ascendancy="Top"),
    node(104, ascendancy="Top", kind="notable", mods=["50 inc"]),
    node(105, 106, ascendancy="Top"),
    node(106, ascendancy="Top", kind="notable"),
    node(107, 106, ascendancy="Top", choice_of=106, cost=0, mods=["30 inc"]),
    node(108, 106, ascendancy="Top", choice_of=106, cost=0, mods=["70 inc"]),
]
WORLD = World(nodes=NODES, gems=[active("zap")])


async def spend(context: Context, points: int, **more: object) -> frozenset[int]:
    incumbent = await Incumbent.open(context(WORLD))
    graph = PassiveGraph(NODES, [100])
    owned = await AscendancySelection(incumbent, graph, **more).run(points)  # type: ignore[arg-type]
    assert {n.id for n in incumbent.blueprint.nodes} == owned
    return owned


async def test_looks_past_the_nearest_gain(context: Context) -> None:
    """Two points: 50 beats 21; four: the option's 70 and the 50 together beat the 112 of the long arm."""
    assert await spend(context, 2) == {105, 106, 108}
    assert await spend(context, 4) == {103, 104, 105, 106, 108}
    assert await spend(context, 6) == {101, 102, 110, 111, 105, 106, 108}


async def test_options_cost_nothing_and_exclude_each_other(context: Context) -> None:
    owned = await spend(context, 8)
    assert 108 in owned
    assert 107 not in owned
    assert len(owned) == 9


async def test_a_small_passive_is_on_the_way_to_another(context: Context) -> None:
    """A Monk had six small passives and two notables: the calculator saw nothing in the others."""
    nodes = [
        node(100, 101, 103, 105, kind="ascendancy_start", ascendancy="Top"),
        node(101, 102, ascendancy="Top", mods=["20 inc"]),
        node(102, ascendancy="Top", kind="notable"),
        node(103, 104, ascendancy="Top", mods=["10 inc"]),
        node(104, ascendancy="Top", kind="notable"),
        node(105, 106, ascendancy="Top", mods=["15 inc"]),
        node(106, ascendancy="Top", kind="notable"),
    ]
    for points, chosen in ((2, {101, 102}), (4, {101, 102, 105, 106}), (3, {101, 102, 105})):
        incumbent = await Incumbent.open(context(World(nodes=nodes, gems=[active("zap")])))
        assert await AscendancySelection(incumbent, PassiveGraph(nodes, [100])).run(points) == chosen


async def test_what_the_plan_wants_decides_between_near_equals(context: Context) -> None:
    world_with_ties = World(
        nodes=[
            node(100, 101, 102, kind="ascendancy_start", ascendancy="Top"),
            node(101, kind="notable", ascendancy="Top"),
            node(102, kind="notable", ascendancy="Top"),
        ],
        gems=[active("zap")],
    )
    incumbent = await Incumbent.open(context(world_with_ties))
    graph = PassiveGraph(world_with_ties.nodes, [100])
    assert await AscendancySelection(incumbent, graph, wanted=(102,)).run(1) == {102}


async def test_an_equal_set_does_not_replace_the_old_one(context: Context) -> None:
    incumbent = await Incumbent.open(context(WORLD))
    search = AscendancySelection(incumbent, PassiveGraph(NODES, [100]))
    first = await search.run(4)
    before = incumbent.blueprint
    assert await search.run(4) == first
    assert incumbent.blueprint == before


async def test_excluded_passives_stay_out(context: Context) -> None:
    assert await spend(context, 2, banned=frozenset({106})) == {103, 104}


async def test_a_banned_passive_goes_even_when_nothing_is_better(context: Context) -> None:
    incumbent = await Incumbent.open(context(WORLD))
    await AscendancySelection(incumbent, PassiveGraph(NODES, [100])).run(2)
    assert 108 in {n.id for n in incumbent.blueprint.nodes}
    again = await AscendancySelection(incumbent, PassiveGraph(NODES, [100]), banned=frozenset({106})).run(2)
    assert again == {n.id for n in incumbent.blueprint.nodes} == {103, 104}


async def test_passives_that_grant_points_are_worth_those_points(context: Context) -> None:
    """They beat what does nothing, and what there was without them, but not a real gain."""
    nodes = [
        node(100, 101, 102, 103, kind="ascendancy_start", ascendancy="Top"),
        node(101, kind="notable", ascendancy="Top"),
        node(102, kind="notable", ascendancy="Top", mods=["Grants 4 Passive Skill Point"]),
        node(103, kind="notable", ascendancy="Top", mods=["50 inc"]),
    ]
    incumbent = await Incumbent.open(context(World(nodes=nodes, gems=[active("zap")])))
    graph = PassiveGraph(nodes, [100])
    assert await AscendancySelection(incumbent, graph, banned=frozenset({102})).run(2) == {101, 103}
    assert await AscendancySelection(incumbent, graph).run(2) == {102, 103}
    fresh = await Incumbent.open(context(World(nodes=nodes, gems=[active("zap")])))
    assert await AscendancySelection(fresh, graph).run(1) == {103}
