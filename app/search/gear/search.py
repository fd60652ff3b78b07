"""The search over gear: measure, choose together, put on, look again; then single exchanges, and unique items."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.engine.base import Outputs
from app.knowledge.uniques import helps_at_times
from app.knowledge.words import phrase
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, Blueprint, Change, Equip, GearItem
from app.model.facts import BaseFact, UniqueFact
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS, CHAOS_RESISTANCE, REQUIREMENT_METRICS, RESISTANCES, ItemFinding
from app.search.base import SearchContext
from app.search.gear.legality import slot_fits, unobtainable
from app.search.gear.model import LEAST_GAP, GearProblem, Minima, choose
from app.search.gear.pool import GearOption, SlotPool, has, made_of, with_option, without_option
from app.search.gear.values import RECOVERY, OptionValues, Values, items_of, measure, values_of, wanted_of
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import Guard

STALE = 0.02
"""Gain in score below which a round counts as stale."""
ADDITIONS = 5
"""How many of the most valuable absent affixes are tried in exchanges, per side of an item."""


class GearSearch:
    """Dresses the incumbent's build, which wears plain items in the slots of the pools.

    `plain`: what every option is worth on the plain build, known after `start`. `gap`: how far a joint choice may be
    from the best on paper.
    """

    def __init__(
        self,
        incumbent: Incumbent,
        pools: Sequence[SlotPool],
        unwanted: Mapping[str, Sequence[str]],
        gap: float = LEAST_GAP,
    ) -> None:
        self.incumbent = incumbent
        self.gap = gap
        self.pools = [pool.without(pool.saying(unwanted.get(pool.slot, ()))) for pool in pools]
        self.plain = OptionValues(Values(), {})
        self.plain_items: Mapping[str, GearItem] = {}
        self.plain_blueprint: Blueprint | None = None
        self._measured: list[tuple[Blueprint, OptionValues]] = []

    async def start(self) -> None:
        """Measure the plain build, from which all else is counted."""
        self.plain = await measure(self.incumbent, self.pools)
        self.plain_items = items_of(self.incumbent.blueprint, self.pools)
        self.plain_blueprint = self.incumbent.blueprint

    async def values(self) -> OptionValues:
        """Return what the options are worth on what is worn; a build that was measured before is not measured again."""
        now = self.incumbent.blueprint
        known = next((values for blueprint, values in self._measured if blueprint == now), None)
        if known is None:
            known = await measure(self.incumbent, self.pools, self.plain.effect)
            self._measured.append((now, known))
        return known

    async def craft(self, rounds: int) -> None:
        """Dress the plain build; it ends with the best that was found, every line of it understood by the engine."""
        await self._improve(self.plain, rounds)

    async def recraft(self, rounds: int) -> None:
        """Choose anew on what is worn, because what options are worth has changed."""
        await self._improve(await self.values(), rounds)

    async def _improve(self, values: OptionValues, rounds: int) -> None:
        """Choose, put on and measure again, while the last two choices between them are better than those before.

        A joint choice by measured differences is a step in the right direction, not a solution: what an affix is worth
        depends on the others, so each round starts from what the last one found.
        """
        best, best_score, stale = self.incumbent.blueprint, self.incumbent.score, 0
        for left in range(rounds - 1, -1, -1):
            if not await self._dress(values):
                break
            stale = 0 if self.incumbent.score > best_score + STALE else stale + 1
            if self.incumbent.score > best_score + EPSILON or best == self.plain_blueprint:
                best, best_score = self.incumbent.blueprint, self.incumbent.score
            if stale > 1 or not left:
                break
            values = await self.values()
        await self.incumbent.rewind(best)

    async def _dress(self, values: OptionValues) -> bool:
        """Put on the best joint choice; lines that the engine does not read are banned and the choice made again.

        Each choice is made from what was worn when the options were measured, whatever is worn meanwhile.
        """
        worn = items_of(self.incumbent.blueprint, self.pools)
        while True:
            changes = await self.chosen(self.pools, values, self.plain, worn)
            wished = worn | {change.item.slot: change.item for change in changes or []}
            now = items_of(self.incumbent.blueprint, self.pools)
            if other := [Equip(item=item) for slot, item in wished.items() if item != now[slot]]:
                await self.incumbent.commit(other)
            if not changes:
                return False
            inspection = await self.incumbent.learn_requirements()
            if not self._ban(inspection.unparsed):
                return True

    async def chosen(
        self,
        pools: Sequence[SlotPool],
        values: OptionValues,
        plain: OptionValues,
        worn: Mapping[str, GearItem],
        asked: Mapping[str, float] | None = None,
        kept: float = 0.0,
    ) -> list[Equip] | None:
        """Return the changes to the best joint choice over the pools from what is worn, None when there is none.

        `values`: what the options are worth on what is worn; `plain`: on the plain build. `asked`: flat figures that
        must reach at least so much beside the usual ones; `kept`: as in `GearProblem`.
        """
        objective, minima = self.incumbent.objective, self.demands().raised(asked or {})
        problem = GearProblem(pools, worn, values, self.plain_items, plain, objective, minima, self.gap, kept)
        found = await asyncio.to_thread(choose, problem)
        if found is None:
            return None
        items = [made_of(pool, found[pool.slot]) for pool in pools]
        return [Equip(item=item) for item in items if item != worn[item.slot]]

    def demands(self) -> Minima:
        """Return what gear must bring the build to: resistances, attributes, recovery, what guards ask for."""
        objective = self.incumbent.objective
        least = dict.fromkeys(RESISTANCES, objective.floors.resistance.good)
        least |= {RECOVERY: objective.floors.recovery.good}
        if (chaos := objective.floors.chaos_resistance.least) > 0:
            least |= {CHAOS_RESISTANCE: chaos}
        least |= dict.fromkeys(("Spirit",) if Guard.SPIRIT in objective.guards else (), 0.0)
        least |= dict.fromkeys(("MANA", "LIFE") if Guard.SUSTAIN in objective.guards else (), 0.0)
        least |= {ATTRIBUTE_METRICS[a]: objective.required.get(a, 0.0) for a in Attribute}
        return Minima(least | wanted_of(objective))

    def _ban(self, findings: Sequence[ItemFinding]) -> bool:
        """Take affixes and runes with unread lines out of the pools; return whether there were any."""
        lines: dict[str, list[str]] = {}
        for finding in findings:
            lines.setdefault(finding.slot, []).append(finding.line)
        banned = {pool.slot: pool.saying(lines.get(pool.slot, ())) for pool in self.pools}
        self.pools = [pool.without(banned[pool.slot]) for pool in self.pools]
        return any(banned.values())

    async def exchange(self) -> None:
        """Exchange one affix for another, slot by slot, while that raises the score."""
        values = await self.values()
        for pool in self.pools:
            item = self.incumbent.blueprint.items[pool.slot]
            trials = exchanges(pool, item, values)
            gains = await self.incumbent.gains_kept([[Equip(item=trial)] for trial in trials])
            best = max(range(len(trials)), key=lambda index: (gains[index], -index), default=None)
            if best is not None and gains[best] > EPSILON:
                await self.incumbent.commit([Equip(item=trials[best])])
                inspection = await self.incumbent.learn_requirements()
                if self._ban(inspection.unparsed):
                    await self.incumbent.commit([Equip(item=item)])


def exchanges(pool: SlotPool, item: GearItem, values: OptionValues) -> list[GearItem]:
    """Return the item with each affix exchanged for each of the best absent ones of its side, all of them legal."""

    def rough(option: GearOption) -> float:
        effect = values.effect.get(option)
        return 0.0 if effect is None else effect.damage + effect.life + 0.001 * sum(effect.flat.values())

    affixes = [o for o in pool.options() if o.kind in ("prefix", "suffix") and item.base in pool.hosts[o.id]]
    there = [o for o in affixes if has(item, o)]
    absent = sorted((o for o in affixes if not has(item, o)), key=lambda o: (-rough(o), o))
    found = []
    for side in ("prefix", "suffix"):
        additions = [o for o in absent if o.kind == side and rough(o) > 0][:ADDITIONS]
        for removed in there:
            rest = [o for o in there if o != removed]
            if removed.id in pool.required or sum(o.kind == side for o in rest) >= pool.per_side:
                continue
            groups = {pool.affixes[o.id].group for o in rest}
            found += [
                with_option(without_option(item, removed), added, pool)
                for added in additions
                if pool.affixes[added.id].group not in groups
            ]
    return found


LEAST_SPEED = 15
"""Percent of movement speed below which boots are no boots."""

_SPEED = re.compile(r"(\d+)% increased Movement Speed$")
_OTHER_DAMAGE = re.compile(r"damage converted to|you deal no|deal no ", re.IGNORECASE)


async def wearable(ctx: SearchContext, pools: Sequence[SlotPool]) -> list[GearItem]:
    """Return the unique items that may be worn, one per slot it fits, sorted by slot and name.

    Left out: what is above the character's level or cannot be got at the tier, what the engine reads only in part,
    boots without speed, weapons of another kind than the build's, what changes the damage type, what helps only who is
    not hit (the engine takes nobody to be), and all of them where the tier or the user allows none. What the user named
    is worn already, and competes no more.
    """
    excluded = ctx.exclusions
    if ctx.demands.floors.gear.max_uniques == 0:
        return []
    named = {phrase(name) for name in ctx.invariants.listed("with")}
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    facts = []
    for fact in await ctx.engine.facts.uniques():
        base = bases.get(fact.base)
        if base is None or fact.unparsed or max(fact.level, base.requirements.get("level", 0)) > ctx.demands.level:
            continue
        if excluded.item(fact.name, base, unique=True, lines=fact.lines) or phrase(fact.name) in named:
            continue
        unfit = any(map(_OTHER_DAMAGE.search, fact.lines)) or helps_at_times(fact.lines)
        if not unfit and unobtainable(fact, ctx.demands.floors.gear) is None:
            facts.append(fact)
    found = [
        as_item(fact, pool.slot)
        for pool in pools
        for fact in facts
        if not pool.slot.startswith(JEWEL_SLOT) and _competes(fact, bases[fact.base], pool)
    ]
    return sorted(found, key=lambda item: (item.slot, item.title, item.base))


def as_item(fact: UniqueFact, slot: str) -> GearItem:
    """Return the unique as an item in the slot."""
    return GearItem(slot=slot, base=fact.base, rarity="UNIQUE", title=fact.name, text=fact.text)


def _competes(fact: UniqueFact, base: BaseFact, pool: SlotPool) -> bool:
    """Return whether the unique is what the slot asks for: of the build's kind of weapon, boots with speed.

    A shield may be of another mix of defences; a staff for casting is no quarterstaff.
    """
    if not slot_fits(base, pool.slot):
        return False
    if pool.slot in HAND_SLOTS:
        alike = (other for other in pool.bases.values() if other.type == base.type)
        if not any(base.type != "Staff" or other.sub_type == base.sub_type for other in alike):
            return False
    speed = max((int(match[1]) for line in fact.lines if (match := _SPEED.search(line))), default=0)
    return pool.slot != "Boots" or speed >= LEAST_SPEED


PROMISING = 8
"""How many uniques, those that promise most, are tried in earnest at most."""
PER_SLOT = 2
CLEARLY = 0.02
"""Gain (e-folds) that one exchange around a unique must promise at least."""
WORTHWHILE = 0.03
"""Gain (e-folds, about percent / 100) below which a unique is not worth looking for."""


@dataclass
class UniqueSelection:
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
        values = await self.gear.values()
        for _ in range(most):
            outfits = await self._outfits(values)
            gains = await self.incumbent.gains_kept(outfits)
            best = max(range(len(outfits)), key=lambda index: (gains[index], -index), default=None)
            if best is None or gains[best] < WORTHWHILE or not await self._put_on(outfits[best]):
                return

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

    async def _outfits(self, values: OptionValues) -> list[list[Change]]:
        """Return for each promising unique the changes that put it on and choose the other slots around it."""
        open_slots = {pool.slot for pool in self.gear.pools}
        taken = {item.title for item in self.worn}
        uniques = [item for item in self.uniques if item.slot in open_slots and item.title not in taken]
        outputs = await self.incumbent.outputs_of([[Equip(item=item)] for item in uniques])
        gains = [self._promise(found) for found in outputs]
        promising: list[int] = []
        for index in sorted((i for i, gain in enumerate(gains) if gain > 0), key=lambda i: (-gains[i], i)):
            if sum(uniques[k].slot == uniques[index].slot for k in promising) < PER_SLOT:
                promising.append(index)
        around = [self._around(uniques[i], outputs[i], values) for i in promising[:PROMISING]]
        return [changes for changes in await asyncio.gather(*around) if changes is not None]

    def _promise(self, outputs: Outputs) -> float:
        """Return what a unique gains with nothing fitted to it: as it stands, or if all demands were met otherwise.

        Fitting the rest can turn a small gain into one that is worthwhile, and hardly ever a loss.
        """
        objectives = (self.incumbent.objective, self.incumbent.objective.without(*Guard))
        return max(one.score(outputs) - one.score(self.incumbent.outputs) for one in objectives)

    async def _around(self, unique: GearItem, outputs: Outputs, values: OptionValues) -> list[Change] | None:
        """Return the changes to the unique and the best joint choice of the other slots, None when there is none.

        What the unique itself asks for has to be met. All else is worn because it measured best, so only what clearly
        helps is exchanged: a choice from nothing would lose more by errors of what is measured than a unique brings.
        """
        pools = [pool for pool in self.gear.pools if pool.slot != unique.slot]
        now = values_of(outputs, self.incumbent.objective)
        worn = items_of(self.incumbent.blueprint, pools)
        asked = {ATTRIBUTE_METRICS[a]: outputs.get(REQUIREMENT_METRICS[a], 0.0) for a in Attribute}
        plain = self._plain_with(unique)
        changes = await self.gear.chosen(pools, replace(values, now=now), plain, worn, asked, CLEARLY)
        return None if changes is None else [Equip(item=unique), *changes]

    def _plain_with(self, unique: GearItem) -> OptionValues:
        """Return the plain build's worth with the unique on, as far as figures add up."""
        plain, added = self.gear.plain, self.alone[key_of(unique)]
        flat = {key: plain.now.flat.get(key, 0.0) + added.flat.get(key, 0.0) for key in plain.now.flat}
        return replace(plain, now=replace(plain.now, flat=flat))


def key_of(item: GearItem) -> str:
    """Return what names a unique in a slot."""
    return f"{item.slot}/{item.title}/{item.base}"


async def measured_alone(incumbent: Incumbent, uniques: Sequence[GearItem]) -> tuple[list[GearItem], dict[str, Values]]:
    """Return the uniques that can be put on the committed, plain build, and what each changes there."""
    outputs = await incumbent.outputs_of([[Equip(item=item)] for item in uniques])
    now = values_of(incumbent.outputs, incumbent.objective)
    usable = [(item, found) for item, found in zip(uniques, outputs, strict=True) if found]
    found = {key_of(item): values_of(out, incumbent.objective).minus(now) for item, out in usable}
    return [item for item, _ in usable], found
