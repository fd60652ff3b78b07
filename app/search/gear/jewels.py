"""Jewels: what sockets are worth while the tree is searched, and which jewel each of them holds in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.model.base import changed
from app.model.blueprint import JEWEL_SLOT, AffixRoll, Allocate, Change, Equip, GearItem, PassiveNode, Unequip
from app.model.facts import BaseFact, UniqueFact
from app.model.names import UniqueTier
from app.search.base import SearchContext
from app.search.gear.bases import ATTRIBUTE_JEWELS, RADIUS_JEWELS
from app.search.gear.legality import is_named
from app.search.gear.pool import GearOption, SlotPool, has_room, plain_item, slot_pool, with_option
from app.search.gear.unique_jewels import allocated_sockets, jewels_to_try, versions
from app.search.gear.worth import rolls_of
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.effects import Sockets
from app.search.passives.graph import PassiveGraph, Route, within_reach

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
        owned = self.incumbent.blueprint.passives
        routes = [r for r in self.graph.routes(owned, FAR).values() if self.graph.nodes[r.target].kind == "socket"]
        excluded = self.ctx.exclusions
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


LEAST_GAIN = 0.01
"""Another jewel than the rare one is bought for a gain of at least about a percent of the whole build."""

SHORT_LIST = 8
"""Affixes of each side that are tried in every socket, after all were tried in one."""

WIDEST = ["Upgrades Radius to Large"]
"""Lines of the affix that makes the radius as large as an affix does."""


@dataclass
class JewelChoice:
    """Tries other jewels in each allocated socket of the incumbent's build, and puts in what helps most, one by one.

    `budget`: candidates that may be measured, about. The sockets with most of the build's passives around them come
    first, because there a radius is worth most.
    """

    ctx: SearchContext
    incumbent: Incumbent
    budget: int

    async def run(self) -> list[GearItem]:
        """Put jewels in while the whole build gains, resistances kept; return what was put in."""
        last = self.incumbent.trials + self.budget
        slots = await self._slots()
        if not slots or self.budget <= 0:
            return []
        to_try = await jewels_to_try(self.ctx)
        uniques = {fact.name: fact for fact in to_try}
        offers = await self._uniques(to_try, slots, last) + await self._radius_jewels(slots, last)
        taken: list[GearItem] = []
        while offers and self.incumbent.trials + len(offers) <= last:
            best = await self._best([item for item in offers if self._is_allowed(item, uniques)])
            if best is None:
                break
            if await self._put_in(best):
                taken.append(best)
                offers = [item for item in offers if item.slot != best.slot]
            else:
                offers = [item for item in offers if item != best]
        return taken

    async def _slots(self) -> list[str]:
        """Return the slots that may hold another jewel, those with most passives around them first."""
        nodes = {node.id: node for node in await self.ctx.engine.facts.nodes()}
        owned = [nodes[node.id] for node in self.incumbent.blueprint.nodes if node.id in nodes]
        near = {
            slot: sum(within_reach(node, nodes[int(slot.removeprefix(JEWEL_SLOT))]) for node in owned)
            for slot in await allocated_sockets(self.ctx, self.incumbent.blueprint)
        }
        return sorted(near, key=lambda slot: (-near[slot], slot))

    async def _best(self, offers: Sequence[GearItem]) -> GearItem | None:
        """Return what raises the score most, None where nothing raises it enough with resistances as they are."""
        gains = await self.incumbent.gains_kept([[Equip(item=item)] for item in offers])
        best = max(range(len(offers)), key=lambda index: (gains[index], -index), default=None)
        return offers[best] if best is not None and gains[best] >= LEAST_GAIN else None

    async def _put_in(self, item: GearItem) -> bool:
        """Put the jewel in for good; False, and as before, when the engine cannot read it all."""
        before = self.incumbent.blueprint
        await self.incumbent.commit([Equip(item=item)])
        inspection = await self.incumbent.learn_requirements()
        if not any(finding.slot == item.slot for finding in inspection.unparsed):
            return True
        await self.incumbent.rewind(before)
        await self.incumbent.learn_requirements()
        return False

    def _is_allowed(self, item: GearItem, uniques: Mapping[str, UniqueFact]) -> bool:
        """Return whether tier and game allow one more: rares always, uniques up to their number and their own limit."""
        if item.rarity != "UNIQUE":
            return True
        limits = self.ctx.demands.floors.gear
        others = [other for slot, other in self.incumbent.blueprint.items.items() if slot != item.slot]
        worn = [other for other in others if other.rarity == "UNIQUE"]
        alike = sum(other.title == item.title for other in worn)
        own = uniques[item.title].limit
        return sum(not is_named(other, limits) for other in worn) < limits.max_uniques and (not own or alike < own)

    async def _uniques(self, facts: Sequence[UniqueFact], slots: Sequence[str], last: int) -> list[GearItem]:
        if self.ctx.demands.floors.gear.max_uniques == 0:
            return []
        found: list[GearItem] = []
        for fact in facts:
            if self.incumbent.trials < last:
                found += await versions(self.incumbent, fact, slots)
        return found

    async def _radius_jewels(self, slots: Sequence[str], last: int) -> list[GearItem]:
        """Return for each slot the best jewels with a radius, small and large, of each base."""
        bases = await self._radius_bases()
        found: list[GearItem] = []
        pools = [await slot_pool(self.ctx, slots[0], [base]) for base in bases]
        if not pools:
            return []
        every = await self._worth(pools, slots[0], wide=True, options=_affixes(pools))
        short = short_list(_affixes(pools), every)
        for slot in slots:
            for wide in (False, True) if short else ():
                if self.incumbent.trials + len(short) > last:
                    return found
                worth = await self._worth(pools, slot, wide=wide, options=short)
                jewels = [filled(pool, worth, start(pool, slot, wide=wide)) for pool in pools]
                found += [jewel for jewel in jewels if len(rolls_of(jewel)) > wide]
        return found

    async def _radius_bases(self) -> list[BaseFact]:
        """Return the bases with a radius that the tier has; they come from one trial's end, like uniques of a boss."""
        excluded = self.ctx.exclusions
        if self.ctx.demands.floors.gear.rarest_unique.rank < UniqueTier.RARE.rank:
            return []
        bases = [base for base in await self.ctx.engine.facts.bases() if base.name in RADIUS_JEWELS]
        return [base for base in bases if not excluded.item("", base, unique=False)]

    async def _worth(
        self, pools: Sequence[SlotPool], slot: str, *, wide: bool, options: Sequence[GearOption]
    ) -> dict[str, float]:
        """Return per affix what it adds, alone, to a jewel of that radius in the slot."""
        tried: dict[str, GearItem] = {}
        for option in options:
            pool = next(pool for pool in pools if option.id in pool.affixes)
            jewel = start(pool, slot, wide=wide)
            if has_room(jewel, option, pool):
                tried[option.id] = with_option(jewel, option, pool)
        trials = [start(pools[0], slot, wide=wide), *tried.values()]
        plain, *gains = await self.incumbent.gains([[Equip(item=item)] for item in trials])
        return {affix: gain - plain for affix, gain in zip(tried, gains, strict=True)}


def start(pool: SlotPool, slot: str, *, wide: bool) -> GearItem:
    """Return a jewel of the pool's base for the slot without affixes, but for the one that widens it."""
    jewel = changed(plain_jewel(pool), slot=slot)
    widest = [fact.id for fact in pool.affixes.values() if fact.lines == WIDEST]
    return changed(jewel, prefixes=[AffixRoll(id=name) for name in widest]) if wide else jewel


def _affixes(pools: Sequence[SlotPool]) -> list[GearOption]:
    """Return the affixes of all pools, each once."""
    found = {option.id: option for pool in pools for option in pool.options() if option.kind in ("prefix", "suffix")}
    return [found[name] for name in sorted(found)]


def short_list(options: Sequence[GearOption], worth: Mapping[str, float]) -> list[GearOption]:
    """Return the affixes of each side that are worth most, as many as are tried in every socket."""
    found: list[GearOption] = []
    for side in ("prefix", "suffix"):
        helpful = [option for option in options if option.kind == side and worth.get(option.id, 0.0) > EPSILON]
        found += sorted(helpful, key=lambda option: (-worth[option.id], option.id))[:SHORT_LIST]
    return found
