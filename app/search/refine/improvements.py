"""The ways in which a refinement improves a build: its passives, gems and items, one class for each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.knowledge.named import named_in
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, Change, Equip, GearItem, SetGroup
from app.model.facts import BaseFact, GemFact
from app.model.moves import Part
from app.model.stats import ATTRIBUTE_METRICS, DPS, EHP, FREE_SPIRIT, RESISTANCES
from app.search.gear.anoint import AMULET, offers, renewed
from app.search.gear.bases import (
    ARMOUR_SLOTS,
    ATTRIBUTE_JEWELS,
    JEWELLERY_SLOTS,
    armour_options,
    best_first,
    jewellery_options,
    usable,
)
from app.search.gear.model import GearProblem, Minima, choose
from app.search.gear.pool import made_of, plain_item, slot_pool
from app.search.gear.values import measure, values_of, wanted_of
from app.search.incumbent import Incumbent
from app.search.passives.ascendancy import AscendancySelection
from app.search.passives.attributes import AttributeSearch
from app.search.passives.effects import Sockets
from app.search.passives.graph import ascendancy_graph, near_jewels
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.passives.weapon_sets import anchors
from app.search.refine.faults import IdleGems, SpiritRelease
from app.search.refine.work import SAME, WORTHWHILE, Candidate, Improvement, Work
from app.search.skills.gems import weapon_types
from app.search.skills.secondary import SkillSearch
from app.search.skills.supports import SupportRules, SupportSelection
from app.search.stages.passives import banned_nodes

SHOWN = 4
EXCHANGES = 4
LIMITS = TreeLimits(reach=6, rounds=3, chain=12, offers=16, shakes=(8, 16), trials=2500)

MOST_PERSISTENT = 2


RING_3 = "Ring 3"
PER_SLOT = 3
"""Bases of one kind that compete for a slot of the hands."""

GROWN = 60
PLAIN_ON_PURPOSE = 30
"""From this level on, a normal item is worn because something asks for it."""


class KeptSockets(Sockets):
    """Jewels stay where they are, and a socket without a jewel is no aim."""

    def is_worth_buying(self, node: int) -> bool:
        """Return False: another improvement fills sockets."""
        return False


async def tree_search(work: Work) -> TreeSearch:
    """Return a search that keeps sockets, islands, and what belongs to one weapon set or leads there."""
    blueprint, graph = work.incumbent.blueprint, work.graph
    owned = frozenset(node.id for node in blueprint.nodes) & graph.nodes.keys()
    apart = frozenset(n.id for n in blueprint.nodes if n.weapon_set and n.id in graph.nodes)
    sockets = frozenset(node for node in owned if graph.nodes[node].kind == "socket")
    wanted = {phrase(name) for name in work.ctx.invariants.listed("with")}
    named = frozenset(node for node in owned if phrase(graph.nodes[node].name) in wanted)
    return TreeSearch(
        work.incumbent,
        graph,
        work.ctx.plan.scaling.keywords,
        banned=await banned_nodes(work.ctx, graph),
        fixed=sockets | (owned & graph.roots) | apart | anchors(graph, owned, apart) | named,
        local=near_jewels(graph, blueprint),
        limits=LIMITS,
        sockets=KeptSockets(),
    )


@dataclass(frozen=True)
class PointSpending:
    """Spends passive points that the level gives and the build has not used."""

    name: str = "unspent passive points"
    parts: tuple[Part, ...] = (Part.TREE,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return the best routes that the points can pay."""
        search = await tree_search(work)
        routes = [route for route in await search.promising(SHOWN) if route.points <= work.points]
        named = [(work.nodes[route.target].name, search.purchase(route)) for route in routes]
        return [found for found in await work.tried(named) if found.gain > 0]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Spend the points."""
        work.points = await (await tree_search(work)).spend(work.points)


@dataclass(frozen=True)
class TreeExchange:
    """Gives back the branches that matter least for the wish and buys what matters most."""

    name: str = "passive tree"
    parts: tuple[Part, ...] = (Part.TREE,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return the passives with the best gain per point; they still have to be paid for with others."""
        search = await tree_search(work)
        named = [(work.nodes[r.target].name, search.purchase(r)) for r in await search.promising(SHOWN)]
        return [found for found in await work.tried(named) if found.gain > WORTHWHILE]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Trade branches while that pays and the wish is open."""
        search = await tree_search(work)
        for _ in range(EXCHANGES):
            if work.done() or not await search.improve(1):
                return


@dataclass(frozen=True)
class AttributeSwitch:
    """Lets attribute passives give what is needed and what helps."""

    name: str = "attribute passives"
    parts: tuple[Part, ...] = (Part.ATTRIBUTES,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return nothing: what it brings is known only once it is done, and it costs nothing to take back."""
        return []

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Switch attribute passives."""
        await AttributeSearch(work.incumbent, work.graph).run()


@dataclass(frozen=True)
class AscendancySpending:
    """Spends ascendancy points that the level gives and the build has not used."""

    name: str = "unspent ascendancy points"
    parts: tuple[Part, ...] = (Part.ASCENDANCY,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return nothing: the points are spent together or not at all."""
        return []

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Choose the best passives for all ascendancy points."""
        graph = await ascendancy_graph(work.ctx)
        if graph is None or work.ascendancy_points <= 0:
            return
        spent = sum(node.id in graph.bought for node in work.incumbent.blueprint.nodes)
        await AscendancySelection(work.incumbent, graph).run(spent + work.ascendancy_points)


@dataclass(frozen=True)
class SupportExchange:
    """Exchanges supports of the damage skill; only where writing the group anew loses nothing of the file's choices."""

    name: str = "supports"
    parts: tuple[Part, ...] = (Part.SUPPORTS,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return nothing: sets of supports are chosen together."""
        return []

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Choose the supports of the damage skill anew; the old ones stay unless others are better."""
        index, groups, now = work.strongest, work.incumbent.blueprint.groups, work.incumbent.outputs
        group = work.incumbent.blueprint.group_at(index)
        kinds = [work.gems[gem.gem_id].kind for gem in group.gems if gem.gem_id in work.gems] if group else []
        is_rewritable = False
        if group is not None and kinds[:1] == ["active"] and "active" not in kinds[1:]:
            (found,) = await work.incumbent.outputs_of([[SetGroup(index=index, group=group)]])
            is_rewritable = bool(found) and all(
                abs(found.get(key, 0.0) - now.get(key, 0.0)) <= SAME * max(1.0, found.get(key, 0.0))
                for key in (DPS, EHP)
            )
        if group is None or not is_rewritable:
            work.asides.append("supports stay: the file has settings for the skill that a new group would lose")
            return
        others = [g for i, g in enumerate(groups, start=1) if i != index]
        used = frozenset(gem.gem_id for other in others for gem in other.gems)
        rules = SupportRules(
            work.ctx.demands.level,
            work.ctx.demands.gear,
            used | set(work.ctx.plan.scaling.excluded_gems),
            work.ctx.plan.scaling.keywords,
            slots=max(1, len(group.gems) - 1),
            required=tuple(fact.id for fact in (await named_in(work.ctx.engine.facts, work.ctx.invariants)).supports),
        )
        search = SupportSelection(work.incumbent, index, rules, work.gems)
        await search.run(await work.ctx.engine.facts.supports_for(group.gems[0].gem_id))


@dataclass(frozen=True)
class SpiritSpending:
    """Reserves Spirit that is left for persistent skills that help."""

    name: str = "free Spirit"
    parts: tuple[Part, ...] = (Part.SPIRIT,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return the persistent skills that help most and fit into the Spirit there is."""
        search, wanted = await self._search(work)
        highest = {offer.fact.id: offer for offer in reversed(search.offers(wanted))}
        offers = [highest[key] for key in sorted(highest)]
        index = len(work.incumbent.blueprint.groups) + 1
        named: list[tuple[str, Sequence[Change]]] = [
            (offer.fact.name, [SetGroup(index=index, group=offer.group)]) for offer in offers
        ]
        found = await work.tried(named)
        return [p for p in found if p.gain > WORTHWHILE and p.figures.get(FREE_SPIRIT, 0.0) >= 0][:4]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Add up to two persistent skills."""
        search, wanted = await self._search(work)
        await search.add(wanted, MOST_PERSISTENT)

    async def _search(self, work: Work) -> tuple[SkillSearch, list[GemFact]]:
        held = await weapon_types(work.now())
        free = work.incumbent.outputs.get(FREE_SPIRIT, 0.0)
        excluded = set(work.ctx.plan.scaling.excluded_gems)
        active = [fact for fact in work.gems.values() if fact.kind == "active" and fact.id not in excluded]
        wanted = [fact for fact in active if 0 < fact.spirit <= free]
        return SkillSearch(work.incumbent, work.ctx.demands.level, held), sorted(wanted, key=lambda fact: fact.id)


@dataclass(frozen=True)
class ItemExchange:
    """Replaces worn items one by one, the best exchange first, and fills empty slots; uniques stay."""

    name: str
    parts: tuple[Part, ...]
    most: int = 5

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return the best item of every slot that may be changed."""
        named: list[tuple[str, Sequence[Change]]] = []
        for slot in changeable_slots(work, jewels=Part.GEAR not in self.parts):
            item = await best_item(work, slot)
            if item is not None:
                named.append((slot, [Equip(item=item)]))
        return [found for found in await work.tried(named) if found.gain > WORTHWHILE]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Put the items on, best first; what is left is looked for anew once the known ones are used up.

        An item with a line that the engine does not read, or that promises too much, comes off again.
        """
        left, is_fresh, made = list(known), False, 0
        while made < self.most and not work.done():
            left = [p for p in await work.tried([(p.name, p.changes) for p in left]) if p.gain > WORTHWHILE]
            if not left and is_fresh:
                return
            if not left:
                left, is_fresh = await self.candidates(work), True
                continue
            best = left.pop(0)
            before, score = work.incumbent.blueprint, work.incumbent.score
            await work.incumbent.commit(best.changes)
            inspection = await work.incumbent.learn_requirements()
            unread = any(finding.slot == best.name for finding in inspection.unparsed)
            if unread or work.incumbent.score < score + WORTHWHILE / 2:
                await work.incumbent.rewind(before)
            else:
                made += 1


@dataclass(frozen=True)
class Anointment:
    """Anoints an amulet that is not; what another is anointed with was paid for and stays."""

    name: str = "anointment"
    parts: tuple[Part, ...] = (Part.GEAR,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return the notables that would help most."""
        if work.locks.holds_slot(AMULET):
            return []
        found = await offers(work.now(), work.incumbent, await banned_nodes(work.ctx, work.graph))
        return [one for one in await work.tried([(name, [way]) for name, way in found]) if one.gain > WORTHWHILE]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Anoint it with the best, as the build is by now."""
        for best in (await self.candidates(work))[:1]:
            await work.incumbent.commit(best.changes)


def changeable_slots(work: Work, *, jewels: bool) -> list[str]:
    """Return the slots whose item may be replaced: those of jewels in allocated sockets, or those of gear.

    A unique stays, and so does a normal item that a grown character wears: something asks for it. A single empty slot
    of a grown character is empty for a reason; several are just not filled yet.
    """
    worn = work.incumbent.blueprint.items
    if jewels:
        owned = sorted(node.id for node in work.incumbent.blueprint.nodes)
        slots = [f"{JEWEL_SLOT}{i}" for i in owned if i in work.nodes and work.nodes[i].kind == "socket"]
    else:
        hands = [slot for slot in HAND_SLOTS if slot in worn]
        slots = [*ARMOUR_SLOTS, *JEWELLERY_SLOTS, *([RING_3] if RING_3 in worn else []), *hands]
    empty = [name for name in (*ARMOUR_SLOTS, *JEWELLERY_SLOTS) if name not in worn]
    found = []
    for slot in slots:
        item = worn.get(slot)
        if item is None:
            stays = empty == [slot] and work.ctx.demands.level >= GROWN
        else:
            stays = item.rarity == "UNIQUE" or (item.rarity == "NORMAL" and work.ctx.demands.level >= PLAIN_ON_PURPOSE)
        if not stays and not work.locks.holds_slot(slot):
            found.append(slot)
    return found


def competing_bases(work: Work, slot: str) -> list[BaseFact]:
    """Return the bases that compete for the slot: what is held keeps its kind, armour may change its kind."""
    ordinary = usable(work.bases.values(), work.ctx)
    ordinary.sort(key=lambda base: base.name)
    if slot.startswith(JEWEL_SLOT):
        return [base for base in ordinary if base.name in ATTRIBUTE_JEWELS]
    worn = work.incumbent.blueprint.items.get(slot)
    own = work.bases.get(worn.base) if worn else None
    if slot in HAND_SLOTS:
        if own is None:
            return []
        found = best_first([b for b in ordinary if (b.type, b.sub_type) == (own.type, own.sub_type)])[:PER_SLOT]
    elif slot in ARMOUR_SLOTS:
        found = armour_options(ordinary, slot, work.ctx.plan.survivability.mitigation)
    else:
        return jewellery_options(ordinary, "Ring 1" if slot == RING_3 else slot)
    first = [own] if own is not None and own in ordinary else []
    return list({base.name: base for base in [*first, *found]}.values())


async def best_item(work: Work, slot: str) -> GearItem | None:
    """Return the best legal item for the slot as the joint choice sees it, or None when no base fits."""
    bases = competing_bases(work, slot)
    if not bases:
        return None
    pool = await slot_pool(work.now(), slot, bases)
    plain = plain_item(slot, bases[0], pool.item_level)
    # what options are worth is measured as if the plain item was worn; nothing is committed
    now, objective = work.incumbent, work.objective
    probe = Incumbent(now.session, now.blueprint, objective)
    probe.blueprint = changed(now.blueprint, items={**now.blueprint.items, slot: plain})
    probe.outputs = (await probe.outputs_of([[Equip(item=plain)]]))[0]
    if not probe.outputs:
        return None
    worth = await measure(probe, [pool])
    now.trials += probe.trials
    # what the build has now, up to what it needs: an exchange must not open a gap
    figures = values_of(now.outputs, objective).flat
    least = {key: min(objective.floors.resistance.good, figures.get(key, 0.0)) for key in RESISTANCES}
    least |= {key: min(0.0, figures.get(key, 0.0)) for key in ("Spirit", "MANA", "LIFE")}
    for attribute, metric in ATTRIBUTE_METRICS.items():
        least[metric] = min(objective.required.get(attribute, 0.0), figures.get(metric, 0.0))
    worn = {slot: plain}
    problem = GearProblem([pool], worn, worth, worn, worth, objective, Minima(least | wanted_of(objective)))
    chosen = await asyncio.to_thread(choose, problem)
    if chosen is None:
        return None
    item = changed(made_of(pool, chosen[slot]), anoint=renewed(work.now(), slot, work.nodes.values()))
    return item if item.prefixes or item.suffixes or not pool.affixes else None


IMPROVEMENTS: tuple[Improvement, ...] = (
    SpiritRelease(),
    IdleGems(),
    PointSpending(),
    AscendancySpending(),
    SpiritSpending(),
    AttributeSwitch(),
    SupportExchange(),
    ItemExchange("jewels", (Part.JEWELS,)),
    ItemExchange("items", (Part.GEAR,)),
    Anointment(),
    TreeExchange(),
)
"""From what costs nothing to what changes most."""
