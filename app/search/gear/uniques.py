"""Which unique items a build may wear, and in which slots they compete."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.engine.base import Outputs
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, Change, Equip, GearItem
from app.model.facts import BaseFact, UniqueFact
from app.search.base import SearchContext
from app.search.gear.exchange import GearSearch
from app.search.gear.legality import slot_fits, unobtainable
from app.search.gear.model import Situation, choose
from app.search.gear.pool import SlotPool, made_of
from app.search.gear.values import FLAT, Values, Worth, measure, values_of
from app.search.incumbent import Incumbent
from app.search.objective import Guard

LEAST_SPEED = 15
"""Percent of movement speed below which boots are no boots."""

_SPEED = re.compile(r"(\d+)% increased Movement Speed$")
_OTHER_DAMAGE = re.compile(r"damage converted to|you deal no|deal no ", re.IGNORECASE)
_EXCLUDED = "unique"


async def wearable(ctx: SearchContext, pools: Sequence[SlotPool]) -> list[GearItem]:
    """Return the unique items that may be worn, one per slot it fits, sorted by slot and name.

    Left out: what is above the character's level or cannot be got at the tier, what the engine reads only in part,
    boots without speed, weapons of another kind than the build's, what changes the damage type, and all of them where
    the tier or the user allows none.
    """
    if ctx.demands.floors.gear.max_uniques == 0 or refused(ctx):
        return []
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    facts = [
        fact
        for fact in await ctx.engine.facts.uniques()
        if _is_sound(fact, bases, ctx.demands.level) and unobtainable(fact, ctx.demands.floors.gear) is None
    ]
    found = [
        as_item(fact, pool.slot)
        for pool in pools
        for fact in facts
        if not pool.slot.startswith(JEWEL_SLOT) and _competes(fact, bases[fact.base], pool)
    ]
    return sorted(found, key=lambda item: (item.slot, item.title, item.base))


def refused(ctx: SearchContext) -> bool:
    """Return whether the user wants no unique items."""
    excluded = ctx.invariants.get("exclude")
    words = excluded if isinstance(excluded, list) else [excluded]
    return any(str(word).casefold().startswith(_EXCLUDED) for word in words)


def as_item(fact: UniqueFact, slot: str) -> GearItem:
    """Return the unique as an item in the slot."""
    return GearItem(slot=slot, base=fact.base, rarity="UNIQUE", title=fact.name, text=fact.text)


def _is_sound(fact: UniqueFact, bases: Mapping[str, BaseFact], level: int) -> bool:
    base = bases.get(fact.base)
    if base is None or fact.unparsed or max(fact.level, base.requirements.get("level", 0)) > level:
        return False
    return not any(_OTHER_DAMAGE.search(line) for line in fact.lines)


def _competes(fact: UniqueFact, base: BaseFact, pool: SlotPool) -> bool:
    if not slot_fits(base, pool.slot):
        return False
    if pool.slot in HAND_SLOTS and not _same_kind(base, pool.bases.values()):
        return False
    return pool.slot != "Boots" or _speed(fact) >= LEAST_SPEED


def _same_kind(base: BaseFact, others: Iterable[BaseFact]) -> bool:
    """A shield may be of another mix of defences; a staff for casting is no quarterstaff."""
    exact = base.type == "Staff"
    return any(base.type == other.type and (not exact or base.sub_type == other.sub_type) for other in others)


def _speed(fact: UniqueFact) -> int:
    return max((int(match[1]) for line in fact.lines if (match := _SPEED.search(line))), default=0)


PROMISING = 8
"""How many uniques, those that would help most if resistances and attributes were no matter, are tried in earnest."""
PER_SLOT = 2
WORTHWHILE = 0.03
"""Gain (e-folds, about percent / 100) below which a unique is not worth looking for."""


@dataclass
class UniqueSearch:
    """Puts unique items on the incumbent's build, which wears the best crafted gear that was found.

    `alone`: what each unique changes on the plain build, measured before anything was crafted.
    """

    gear: GearSearch
    uniques: Sequence[GearItem]
    alone: Mapping[str, Values]
    worn: list[GearItem] = field(default_factory=list)

    @property
    def incumbent(self) -> Incumbent:
        """The build that is dressed."""
        return self.gear.incumbent

    async def run(self, most: int) -> None:
        """Put on up to `most` uniques, one at a time, while the whole build measurably gains.

        What options are worth is measured once: it guides the choice of the other slots, the gain itself is tried.
        """
        worth = await measure(self.incumbent, self.gear.pools, self.gear.plain.effect)
        for _ in range(most):
            outfits = await self._outfits(worth)
            outputs = await self.incumbent.outputs_of(outfits)
            gains = [self._gain(found) for found in outputs]
            best = max(range(len(outfits)), key=lambda index: (gains[index], -index), default=None)
            if best is None or gains[best] < WORTHWHILE or not await self._put_on(outfits[best]):
                return

    def _gain(self, outputs: Outputs) -> float:
        if not outputs or not self.gear.keeps_resistances(outputs):
            return float("-inf")
        return self.incumbent.objective.score(outputs) - self.incumbent.score

    async def _put_on(self, outfit: Sequence[Change]) -> bool:
        """Wear the outfit for good; its unique's slot is chosen no more. False when the engine cannot read it all."""
        before, missing = self.incumbent.blueprint, self._missing()
        await self.incumbent.commit(outfit)
        inspection = await self.incumbent.learn_requirements()
        unique = next(c.item for c in outfit if isinstance(c, Equip) and c.item.rarity == "UNIQUE")
        unread = any(finding.slot == unique.slot for finding in inspection.unparsed)
        if unread or self._missing() > missing:
            await self.incumbent.rewind(before)
            await self.incumbent.learn_requirements()
            self.uniques = [item for item in self.uniques if item != unique]
            return False
        self.worn.append(unique)
        self.gear.plain = self._plain_with(unique)
        self.gear.pools = [pool for pool in self.gear.pools if pool.slot != unique.slot]
        return True

    def _missing(self) -> float:
        return sum(gap for _, gap in self.incumbent.objective.attribute_gaps(self.incumbent.outputs).values())

    async def _outfits(self, worth: Worth) -> list[list[Change]]:
        """Return for each promising unique the changes that put it on and choose the other slots around it."""
        open_slots = {pool.slot for pool in self.gear.pools}
        taken = {item.title for item in self.worn}
        uniques = [item for item in self.uniques if item.slot in open_slots and item.title not in taken]
        outputs = await self.incumbent.outputs_of([[Equip(item=item)] for item in uniques])
        chosen = self._promising(uniques, outputs)
        around = [self._around(uniques[i], outputs[i], worth) for i in chosen]
        return [changes for changes in await asyncio.gather(*around) if changes is not None]

    def _promising(self, uniques: Sequence[GearItem], outputs: Sequence[Outputs]) -> list[int]:
        free = self.incumbent.objective.without(*Guard)
        before = free.score(self.incumbent.outputs)
        gains = [free.score(found) - before for found in outputs]
        ranked = sorted((i for i, gain in enumerate(gains) if gain >= WORTHWHILE), key=lambda i: (-gains[i], i))
        kept: list[int] = []
        for index in ranked:
            if sum(uniques[k].slot == uniques[index].slot for k in kept) < PER_SLOT:
                kept.append(index)
        return kept[:PROMISING]

    async def _around(self, unique: GearItem, outputs: Outputs, worth: Worth) -> list[Change] | None:
        """Return the changes to the unique and the best joint choice of the other slots, None when there is none."""
        pools = [pool for pool in self.gear.pools if pool.slot != unique.slot]
        worn = {pool.slot: self.incumbent.blueprint.items[pool.slot] for pool in pools}
        now = values_of(outputs, self.incumbent.objective.flask_mana)
        situation = Situation(
            pools,
            worn,
            replace(worth, now=now),
            self.gear.plain_items,
            self._plain_with(unique),
            self.incumbent.objective,
            self.gear.demands(),
        )
        chosen = await asyncio.to_thread(choose, situation)
        if chosen is None:
            return None
        items = [made_of(pool, chosen[pool.slot]) for pool in pools]
        return [Equip(item=unique), *(Equip(item=item) for item in items if item != worn[item.slot])]

    def _plain_with(self, unique: GearItem) -> Worth:
        """Return the plain build's worth with the unique on, as far as figures add up."""
        plain, added = self.gear.plain, self.alone[key_of(unique)]
        flat = {key: plain.now.flat.get(key, 0.0) + added.flat.get(key, 0.0) for key in FLAT}
        return replace(plain, now=replace(plain.now, flat=flat))


def key_of(item: GearItem) -> str:
    """Return what names a unique in a slot."""
    return f"{item.slot}/{item.title}/{item.base}"


async def measured_alone(incumbent: Incumbent, uniques: Sequence[GearItem]) -> tuple[list[GearItem], dict[str, Values]]:
    """Return the uniques that can be put on the committed, plain build, and what each changes there."""
    outputs = await incumbent.outputs_of([[Equip(item=item)] for item in uniques])
    now = values_of(incumbent.outputs, incumbent.objective.flask_mana)
    usable = [(item, found) for item, found in zip(uniques, outputs, strict=True) if found]
    found = {key_of(item): values_of(out, incumbent.objective.flask_mana).minus(now) for item, out in usable}
    return [item for item, _ in usable], found
