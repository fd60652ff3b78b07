"""What single passives do to the numbers, written as vectors that add up: the map on which whole trees are planned.

Damage, hit points and hits are kept as logarithms (passives multiply them), everything else as it is, so the vector of
a set of passives is about the sum of their vectors. The last entry is what their words promise where the calculator is
blind. Passives that read the same do the same and are tried once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from app.engine.base import Outputs
from app.model.blueprint import OFF_HAND, Allocate, Blueprint, Change, Deallocate, Equip, PassiveNode
from app.model.facts import NodeFact
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS, DPS, EHP, MOVEMENT, REQUIREMENT_METRICS
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import METRICS, Guard, Objective
from app.search.passives.graph import PassiveGraph

Vector = tuple[float, ...]
Entries = tuple[tuple[int, float], ...]
Key = tuple[object, ...]

_SMALLEST = 1e-3
_NOTHING = math.log(100 * _SMALLEST)
"""A logarithm below this stands for a figure that is not there: zero has none, and what multiplies zero is zero."""

_MULTIPLIED = frozenset({DPS, EHP, "ManaPerSecondCost", "LifePerSecondCost"})
_FINE = frozenset({MOVEMENT})


@lru_cache(maxsize=16)
def _is_log(metrics: tuple[str, ...]) -> tuple[bool, ...]:
    return tuple(name in _MULTIPLIED or name.endswith("MaximumHitTaken") for name in metrics)


@lru_cache(maxsize=16)
def _logs_of(metrics: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name, is_log in zip(metrics, _is_log(metrics), strict=True) if is_log)


@lru_cache(maxsize=16)
def steps_of(metrics: tuple[str, ...]) -> Vector:
    """Return a small change of each number, to find out what it is worth."""
    flat = zip(metrics, _is_log(metrics), strict=True)
    return (*(0.01 if name in _FINE or is_log else 1.0 for name, is_log in flat), 1.0)


def zero_of(metrics: tuple[str, ...]) -> Vector:
    """Return the vector of no effect."""
    return (0.0,) * (len(metrics) + 1)


NOISE = 1e-9
"""An entry of a vector below this is no effect."""


def vector_of(outputs: Mapping[str, float], metrics: tuple[str, ...] = METRICS) -> Vector:
    """Return the outputs as a vector in the order of the metrics."""
    values = (outputs.get(name, 0.0) for name in metrics)
    flat = (math.log(max(v, _SMALLEST)) if is_log else v for v, is_log in zip(values, _is_log(metrics), strict=True))
    return (*flat, 0.0)


def outputs_of(vector: Vector, metrics: tuple[str, ...] = METRICS) -> Outputs:
    """Return the outputs that a vector stands for."""
    found = dict(zip(metrics, vector, strict=False))
    for name in _logs_of(metrics):
        found[name] = math.exp(found[name]) if found[name] > _NOTHING else 0.0
    return found


def plus(one: Vector, other: Vector) -> Vector:
    """Return the sum of two vectors."""
    return tuple(map(operator.add, one, other))


def minus(one: Vector, other: Vector) -> Vector:
    """Return the difference of two vectors."""
    return tuple(map(operator.sub, one, other))


AT = {a: (METRICS.index(ATTRIBUTE_METRICS[a]), METRICS.index(REQUIREMENT_METRICS[a])) for a in Attribute}
"""Where a vector holds how much there is of an attribute, and how much gems and items need."""


def short_attribute(objective: Objective, vector: Vector) -> Attribute | None:
    """Return the attribute of which a vector lacks most, requirements and minima alike; None where all are there."""
    is_guarded = Guard.ATTRIBUTES in objective.guards
    short: dict[Attribute, float] = {}
    for attribute, (there, needed) in AT.items():
        need = max(vector[needed], objective.required.get(attribute, 0.0)) if is_guarded else 0.0
        least = max(need, objective.minima.get(ATTRIBUTE_METRICS[attribute], 0.0))
        if least - vector[there] > EPSILON:
            short[attribute] = least - vector[there]
    return min(short, key=lambda one: (-short[one], one.value), default=None)


class Sockets:
    """What happens to jewels when sockets are bought and given back; here nothing: jewels wait in their sockets."""

    def is_worth_buying(self, node: int) -> bool:
        """Return whether a bought socket would hold a jewel."""
        return True

    def taken(self, node: int) -> list[Change]:
        """Return the changes that fill a socket that is bought."""
        return []

    def left(self, node: int) -> list[Change]:
        """Return the changes that empty a socket that is given back."""
        return []


@dataclass
class Effects:
    """Measures the passives of a graph on an incumbent's committed build.

    `refill`: what is put back with a keystone that is bought, because only one that is missing allows it.

    `local`: passives that may differ from others with the same text, because a radius jewel may reach them.
    """

    incumbent: Incumbent
    graph: PassiveGraph
    sockets: Sockets = field(default_factory=Sockets)
    local: frozenset[int] = frozenset()
    hint: Callable[[NodeFact], float] = lambda _: 0.0
    known: dict[Key, Vector | None] = field(default_factory=dict, init=False)
    held: dict[int, PassiveNode] = field(default_factory=dict)
    refill: list[Change] = field(default_factory=list, init=False)
    _by_keystones: dict[frozenset[int], tuple[dict[Key, Vector | None], list[Change]]] = field(default_factory=dict)
    _at: Blueprint | None = None
    _fresh: set[Key] = field(default_factory=set)
    _texts: dict[int, Key] = field(default_factory=dict)
    _found: dict[tuple[int, Attribute | None], Vector | None] = field(default_factory=dict)
    _entries: dict[tuple[int, Attribute | None], Entries | None] = field(default_factory=dict)
    _same: dict[int, Entries] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return what the entries of vectors are, but for the last."""
        return self.incumbent.objective.metrics

    async def learn(self, nodes: Iterable[int], *, anew: bool = True) -> None:
        """Measure the passives on the committed build: those owned by giving them back, the others by buying them.

        What is known to do nothing is not tried again, nor what was measured on this very build; unless `anew`, nor
        what was measured on an earlier one: a few trades later it is still about right. Only what was measured with the
        keystones of this build is known of it: without life, passives for life do nothing, with it they do.
        """
        if self._at is not self.incumbent.blueprint:
            self._at = self.incumbent.blueprint
            self._fresh.clear()
        self.held = {n.id: n for n in self.incumbent.blueprint.nodes}
        keystones = frozenset(n for n in self.held.keys() & self.graph.nodes.keys() if self._is_keystone(n))
        if keystones not in self._by_keystones:
            self._by_keystones[keystones] = ({}, await self._missing())
        self.known, self.refill = self._by_keystones[keystones]
        self._forget()
        asked: dict[Key, list[Change]] = {}
        hints: dict[Key, float] = {}
        for node in nodes:
            trials: list[tuple[Key, list[Change]]]
            if node in self.held:
                key, given_back = self._key(node, self.held[node].attribute), Deallocate(nodes=[node])
                trials = [(key, [given_back, *self.sockets.left(node)])]
            else:
                is_choice = self.graph.nodes[node].kind == "attribute"
                options: Sequence[Attribute | None] = list(Attribute) if is_choice else [None]
                trials = [(self._key(node, option), self.purchase(node, option)) for option in options]
            for key, changes in trials:
                effect = self.known.get(key)
                moves = effect is not None and any(abs(v) > NOISE for v in effect[:-1])
                if key not in self.known or (anew and moves and key not in self._fresh):
                    asked.setdefault(key, changes)
                    hints[key] = self.hint(self.graph.nodes[node])
        outputs = await self.incumbent.outputs_of(list(asked.values()))
        base = vector_of(self.incumbent.outputs, self.metrics)
        for key, found in zip(asked, outputs, strict=True):
            if not found:
                self.known[key] = None
                continue
            tried = vector_of(found, self.metrics)
            effect = minus(base, tried) if key[0] == "-" else minus(tried, base)
            self.known[key] = (*effect[:-1], hints[key])
        self._fresh |= asked.keys()
        self._forget()

    async def _missing(self) -> list[Change]:
        """Return what puts back the off hand that only another keystone allows: Path of Building has taken it off."""
        item = self.incumbent.blueprint.items.get(OFF_HAND)
        if item is None or OFF_HAND in (await self.incumbent.session.blueprint()).items:
            return []
        return [Equip(item=item)]

    def _is_keystone(self, node: int) -> bool:
        return self.graph.nodes[node].kind == "keystone"

    def purchase(self, node: int, attribute: Attribute | None) -> list[Change]:
        """Return the changes that buy one passive."""
        filled = self.sockets.taken(node) if self.graph.nodes[node].kind == "socket" else []
        filled = self.refill if self._is_keystone(node) else filled
        return [Allocate(nodes=[PassiveNode(id=node, attribute=attribute)]), *filled]

    def _key(self, node: int, attribute: Attribute | None) -> Key:
        owned = self.held.get(node)
        if owned is None:
            return ("+", self._text(node), attribute)
        return ("-", self._text(node), attribute, owned.weapon_set)

    def _text(self, node: int) -> Key:
        """Return what makes passives the same: the text, but for sockets and what a radius jewel may reach the id."""
        if node not in self._texts:
            fact = self.graph.nodes[node]
            words: Key = ("attribute",) if fact.kind == "attribute" else (fact.kind, *fact.mods)
            self._texts[node] = (node,) if fact.kind == "socket" or node in self.local else words
        return self._texts[node]

    def is_target(self, socket: int) -> bool:
        """Return whether a route may end in the socket: an empty one is no aim."""
        return self.sockets.is_worth_buying(socket)

    def option(self, attribute: Attribute) -> Vector | None:
        """Return what a further attribute passive adds when it gives the attribute."""
        return self.known.get(("+", ("attribute",), attribute))

    def of(self, node: int, attribute: Attribute | None = None) -> Vector | None:
        """Return what having the passive adds, None when it cannot be had or was never measured.

        The attribute passive's other options are taken from those not owned.
        """
        asked = (node, attribute)
        if asked not in self._found:
            owned = self.held.get(node)
            is_held = owned is not None and owned.attribute is attribute
            key = self._key(node, attribute) if is_held else ("+", self._text(node), attribute)
            self._found[asked] = self.known.get(key)
        return self._found[asked]

    def entries(self, node: int, attribute: Attribute | None = None) -> Entries | None:
        """Return what having the passive adds by place, without what it leaves alone; else as `of`.

        Passives with the same effect have the same object.
        """
        asked = (node, attribute)
        if asked not in self._entries:
            effect = self.of(node, attribute)
            if effect is not None and id(effect) not in self._same:
                self._same[id(effect)] = tuple((place, value) for place, value in enumerate(effect) if value)
            self._entries[asked] = None if effect is None else self._same[id(effect)]
        return self._entries[asked]

    def _forget(self) -> None:
        """Look everything up anew: what is owned or known has changed."""
        self._found.clear()
        self._entries.clear()
        self._same.clear()
