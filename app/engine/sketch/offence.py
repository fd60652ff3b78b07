"""Damage per second of one skill.

Formulas are the game's: base damage (a spell's own, or the weapon's scaled by the gem) plus added damage, shifted by
conversion, plus damage gained as extra; each type times (1 + increased) times every more; then the enemy's resistance
or armour; critical hits raise the mean; times hit chance and uses per second.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.sketch.defence import Enemy
from app.engine.sketch.gear import Weapon
from app.engine.sketch.pack import Effect, Pack, Skill
from app.engine.sketch.sheet import DAMAGE_TYPES, ELEMENTS, Sheet, SkillUse, Stats, Sums, at_level, matching, more

_TYPE_FLAGS = {"Fire", "Cold", "Lightning", "Chaos", "Physical", "Minion", "Plant", "Grenade", "Totem", "Channel"}
ACCURACY_AT_RANGE = 0.8
"""Share of accuracy left at an ordinary distance; estimated from Path of Building's results."""


@dataclass(frozen=True, slots=True)
class PreparedSkill:
    """A skill use with everything that depends on neither damage type nor enemy."""

    skill: Skill
    level: float
    flags: frozenset[str]
    effects: tuple[Effect, ...]
    weapon: Weapon | None


class Offence:
    """Calculates what a skill deals, how often, and what it costs."""

    def __init__(self, pack: Pack, sums: Sums) -> None:
        self._sums = sums
        self._samples = pack.game.gem_samples

    def outputs(self, sheet: Sheet, use: SkillUse, pools: Stats, enemy: Enemy) -> dict[str, float]:
        """Return DPS and its parts under PoB's names; `pools` holds mana, life and accuracy."""
        made = self.prepare(sheet, use)
        speed = self._uses_per_second(sheet.stats, made)
        out = {"GemLevel": made.level, "Speed": speed, **self._cost(sheet.stats, made, use, pools, speed)}
        if not made.skill.deals_damage or not self.usable(use, made.weapon):
            return out
        flags = made.flags
        accuracy = pools["accuracy"] * ACCURACY_AT_RANGE * more(matching(made.effects, "accuracy", flags))
        hit_chance = enemy.hit_chance(accuracy) if "attack" in flags else 100.0
        hit = 0.0
        for kind, amount in self._parts(sheet.stats, made, pools).items():
            pierced = self._sums.total(sheet.stats, "penetration", "flat", flags, kind)
            hit += amount * enemy.taken_share(kind, amount, pierced)
        chance, bonus = self._crit(sheet.stats, made)
        average = hit * (1 + chance / 100 * hit_chance / 100 * bonus / 100) * hit_chance / 100
        return out | {
            "AverageHit": hit,
            "AverageDamage": average,
            "HitChance": hit_chance,
            "CritChance": chance * hit_chance / 100,
            "CritMultiplier": 1 + bonus / 100,
            "TotalDPS": average * speed,
            "CombinedDPS": average * speed,
        }

    def usable(self, use: SkillUse, weapon: Weapon | None) -> bool:
        """Return whether the weapon in hand fits the skill."""
        return not use.skill.weapons or (weapon is not None and weapon.type in use.skill.weapons)

    def prepare(self, sheet: Sheet, use: SkillUse) -> PreparedSkill:
        """Return level, flags and effects of the use."""
        skill, weapon = use.skill, sheet.weapon
        flags = skill.flags | {t.lower() for t in skill.types if t in _TYPE_FLAGS}
        if flags & set(ELEMENTS):
            flags |= {"elemental"}
        if weapon and "attack" in flags:
            flags |= weapon.flags
        level = use.gem.level + self._sums.total(sheet.stats, "gem_level", "flat", flags)
        effects = (*sheet.lasting, *(e for support in use.supports for e in support.effects))
        return PreparedSkill(skill, level, flags, effects, weapon)

    def _parts(self, stats: Stats, use: PreparedSkill, pools: Stats) -> dict[str, float]:
        base = self._base(stats, use)
        found = {}
        for kind in DAMAGE_TYPES:
            extra = self._sums.total(stats, "extra", "flat", use.flags, kind)
            for effect in matching(use.effects, "extra", use.flags, kind):
                scale = 1.0
                for pool, step in effect.per.items():
                    scale *= pools[pool] / step
                extra += effect.flat * scale
            amount = base.get(kind, 0.0) + sum(base.values()) * extra / 100
            if amount > 0:
                effects = matching(use.effects, "damage", use.flags, kind)
                increased = self._sums.total(stats, "damage", "inc", use.flags, kind) + sum(e.inc for e in effects)
                found[kind] = amount * (1 + increased / 100) * more(effects)
        return found

    def _base(self, stats: Stats, use: PreparedSkill) -> dict[str, float]:
        skill, level = use.skill, use.level
        if skill.damage:
            middles = {k: tuple((low + high) / 2 for low, high in spans) for k, spans in skill.damage.items()}
            return {kind: at_level(samples, self._samples, level) for kind, samples in middles.items()}
        weapon = use.weapon.damage if use.weapon else {}
        scale = at_level(skill.multiplier, self._samples, level)
        added = {k: self._sums.total(stats, "added", "flat", use.flags, k) for k in DAMAGE_TYPES}
        base = {k: (weapon.get(k, 0.0) + added[k]) * scale for k in DAMAGE_TYPES}
        physical = base["physical"]
        for kind, share in skill.convert.items():
            base[kind] += physical * share / 100
            base["physical"] -= physical * share / 100
        return base

    def _crit(self, stats: Stats, use: PreparedSkill) -> tuple[float, float]:
        """Return chance and bonus in percent; the base bonus of a character is 100."""
        weapon = use.weapon if "attack" in use.flags else None
        chance_effects = matching(use.effects, "crit_chance", use.flags)
        increased = self._sums.total(stats, "crit_chance", "inc", use.flags)
        base = weapon.crit if weapon else use.skill.crit
        chance = min(100.0, base * (1 + increased / 100) * more(chance_effects))
        bonus_effects = matching(use.effects, "crit_bonus", use.flags)
        flat = 100 + (weapon.bonus if weapon else 0.0)
        increased = self._sums.total(stats, "crit_bonus", "inc", use.flags) + sum(e.inc for e in bonus_effects)
        return chance, flat * (1 + increased / 100) * more(bonus_effects)

    def _uses_per_second(self, stats: Stats, use: PreparedSkill) -> float:
        effects = matching(use.effects, "speed", use.flags)
        increased = self._sums.total(stats, "speed", "inc", use.flags) + sum(e.inc for e in effects)
        factor = (1 + increased / 100) * more(effects)
        if "attack" not in use.flags:
            seconds = use.skill.cast_time / factor + use.skill.delay
            return 1 / seconds if seconds > 0 else 0.0
        rate = (use.weapon.rate if use.weapon else 1.0) * factor * (1 + use.skill.speed / 100)
        if not use.skill.bolts:
            return rate
        # bolts are fired at `rate`, then all are reloaded; attack speed quickens the reload too
        bolts = at_level(use.skill.bolts, self._samples, use.level)
        reload = (use.weapon.reload if use.weapon else 0.8) / (factor * (1 + use.skill.reload_speed / 100))
        return bolts / (bolts / rate + reload)

    def _cost(self, stats: Stats, use: PreparedSkill, made: SkillUse, pools: Stats, speed: float) -> dict[str, float]:
        if not use.skill.mana:
            return {"ManaCost": 0.0, "ManaPerSecondCost": 0.0}
        cost = at_level(use.skill.mana, self._samples, use.level)
        for share in matching(use.effects, "mana_share_cost", use.flags):
            cost += pools["mana"] * share.flat / 100
        for support in made.supports:
            cost *= 1 + support.cost / 100
        cost *= 1 + self._sums.total(stats, "mana_cost", "flat") / 100
        efficiency = self._sums.total(stats, "mana_cost_efficiency", "flat")
        cost = int(cost * more(matching(use.effects, "cost", use.flags)) / (1 + efficiency / 100) + 0.5)
        paid = at_level(use.skill.bolts, self._samples, use.level) if use.skill.bolts else 1.0  # once per reload
        return {"ManaCost": float(cost), "ManaPerSecondCost": cost * speed / paid}
