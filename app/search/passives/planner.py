"""Planning on paper: whole trees built, traded and compared by adding up the vectors of their passives.

A draft costs microseconds where the calculator needs milliseconds, so a plan may move whole branches and clusters; what
it promises is always measured before it is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from app.model.names import Attribute
from app.search.passives.effects import Effects, Vector, minus, plus, steps_of, zero_of
from app.search.passives.graph import PassiveGraph, Route


@dataclass(frozen=True)
class TreeDraft:
    """A tree on paper: its passives, what its attribute passives give, its vector and score.

    `plain` is the mere sum of what the passives do alone; `vector` adds what was learned of their company.
    """

    owned: frozenset[int]
    attributes: Mapping[int, Attribute]
    plain: Vector
    vector: Vector
    score: float


@dataclass(frozen=True)
class Correction:
    """How a measurement differed from the sum: passives given back together, passives bought together, the error."""

    gone: frozenset[int]
    new: frozenset[int]
    error: Vector


@dataclass(frozen=True)
class Branch:
    """Passives that go together, and the score lost per point without them."""

    nodes: frozenset[int]
    loss: float


LARGEST_BRANCH = 8
"""Most passives of a branch that a trade gives back at once."""

SMALL = range(1, LARGEST_BRANCH + 1)

HOPEFUL = 24
"""Routes worked out exactly per step, the best by the sum of what their passives are worth alone."""

OVERSHOOT = 3
"""Points that a trade may free beyond what its route costs; they are spent next to the tree."""

FILLED = 16
"""Offers whose points left over are spent at once, the best."""

LEAST_ERROR = 1e-5
"""An error below this is no lesson."""

EPSILON = 1e-6
IMPOSSIBLE = float("-inf")
Score = Callable[[Vector], float]
Short = Callable[[Vector], Attribute | None]
Slopes = tuple[list[float | None], list[float | None]]


def never_short(_: Vector) -> None:
    """Return that no attribute is short."""


@dataclass
class Planner:
    """Plans with the measured `effects`; `fixed` passives stay, `banned` ones are never bought.

    `short` tells an attribute that a tree has less of than is needed.
    """

    graph: PassiveGraph
    effects: Effects
    score: Score
    banned: frozenset[int] = frozenset()
    fixed: frozenset[int] = frozenset()
    reach: int = 8
    short: Short = never_short
    corrections: list[Correction] = field(default_factory=list)
    base: frozenset[int] = frozenset()
    _wanted: dict[Vector, Attribute] = field(default_factory=dict, init=False)
    _slopes: tuple[Vector, Slopes] | None = field(default=None, init=False)

    def draft(self, owned: frozenset[int], attributes: Mapping[int, Attribute], plain: Vector) -> TreeDraft:
        """Return the draft, corrected by the lessons that apply to it."""
        vector = plain
        if self.corrections:
            gone, new = self.base - owned, owned - self.base
            for correction in self.corrections:
                if correction.gone <= gone and correction.new <= new:
                    vector = plus(vector, correction.error)
        return TreeDraft(owned, attributes, plain, vector, self.score(vector))

    def begin(self, owned: frozenset[int], attributes: Mapping[int, Attribute], vector: Vector) -> TreeDraft:
        """Return the committed tree as a draft, and forget what was learned about another one."""
        self._slopes = None  # effects may have been measured anew, or count for something else
        self._wanted.clear()
        if owned != self.base:
            self.corrections.clear()
        self.base = owned
        return self.draft(owned, attributes, vector)

    def halves(self, base: TreeDraft, draft: TreeDraft) -> list[TreeDraft]:
        """Return the draft's two sides alone: what it gives back, and what it buys."""
        gone, new = base.owned - draft.owned, draft.owned - base.owned
        added = {node: a for node, a in draft.attributes.items() if node in new}
        bought = plus(base.plain, self.vector_of(new, added))
        more = self.draft(base.owned | new, {**base.attributes, **added}, bought)
        return [self.without(base, gone), more] if gone and new else []

    def correct(self, draft: TreeDraft, measured: Vector) -> None:
        """Remember how the measured vector differs from what is expected of the draft by now."""
        expected = self.draft(draft.owned, draft.attributes, draft.plain)
        error = (*minus(measured, expected.vector)[:-1], 0.0)
        if any(abs(v) > LEAST_ERROR for v in error):
            self.corrections.append(Correction(self.base - draft.owned, draft.owned - self.base, error))

    # -- spending

    def grown(self, draft: TreeDraft, points: int) -> list[TreeDraft]:
        """Return the drafts of spending up to `points` more points, best gain per point first, one per purchase."""
        steps: list[TreeDraft] = []
        while points > 0:
            found = [(self.bought(draft, r), r) for r in self.routes(draft, min(points, self.reach))]
            if not found:
                return steps
            ranks = [((bought.score - draft.score) / route.points, -route.target) for bought, route in found]
            best = found[ranks.index(max(ranks))][0]
            points -= len(best.owned) - len(draft.owned)
            draft = best
            steps.append(draft)
        return steps

    def routes(self, draft: TreeDraft, reach: int, most: int = HOPEFUL) -> list[Route]:
        """Return the most promising routes of at most `reach` points: by worth per point of their passives alone."""
        return [Route(way[-1], way) for way in self._promising(draft, reach)[:most]]

    def _promising(self, draft: TreeDraft, reach: int) -> list[tuple[int, ...]]:
        """Return the passives of every route, the most promising first."""
        ways, totals = self.graph.ways(draft.owned, reach, self._alone(draft))
        sockets, is_target = self.graph.sockets, self.effects.is_target
        found = [
            (-total / len(way), node)
            for node, total in totals.items()
            if total > IMPOSSIBLE and (way := ways[node]) and (node not in sockets or is_target(node))
        ]
        return [ways[node] for _, node in sorted(found)]

    def _alone(self, draft: TreeDraft) -> Callable[[int], float]:
        """Return about how much each passive alone adds to the draft's score, by the slopes of the score there.

        Asked for thousands of passives a second, which have some hundred different effects.
        """
        wanted, slopes, worths = self.wanted(draft), self._slopes_at(draft), dict[int, float]()
        choices, banned, entries_of = self.graph.choices, self.banned, self.effects.entries

        def worth(node: int) -> float:
            entries = entries_of(node, wanted if node in choices else None)
            if entries is None or node in banned:
                return IMPOSSIBLE
            same = id(entries)  # the effects keep them alive, and comparing numbers would take longer than adding up
            if same not in worths:
                total = 0.0
                for index, value in entries:
                    known = slopes[value > 0][index]
                    total += value * (self._slope(draft, index, value > 0) if known is None else known)
                worths[same] = total
            return worths[same]

        return worth

    def _slopes_at(self, draft: TreeDraft) -> Slopes:
        """Return what is known of the slopes of the score at the draft: where a number shrinks, and where it grows."""
        vector, known = draft.vector, self._slopes
        if known is None or (known[0] is not vector and known[0] != vector):
            known = self._slopes = (vector, ([None] * len(vector), [None] * len(vector)))
        return known[1]

    def _slope(self, draft: TreeDraft, index: int, grows: bool) -> float:
        """Return the score gained per unit of the number when it grows, or lost per unit when it shrinks.

        Worked out when it is asked for: passives move a few of the numbers, and most in one direction.
        """
        step = steps_of(self.effects.metrics)[index] * (1 if grows else -1)
        moved = (*draft.vector[:index], draft.vector[index] + step, *draft.vector[index + 1 :])
        slope = (self.score(moved) - draft.score) / step
        self._slopes_at(draft)[grows][index] = slope
        return slope

    def wanted(self, draft: TreeDraft) -> Attribute:
        """Return the attribute that a further attribute passive should give."""
        if draft.vector not in self._wanted:
            known = [(a, effect) for a in Attribute if (effect := self.effects.option(a)) is not None]
            scored = [(-self.score(plus(draft.vector, effect)), a.value, a) for a, effect in known]
            self._wanted[draft.vector] = min(scored)[2] if scored else Attribute.STRENGTH
        return self._wanted[draft.vector]

    def bought(self, draft: TreeDraft, route: Route) -> TreeDraft:
        """Return the draft with the route bought; its attribute passives give what is wanted most."""
        plain, attributes = draft.plain, dict(draft.attributes)
        for node in route.nodes:
            if self.graph.nodes[node].kind == "attribute":
                attributes[node] = self.wanted(draft)
            effect = self.effects.of(node, attributes.get(node))
            plain = plus(plain, effect) if effect is not None else plain
        return self.draft(draft.owned | set(route.nodes), attributes, plain)

    # -- giving back

    def branches(self, draft: TreeDraft, sizes: range = SMALL) -> list[Branch]:
        """Return the branches of so many passives that may be given back, the cheapest to lose per point first."""
        sized = {nodes for nodes in self.graph.branches(draft.owned) if len(nodes) in sizes}
        found = [
            Branch(nodes, (draft.score - self.settled(self.without(draft, nodes)).score) / len(nodes))
            for nodes in sized
            if nodes.isdisjoint(self.fixed)
        ]
        return sorted(found, key=lambda branch: (branch.loss, sorted(branch.nodes)))

    def vector_of(self, nodes: Iterable[int], attributes: Mapping[int, Attribute]) -> Vector:
        """Return the sum of what the passives do; those that were never measured count nothing."""
        total = zero_of(self.effects.metrics)
        for node in sorted(nodes):
            effect = self.effects.of(node, attributes.get(node))
            total = plus(total, effect) if effect is not None else total
        return total

    def without(self, draft: TreeDraft, nodes: frozenset[int]) -> TreeDraft:
        """Return the draft without these passives."""
        plain = minus(draft.plain, self.vector_of(nodes, draft.attributes))
        kept = {node: a for node, a in draft.attributes.items() if node not in nodes}
        return self.draft(draft.owned - nodes, kept, plain)

    def settled(self, draft: TreeDraft) -> TreeDraft:
        """Return the draft with other attributes chosen where one is short: they are free, so they block no trade."""
        while (attribute := self.short(draft.vector)) is not None:
            found = max(self._switches(draft, attribute), key=lambda one: one.score, default=draft)
            if found.score <= draft.score + EPSILON:
                break
            draft = found
        return draft

    def shrunk(self, draft: TreeDraft, points: int) -> TreeDraft:
        """Return the draft with at least `points` passives less, where it costs least."""
        while points > 0 and (
            branches := [branch for branch in self.branches(draft) if len(branch.nodes) <= max(points, 1)]
        ):
            draft = self.settled(self.without(draft, branches[0].nodes))
            points -= len(branches[0].nodes)
        return draft

    def worth_of(self, draft: TreeDraft, node: int) -> float:
        """Return the score lost without this one passive of the draft."""
        return draft.score - self.without(draft, frozenset({node})).score

    # -- trading

    def trades(self, draft: TreeDraft, most: int = HOPEFUL) -> list[TreeDraft]:
        """Return drafts of the same cost, best first: a route paid with branches, an attribute switched."""
        branches = self.branches(draft)
        ways = self._promising(draft, self.reach)
        routes = [Route(way[-1], way) for way in ways[:most]]
        is_whole, less = self._holds(draft.owned), cache(partial(self.without, draft))  # many routes are paid alike
        offers = [offer for r in routes for offer in self._paid(draft, r, branches, is_whole, less)]
        beside = [Route(way[-1], way) for way in ways if len(way) == 1][:most]
        spare = max((self.bought(draft, r).score - draft.score for r in beside[:1]), default=0.0)
        left = {offer.owned: len(draft.owned) - len(offer.owned) for offer in offers}
        offers.sort(key=lambda offer: (-offer.score - spare * left[offer.owned], sorted(offer.owned)))
        best = offers[: max(FILLED, most - HOPEFUL)]
        filled = (self._filled(offer, left[offer.owned], beside) for offer in best)
        found = [*(offer for offer in filled if offer), *self._switches(draft, self.wanted(draft))]
        return sorted(found, key=lambda offer: (-offer.score, sorted(offer.owned)))

    def _paid(
        self,
        draft: TreeDraft,
        route: Route,
        branches: list[Branch],
        is_whole: bool,
        less: Callable[[frozenset[int]], TreeDraft],
    ) -> list[TreeDraft]:
        """Return the draft that pays for the route with the cheapest branches it does not need, points left or not.

        And that without those which dearer ones made needless, where there are such: points left find no use at times.
        `is_whole`: all that the draft owns hangs together; `less` gives the draft without some of it.
        """
        freed: frozenset[int] = frozenset()
        taken: list[frozenset[int]] = []
        for branch in branches:
            merged = freed | branch.nodes
            if merged == freed or len(merged) > route.points + OVERSHOOT:
                continue
            rest = draft.owned - merged
            stays_whole = is_whole and self.graph.hang_on_one(branch.nodes, rest)
            if not (self.graph.touch(route.nodes, rest) if stays_whole else self._holds(rest | set(route.nodes))):
                continue
            freed, is_whole = merged, stays_whole  # otherwise the route may be what holds it together
            taken.append(branch.nodes)
            if len(freed) >= route.points:
                ways = dict.fromkeys((freed, self._needed(draft, route, taken)))
                return [self.settled(self.bought(less(way), route)) for way in ways]
        return []

    def _needed(self, draft: TreeDraft, route: Route, taken: Sequence[frozenset[int]]) -> frozenset[int]:
        """Return what of the branches taken pays for the route, without those that the last ones made needless."""
        kept = list(taken)
        for branch in reversed(taken[:-1]):  # the dearest first
            freed = frozenset().union(*(one for one in kept if one != branch))
            if len(freed) >= route.points and self._holds(draft.owned - freed | set(route.nodes)):
                kept.remove(branch)
        return frozenset().union(*kept)

    def _holds(self, owned: frozenset[int]) -> bool:
        """Return whether all that is owned hangs together."""
        return self.graph.connected(owned) == owned

    def _filled(self, draft: TreeDraft, points: int, beside: Sequence[Route]) -> TreeDraft | None:
        """Return the draft with the points spent on single passives next to it, None when there are too few."""
        for route in beside:
            if points == 0:
                return draft
            near = any(n in draft.owned or n in self.graph.roots for n in self.graph.neighbours[route.target])
            if near and route.target not in draft.owned:
                draft, points = self.bought(draft, route), points - 1
        return draft if points == 0 else None

    def _switches(self, draft: TreeDraft, wanted: Attribute) -> list[TreeDraft]:
        """Return the draft with one attribute passive of each other kind giving the wanted attribute."""
        found = []
        donors: dict[Attribute, int] = {}
        for node, attribute in sorted(draft.attributes.items()):
            if attribute is not wanted and node not in self.fixed:
                donors.setdefault(attribute, node)
        for node in donors.values():
            old, new = self.effects.of(node, draft.attributes[node]), self.effects.of(node, wanted)
            if old is not None and new is not None:
                plain = plus(minus(draft.plain, old), new)
                found.append(self.draft(draft.owned, {**draft.attributes, node: wanted}, plain))
        return found

    def traded(self, draft: TreeDraft, most: int) -> list[TreeDraft]:
        """Return the drafts after one, two ... up to `most` trades, each the best on paper."""
        steps: list[TreeDraft] = []
        while len(steps) < most:
            offers = self.trades(draft)
            if not offers or offers[0].score <= draft.score + EPSILON:
                return steps
            draft = offers[0]
            steps.append(draft)
        return steps
