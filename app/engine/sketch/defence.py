"""Attributes, pools, resistances, ratings, and how much damage a character survives.

Formulas are the game's with the quest rewards that the configuration leaves and Path of Building's default resistance
penalty; the effective hit pool is a mean over one hit of every damage type from the configured enemy.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from app.engine.sketch.pack import Game, Pack
from app.engine.sketch.sheet import DAMAGE_TYPES, ELEMENTS, Stats, Sums, at_level
from app.model.blueprint import DEFAULT_ENEMY, ConfigValue
from app.model.demands import ELEMENTAL_RESISTANCE_CAP
from app.model.stats import EHP, MOVEMENT

ARMOUR_RATIO = 10
"""Armour needed per point of damage to halve it (game constant)."""
RECHARGE = 0.125
"""Share of the energy shield that comes back per second once recharge has begun (game constant)."""
MOST_REDUCTION = 0.9
MOST_ENEMY_REDUCTION = 0.75


@dataclass(frozen=True, slots=True)
class Enemy:
    """Resistance and penetration in percent; `damage` is per hit and type before mitigation, chaos 2.5 times less."""

    resistance: float
    penetration: float
    damage: float
    armour: float
    evasion: float
    accuracy: float

    def hit_chance(self, accuracy: float) -> float:
        """Return the chance in percent to hit this enemy (game formula)."""
        return max(5.0, min(100.0, accuracy * 125 / (accuracy + self.evasion * 0.3))) if accuracy > 0 else 5.0

    def evade_chance(self, evasion: float) -> float:
        """Return the chance in percent to evade this enemy's hit (game formula)."""
        return min(95.0, 95 * evasion / (evasion + 4 * self.accuracy)) if evasion > 0 else 0.0

    def taken_share(self, kind: str, amount: float, penetration: float) -> float:
        """Return the share of a hit that this enemy takes."""
        if kind in ELEMENTS:
            return 1 - max(self.resistance - penetration, min(self.resistance, 0.0)) / 100
        if kind == "physical":
            return 1 - min(MOST_ENEMY_REDUCTION, armour_reduction(self.armour, amount))
        return 1.0


def armour_reduction(armour: float, amount: float) -> float:
    """Return the share of a hit that armour takes away (game formula: armour / (armour + 10 x damage))."""
    return min(MOST_REDUCTION, armour / (armour + ARMOUR_RATIO * amount)) if armour > 0 else 0.0


def enemy_for(game: Game, level: int, config: dict[str, ConfigValue]) -> Enemy:
    """Return the configured enemy (`enemyIsBoss`, `enemyLevel`) for a character level."""
    name = str(config.get("enemyIsBoss", DEFAULT_ENEMY))
    kind = game.enemies.get(name, game.enemies[DEFAULT_ENEMY])
    table = game.enemy
    its_level = float(config.get("enemyLevel", min(level, table["highest"])))
    if name not in ("None", "Boss"):
        its_level = max(its_level, table["boss_level"])
    figures = {k: at_level(tuple(table[k]), tuple(table["level"]), its_level) for k in _FIGURES}
    return Enemy(
        resistance=kind.resistance,
        penetration=kind.penetration,
        damage=figures["damage"] * kind.damage,
        armour=figures["armour"],
        evasion=figures["evasion"],
        accuracy=figures["accuracy"],
    )


_FIGURES = ("evasion", "accuracy", "damage", "armour")


LIFE_BASE, LIFE_PER_LEVEL, LIFE_PER_STRENGTH = 16, 12, 2
MANA_BASE, MANA_PER_LEVEL, MANA_PER_INTELLIGENCE = 30, 4, 2
EVASION_BASE = 7
ACCURACY_PER_LEVEL, ACCURACY_PER_DEXTERITY = 6, 6
MANA_REGENERATION = 0.04
MOST_BLOCK = 50
CHAOS_SHARE = 0.4
"""Chaos damage of an enemy's hit, as a share of each other type."""
CHAOS_ON_SHIELD = 2
"""Chaos damage counts this often against Energy Shield."""
BLOCKED_SHARE = 0.5
"""Share of hits that can be blocked at all; an estimate."""


