"""Spending passive points: measure single passives, plan whole trees on paper, measure the plans, keep what is better.

One round tries every passive within reach once (those that read the same together), plans a chain of trades with the
sum of their effects, measures every link of the chain and commits the best. So a move may be a path, a cluster or
several branches at once, and the number of trials hardly grows with the number of points.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from app.engine.base import Outputs
from app.model.base import changed
from app.model.blueprint import OFF_HAND, Allocate, Blueprint, Change, Deallocate, Equip, PassiveNode, restoring
from app.model.facts import NodeFact
from app.model.names import Attribute
from app.model.stats import DPS
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import METRICS, Objective
from app.search.passives.effects import Effects, Sockets, Vector, outputs_of, short_attribute, vector_of
from app.search.passives.graph import PassiveGraph, Route, levelling_order
from app.search.passives.planner import Planner, TreeDraft
from app.search.skills.gems import mentions

KEYWORD_TIE = 1e-5
"""Worth of a matching line when the calculator sees damage: only breaks ties."""

KEYWORD_BLIND = 0.02
"""Worth of a matching line when no passive moves the damage: then words are all there is."""


@dataclass(frozen=True)
class TreeLimits:
    """How far and how long the search looks.

    `reach`: points of a route; `rounds`: of growing; `chain`: trades planned at once; `offers`: single trades measured
    when no chain helps; `shakes`: points given back and spent anew on paper; `moves`: large moves tried of each kind;
    `trials`: candidates in all; `rate`: gain per trial below which going on is not worth it; `renewed`: so many routes,
    the best, are measured anew on another tree beside what is owned, None = all.
    """

    reach: int = 8
    rounds: int = 5
    chain: int = 24
    offers: int = 32
    corrections: int = 5
    studied: int = 8
    shakes: tuple[int, ...] = (8, 16, 24)
    moves: int = 0
    trials: int = 6000
    rate: float = 0.0
    renewed: int | None = None


@dataclass
class TreeSearch:
    """Improves the passives of a graph on an incumbent.

    `banned` passives are never bought, `fixed` ones never given back; `local` ones differ from others with their text.
    `history`: trials so far and the score after each commit.
    """

    incumbent: Incumbent
    graph: PassiveGraph
    keywords: Sequence[str] = ()
    banned: frozenset[int] = frozenset()
    fixed: frozenset[int] = frozenset()
    local: frozenset[int] = frozenset()
    limits: TreeLimits = field(default_factory=TreeLimits)
    sockets: Sockets = field(default_factory=Sockets)
    drift: float = 0.0
    accepted: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._effects = Effects(self.incumbent, self.graph, self.sockets, self.local, self._hint)
        self.planner = Planner(
            self.graph, self._effects, self._score, self.banned, self.fixed, self.limits.reach, self._short
        )
        self._blind = False
        self._begun = self.incumbent.trials

    @property
    def owned(self) -> frozenset[int]:
        """Return the allocated passives of this graph."""
        return frozenset(n.id for n in self.incumbent.blueprint.nodes if n.id in self.graph.nodes)

    @property
    def spent(self) -> int:
        """Return the points spent in this graph."""
        return len(self.owned & self.graph.bought)

    @property
    def trials(self) -> int:
        """Return how many candidates this search has had measured."""
        return self.incumbent.trials - self._begun

    @property
    def is_unspent(self) -> bool:
        """Return whether the limits leave trials."""
        return self.trials < self.limits.trials

    @property
    def score(self) -> float:
        """Return what the tree is worth by numbers and words."""
        return self.incumbent.score + self._words(self.owned)

    def _hint(self, fact: NodeFact) -> float:
        return (KEYWORD_BLIND if self._blind else KEYWORD_TIE) * mentions(fact.mods, self.keywords)

    def _score(self, vector: Vector) -> float:
        return self.incumbent.objective.score(outputs_of(vector, self._effects.metrics)) + vector[-1]

    def _short(self, vector: Vector) -> Attribute | None:
        return short_attribute(self.incumbent.objective, vector)

    async def spend(self, points: int, *, anew: bool = True) -> int:
        """Spend points round by round, measuring in between; return the points that nothing could take.

        `anew`: as for `learn`.
        """
        share = max(8, -(-points // self.limits.rounds))
        while points > 0:
            await self.learn(anew=anew)
            steps = await asyncio.to_thread(self.planner.grown, self.draft(), points)
            if not steps:
                return points
            before = self.spent
            chosen = next((s for s in steps if self._cost(s) - before >= min(share, points)), steps[-1])
            await self.commit(chosen)
            if self.spent == before:
                return points
            points -= self.spent - before
        return points

    async def clear(self) -> None:
        """Give everything back but the fixed passives and what leads to them."""
        ways = self.graph.ways_to(self.fixed, self.owned)
        gone = sorted(self.owned - ways)
        emptied = [change for node in gone for change in self.sockets.left(node)]
        await self.incumbent.commit([Deallocate(nodes=gone), *emptied])

    async def fit(self, points: int, *, anew: bool = True) -> None:
        """Make the tree hold the fixed passives and cost exactly the points there are, where possible.

        `anew`: as for `learn`.
        """
        await self.secure(points, anew=anew)
        if self.spent > points:
            await self.shrink(self.spent - points)
        await self.spend(points - self.spent, anew=anew)

    async def secure(self, points: int, *, anew: bool = True) -> None:
        """Buy the fixed passives that are not owned, whatever is there; points spent beyond `points` are to be freed.

        Where the tree as it is leads to them on a longer way than there are points, all of it is given back.
        """
        missing = self.fixed & self.graph.nodes.keys() - self.owned
        if not missing:
            return
        await self.learn(anew=anew)
        draft = self.draft()
        secured = self._leading(draft, missing)
        if len(self.graph.ways_to(self.fixed, secured.owned) & self.graph.bought) > points:
            secured = self._leading(self.planner.without(draft, draft.owned), self.fixed)
        await self.commit(secured)

    def _leading(self, draft: TreeDraft, missing: frozenset[int]) -> TreeDraft:
        """Return the draft with the missing passives bought, the nearest first; banned ones are no way."""
        walkable = self.graph.without(self.banned)
        while left := missing - draft.owned:
            routes = walkable.routes(draft.owned, len(walkable.nodes))
            near = [(routes[node].points, node) for node in left if node in routes]
            if not near:
                return draft
            draft = self.planner.bought(draft, routes[min(near)[1]])
        return draft

    async def shrink(self, points: int) -> None:
        """Give back at least `points` passives where it costs least."""
        await self.learn()
        await self.commit(await asyncio.to_thread(self.planner.shrunk, self.draft(), points))

    async def exchange(self, points: int) -> frozenset[int]:
        """Give back up to `points` passives where it costs least, spend them elsewhere; return what was given back."""
        before = self.owned
        await self.shrink(points)
        gone = before - self.owned
        self.planner = replace(self.planner, banned=self.banned | gone)
        await self.spend(len(gone & self.graph.bought))
        return gone

    async def promising(self, most: int) -> list[Route]:
        """Return the routes that help most per point, whatever points there are; each measured as a whole."""
        await self.learn()
        base = self.draft()
        routes = await asyncio.to_thread(self.planner.routes, base, self.limits.reach, 4 * most)
        gains = await self.incumbent.gains([self.purchase(route) for route in routes])
        found = sorted(zip(gains, routes, strict=True), key=lambda p: (-p[0] / p[1].points, p[1].target))
        return [route for gain, route in found if gain > EPSILON][:most]

    def purchase(self, route: Route) -> list[Change]:
        """Return the changes that buy the route."""
        return self.changes_to(self.planner.bought(self.draft(), route))

    async def improve(self, most: int = 1000) -> int:
        """Trade branches for better ones until nothing helps enough, `most` times; return how many times it helped."""
        before = self.accepted
        while self.is_unspent and self.accepted - before < most:
            trials, score = self.trials, self.score
            if not await self._improved() or self.score - score < self.limits.rate * (self.trials - trials):
                break
        return self.accepted - before

    async def trade(self, most: int = 1000) -> None:
        """Make chains of trades planned with what is known of passives, until none helps or `most` times."""
        for _ in range(most):
            if not (self.is_unspent and await self._traded()):
                return

    async def _traded(self) -> bool:
        await self.learn(anew=False)
        drafts = await asyncio.to_thread(self._chain, self.draft())
        return await self._take_best(drafts, await self._measured(drafts))

    async def _improved(self) -> bool:
        """Commit one better tree, or return False when no plan keeps its promise.

        What was measured on earlier trees serves as long as it helps: measuring all anew takes most of a search.
        """
        if await self._traded():
            return True
        await self.learn()
        for _ in range(self.limits.corrections):
            for plan in (self._chain, self._single):
                drafts = await asyncio.to_thread(plan, self.draft())
                measured = await self._measured(drafts)
                if await self._take_best(drafts, measured):
                    return True
                most = 1 if plan == self._chain else self.limits.studied
                promising = await self._study(drafts[:most], measured[:most])
            if not promising:
                break
        drafts = await asyncio.to_thread(self._shaken, self.draft())
        return await self._take_best(drafts, await self._measured(drafts))

    def _chain(self, draft: TreeDraft) -> list[TreeDraft]:
        return self.planner.traded(draft, self.limits.chain)

    def _single(self, draft: TreeDraft) -> list[TreeDraft]:
        return self.planner.trades(draft, 2 * self.limits.offers)[: self.limits.offers]

    def _shaken(self, draft: TreeDraft) -> list[TreeDraft]:
        """Return drafts that give back many of the worst passives, spend the points anew and trade on."""
        found: list[TreeDraft] = []
        for points in self.limits.shakes:
            less = self.planner.shrunk(draft, points)
            grown = self.planner.grown(less, self._cost(draft) - self._cost(less))
            if grown and self._cost(grown[-1]) == self._cost(draft):
                found += [grown[-1], *self.planner.traded(grown[-1], self.limits.chain)[-1:]]
        return found

    async def _measured(self, drafts: Sequence[TreeDraft]) -> list[Outputs]:
        return await self.incumbent.outputs_of([self.changes_to(draft) for draft in drafts])

    async def _take_best(self, drafts: Sequence[TreeDraft], measured: Sequence[Outputs]) -> bool:
        """Commit the best of the measured drafts if it is better than what there is."""
        spoken = self._words(self.owned)
        gains = [
            self.incumbent.objective.score(outputs) - self.incumbent.score + self._words(draft.owned) - spoken
            for draft, outputs in zip(drafts, measured, strict=True)
        ]
        best = max(range(len(gains)), key=lambda i: (gains[i], -i), default=None)
        if best is None or gains[best] <= EPSILON:
            return False
        return await self.commit(drafts[best], gains[best])

    async def _study(self, drafts: Sequence[TreeDraft], measured: Sequence[Outputs]) -> bool:
        """Learn why promises were not kept; return whether there were any promises."""
        base = self.draft()
        pairs = zip(drafts, measured, strict=True)
        broken = [(d, found) for d, found in pairs if found and d.score > base.score + EPSILON][: self.limits.studied]
        halves = {(h.owned, len(h.attributes)): h for d, _ in broken for h in self.planner.halves(base, d)}
        found = await self._measured(list(halves.values()))
        for draft, outputs in [*zip(halves.values(), found, strict=True), *broken]:
            self.planner.correct(draft, vector_of(outputs, self._effects.metrics))
        return bool(broken)

    def _words(self, nodes: Iterable[int]) -> float:
        return sum(self._hint(self.graph.nodes[node]) for node in nodes)

    async def variant(self, objective: Objective) -> tuple[TreeDraft, Outputs] | None:
        """Return a tree of the same cost that suits another objective better, with its numbers, or None.

        Nothing is committed.
        """
        await self.learn()

        def score(vector: Vector) -> float:
            return objective.score(outputs_of(vector, self._effects.metrics)) + vector[-1]

        planner = replace(self.planner, score=score, banned=self.banned, corrections=[])
        base = self.draft()
        start = planner.begin(base.owned, base.attributes, base.plain)
        drafts = await asyncio.to_thread(planner.traded, start, self.limits.chain)
        measured = await self._measured(drafts)
        scores = [objective.score(outputs) for outputs in measured]
        best = max(range(len(scores)), key=lambda i: (scores[i], -i), default=None)
        if best is None or scores[best] <= objective.score(self.incumbent.outputs) + EPSILON:
            return None
        return drafts[best], measured[best]

    async def worths(self) -> dict[int, float]:
        """Return the score lost without each owned passive alone."""
        await self._effects.learn(sorted(self.owned))
        draft = self.draft()
        return {node: self.planner.worth_of(draft, node) for node in sorted(self.owned)}

    async def levelling(self) -> list[int]:
        """Return the passives in the order in which to take them."""
        return levelling_order(self.graph, self.owned, (await self.worths()).__getitem__)

    async def learn(self, reach: int | None = None, *, anew: bool = True) -> None:
        """Measure what is owned and what is within reach (by default that of the limits).

        Unless `anew`, only what was never measured: what it did in another tree is about right a few trades later.
        """
        is_first = not self._effects.known
        reach, most = reach or self.limits.reach, self.limits.renewed
        own, near = sorted(self.owned - self.fixed), self.graph.routes(self.owned, reach)
        await self._effects.learn([*own, *near], anew=anew and most is None)
        if anew and most is not None:
            routes = await asyncio.to_thread(self.planner.routes, self.draft(), reach, most)
            await self._effects.learn([*own, *(node for route in routes for node in route.nodes)])
        at, deals = METRICS.index(DPS), self.incumbent.outputs.get(DPS, 0.0) > 0
        if is_first and not (deals and any(one and abs(one[at]) > EPSILON for one in self._effects.known.values())):
            self._blind = True  # no passive moves the damage at all: then words count for more
            self._effects.known.clear()
            await self._effects.learn([*own, *near])

    def draft(self) -> TreeDraft:
        """Return the committed tree as a draft of the planner."""
        held = {n.id: n.attribute for n in self.incumbent.blueprint.nodes if n.id in self.graph.nodes}
        vector = vector_of(self.incumbent.outputs, self._effects.metrics)
        attributes = {node: attribute for node, attribute in held.items() if attribute is not None}
        return self.planner.begin(frozenset(held), attributes, vector)

    def _cost(self, draft: TreeDraft) -> int:
        return len(draft.owned & self.graph.bought)

    def changes_to(self, draft: TreeDraft) -> list[Change]:
        """Return the changes that turn the committed tree into the draft."""
        held = {n.id: n for n in self.incumbent.blueprint.nodes if n.id in self.graph.nodes}
        gone = sorted(held.keys() - draft.owned)
        new = self.graph.in_order(draft.owned - held.keys(), frozenset(held) & draft.owned)
        switched = [n for n, a in sorted(draft.attributes.items()) if n in held and held[n].attribute is not a]
        bought = [PassiveNode(id=n, attribute=draft.attributes.get(n)) for n in new]
        bought += [changed(held[n], attribute=draft.attributes[n]) for n in switched]
        changes: list[Change] = [Deallocate(nodes=gone)] if gone else []
        changes += [change for n in gone for change in self.sockets.left(n)]
        changes += [Allocate(nodes=bought)] if bought else []
        changes += self._effects.refill if any(self.graph.nodes[n].kind == "keystone" for n in new) else []
        return changes + [
            change for n in new if self.graph.nodes[n].kind == "socket" for change in self.sockets.taken(n)
        ]

    async def commit(self, draft: TreeDraft, promised: float | None = None) -> bool:
        """Commit the draft; a plan that does not keep what its trial promised is taken back."""
        before, new = self.incumbent.blueprint, draft.owned - self.owned
        gained = await self.incumbent.commit(self.changes_to(draft)) + await self._refilled(new)
        self.history.append((self.trials, self.incumbent.score))
        if promised is None:
            return True
        self.drift = max(self.drift, abs(gained - promised))
        if gained <= EPSILON and promised > EPSILON and abs(gained - promised) > KEYWORD_BLIND:
            await self.rewind(before)
            self.history.pop()
            return False
        self.accepted += 1
        return True

    async def rewind(self, blueprint: Blueprint) -> None:
        """Return to an earlier tree; everything else of the build stays as it is."""
        back = blueprint.passives - self.owned
        await self.incumbent.commit(restoring(self.incumbent.blueprint, blueprint))
        await self._refilled(back)

    async def _refilled(self, new: frozenset[int]) -> float:
        """Put back what the off hand lost, where a keystone is among what is new; return what is gained.

        Path of Building takes a shield beside a two-handed weapon off when Giant's Blood is given back, and does not
        put it on again with the keystone.
        """
        item = self.incumbent.blueprint.items.get(OFF_HAND)
        is_key = any(self.graph.nodes[n].kind == "keystone" for n in new & self.graph.nodes.keys())
        if item is None or not is_key or OFF_HAND in (await self.incumbent.session.blueprint()).items:
            return 0.0
        return await self.incumbent.commit([Equip(item=item)])
