"""The passive tree as Path of Building draws it."""

from __future__ import annotations

from math import hypot

import pytest

from app.engine.pob.backend import PobBackend
from app.model.facts import EdgeFact, NodeFact

pytestmark = pytest.mark.pob


def test_every_connection_of_neighbours_is_drawn_once_and_bends_no_more_than_it_can(
    warm_backend: PobBackend,
) -> None:
    nodes = {node.id: node for node in map(NodeFact.model_validate, warm_backend.handle("nodes", {}))}
    drawn = [EdgeFact.model_validate(edge) for edge in warm_backend.handle("edges", {})]
    edges = [edge for edge in drawn if edge.a in nodes and edge.b in nodes]
    assert len(nodes) > 4_000
    pairs = [frozenset((edge.a, edge.b)) for edge in edges]
    assert len(set(pairs)) == len(pairs)
    neighbours = {frozenset((one.id, other)) for one in nodes.values() for other in one.neighbours}
    starts = {number for number, node in nodes.items() if node.kind == "start"}
    assert {pair for pair in neighbours if not pair & starts} == {pair for pair in pairs if not pair & starts}
    bent = [edge for edge in edges if edge.radius]
    assert 0.3 * len(edges) < len(bent) < 0.8 * len(edges)
    for edge in bent:
        a, b = nodes[edge.a], nodes[edge.b]
        assert hypot(a.x - b.x, a.y - b.y) <= 2 * edge.radius + 1
    assert 0.2 < sum(edge.clockwise for edge in bent) / len(bent) < 0.8
