"""Which passives are really allocated: connected to the class start, or within the ascendancy."""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.sketch.pack import Pack
from app.model.blueprint import Blueprint, PassiveNode

_STARTS = ("start", "ascendancy_start")


def connected(pack: Pack, blueprint: Blueprint) -> tuple[list[PassiveNode], list[int]]:
    """Return the passives that hold together, in their order, and the ids that do not (unknown or cut off)."""
    reached = _reach(pack, blueprint, {node.id for node in blueprint.nodes})
    kept = [node for node in blueprint.nodes if node.id in reached]
    return kept, [node.id for node in blueprint.nodes if node.id not in reached]


def point_counts(pack: Pack, blueprint: Blueprint) -> dict[str, int]:
    """Return used and available points; points in both weapon sets count once."""
    counts = {"used": 0, "used_set1": 0, "used_set2": 0, "ascendancy_used": 0}
    for node in blueprint.nodes:
        passive = pack.passives.get(node.id)
        if passive is None or passive.kind in _STARTS or not passive.cost:
            continue
        if node.id in pack.ascendancy_of:
            counts["ascendancy_used"] += 1
        else:
            counts["used"] += 1
            if node.weapon_set:
                counts[f"used_set{node.weapon_set}"] += 1
    counts["used"] -= min(counts["used_set1"], counts["used_set2"])
    counts["available"] = blueprint.level - 1 + pack.game.points["quest"]
    counts["ascendancy_available"] = pack.game.points["ascendancy"]
    return counts


def roots(pack: Pack, blueprint: Blueprint) -> list[int]:
    """Return the start passives of the class and its ascendancy."""
    chosen = pack.classes[blueprint.class_name]
    return [chosen.start, *(a.start for a in chosen.ascendancies if a.name == blueprint.ascendancy)]


def _reach(pack: Pack, blueprint: Blueprint, wanted: Iterable[int]) -> set[int]:
    open_ids = set(wanted)
    reached: set[int] = set()
    frontier = roots(pack, blueprint)
    while frontier:
        current = frontier.pop()
        reached.add(current)
        for other in pack.neighbours[current]:
            if other in open_ids and other not in reached and pack.passives[other].kind not in _STARTS:
                frontier.append(other)
    return reached