class Defence:
    """Calculates what a character has."""

    def __init__(self, pack: Pack, sums: Sums) -> None:
        self._game: Game = pack.game
        self._sums = sums

    def pools(self, stats: Stats, level: int, config: dict[str, ConfigValue]) -> Stats:
        """Return attributes, life, mana, energy shield, armour, evasion, accuracy and Spirit."""
        sums, quests = self._sums, self._rewards(config)
        attributes = {a: math.floor(sums.scaled(stats, a)) for a in ("str", "dex", "int")}
        life = LIFE_BASE + quests["life"] + LIFE_PER_LEVEL * level + LIFE_PER_STRENGTH * attributes["str"]
        mana = MANA_BASE + MANA_PER_LEVEL * level + MANA_PER_INTELLIGENCE * attributes["int"]
        accuracy = ACCURACY_PER_LEVEL * (level - 1) + ACCURACY_PER_DEXTERITY * attributes["dex"]
        return {
            **attributes,
            "life": round(self._pool(stats, "life", life, quests["life_inc"])),
            "mana": round(self._pool(stats, "mana", mana, quests["mana_inc"])),
            "energy_shield": round(sums.scaled(stats, "energy_shield")),
            "armour": round(sums.scaled(stats, "armour")),
            "evasion": round(sums.scaled(stats, "evasion", EVASION_BASE)),
            "accuracy": round(sums.scaled(stats, "accuracy", accuracy)),
            "spirit": round(sums.scaled(stats, "spirit", quests["spirit"])),
        }

    def outputs(self, stats: Stats, pools: Stats, enemy: Enemy, config: dict[str, ConfigValue]) -> dict[str, float]:
        """Return everything about survival under PoB's names."""
        sums, quests = self._sums, self._rewards(config)
        penalty = float(config.get("resistancePenalty", self._game.resistance_penalty))
        out: dict[str, float] = {}
        for kind in (*ELEMENTS, "chaos"):
            base = 0.0 if kind == "chaos" else penalty + quests[f"{kind}_resistance"]
            total = base + sums.total(stats, f"{kind}_resistance", "flat")
            most = ELEMENTAL_RESISTANCE_CAP + sums.total(stats, f"max_{kind}_resistance", "flat")
            name = f"{kind.capitalize()}Resist"
            out[name], out[f"{name}Total"] = min(total, most), total
            out[f"{name}OverCap"], out[f"Missing{name}"] = max(0.0, total - most), max(0.0, most - total)
        life = sums.total(stats, "life_regeneration", "flat")
        life += pools["life"] * sums.total(stats, "life_regeneration_percent", "flat") / 100
        life *= 1 + sums.total(stats, "life_regeneration", "inc") / 100
        mana = pools["mana"] * MANA_REGENERATION * (1 + sums.total(stats, "mana_regeneration", "inc") / 100)
        moving = (1 + sums.total(stats, "movement_speed", "flat") / 100) * (1 - stats.get("movement_penalty", 0.0))
        out |= {
            "Str": pools["str"],
            "Dex": pools["dex"],
            "Int": pools["int"],
            "Life": pools["life"],
            "LifeUnreserved": pools["life"],
            "Mana": pools["mana"],
            "ManaUnreserved": pools["mana"],
            "EnergyShield": pools["energy_shield"],
            "Armour": pools["armour"],
            "Evasion": pools["evasion"],
            "Spirit": pools["spirit"],
            "EvadeChance": round(enemy.evade_chance(pools["evasion"])),
            "PhysicalDamageReduction": round(100 * armour_reduction(pools["armour"], enemy.damage)),
            "EffectiveBlockChance": min(MOST_BLOCK, sums.scaled(stats, "block", stats.get("block", 0.0))),
            "LifeRegenRecovery": round(life, 1),
            "ManaRegenRecovery": round(mana, 1),
            "EnergyShieldRecharge": round(pools["energy_shield"] * RECHARGE, 1),
            MOVEMENT: round(moving, 4),
        }
        return out | self._survival(stats, pools, enemy, out)

    def _rewards(self, config: dict[str, ConfigValue]) -> Counter[str]:
        """Return what the quests give that the configuration does not take out."""
        found = Counter[str]()
        for option, given in self._game.quests.items():
            found.update(given if config.get(option, True) else {})
        return found

    def _pool(self, stats: Stats, name: str, base: float, quest_increase: float) -> float:
        flat = base + self._sums.total(stats, name, "flat")
        return flat * (1 + (quest_increase + self._sums.total(stats, name, "inc")) / 100)

    def _survival(self, stats: Stats, pools: Stats, enemy: Enemy, out: dict[str, float]) -> dict[str, float]:
        life, shield = pools["life"], pools["energy_shield"]
        on_elements = pools["armour"] * self._sums.total(stats, "armour_to_elemental", "flat") / 100
        taken: dict[str, float] = {}
        found: dict[str, float] = {}
        for kind in DAMAGE_TYPES:
            armour = pools["armour"] if kind == "physical" else on_elements if kind in ELEMENTS else 0.0
            resistance = out.get(f"{kind.capitalize()}Resist", 0.0)
            if kind in ELEMENTS and resistance > 0:
                resistance -= enemy.penetration
            resisted = 1.0 if kind == "physical" else 1 - max(-200.0, resistance) / 100
            amount = enemy.damage * (CHAOS_SHARE if kind == "chaos" else 1.0)
            taken[kind] = amount * resisted * (1 - armour_reduction(armour, amount * resisted))
            pool = life + (shield / CHAOS_ON_SHIELD if kind == "chaos" else shield)
            # the positive root of hit x (1 - armour / (armour + ratio x hit)) = pool
            ratio = ARMOUR_RATIO
            root = math.sqrt(ratio * ratio * pool * pool + 4 * ratio * armour * pool)
            found[f"{kind.capitalize()}MaximumHitTaken"] = round((ratio * pool + root) / (2 * ratio) / resisted)
        rest = sum(taken.values()) - taken["chaos"]
        hits = shield / (rest + CHAOS_ON_SHIELD * taken["chaos"]) + life / (rest + taken["chaos"])
        avoided = (1 - out["EvadeChance"] / 100) * (1 - out["EffectiveBlockChance"] * BLOCKED_SHARE / 100)
        found[EHP] = hits * enemy.damage * (len(ELEMENTS) + 1 + CHAOS_SHARE) / avoided
        return found
