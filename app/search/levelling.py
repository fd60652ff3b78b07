"""In which order to take the passives: what helps most per point first, and never one that hangs on nothing."""

from __future__ import annotations

from collections.abc import Callable

from app.model.blueprint import Blueprint
from app.search.atlas import Atlas


def levelling_order(atlas: Atlas, owned: frozenset[int], worth: Callable[[int], float]) -> list[int]:
    """Return the owned passives so that every prefix is a connected tree.

    Each step takes the way, through owned passives only, whose `worth` per point is highest; ties go to the shorter
    way, then to the lower id.
    """
    inside = Atlas([atlas.nodes[n] for n in sorted((owned | atlas.roots) & atlas.nodes.keys())], atlas.roots)
    order: list[int] = []
    while True:
        routes = inside.routes(frozenset(order), len(owned), worth)
        if not routes:
            return [*order, *sorted(owned - set(order))]
        rank = {r.target: (-sum(map(worth, r.nodes)) / r.points, r.points, r.target) for r in routes.values()}
        order += min(routes.values(), key=lambda r: rank[r.target]).nodes


def ordered(blueprint: Blueprint, first: list[int]) -> Blueprint:
    """Return the blueprint with these passives first, in this order, and the others after them as they were."""
    place = {node: i for i, node in enumerate(first)}
    nodes = sorted(blueprint.nodes, key=lambda n: place.get(n.id, len(place)))
    return blueprint.model_copy(update={"nodes": nodes})
