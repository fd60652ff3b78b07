"""The search over gear: measure, choose together, put on, look again; then single exchanges."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from app.model.blueprint import Blueprint, Change, Equip, GearItem
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS, RESISTANCES, ItemFinding
from app.search.gear.model import Minima, Situation, choose
from app.search.gear.pool import SlotPool, has, made_of, with_option, without_option
from app.search.gear.values import Values, Worth, items_of, measure
from app.search.incumbent import EPSILON, Incumbent

ROUNDS, ROUNDS_AGAIN = 4, 2
WORTHWHILE = 0.02
"""Gain in score below which a round counts as stale."""
ADDITIONS = 5
"""How many of the most valuable absent affixes are tried in exchanges, per side of an item."""


class GearSearch:
    """Dresses the incumbent's build, which wears plain items in the slots of the pools.

    `plain`: what every option is worth on the plain build, known after `start`.
    """

    def __init__(self, incumbent: Incumbent, pools: Sequence[SlotPool], unwanted: Mapping[str, Sequence[str]]) -> None:
        self.incumbent = incumbent
        self.pools = [pool.without(pool.saying(unwanted.get(pool.slot, ()))) for pool in pools]
        self.plain = Worth(Values(), {})
        self.plain_items: Mapping[str, GearItem] = {}
        self.plain_blueprint: Blueprint | None = None

    async def start(self) -> None:
        """Measure the plain build, from which all else is counted."""
        self.plain = await measure(self.incumbent, self.pools)
        self.plain_items = items_of(self.incumbent.blueprint, self.pools)
        self.plain_blueprint = self.incumbent.blueprint

    async def craft(self, rounds: int = ROUNDS) -> None:
        """Dress the plain build; it ends with the best that was found, every line of it understood by the engine."""
        await self._improve(self.plain, rounds)

    async def recraft(self) -> None:
        """Choose anew on what is worn, because what options are worth has changed."""
        await self._improve(await measure(self.incumbent, self.pools, self.plain.effect), ROUNDS_AGAIN)

    async def _improve(self, worth: Worth, rounds: int) -> None:
        """Choose, put on and measure again, while the last two choices between them are better than those before.

        A joint choice by measured differences is a step in the right direction, not a solution: what an affix is worth
        depends on the others, so each round starts from what the last one found.
        """
        best, best_score, stale = self.incumbent.blueprint, self.incumbent.score, 0
        for left in range(rounds - 1, -1, -1):
            if not await self._dress(worth):
                break
            stale = 0 if self.incumbent.score > best_score + WORTHWHILE else stale + 1
            if self.incumbent.score > best_score + EPSILON or best == self.plain_blueprint:
                best, best_score = self.incumbent.blueprint, self.incumbent.score
            if stale > 1 or not left:
                break
            worth = await measure(self.incumbent, self.pools, self.plain.effect)
        await self.incumbent.rewind(best)

    async def _dress(self, worth: Worth) -> bool:
        """Put on the best joint choice; lines that the engine does not read are banned and the choice made again."""
        while True:
            worn = items_of(self.incumbent.blueprint, self.pools)
            situation = Situation(
                self.pools, worn, worth, self.plain_items, self.plain, self.incumbent.objective, self.demands()
            )
            chosen = await asyncio.to_thread(choose, situation)
            if chosen is None:
                return False
            items = [made_of(pool, chosen[pool.slot]) for pool in self.pools]
            changes: list[Change] = [Equip(item=item) for item in items if item != worn[item.slot]]
            if not changes:
                return False
            await self.incumbent.commit(changes)
            inspection = await self.incumbent.learn_requirements()
            if not self._ban(inspection.unparsed):
                return True
            await self.incumbent.commit([Equip(item=item) for item in worn.values()])

    def demands(self) -> Minima:
        """Return what gear must bring the build to: capped resistances, attributes, and the main skill paid for."""
        objective = self.incumbent.objective
        least = dict.fromkeys(RESISTANCES, objective.floors.resistance.good)
        least |= {"Spirit": 0.0, "MANA": 0.0, "LIFE": 0.0}
        least |= {ATTRIBUTE_METRICS[a]: objective.required.get(a, 0.0) for a in Attribute}
        return Minima(least)

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
        worth = await measure(self.incumbent, self.pools, self.plain.effect)
        for pool in self.pools:
            item = self.incumbent.blueprint.items[pool.slot]
            trials = _exchanges(pool, item, worth)
            outputs = await self.incumbent.outputs_of([[Equip(item=trial)] for trial in trials])
            scores = [
                self.incumbent.objective.score(found) if self.keeps_resistances(found) else float("-inf")
                for found in outputs
            ]
            best = max(range(len(trials)), key=lambda index: (scores[index], -index), default=None)
            if best is not None and scores[best] > self.incumbent.score + EPSILON:
                await self._commit_if_read(trials[best], item)

    async def _commit_if_read(self, item: GearItem, old: GearItem) -> None:
        await self.incumbent.commit([Equip(item=item)])
        inspection = await self.incumbent.learn_requirements()
        if self._ban(inspection.unparsed):
            await self.incumbent.commit([Equip(item=old)])

    def keeps_resistances(self, outputs: Mapping[str, float]) -> bool:
        """Return whether capped resistances stay capped, and others do not fall."""
        wanted = self.incumbent.objective.floors.resistance.good
        return all(outputs.get(key, 0.0) >= min(wanted, self.incumbent.outputs.get(key, 0.0)) for key in RESISTANCES)


def _exchanges(pool: SlotPool, item: GearItem, worth: Worth) -> list[GearItem]:
    """Return the item with each affix exchanged for each of the best absent ones of its side, all of them legal."""
    affixes = [o for o in pool.options() if o.kind in ("prefix", "suffix") and item.base in pool.hosts[o.id]]
    there = [o for o in affixes if has(item, o)]
    absent = sorted((o for o in affixes if not has(item, o)), key=lambda o: (-_rough(worth.effect.get(o)), o))
    found = []
    for side in ("prefix", "suffix"):
        additions = [o for o in absent if o.kind == side and _rough(worth.effect.get(o)) > 0][:ADDITIONS]
        for removed in there:
            if removed.id in pool.required:
                continue
            rest = [o for o in there if o != removed]
            if sum(o.kind == side for o in rest) >= pool.per_side:
                continue
            groups = {pool.affixes[o.id].group for o in rest}
            found += [
                with_option(without_option(item, removed), added, pool)
                for added in additions
                if pool.affixes[added.id].group not in groups
            ]
    return found


def _rough(effect: Values | None) -> float:
    return 0.0 if effect is None else effect.damage + effect.life + 0.001 * sum(effect.flat.values())
