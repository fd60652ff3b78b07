"""Weapon-set passives: which of them count, and paying for the idle set's passives with some of the set in use.

A passive may be allocated for one weapon set only. What set 1 and set 2 have of such passives is paid once, so a tree
that keeps 20 passives for the idle set gets 20 of its own for nothing, as long as these are assigned to the set in use.
"""

from __future__ import annotations

from app.model.base import changed
from app.model.blueprint import Allocate, Blueprint, Change, Deallocate, PassiveNode, WeaponSet
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.graph import PassiveGraph

MOST = 24
"""Weapon-set points that quests give."""

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
