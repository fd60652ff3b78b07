"""What the tree as a graph promises, on graphs of any shape."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.model.facts import NodeFact
from app.search.passives.graph import PassiveGraph

SIZE = 9
EDGES = st.sets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=16)
NODES = st.frozensets(st.integers(1, SIZE - 1))


def graph_of(edges: set[tuple[int, int]]) -> PassiveGraph:
    """Return an graph with these edges; its root is 0."""
    near: dict[int, list[int]] = {node: [] for node in range(SIZE)}
    for one, other in edges:
        near[one].append(other)
    return PassiveGraph(
        [NodeFact(id=n, name=str(n), kind="normal", neighbours=others) for n, others in near.items()], [0]
    )


@given(EDGES, NODES, NODES)
def test_what_hangs_on_one_can_go(edges: set[tuple[int, int]], owned: frozenset[int], gone: frozenset[int]) -> None:
    graph = graph_of(edges)
    whole = graph.connected(owned)
    rest = whole - gone
    if graph.hang_on_one(whole & gone, rest):
        assert graph.connected(rest) == rest


@given(EDGES, NODES, st.integers(1, SIZE - 1))
def test_what_touches_a_whole_tree_belongs_to_it(edges: set[tuple[int, int]], owned: frozenset[int], node: int) -> None:
    graph = graph_of(edges)
    whole = graph.connected(owned)
    assert graph.touch([node], whole) == (node in graph.connected(whole | {node}) or node in whole)


@given(EDGES, NODES)
def test_cuts_are_what_is_lost_with_each_passive(edges: set[tuple[int, int]], owned: frozenset[int]) -> None:
    graph = graph_of(edges)
    whole = graph.connected(owned)
    assert sorted(map(sorted, graph.branches(whole))) == sorted(sorted(graph.branch_of(n, whole)) for n in whole)
