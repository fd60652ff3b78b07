"""What an engine says about a build."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import Field

from app.model.base import Model
from app.model.damage import DamageBreakdown
from app.model.names import Attribute

DPS = "DPS"
"""Our name for "the build's damage per second": the damage that counts (docs/damage.md), which each engine sums up."""

EHP = "TotalEHP"
"""Effective hit points: damage before mitigation that is survived, over hits of all types."""

FREE_SPIRIT = "SpiritUnreserved"
MOVEMENT = "EffectiveMovementSpeedMod"
"""Movement speed as a multiple of a naked character's."""

USES_PER_SECOND, COOLDOWN_S = "Speed", "Cooldown"
"""How often the main skill is used, its cooldown included, and that cooldown in seconds where it has one."""

RESISTANCES = ("FireResist", "ColdResist", "LightningResist")
CHAOS_RESISTANCE = "ChaosResist"
"""Resistances in percent, as they count (not above their cap)."""

ATTRIBUTE_METRICS = {Attribute.STRENGTH: "Str", Attribute.DEXTERITY: "Dex", Attribute.INTELLIGENCE: "Int"}
REQUIREMENT_METRICS = {Attribute.STRENGTH: "ReqStr", Attribute.DEXTERITY: "ReqDex", Attribute.INTELLIGENCE: "ReqInt"}

HIT_TYPES = ("Physical", "Fire", "Cold", "Lightning", "Chaos")
HITS = tuple(f"{kind}MaximumHitTaken" for kind in HIT_TYPES)
"""The largest hit of one damage type that is survived, in hit points."""


PHYSICAL_HIT, ELEMENTAL_HITS, CHAOS_HIT = HITS[0], HITS[1:4], HITS[4]

RECOVERY_METRICS = (
    "LifeRegenRecovery",
    "LifeLeechGainRate",
    "EnergyShieldRegenRecovery",
    "EnergyShieldLeechGainRate",
    "EnergyShieldRecharge",
)
"""What brings back life and energy shield without a flask, in hit points per second; recharge once it has begun."""


class EngineVersion(Model):
    """Which engine calculated: name (pob | sketch), its version, the passive tree's version, estimate or not."""

    name: str
    version: str
    tree_version: str
    estimate: bool = False


class GrantedEffect(Model):
    """A skill that `source` grants, a passive where `passive` is set, else a worn item.

    Of an item's there are only those whose effect the figures could count.
    `damage`, `ehp`: shares (0-1) of the build's damage per second and effective hit points that go without it.
    """

    skill: str
    source: str
    passive: bool = False
    damage: float
    ehp: float


class Stats(Model):
    """Output numbers under PoB's own names (TotalEHP, Life, FireResist ...), plus `DPS`; every one finite.

    Units: damage per second, hit points, percent for resistances, points for Spirit and attributes, per second for
    regeneration. Minion outputs carry the prefix "Minion.". A key that the engine did not produce is absent. `damage`
    says where `DPS` comes from, `granted` which skills there are beside the blueprint's own.
    """

    engine: EngineVersion
    values: dict[str, float] = Field(default_factory=dict)
    damage: DamageBreakdown = Field(default_factory=DamageBreakdown)
    granted: list[GrantedEffect] = Field(default_factory=list)

    def get(self, key: str, default: float = 0.0) -> float:
        """Return the value, or the default when the engine gave none."""
        return self.values.get(key, default)

    @property
    def dps(self) -> float | None:
        """Damage per second of the build's main damage, or None when the engine gives no rate."""
        return damage_per_second(self.values)


def damage_per_second(values: Mapping[str, float]) -> float | None:
    """Return `DPS`; where there is none, the main skill's CombinedDPS or its minion's. None when it is zero."""
    if DPS in values:
        return values[DPS] or None
    return next((values[key] for key in ("CombinedDPS", "Minion.CombinedDPS") if values.get(key, 0.0) > 0), None)


def elemental_hit(values: Mapping[str, float]) -> float:
    """Return the largest hit that is survived of the element that hurts most, in hit points; 0 when none is known."""
    return min((values[key] for key in ELEMENTAL_HITS if key in values), default=0.0)


def recovery(values: Mapping[str, float]) -> float:
    """Return the hit points that come back per second, flasks apart; a drain counts as one."""
    return sum(values.get(key, 0.0) for key in RECOVERY_METRICS)


class Requirement(Model):
    """A requirement and what there is: attribute str/dex/int or level; `source` names who asks."""

    attribute: str
    required: float
    available: float
    source: str = ""


class GemFinding(Model):
    """A gem that does nothing, or cannot be used: group and gem are 1-based indices."""

    group: int
    gem: int
    name: str
    reason: str

    @property
    def is_unknown(self) -> bool:
        """Whether the engine does not know the gem, and so cannot tell what it does."""
        return self.reason.startswith(("Unrecognised", "unknown gem"))


class ItemFinding(Model):
    """An item line that the engine did not understand, or another fault of an item."""

    slot: str
    line: str
    reason: str


CANNOT_PAY: Final = re.compile(r"do not have enough .* to use", re.IGNORECASE)
"""How the engine warns of a skill that costs more than there is of what it costs."""


class Inspection(Model):
    """Everything the validator needs that is not a stat.

    `points`: used, used_set1, used_set2, available, ascendancy_used, ascendancy_available.
    `support_counts`: enabled supports per attribute colour (str/dex/int).
    `unusable`: skills of enabled groups that cannot be used with what is held, the main one among them.
    `disabled_reason`: why the main skill cannot be used, or None.
    `dropped_nodes`: requested passives that are not allocated (not connected, unknown).
    `modelled`: whether the engine gives the main skill a rate at all.
    """

    requirements: list[Requirement] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    unparsed: list[ItemFinding] = Field(default_factory=list)
    idle_gems: list[GemFinding] = Field(default_factory=list)
    unusable: list[GemFinding] = Field(default_factory=list)
    points: dict[str, int] = Field(default_factory=dict)
    support_counts: dict[str, int] = Field(default_factory=dict)
    disabled_reason: str | None = None
    dropped_nodes: list[int] = Field(default_factory=list)
    modelled: bool = True

    @property
    def unpaid(self) -> list[str]:
        """The warnings that the build has not enough of something to use a skill even once; each names the skill."""
        return [line for line in self.warnings if CANNOT_PAY.search(line)]


class BuildReport(Model):
    """The answer to loading a blueprint or committing changes: what could not be done, in words.

    `outputs`: the figures of the build with the changes that were asked for at once; None where none were.
    """

    dropped_nodes: list[int] = Field(default_factory=list)
    problems: list[str] = Field(default_factory=list)
    outputs: dict[str, float] | None = None
