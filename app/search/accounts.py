"""Opportunity cost: what each answer takes from which budget, and what one more unit would be worth.

The spending is read from the finished build; what one more unit would be worth is measured on it (`margins.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.model.blueprint import JEWEL_SLOT, Blueprint, SkillGroup
from app.model.experiments import Spending
from app.model.facts import GemFact
from app.model.floors import Floors
from app.model.names import Attribute, SubProblemName
from app.model.stats import Inspection, Stats
from app.search.gems import support_slots
from app.search.margins import NextBest
from app.search.objective import ATTRIBUTE_METRICS

Q = SubProblemName
AFFIXES = {"RARE": 6, "MAGIC": 2}


@dataclass(frozen=True)
class Books:
    """What was spent, before anything is measured."""

    blueprint: Blueprint
    stats: Stats
    inspection: Inspection
    floors: Floors
    gems: Mapping[str, GemFact]
    main: int

    def spending(self) -> dict[SubProblemName, list[Spending]]:
        """Return per question what its answer takes."""
        points = self.inspection.points
        passives = self._row("passive_points", points.get("used", 0), self._available("available", "passive_points"))
        affixes, runes, jewels = self._affixes(), self._runes(), self._jewels()
        return {
            Q.ASCENDANCY: [
                self._row("ascendancy_points", points.get("ascendancy_used", 0), self.floors.ascendancy_points)
            ],
            Q.DAMAGE_DELIVERY: [self._supports()],
            Q.DAMAGE_SCALING: [passives, self._supports(), jewels],
            Q.SURVIVABILITY: [passives, affixes, runes],
            Q.RESOURCE_SUSTAIN: [self._mana()],
            Q.SPIRIT_ALLOCATION: [self._spirit()],
            Q.STAT_REQUIREMENTS: [*self._attributes(), affixes],
        }

    @staticmethod
    def _row(budget: str, spent: float, available: float | None) -> Spending:
        return Spending(budget=budget, spent=float(spent), available=None if available is None else float(available))

    def _available(self, key: str, floor: str) -> float:
        told = self.inspection.points.get(key, 0)
        planned: int = getattr(self.floors, floor)
        return max(told, planned) if told < self.inspection.points.get("used", 0) else planned

    def _supports(self) -> Spending:
        groups = self.blueprint.groups
        group = groups[self.main - 1] if 0 < self.main <= len(groups) else SkillGroup(gems=[])
        held = sum(1 for g in group.gems if g.gem_id in self.gems and self.gems[g.gem_id].kind == "support")
        return self._row("support_slots", held, max(held, support_slots(self.blueprint.level)))

    def _affixes(self) -> Spending:
        worn = [item for slot, item in self.blueprint.items.items() if not slot.startswith(JEWEL_SLOT)]
        made = [item for item in worn if item.text is None and item.rarity in AFFIXES]
        spent = sum(len(item.prefixes) + len(item.suffixes) for item in made)
        return self._row("affix_slots", spent, sum(AFFIXES[item.rarity] for item in made))

    def _runes(self) -> Spending:
        worn = [item for item in self.blueprint.items.values() if item.sockets]
        spent = sum(len([rune for rune in item.runes if rune != "None"]) for item in worn)
        return self._row("rune_sockets", spent, sum(item.sockets for item in worn))

    def _jewels(self) -> Spending:
        held = sum(1 for slot in self.blueprint.items if slot.startswith(JEWEL_SLOT))
        return self._row("jewel_sockets", held, None)

    def _mana(self) -> Spending:
        income = self.stats.get("ManaRegenRecovery") + self.stats.get("ManaLeechGainRate")
        return self._row("mana_per_second", round(self.stats.get("ManaPerSecondCost"), 1), round(income, 1))

    def _spirit(self) -> Spending:
        total, free = self.stats.get("Spirit"), self.stats.get("SpiritUnreserved")
        return self._row("spirit", total - free, total)

    def _attributes(self) -> list[Spending]:
        rows = []
        for attribute in Attribute:
            asked = [r.required for r in self.inspection.requirements if r.attribute == attribute.value]
            supports = 5.0 * self.inspection.support_counts.get(attribute.value, 0)
            rows.append(
                self._row(attribute.value, max([*asked, supports]), self.stats.get(ATTRIBUTE_METRICS[attribute]))
            )
        return rows


def with_marginals(rows: Sequence[Spending], values: Mapping[str, Sequence[NextBest]], metric: str) -> list[Spending]:
    """Return the rows with the worth of one more unit for the metric, where it was measured."""
    found = []
    for row in rows:
        ranked = sorted(values.get(row.budget, ()), key=lambda best: (-best.of(metric), best.name))
        if row.budget not in values:
            found.append(row)
            continue
        best = ranked[0] if ranked and ranked[0].of(metric) > 0 else None
        update = {
            "metric": metric,
            "marginal": round(best.of(metric), 6) if best else 0.0,
            "next_best": best.name if best else "",
        }
        found.append(row.model_copy(update=update))
    return found
