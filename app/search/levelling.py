"""The way to a finished build: its character at each level, and trees of which every one is a part of the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from app.engine.base import Engine
from app.model.base import changed
from app.model.demands import level_demands
from app.search.base import SearchContext
from app.search.levels import LEVELS, LevelDraft, LevelSearch, LevelTree
from app.search.passives.graph import levelling_order
from app.search.sessions import BESIDE_OTHERS, open_parallel, seated


async def characters_of(ctx: SearchContext) -> list[LevelSearch]:
    """Return the characters of the context's build at the levels below its own, lowest first.

    Each stands on the passives that the finished build takes first; a level without any skill has none.
    """
    found: list[LevelSearch] = []
    for level in (one for one in LEVELS if one < ctx.demands.level):
        demands = level_demands(ctx.demands, level)
        own = [one for one in ctx.invariants.invariants if one.field != "with"]  # plain gear: nothing that was named
        there = replace(ctx, demands=demands, invariants=changed(ctx.invariants, invariants=own))
        search = LevelSearch(there, ctx.blueprint, found[-1].draft if found else None)
        found += [search] if await search.run() else []
    return found


async def nested(characters: Sequence[LevelSearch], engine: Engine, seats: int) -> tuple[list[LevelDraft], int]:
    """Return the characters with their trees, lowest level first, and the evaluations that these took.

    The first tree is that of one level, which nothing binds; those of lower levels are parts of it, those of higher
    ones have it as a part. Each level but the lowest is first in turn, `seats` of these ways at once in sessions
    of their own, and the trees that come to most together are taken.
    """
    firsts = range(len(characters))[1:] or range(len(characters))
    ways = await seated([partial(_way, characters, engine, first) for first in firsts], seats)
    best = max((trees for trees, _ in ways), key=lambda trees: sum(tree.score for tree in trees), default=[])
    order, drafts = list[int](), list[LevelDraft]()
    for tree in best:
        order = levelling_order(characters[0].graph, tree.owned, tree.worths.__getitem__, order)
        drafts.append(replace(tree.draft, order=order))
    return drafts, sum(trials for _, trials in ways)


async def _way(characters: Sequence[LevelSearch], engine: Engine, first: int) -> tuple[list[LevelTree], int]:
    """Return the trees of all levels, that of the place `first` chosen first, and the evaluations."""
    places = range(len(characters))
    trees: dict[int, LevelTree] = {}
    async with open_parallel(engine, None, BESIDE_OTHERS) as panel:
        for place in (*reversed(places[: first + 1]), *places[first + 1 :]):
            inner = trees[place - 1].owned if place > first else frozenset[int]()
            outer = trees[place + 1].owned if place < first else None
            trees[place] = await characters[place].on(panel).tree(inner, outer)
        return [trees[place] for place in places], panel.trials
