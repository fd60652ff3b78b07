"""Jewel sockets on the tree: worth as much as the jewel that would sit in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.knowledge.exclusions import Exclusions
from app.knowledge.vocabulary import vocabulary
from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, Allocate, Change, Equip, GearItem, PassiveNode, Unequip
from app.model.facts import BaseFact
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
        jewels = [await self._filled(pool, base, route) for pool, base in zip(pools, bases, strict=True)]
        gains = await self._gains(route, [plain_item(jewels[0].slot, bases[0], 1), *jewels])
        best = max(range(1, len(gains)), key=lambda i: (gains[i], -i))
        return jewels[best - 1] if gains[best] > gains[0] + EPSILON else None

    async def _filled(self, pool: SlotPool, base: BaseFact, route: Route) -> GearItem:
        """Return a jewel of the base with the affixes that help most alone, as many as a jewel of the tier holds."""
        plain = plain_item(pool.slot, base, pool.item_level)
        options = [option for option in pool.options() if option.kind in ("prefix", "suffix")]
        gains = await self._gains(route, [plain, *(with_option(plain, option, pool) for option in options)])
        worth = {option: gain - gains[0] for option, gain in zip(options, gains[1:], strict=True)}
        jewel = plain
        for option in sorted(options, key=lambda o: (-worth[o], o)):
            affixes = len(jewel.prefixes) + len(jewel.suffixes)
            if worth[option] > EPSILON and affixes < pool.total and has_room(jewel, option, pool):
                jewel = with_option(jewel, option, pool)
        return jewel

    async def _gains(self, route: Route, jewels: Sequence[GearItem]) -> list[float]:
        way = Allocate(nodes=[PassiveNode(id=node) for node in route.nodes])
        return await self.incumbent.gains([[way, Equip(item=jewel)] for jewel in jewels])


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
