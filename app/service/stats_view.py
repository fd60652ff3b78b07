"""The numbers of a build under names for people, with where they come from."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from app.model.base import Model
from app.model.stats import CHAOS_RESISTANCE, EHP, FREE_SPIRIT, HIT_TYPES, MOVEMENT, Stats


class StatsView(Model):
    """Stats of a build; null = the engine gave no such number.

    dps: damage per second. ehp: effective hit points. life, energy_shield, mana, armour, evasion: points.
    spirit, spirit_unreserved: Spirit points. *_resistance, block_chance: percent. move_speed: percent of the base.
    max_hit: the largest single hit survived, per damage type. values: every number under the engine's own name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    engine: str
    version: str
    tree_version: str
    estimate: bool
    dps: float | None
    ehp: float | None
    life: float | None
    energy_shield: float | None
    mana: float | None
    spirit: float | None
    spirit_unreserved: float | None
    armour: float | None
    evasion: float | None
    block_chance: float | None
    fire_resistance: float | None
    cold_resistance: float | None
    lightning_resistance: float | None
    chaos_resistance: float | None
    strength: float | None = Field(serialization_alias="str")
    dexterity: float | None = Field(serialization_alias="dex")
    intelligence: float | None = Field(serialization_alias="int")
    move_speed: float | None
    max_hit: dict[str, float] = Field(default_factory=dict)
    values: dict[str, float] = Field(default_factory=dict)


def stats_view(stats: Stats) -> StatsView:
    """Return the stats under our names."""
    got = stats.values.get
    speed = got(MOVEMENT)
    return StatsView(
        engine=stats.engine.name,
        version=stats.engine.version,
        tree_version=stats.engine.tree_version,
        estimate=stats.engine.estimate,
        dps=stats.dps,
        ehp=got(EHP),
        life=got("Life"),
        energy_shield=got("EnergyShield"),
        mana=got("Mana"),
        spirit=got("Spirit"),
        spirit_unreserved=got(FREE_SPIRIT),
        armour=got("Armour"),
        evasion=got("Evasion"),
        block_chance=got("EffectiveBlockChance", got("BlockChance")),
        fire_resistance=got("FireResist"),
        cold_resistance=got("ColdResist"),
        lightning_resistance=got("LightningResist"),
        chaos_resistance=got(CHAOS_RESISTANCE),
        strength=got("Str"),
        dexterity=got("Dex"),
        intelligence=got("Int"),
        move_speed=None if speed is None else round(speed * 100, 1),
        max_hit=_max_hits(stats),
        values=stats.values,
    )


def _max_hits(stats: Stats) -> dict[str, float]:
    found = {kind.lower(): stats.values.get(f"{kind}MaximumHitTaken") for kind in HIT_TYPES}
    return {kind: hit for kind, hit in found.items() if hit is not None}
