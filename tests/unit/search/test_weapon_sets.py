from __future__ import annotations

from dataclasses import replace

from app.model.base import changed
from app.model.blueprint import Allocate, Blueprint, GearItem, Gem, PassiveNode, SkillGroup
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.passives.weapon_sets import (
    LEAST_GAIN,
    SecondSet,
    anchors,
    as_many,
    assignable,
    assignment,
    for_second_skill,
    in_one_set,
    of_set,
    set_in_use,
)
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import START, Context

NODES = [
    node(1, 2, kind="start"),
    node(2, 3, 5),
    node(3, 4),
    node(4, kind="keystone"),
    node(5, 6),
    node(6, 7, kind="notable"),
    node(7, mods=["40 inc"]),
]


def blueprint(**sets: int) -> Blueprint:
    nodes = [PassiveNode(id=n, weapon_set=sets.get(f"n{n}", 0)) for n in range(2, 8)]
    return Blueprint(class_name="Toy", level=90, nodes=nodes)


def test_marks_go_to_the_outermost_passives_and_never_to_keystones() -> None:
    graph, owned = PassiveGraph(NODES, [1]), frozenset(range(2, 8))
    assert assignable(graph, owned, 2, frozenset()) == [7, 6]
    assert assignable(graph, owned, 9, frozenset()) == [7, 6, 5]


def test_what_the_idle_set_hangs_on_stays_unmarked() -> None:
    graph, owned = PassiveGraph(NODES, [1]), frozenset({2, 3, 4, 5, 6})
    kept = anchors(graph, owned, frozenset({7}))
    assert kept == {6}
    assert assignable(graph, owned, 3, kept) == []


def test_marking_changes_only_what_differs_and_leaves_the_other_set_alone() -> None:
    build = blueprint(n6=1, n7=2)
    (change,) = assignment(build, [5], 1)
    assert isinstance(change, Allocate)
    assert [(n.id, n.weapon_set) for n in change.nodes] == [(5, 1), (6, 0)]
    assert assignment(build, [6], 1) == []
    assert [n.id for n in of_set(build, 2)] == [7]


async def test_the_set_in_use_is_the_one_whose_passives_count(context: Context) -> None:
    ctx = context(World(nodes=NODES, gems=[active("zap")]))
    incumbent = await Incumbent.open(ctx)
    assert await set_in_use(incumbent) == 1
    await incumbent.commit([Allocate(nodes=[n.model_copy(update={"weapon_set": 2}) for n in blueprint().nodes])])
    assert await set_in_use(incumbent) == 2


WIDE = [
    node(1, 2, 8, kind="start"),
    node(2, 3),
    node(3, 4, mods=["30 life"]),
    node(4, mods=["20 life"]),
    node(8, 9),
    node(9, 10, mods=["60 inc"]),
    node(10, mods=["60 inc"], kind="notable"),
]


def armed(*owned: int) -> Blueprint:
    groups = [SkillGroup(gems=[Gem(gem_id=name, name=name)]) for name in ("zap", "arc")]
    weapon = GearItem(slot="Weapon 1", base="Stick")
    nodes = [PassiveNode(id=n) for n in owned]
    return START.model_copy(update={"nodes": nodes, "groups": groups, "items": {"Weapon 1": weapon}})


async def second_set(context: Context, build: Blueprint, points: int) -> SecondSet | None:
    world = World(nodes=WIDE, gems=[active("zap"), active("arc")], base_life=100.0)
    ctx = context(world)
    await ctx.session.build(build)
    incumbent = await Incumbent.open(replace(ctx, blueprint=build))
    incumbent.objective = replace(incumbent.objective, ehp_weight=0.0)
    found = await for_second_skill(incumbent, PassiveGraph(WIDE, [1]), 2, points)
    assert incumbent.blueprint == build
    assert await ctx.session.blueprint() == build
    return found


async def test_what_serves_the_second_skill_better_is_set_2s_own(context: Context) -> None:
    found = await second_set(context, armed(2, 3, 4), 3)
    assert found is None, "fewer effective hit points than nineteen twentieths"
    found = await second_set(context, armed(2), 1)
    assert found is None, "one point reaches nothing that deals more"


async def test_both_sets_pay_together_and_hold_weapons_alike(context: Context) -> None:
    plain = [changed(fact, mods=[]) if fact.id in (3, 4) else fact for fact in WIDE]
    world = World(nodes=plain, gems=[active("zap"), active("arc")])
    ctx, build = context(world), armed(2, 3, 4)
    await ctx.session.build(build)
    incumbent = await Incumbent.open(replace(ctx, blueprint=build))
    found = await for_second_skill(incumbent, PassiveGraph(plain, [1]), 2, 3)
    assert found is not None
    sets = {n.id: n.weapon_set for n in found.blueprint.nodes}
    assert sets == {2: 1, 3: 1, 4: 1, 8: 2, 9: 2, 10: 2}
    assert found.points == 3
    assert found.after > LEAST_GAIN * found.before
    assert found.blueprint.items["Weapon 1 Swap"].base == "Stick"
    assert found.blueprint.main_group == build.main_group
    assert in_one_set(found.blueprint) == build
    new = frozenset(key for key, weapon_set in sets.items() if weapon_set == 2)
    assert await for_second_skill(incumbent, PassiveGraph(plain, [1]), 2, 3, new) is None, "nothing else is worth it"


def test_what_is_given_back_beyond_what_is_bought_stays_for_both() -> None:
    graph = PassiveGraph(NODES, [1])
    assert as_many(graph, frozenset({5, 6, 7}), frozenset({2}), 2) == {6, 7}
    assert as_many(graph, frozenset({5, 6, 7}), frozenset({2}), 3) == {5, 6, 7}
