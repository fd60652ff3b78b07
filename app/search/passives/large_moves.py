"""Large moves: where trades of branches lead nowhere, a tree that differs much from it is improved and compared.

A local search ends where no trade helps, though a tree elsewhere may be better. Large moves lead there: a limb given up
for another region, a far passive reached, a keystone with a tree that suits it, another aim for a while, all grown
anew, limbs of a tree found elsewhere, all moves from such a tree. What they promise is often wrong (vectors do not add
up over thirty passives), so each is judged once it is improved, and taken back when it is not better.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from app.model.blueprint import Blueprint
from app.search.incumbent import EPSILON
from app.search.objective import Objective
from app.search.passives.graph import Route
from app.search.passives.planner import Planner, TreeDraft
from app.search.passives.tree import TreeSearch

FAR = 16
"""Points within which a region or a passive is looked for."""

LIMB = range(5, 51)
"""Passives of a limb that is given up."""

LIMBS, SOCKETS, TARGETS = 10, 8, 6
"""Limbs that are given up, jewel sockets and other far passives that are reached: moves of each kind, at most."""

TRADES = 12
"""Trades on paper after a move."""

SUITED = 6
"""Chains of trades that suit a tree to a keystone it was given."""

SHARE, SHARE_BESIDE = 5, 10
"""Parts of all trials that a tree around another keystone, and a tree that came near, may take until it is compared."""

UNLIKE = 8
"""Passives in which two moves differ at least: otherwise they lead to the same tree."""

HOPE = 0.05
"""A move that chains of trades bring within this of the score there was is improved further."""

ASIDE = ((0.8, 3), (1.15, 1), (0.9, 3), (1.3, 1))
"""Demands scaled for a while, and for how many chains of trades: lower ones make room for damage, higher for life."""

MOST_GROWN = 2
"""Of the trees that are grown anew, so many are improved: those that are best after trades."""

EVEN = 1.0
EHP_WEIGHTS = (0.1, EVEN, 0.3, 3.0, 10.0)
"""What effective hit points are worth beside damage while a tree is grown anew without demands."""


@dataclass
class LargeMoves:
    """Improves a tree further than trades do; `most`: moves of each kind that are tried before giving up.

    `others`: trees that were near the best when they were found, each with its score.
    """

    search: TreeSearch
    most: int
    others: list[tuple[float, Blueprint]] = field(default_factory=list)
    _grown: set[tuple[frozenset[int], frozenset[int]]] = field(default_factory=set)
    _rested: set[int] = field(default_factory=set)
    _left: set[frozenset[int]] = field(default_factory=set)

    async def improve(self) -> int:
        """Make moves until none helps or the trials are spent; return how many moves and trades helped."""
        before = self.search.accepted
        await self.search.improve()
        if self.most:
            await self._in_turn((self._rooted, self._elsewhere, self._keyed, self._aside, self._crossed, self._beside))
        return self.search.accepted - before

    async def _in_turn(self, moves: Sequence[Callable[[], Awaitable[bool]]]) -> None:
        """Make the moves in turn until all of them fail after the last that helped, or the trials are spent."""
        failed = 0
        for move in itertools.cycle(moves):
            if failed == len(moves) or not self.search.is_unspent:
                return
            failed = 0 if await move() else failed + 1

    async def _rooted(self) -> bool:
        """Grow the whole tree anew around nothing, and around the keystones it has: all else may rest on them."""
        freely = await self._regrown(self._keystones & self.search.fixed)
        return await self._regrown(self._keystones) or freely

    @property
    def _keystones(self) -> frozenset[int]:
        nodes = self.search.graph.nodes
        stay = self.search.fixed & nodes.keys()
        return frozenset(n for n in self.search.owned | stay if nodes[n].kind == "keystone")

    async def _regrown(self, kept: frozenset[int]) -> bool:
        """Grow the whole tree anew around what is kept, in several ways, and improve the most promising of them.

        Ways: what life is worth beside damage, and limbs that it must do without. On what is known of passives a tree
        takes some fifteen trials. Once for each tree and set that is kept; return whether that was better.
        """
        search = self.search
        if (kept, search.owned) in self._grown:
            return False
        self._grown.add((kept, search.owned))
        before, accepted, points = search.incumbent.blueprint, search.accepted, search.spent
        await search.learn(FAR, anew=False)
        limbs = await asyncio.to_thread(_limbs, search.planner, search.draft())
        ways = [*((weight, frozenset[int]()) for weight in EHP_WEIGHTS), *((EVEN, limb - kept) for limb in limbs)]
        grown: list[tuple[float, Blueprint]] = []
        for weight, without in ways:
            if search.is_unspent:
                await self._grow(kept, weight, without)
                await search.trade()
                found = (search.score, search.incumbent.blueprint)
                grown += [found] if search.spent <= points and found not in grown else []
                await search.rewind(before)
        search.accepted = accepted
        best = [one for _, one in sorted(grown, key=lambda found: -found[0])[:MOST_GROWN]]
        return any([await self._tried(partial(search.rewind, one), hope=math.inf) for one in best if search.is_unspent])

    async def _grow(self, kept: frozenset[int], weight: float, without: frozenset[int]) -> None:
        """Give everything back but what is kept, and spend the points anew with no demands, for damage and for life.

        `weight`: what effective hit points are worth beside damage; `without`: passives that are not bought. Where the
        ways to what is kept cost more than the points there are, the tree ends with more.
        """
        points, objective = self.search.spent, self.search.incumbent.objective
        free = replace(bare(objective), ehp_weight=weight * objective.damage_weight)
        with self._leaning(free), self._fixing(kept, without):
            await self.search.clear()
            await self.search.fit(points, anew=False)

    async def _elsewhere(self) -> bool:
        """Make the first move to another region, or to a far passive, that is better."""
        await self.search.learn(FAR)
        drafts = await asyncio.to_thread(large_moves, self.search.planner, self.search.draft())
        return await self._first(drafts)

    async def _keyed(self) -> bool:
        """Make the first move to a keystone that is better, once the tree has come to suit it.

        What a tree around a keystone is worth shows late: one that came near is improved by all other moves, once.
        """
        search = self.search
        await search.learn(FAR)

        async def suit(keystone: int, draft: TreeDraft) -> None:
            await search.commit(draft)
            with self._fixing(frozenset({keystone})):
                await search.learn()
                await search.trade(SUITED)

        async def rest_on(keystone: int) -> None:
            if keystone in self._rested or keystone not in search.owned:  # traded away again
                return
            self._rested.add(keystone)
            with self._fixing(frozenset({keystone})), self._within(search.limits.trials // SHARE):
                await self._rooted()
                await self._in_turn((self._elsewhere, self._aside, self._crossed))

        for keystone, draft in (await asyncio.to_thread(keyed, search.planner, search.draft()))[: self.most]:
            if await self._tried(partial(suit, keystone, draft), further=partial(rest_on, keystone)):
                return True
        return False

    async def _aside(self) -> bool:
        """Improve the tree for easier or harder demands for a while, then for the own ones."""
        objective = self.search.incumbent.objective

        async def lean(factor: float, chains: int) -> None:
            with self._leaning(scaled(objective, factor)):
                await self.search.trade(chains)

        for factor, chains in ASIDE[: self.most]:
            if await self._tried(partial(lean, factor, chains)):
                return True
        return False

    async def _crossed(self) -> bool:
        """Take over limbs of the trees that were nearly as good, the latest first."""
        for _, other in self.others[: -self.most - 1 : -1]:
            nodes = {n.id: n.attribute for n in other.nodes if n.id in self.search.graph.nodes}
            attributes = {node: attribute for node, attribute in nodes.items() if attribute is not None}
            planner, draft = self.search.planner, self.search.draft()
            plain = planner.vector_of(nodes, attributes)
            donor = planner.draft(frozenset(nodes), attributes, plain)
            if await self._first(await asyncio.to_thread(crossed, planner, draft, donor)):
                return True
        return False

    async def _beside(self) -> bool:
        """Go on from the trees that came near by all moves but keystones, the best tree first and from each once.

        No move leads from the best tree to a better one any more, but from one that is unlike it.
        """
        search, best = self.search, self.search.incumbent.blueprint

        async def go_on() -> None:
            if search.incumbent.blueprint != best:  # improved to what there is
                with self._within(search.limits.trials // SHARE_BESIDE):
                    await self._in_turn((self._elsewhere, self._aside, self._crossed, self._rooted))

        while search.is_unspent:
            near = [(score, tree) for score, tree in self.others if tree.passives not in self._left]
            if not near:
                break
            _, tree = max(near, key=lambda one: one[0])
            self._left.add(tree.passives)
            if await self._tried(partial(search.rewind, tree), further=go_on):
                return True
        return False

    async def _first(self, drafts: Sequence[TreeDraft]) -> bool:
        for draft in drafts[: self.most]:
            if await self._tried(partial(self.search.commit, draft)):
                return True
        return False

    async def _tried(
        self,
        go: Callable[[], Awaitable[object]],
        hope: float = HOPE,
        further: Callable[[], Awaitable[object]] | None = None,
    ) -> bool:
        """Go elsewhere and improve the tree there; return whether it is better, otherwise come back.

        `further`: what else improves a tree there that came within `hope` and is not better yet.
        """
        search = self.search
        before, now, accepted, points = search.incumbent.blueprint, search.score, search.accepted, search.spent
        await go()
        await search.trade()
        if search.score > now - hope:
            await search.improve()
            if further is not None and now - hope < search.score <= now + EPSILON:
                await further()
        is_better = search.score > now + EPSILON and search.spent <= points
        is_near = search.score > now - HOPE and search.spent <= points
        found = (search.score, search.incumbent.blueprint)
        other, stays = ((now, before), found) if is_better else (found, (now, before))
        if is_near and other[1].passives not in {tree.passives for _, tree in (stays, *self.others)}:
            self.others.append(other)
        search.accepted = accepted + is_better
        if not is_better:
            await search.rewind(before)
        return is_better

    @contextmanager
    def _leaning(self, objective: Objective) -> Iterator[None]:
        """Judge by another objective meanwhile."""
        own = self.search.incumbent.objective
        self.search.incumbent.judge(objective)
        try:
            yield
        finally:
            self.search.incumbent.judge(own)

    @contextmanager
    def _within(self, trials: int) -> Iterator[None]:
        """Make so many trials at most meanwhile."""
        search, limits = self.search, self.search.limits
        search.limits = replace(limits, trials=min(limits.trials, search.trials + trials))
        try:
            yield
        finally:
            search.limits = limits

    @contextmanager
    def _fixing(self, nodes: frozenset[int], banned: frozenset[int] = frozenset()) -> Iterator[None]:
        """Give these back for nothing meanwhile, and buy none that is banned."""
        search, fixed, planner = self.search, self.search.fixed, self.search.planner
        search.fixed = fixed | nodes
        search.planner = replace(planner, fixed=planner.fixed | nodes, banned=planner.banned | banned, corrections=[])
        try:
            yield
        finally:
            search.fixed, search.planner = fixed, planner


def bare(objective: Objective) -> Objective:
    """Return the objective without guards and minima."""
    return replace(objective, guards=frozenset(), minima={})


def scaled(objective: Objective, factor: float) -> Objective:
    """Return the objective with minima so many times as high, and defence worth more or less accordingly."""
    minima = {key: least * factor if least > 0 else least for key, least in objective.minima.items()}
    return replace(objective, minima=minima, ehp_weight=objective.ehp_weight * factor**2)


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


def keyed(planner: Planner, draft: TreeDraft) -> list[tuple[int, TreeDraft]]:
    """Return keystones that change anything, each with a draft of the draft's cost that has it, best on paper first.

    All effects within `FAR` points must have been measured.
    """
    wide = replace(planner, reach=FAR)
    found: list[tuple[int, TreeDraft]] = []
    for node, fact in planner.graph.nodes.items():
        effect = planner.effects.of(node)
        if fact.kind != "keystone" or node in draft.owned | planner.banned or effect is None or not any(effect[:-1]):
            continue
        paid = _paid(wide, draft, node)
        found += [(node, step) for step in (_spent(wide, paid, len(draft.owned)) if paid is not None else ())]
    return sorted(found, key=lambda one: (-one[1].score, one[0]))


def crossed(planner: Planner, draft: TreeDraft, donor: TreeDraft) -> list[TreeDraft]:
    """Return drafts of the draft's cost with a limb of the donor's, the best on paper first; the rest pays for it."""
    found: list[TreeDraft] = []
    for limb in _limbs(replace(planner, fixed=frozenset()), donor)[-LIMBS:]:
        new = planner.graph.ways_to(limb, donor.owned) - draft.owned
        if UNLIKE <= len(new) <= LIMB[-1]:
            more = planner.bought(draft, Route(min(new), tuple(sorted(new))))
            paid = replace(planner, fixed=planner.fixed | new).shrunk(more, len(new))
            found += _spent(planner, paid, len(draft.owned))
    traded = [step for one in found for step in (one, *planner.traded(one, TRADES)[-1:])]
    return sorted(traded, key=lambda one: (-one.score, sorted(one.owned)))


def _elsewhere(planner: Planner, draft: TreeDraft) -> Iterable[TreeDraft]:
    """Yield the draft without a limb, its points spent on anything else: the limbs that cost least per point."""
    for limb in _limbs(planner, draft)[:LIMBS]:
        elsewhere = replace(planner, banned=planner.banned | limb, reach=FAR)
        yield from _spent(elsewhere, planner.settled(planner.without(draft, limb)), len(draft.owned))


def _limbs(planner: Planner, draft: TreeDraft) -> list[frozenset[int]]:
    """Return limbs of the draft that are not nearly the same, those that cost least per point first."""
    chosen: list[frozenset[int]] = []
    for limb in (branch.nodes for branch in planner.branches(draft, LIMB)):
        if all(len(limb & other) < 0.7 * max(len(limb), len(other)) for other in chosen):
            chosen.append(limb)
    return chosen


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
