"""The lever of items: the best legal item for one slot, everything else as it is; uniques stay."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, Change, Equip, GearItem
from app.model.facts import BaseFact
from app.model.moves import Part
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS, RESISTANCES
from app.search.gear.bases import (
    ARMOUR_SLOTS,
    ATTRIBUTE_JEWELS,
    JEWELLERY_SLOTS,
    armour_options,
    best_first,
    jewellery_options,
    usable,
)
from app.search.gear.model import Minima, Situation, choose
from app.search.gear.pool import SlotPool, made_of, plain_item, slot_pool
from app.search.gear.values import measure, values_of
from app.search.incumbent import Incumbent
from app.search.refine.work import WORTHWHILE, Candidate, Work

RING_3 = "Ring 3"
PER_SLOT = 3
"""Bases of one kind that compete for a slot of the hands."""

GROWN = 60
PLAIN_ON_PURPOSE = 30
"""From this level on, a normal item is worn because something asks for it."""


@dataclass(frozen=True)
class ItemLever:
    """Replaces worn items one by one, the best exchange first, and fills empty slots."""

    name: str
    parts: tuple[Part, ...]
    most: int = 5

    async def propose(self, work: Work) -> list[Candidate]:
        """Return the best item of every slot that may be changed."""
        named: list[tuple[str, Sequence[Change]]] = []
        for slot in self._slots(work):
            item = await best_item(work, slot)
            if item is not None:
                named.append((slot, [Equip(item=item)]))
        return [found for found in await work.proposals(named) if found.gain > WORTHWHILE]

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Put the items on, best first; what is left is looked for anew once the hints are used up."""
        left, fresh, made = list(hints), False, 0
        while made < self.most and not work.done():
            left = [p for p in await work.proposals([(p.name, p.changes) for p in left]) if p.gain > WORTHWHILE]
            if left:
                made += await self._put_on(work, left.pop(0))
            elif fresh:
                return
            else:
                left, fresh = await self.propose(work), True

    async def _put_on(self, work: Work, best: Candidate) -> int:
        """Wear the item; one with a line that the engine does not read, or that promises too much, comes off again."""
        before, score = work.incumbent.blueprint, work.incumbent.score
        await work.incumbent.commit(best.changes)
        inspection = await work.incumbent.learn_requirements()
        unread = any(finding.slot == best.name for finding in inspection.unparsed)
        if unread or work.incumbent.score < score + WORTHWHILE / 2:
            await work.incumbent.rewind(before)
            return 0
        return 1

    def _slots(self, work: Work) -> list[str]:
        gear = Part.GEAR in self.parts
        slots = _gear_slots(work) if gear else _sockets(work)
        return [slot for slot in slots if not work.locks.holds_slot(slot) and _may_go(work, slot)]


def _gear_slots(work: Work) -> list[str]:
    worn = work.incumbent.blueprint.items
    hands = [slot for slot in HAND_SLOTS if slot in worn]
    third = [RING_3] if RING_3 in worn else []
    return [*ARMOUR_SLOTS, *JEWELLERY_SLOTS, *third, *hands]


def _sockets(work: Work) -> list[str]:
    owned = sorted(node.id for node in work.incumbent.blueprint.nodes)
    sockets = [i for i in owned if i in work.nodes and work.nodes[i].kind == "socket"]
    return [f"{JEWEL_SLOT}{node}" for node in sockets]


def _may_go(work: Work, slot: str) -> bool:
    item = work.incumbent.blueprint.items.get(slot)
    if item is None:
        return not _bare_on_purpose(work, slot)
    return item.rarity != "UNIQUE" and not (item.rarity == "NORMAL" and work.ctx.demands.level >= PLAIN_ON_PURPOSE)


def _bare_on_purpose(work: Work, slot: str) -> bool:
    """A single empty slot of a grown character is empty for a reason; several are just not filled yet."""
    worn = work.incumbent.blueprint.items
    empty = [name for name in (*ARMOUR_SLOTS, *JEWELLERY_SLOTS) if name not in worn]
    return empty == [slot] and work.ctx.demands.level >= GROWN


async def best_item(work: Work, slot: str) -> GearItem | None:
    """Return the best legal item for the slot as the joint choice sees it, or None when no base fits."""
    ctx = work.now()
    bases = _bases(work, slot)
    if not bases:
        return None
    pool = await slot_pool(ctx, slot, bases)
    plain = plain_item(slot, bases[0], pool.item_level)
    probe = await _dressed(work, plain)
    if probe is None:
        return None
    worth = await measure(probe, [pool])
    work.incumbent.trials += probe.trials
    worn = {slot: plain}
    situation = Situation([pool], worn, worth, worn, worth, work.objective, _demands(work))
    chosen = await asyncio.to_thread(choose, situation)
    return None if chosen is None else _finished(pool, made_of(pool, chosen[slot]))


def _finished(pool: SlotPool, item: GearItem) -> GearItem | None:
    return item if item.prefixes or item.suffixes or not pool.affixes else None


async def _dressed(work: Work, plain: GearItem) -> Incumbent | None:
    """Return a bench on the build as if it wore the plain item; nothing is committed."""
    probe = Incumbent(work.incumbent.session, work.incumbent.blueprint, work.objective)
    items = {**work.incumbent.blueprint.items, plain.slot: plain}
    probe.blueprint = work.incumbent.blueprint.model_copy(update={"items": items})
    probe.outputs = (await probe.outputs_of([[Equip(item=plain)]]))[0]
    return probe if probe.outputs else None


def _demands(work: Work) -> Minima:
    """Return what the build has now, up to what it needs: an exchange must not open a gap."""
    now = values_of(work.incumbent.outputs, work.objective.flask_mana).flat
    least = {key: min(work.objective.floors.resistance.good, now.get(key, 0.0)) for key in RESISTANCES}
    least |= {key: min(0.0, now.get(key, 0.0)) for key in ("Spirit", "MANA", "LIFE")}
    needs = work.objective.required
    have = {ATTRIBUTE_METRICS[a]: min(needs.get(a, 0.0), now.get(ATTRIBUTE_METRICS[a], 0.0)) for a in Attribute}
    return Minima(least | have)


def _bases(work: Work, slot: str) -> list[BaseFact]:
    """Return the bases that compete for the slot: what is held keeps its kind, armour may change its kind."""
    ordinary = usable(work.bases.values(), work.ctx)
    ordinary.sort(key=lambda base: base.name)
    worn = work.incumbent.blueprint.items.get(slot)
    own = work.bases.get(worn.base) if worn else None
    if slot.startswith(JEWEL_SLOT):
        return [base for base in ordinary if base.name in ATTRIBUTE_JEWELS]
    if slot in HAND_SLOTS:
        return _same_kind(ordinary, own) if own else []
    if slot in ARMOUR_SLOTS:
        found = armour_options(ordinary, slot, work.ctx.plan.survivability.mitigation)
        return _with(found, own if own in ordinary else None)
    return jewellery_options(ordinary, "Ring 1" if slot == RING_3 else slot)


def _same_kind(ordinary: Sequence[BaseFact], own: BaseFact) -> list[BaseFact]:
    kind = [b for b in ordinary if (b.type, b.sub_type) == (own.type, own.sub_type)]
    return _with(best_first(kind)[:PER_SLOT], own if own in ordinary else None)


def _with(found: Sequence[BaseFact], own: BaseFact | None) -> list[BaseFact]:
    bases = [own, *found] if own is not None else list(found)
    return list({base.name: base for base in bases}.values())
