"""Jewel sockets on the tree: worth as much as the jewel that would sit in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.knowledge.exclusions import Exclusions
from app.knowledge.vocabulary import vocabulary
from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, Allocate, Change, Equip, GearItem, PassiveNode, Unequip
from app.search.base import SearchContext
from app.search.gear.bases import ATTRIBUTE_JEWELS
from app.search.gear.pool import SlotPool, has_room, plain_item, slot_pool, with_option
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.effects import Sockets
from app.search.passives.graph import PassiveGraph, Route

FAR = 15
"""Points within which a socket is looked for to try jewels in."""


@dataclass(frozen=True)
class JewelSearch:
    """Makes the jewel that suits the build, by trying affixes in the nearest free socket."""

    ctx: SearchContext
    incumbent: Incumbent
    graph: PassiveGraph

    async def best(self) -> GearItem | None:
        """Return the best legal jewel found (its slot is that of the socket it was tried in), None without any."""
        owned = frozenset(n.id for n in self.incumbent.blueprint.nodes)
        routes = [r for r in self.graph.routes(owned, FAR).values() if self.graph.nodes[r.target].kind == "socket"]
        excluded = Exclusions.of(self.ctx.invariants.listed("exclude"), vocabulary())
        known = [base for base in await self.ctx.engine.facts.bases() if base.name in ATTRIBUTE_JEWELS]
        bases = [base for base in known if not excluded.item("", base, unique=False)]
        if not routes or not bases:
            return None
        route = min(routes, key=lambda r: (r.points, r.target))
        pools = [await slot_pool(self.ctx, f"{JEWEL_SLOT}{route.target}", [base]) for base in bases]
        worth = await self._worth(pools, route)
        jewels = [filled(pool, worth) for pool in pools]
        gains = await self._gains(route, [plain_item(jewels[0].slot, bases[0], 1), *jewels])
        best = max(range(1, len(gains)), key=lambda i: (gains[i], -i))
        return jewels[best - 1] if gains[best] > gains[0] + EPSILON else None

    async def _worth(self, pools: Sequence[SlotPool], route: Route) -> dict[str, float]:
        """Return per affix how much it adds to a plain jewel: the same on whichever of the bases it fits."""
        tried: dict[str, GearItem] = {}
        for pool in pools:
            for option in pool.options():
                if option.kind in ("prefix", "suffix"):
                    tried.setdefault(option.id, with_option(plain_jewel(pool), option, pool))
        plain, *gains = await self._gains(route, [plain_jewel(pools[0]), *tried.values()])
        return {affix: gain - plain for affix, gain in zip(tried, gains, strict=True)}

    async def _gains(self, route: Route, jewels: Sequence[GearItem]) -> list[float]:
        way = Allocate(nodes=[PassiveNode(id=node) for node in route.nodes])
        return await self.incumbent.gains([[way, Equip(item=jewel)] for jewel in jewels])


def plain_jewel(pool: SlotPool) -> GearItem:
    """Return a jewel of the pool's first base without affixes."""
    return plain_item(pool.slot, next(iter(pool.bases.values())), pool.item_level)


def filled(pool: SlotPool, worth: Mapping[str, float], start: GearItem | None = None) -> GearItem:
    """Return a jewel with the affixes that are worth most alone (per id), as many as a jewel of the tier holds.

    `start`: what it has already; a plain jewel otherwise.
    """
    jewel = start or plain_jewel(pool)
    options = [option for option in pool.options() if option.kind in ("prefix", "suffix") and option.id in worth]
    for option in sorted(options, key=lambda o: (-worth[o.id], o)):
        affixes = len(jewel.prefixes) + len(jewel.suffixes)
        if worth[option.id] > EPSILON and affixes < pool.total and has_room(jewel, option, pool):
            jewel = with_option(jewel, option, pool)
    return jewel


class JewelSockets(Sockets):
    """Puts the build's jewel into every socket that is bought, and takes jewels out of those given back."""

    def __init__(self, incumbent: Incumbent, jewel: GearItem | None) -> None:
        self._incumbent = incumbent
        self._jewel = jewel

    def is_worth_buying(self, node: int) -> bool:
        """Return whether there is a jewel to put in."""
        return self._jewel is not None

    def taken(self, node: int) -> list[Change]:
        """Return the change that fills the socket."""
        return [] if self._jewel is None else [socketed(self._jewel, node)]

    def left(self, node: int) -> list[Change]:
        """Return the change that empties the socket when there is a jewel in it."""
        slot = f"{JEWEL_SLOT}{node}"
        return [Unequip(slot=slot)] if slot in self._incumbent.blueprint.items else []


def socketed(jewel: GearItem, socket: int) -> Change:
    """Return the change that puts such a jewel into the socket."""
    return Equip(item=changed(jewel, slot=f"{JEWEL_SLOT}{socket}"))
