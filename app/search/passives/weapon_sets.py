"""Weapon-set passives: which of them count, paying for those of the idle set, and spending them for a second skill.

A passive may be allocated for one weapon set only. What set 1 and set 2 have of such passives is paid once, so a tree
that keeps 20 passives for the idle set gets 20 of its own for nothing, as long as these are assigned to the set in use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.model.base import changed
from app.model.blueprint import (
    HAND_SLOTS,
    SWAP,
    SWAP_SLOTS,
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    PassiveNode,
    SetMain,
    WeaponSet,
)
from app.model.stats import DPS, EHP
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import Guard
from app.search.passives.graph import PassiveGraph
from app.search.passives.tree import TreeLimits, TreeSearch

IN_BOTH_SETS = frozenset({"keystone", "socket"})
"""Kinds that always count for both sets."""


def of_set(blueprint: Blueprint, weapon_set: WeaponSet) -> list[PassiveNode]:
    """Return the passives allocated for this weapon set only."""
    return [n for n in blueprint.nodes if n.weapon_set == weapon_set]


async def set_in_use(incumbent: Incumbent) -> WeaponSet:
    """Return the weapon set that the calculation uses: the one whose passives change a number, 1 when none does."""
    second = [n.id for n in of_set(incumbent.blueprint, 2)]
    if not second:
        return 1
    tried = (await incumbent.outputs_of([[Deallocate(nodes=second)]]))[0]
    same = all(abs(tried.get(key, 0.0) - value) <= EPSILON for key, value in incumbent.outputs.items())
    return 1 if same else 2


def anchors(graph: PassiveGraph, owned: frozenset[int], idle: frozenset[int]) -> frozenset[int]:
    """Return the owned passives that the idle set's passives hang on; they must stay, for both sets."""
    return frozenset(n for node in idle if node in graph.nodes for n in graph.neighbours[node] if n in owned)


def assignable(graph: PassiveGraph, owned: frozenset[int], count: int, kept: frozenset[int]) -> list[int]:
    """Return `count` passives (or as many as there are) to assign to one set: outermost first, so that the rest holds.

    `kept` passives stay with both sets, and so does what leads to them.
    """
    found: list[int] = []
    rest = owned
    while len(found) < count:
        leaves = sorted(branch for branch in map(sorted, graph.branches(rest)) if len(branch) == 1)
        free = [n for (n,) in leaves if n not in kept and graph.nodes[n].kind not in IN_BOTH_SETS]
        if not free:
            return found
        found.append(free[0])
        rest = rest - {free[0]}
    return found


def assignment(blueprint: Blueprint, nodes: list[int], weapon_set: WeaponSet) -> list[Change]:
    """Return the change that allocates exactly these passives (and those of the other set) for one set only."""
    chosen = set(nodes)
    wanted = [(n, weapon_set if n.id in chosen else 0) for n in blueprint.nodes if n.weapon_set in (0, weapon_set)]
    new = [changed(n, weapon_set=wished) for n, wished in wanted if n.weapon_set != wished]
    return [Allocate(nodes=new)] if new else []


def in_one_set(blueprint: Blueprint) -> Blueprint:
    """Return the build as it is played with weapon set 1, every passive for both sets, nothing in the other hands."""
    nodes = [changed(n, weapon_set=0) for n in blueprint.nodes if n.weapon_set != 2]
    items = {slot: item for slot, item in blueprint.items.items() if slot not in SWAP_SLOTS}
    return changed(blueprint, nodes=nodes, items=items)


REACH = TreeLimits(reach=5, rounds=1)
LEAST_GAIN = 1.05
"""A second skill must deal so many times the damage with passives of its own to be worth a second weapon."""

LEAST_LIFE = 0.95
"""Share of the effective hit points that weapon set 2 must have of those of set 1."""


@dataclass(frozen=True)
class SecondSet:
    """What was found for weapon set 2: the build with both sets, and the second skill's damage before and after."""

    blueprint: Blueprint
    points: int
    before: float
    after: float


async def for_second_skill(
    incumbent: Incumbent, graph: PassiveGraph, index: int, points: int, banned: frozenset[int] = frozenset()
) -> SecondSet | None:
    """Return the build with up to `points` passives exchanged in weapon set 2, for the group at the 1-based index.

    Those that the group misses least become set 1's own, what serves it better is set 2's. Keystones and sockets are
    always for both, and so is what leads to them; `banned` passives are not bought. Set 2 holds weapons like those of
    set 1. None where it gains too little, or lacks what set 1 has. The incumbent ends as it began.
    """
    start, objective = incumbent.blueprint, incumbent.objective
    apart = frozenset(n.id for n in graph.nodes.values() if n.kind in IN_BOTH_SETS)
    minima = {**objective.minima, EHP: LEAST_LIFE * incumbent.outputs.get(EHP, 0.0)}
    incumbent.objective = replace(objective.without(Guard.SUSTAIN), minima=minima)
    await incumbent.commit([SetMain(index=index)])
    before, lacking = incumbent.outputs.get(DPS, 0.0), _lacking(incumbent)
    owned = {n.id: n for n in start.nodes if n.id in graph.nodes}
    banned = (apart | banned) - owned.keys()
    search = TreeSearch(incumbent, graph, banned=banned, fixed=apart & owned.keys(), limits=REACH)
    gone = await search.exchange(points)
    found = {n.id: n for n in incumbent.blueprint.nodes if n.id in graph.nodes}
    after, fine = incumbent.outputs.get(DPS, 0.0), _lacking(incumbent) <= lacking + EPSILON
    incumbent.objective = objective
    await incumbent.rewind(start)
    new = [node for node in found.values() if node.id not in owned]
    kept = {n: node for n, node in found.items() if n in owned}
    if not new or not fine or after < LEAST_GAIN * before or any(owned[n] != node for n, node in kept.items()):
        return None
    own = as_many(graph, gone, frozenset(kept), len(new))
    nodes = [changed(n, weapon_set=1) if n.id in own else n for n in start.nodes]
    nodes += [changed(n, weapon_set=2) for n in new]
    swapped = [changed(start.items[slot], slot=f"{slot}{SWAP}") for slot in HAND_SLOTS if slot in start.items]
    items = start.items | {item.slot: item for item in swapped}
    return SecondSet(changed(start, nodes=nodes, items=items), len(new), before, after)


def _lacking(incumbent: Incumbent) -> float:
    """Return what the build lacks of what it must have with either weapon set; 0 = nothing."""
    short = incumbent.objective.shortfalls(incumbent.outputs)
    guards = (Guard.RESISTANCE, Guard.ATTRIBUTES, Guard.SPIRIT)
    return incumbent.objective.missed(incumbent.outputs) + sum(short[guard] for guard in guards)


def as_many(graph: PassiveGraph, gone: frozenset[int], common: frozenset[int], count: int) -> frozenset[int]:
    """Return `count` of the passives for set 1 alone; the others, those next to what is common first, stay for both."""
    while len(gone) > count:
        nearest = next((n for n in sorted(gone) if graph.touch([n], common)), min(gone))
        gone, common = gone - {nearest}, common | {nearest}
    return gone
