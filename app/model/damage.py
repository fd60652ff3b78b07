"""The damage that counts, source by source; docs/damage.md says what is counted and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from pydantic import Field

from app.model.base import Model, changed


class DamageKind(StrEnum):
    """How a source deals its damage. `SECOND_SKILL` is told beside the main skill and never added to it."""

    HIT = "hit"
    IMPALE = "impale"
    IGNITE = "ignite"
    POISON = "poison"
    BLEED = "bleed"
    DAMAGE_OVER_TIME = "damage_over_time"
    MINION = "minion"
    TRIGGERED = "triggered"
    CULLING = "culling"
    SECOND_SKILL = "second_skill"


AFTER_HIT = (DamageKind.DAMAGE_OVER_TIME, DamageKind.IGNITE, DamageKind.POISON, DamageKind.BLEED)
"""What goes on after the hit: ailments and damage over time."""


class DamageSource(Model):
    """One source: damage per second, and its share (0 to 1) of the build's damage; a second skill has no share."""

    name: str
    kind: DamageKind
    dps: float
    share: float = 0.0


NOT_COUNTED = {
    "disabled": "the skill cannot be used",
    "on_death": "it happens when something dies",
    "on_kill": "it happens when an enemy is killed",
    "corpse": "it needs a corpse for every use",
    "ailment": "every explosion uses up a freeze, a shock or an ignite that something else has to inflict",
    "no_trigger_rate": "the engine does not calculate how often it is triggered",
}
"""Why an engine's figure for the main skill is not damage that counts, in words."""


class DamageBreakdown(Model):
    """Where the build's damage comes from.

    `dps`: damage per second of all sources but second skills, None when the engine gives no rate. `per_second`: whether
    it is a rate; damage per use is turned into one. `not_counted`: a key of `NOT_COUNTED`, why the main skill has none.
    `states`: options of the configuration, under the engine's names, that nothing in the build brings about.
    """

    dps: float | None = None
    per_second: bool = False
    sources: list[DamageSource] = Field(default_factory=list)
    not_counted: str | None = None
    states: list[str] = Field(default_factory=list)

    @classmethod
    def of(
        cls, found: Iterable[DamageSource], not_counted: str | None = None, states: Iterable[str] = ()
    ) -> DamageBreakdown:
        """Return the breakdown of what an engine found, the largest first; sources of one name and kind add up."""
        sums: dict[tuple[str, DamageKind], float] = {}
        for source in found:
            key = (source.name, source.kind)
            sums[key] = sums.get(key, 0.0) + source.dps
        total = sum(dps for (_, kind), dps in sums.items() if kind is not DamageKind.SECOND_SKILL)
        sources = [DamageSource(name=name, kind=kind, dps=dps) for (name, kind), dps in sums.items()]
        sources.sort(key=lambda one: (one.kind is DamageKind.SECOND_SKILL, -one.dps, one.name, one.kind))
        return cls(
            dps=total or None,
            per_second=total > 0,
            sources=[
                one if one.kind is DamageKind.SECOND_SKILL or not total else changed(one, share=one.dps / total)
                for one in sources
            ],
            not_counted=not_counted,
            states=sorted(states),
        )

    def share(self, *kinds: DamageKind) -> float:
        """Return the share of the damage (0 to 1) that is of these kinds."""
        return sum(source.share for source in self.sources if source.kind in kinds)


MANA_POOL = "ManaPool"
"""Our name for what there is to pay mana costs with, in points."""

SHARES: Mapping[DamageKind, str] = MappingProxyType(
    {
        DamageKind.IGNITE: "DamageShare.ignite",
        DamageKind.POISON: "DamageShare.poison",
        DamageKind.BLEED: "DamageShare.bleed",
    }
)
"""Our names for what share of the damage (0 to 1) a kind is, as a candidate can be asked for it."""

SHARE_AFTER_HIT = "DamageShare.over_time"
"""The same of everything that goes on after the hit (`AFTER_HIT`)."""


def type_share(kind: str) -> str:
    """Return our name for the share of the main skill's damage (0 to 1) of a type, or `elemental`, in a candidate."""
    return f"DamageType.{kind}"


MOST_LIFE_PER_USE = 0.25
"""Share of the unreserved life that one use may cost: at a quarter, four uses without recovery kill."""


class Cost(Model):
    """What one use takes from a pool and what the pool holds, both in points; `most` is what one use may take."""

    resource: str
    cost: float
    pool: float
    most: float

    @property
    def excess(self) -> float:
        """Return how far the cost is above what may be taken: 0 = payable, 1 = twice as much."""
        return max(0.0, self.cost / max(self.most, 1.0) - 1.0)


_POOLS = {
    "mana": ("ManaCost", (MANA_POOL, "ManaUnreserved"), 1.0),
    "life": ("LifeCost", ("LifeUnreserved",), MOST_LIFE_PER_USE),
    "energy shield": ("ESCost", ("EnergyShield",), 1.0),
}
"""Per resource: what one use costs, what pays for it (the first that an engine gives), the share that may be spent."""

PAYMENTS = {
    "mana": ("ManaPerSecondCost", ("ManaRegenRecovery", "ManaLeechGainRate")),
    "life": ("LifePerSecondCost", ("LifeRegenRecovery", "LifeLeechGainRate")),
}
"""Per resource: what the main skill costs per second of use, and what pays for it."""

PAYMENT_METRICS = tuple(key for cost, pools, _ in _POOLS.values() for key in (cost, *pools))
"""What `unpayable` reads."""


def unpayable(values: Mapping[str, float]) -> list[Cost]:
    """Return the costs of one use that the build cannot pay: above the pool, or life that kills within a few uses.

    Of each resource whose pool is known; values under PoB's names.
    """
    found = []
    for resource, (cost_key, pool_keys, share) in _POOLS.items():
        cost = values.get(cost_key, 0.0)
        if cost > 0 and (pools := [values[key] for key in pool_keys if key in values]):
            pool = max(0.0, pools[0])
            if cost / max(pool * share, 1.0) - 1.0 > 0:  # most costs are paid: a search asks this of every candidate
                found.append(Cost(resource=resource, cost=cost, pool=pool, most=pool * share))
    return found
