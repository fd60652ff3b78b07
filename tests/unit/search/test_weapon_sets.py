from __future__ import annotations

from app.model.blueprint import Allocate, Blueprint, PassiveNode
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.passives.weapon_sets import anchors, assignable, assignment, of_set, set_in_use
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context

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
