"""Large moves on paper: a whole limb of the tree given up for another region, or a far passive reached.

A local search trades branch for branch and ends where no trade helps, though a tree elsewhere may be better. Large
moves lead there. What they promise is often wrong (vectors do not add up over thirty passives), so whoever makes one
improves the tree there before judging it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.search.passives.graph import Route
from app.search.passives.planner import Planner, TreeDraft

FAR = 16
"""Points within which a region or a passive is looked for."""

LIMB = range(5, 51)
"""Passives of a limb that is given up."""

LIMBS, SOCKETS, TARGETS = 10, 8, 6
"""Limbs that are given up, jewel sockets and other far passives that are reached: moves of each kind, at most."""

TRADES = 12
"""Trades on paper after a move."""

UNLIKE = 8
"""Passives in which two moves differ at least: otherwise they lead to the same tree."""


def large_moves(planner: Planner, draft: TreeDraft) -> list[TreeDraft]:
    """Return drafts of the draft's cost that differ much from it and from each other, the best on paper first.

    All effects within `FAR` points must have been measured.
    """
    moved = [*_elsewhere(planner, draft), *_reaching(planner, draft)]
    traded = [step for one in moved for step in (one, *planner.traded(one, TRADES)[-1:])]
    traded.sort(key=lambda one: (-one.score, sorted(one.owned)))
    chosen: list[TreeDraft] = []
    for one in traded:
        if all(len(one.owned ^ other.owned) >= UNLIKE for other in (draft, *chosen)):
            chosen.append(one)
    return chosen


def _elsewhere(planner: Planner, draft: TreeDraft) -> Iterable[TreeDraft]:
    """Yield the draft without a limb, its points spent on anything else: the limbs that cost least per point."""
    chosen: list[frozenset[int]] = []
    for limb in (branch.nodes for branch in planner.branches(draft, LIMB)):
        if all(len(limb & other) < 0.7 * max(len(limb), len(other)) for other in chosen):
            chosen.append(limb)
    for limb in chosen[:LIMBS]:
        elsewhere = replace(planner, banned=planner.banned | limb, reach=FAR)
        yield from _spent(elsewhere, planner.without(draft, limb), len(draft.owned))


def _reaching(planner: Planner, draft: TreeDraft) -> Iterable[TreeDraft]:
    """Yield the draft with a far passive, paid with what costs least: sockets with a jewel, and what promises most."""
    wide = replace(planner, reach=FAR)
    far = [route for route in wide.routes(draft, FAR, len(planner.graph.nodes)) if route.points > 1]
    sockets = sorted(
        (r for r in far if planner.graph.nodes[r.target].kind == "socket"), key=lambda r: (r.points, r.target)
    )
    others = [route for route in far if route.points > planner.reach]
    for target in dict.fromkeys(route.target for route in (*sockets[:SOCKETS], *others[:TARGETS])):
        paid = _paid(wide, draft, target)
        if paid is not None:
            yield from _spent(wide, paid, len(draft.owned))


def _paid(planner: Planner, draft: TreeDraft, target: int) -> TreeDraft | None:
    """Return the draft with the target and no more points than before; None where giving back does not pay for it."""
    less = draft
    while route := _route(planner, less, target):
        free = len(draft.owned) - len(less.owned)
        if free >= route.points:
            return planner.bought(less, route)
        fewer = planner.shrunk(less, route.points - free)
        if fewer.owned == less.owned:
            return None
        less = fewer
    return None


def _route(planner: Planner, draft: TreeDraft, target: int) -> Route | None:
    return planner.graph.routes(draft.owned, 2 * FAR).get(target)


def _spent(planner: Planner, draft: TreeDraft, owned: int) -> list[TreeDraft]:
    """Return the draft with all points spent, in a list; nothing where they cannot be."""
    left = owned - len(draft.owned)
    steps = planner.grown(draft, left) if left else [draft]
    return [step for step in steps[-1:] if len(step.owned) == owned]
