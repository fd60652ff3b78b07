"""The enemy the numbers are measured against."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.sketch.pack import Game
from app.engine.sketch.sums import ELEMENTS, at_level
from app.model.blueprint import ConfigValue

DEFAULT_ENEMY = "Pinnacle"
ARMOUR_RATIO = 10
"""Armour needed per point of damage to halve it (game constant)."""
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
