"""How well a skill fits a brief, by topic, so that a choice can be explained."""

from __future__ import annotations

from dataclasses import dataclass

from app.knowledge.gems import attributes_of, damage_types_of, is_attack, is_minion, is_spell, level_required, tags
from app.knowledge.weapons import CASTER, matches, weapon_words
from app.knowledge.words import listing
from app.model.facts import GemFact
from app.model.names import Goal
from app.reasoning.questions.brief import Brief

_ODD = {
    "totem": 60.0, "travel": 30.0, "conditional": 15.0, "payoff": 10.0, "cooldown": 12.0, "grenade": 10.0,
    "channelling": 8.0, "stages": 6.0, "sustained": 4.0, "detonator": 10.0, "consumescharges": 6.0,
    "targetsdestructiblecorpses": 15.0, "command": 25.0, "parry": 60.0, "activeblock": 60.0,
    "requirescharges": 10.0, "companion": 10.0,
    "remnant": 30.0, "trigger": 30.0, "meta": 30.0, "limit": 5.0,
}  # fmt: skip
_ODD_WORDS = {
    "totem": "a totem deals the damage",
    "travel": "it is mainly for moving",
    "conditional": "it needs a condition to be met first",
    "payoff": "it needs another skill to prepare the enemy",
    "cooldown": "it has a cooldown",
    "grenade": "grenades have a cooldown and a fuse",
    "targetsdestructiblecorpses": "it needs corpses, which bosses do not leave",
}
_STYLE_TAGS = {
    "damage_over_time": frozenset({"damageovertime", "degenonlyspelldamage"}),
    "poison": frozenset({"chaos", "poison"}),
    "bleed": frozenset({"physical"}),
    "ignite": frozenset({"fire"}),
    "critical": frozenset({"attack", "spell"}),
    "channelling": frozenset({"channelling", "channel"}),
}
_MAPPING = frozenset({"area", "chaining", "projectile", "nova"})
_BOSSING = frozenset({"strike", "sustained", "meleesingletarget", "channelling", "projectile"})


@dataclass(frozen=True)
class Judgement:
    """Points by topic with the words for them; the total orders skills."""

    gem: GemFact
    points: dict[str, float]
    words: dict[str, str]

    @property
    def total(self) -> float:
        """The sum of all points."""
        return sum(self.points.values())

    def loses_to(self, other: Judgement) -> str:
        """Say on which topic this skill lies furthest behind another."""
        behind = {topic: other.points[topic] - value for topic, value in self.points.items()}
        worst = max(sorted(behind), key=lambda topic: behind[topic])
        if behind[worst] <= 0:
            return f"{other.gem.name} was asked for"
        return self.words[worst]


def judge(brief: Brief, gem: GemFact) -> Judgement:
    """Judge a main skill."""
    found = {
        "damage type": _damage_type(brief, gem),
        "experience": _experience(brief, gem),
        "weapon": _weapon(brief, gem),
        "attribute": _attribute(brief, gem),
        "style": _style(brief, gem),
        "handling": _handling(brief, gem),
        "goal": _goal(brief, gem),
    }
    return Judgement(gem, {k: v[0] for k, v in found.items()}, {k: v[1] for k, v in found.items()})


def dealt(gem: GemFact) -> list[str]:
    """Return the damage types a skill deals; an attack without one deals the weapon's physical damage."""
    return damage_types_of(gem) or (["physical"] if is_attack(gem) or is_minion(gem) else [])


def _damage_type(brief: Brief, gem: GemFact) -> tuple[float, str]:
    wanted, own = brief.damage_types, dealt(gem)
    if not wanted:
        return 0.0, "no damage type was asked for"
    hits = [kind for kind in own if kind in wanted]
    named = " or ".join(brief.listed("damage_type"))
    weight = 60.0 if brief.sure("damage_type") else 15.0
    if is_minion(gem) and not brief.explicit("damage_type"):
        weight = 0.0
    if not weight:
        return 0.0, ""
    if not hits:
        return -1.3 * weight, f"it does not deal {named} damage"
    first = 10.0 if hits[0] == wanted[0] else 0.0
    return weight * (0.6 + 0.4 * len(hits) / len(own)) + first, f"less of its damage is {named}"


def _experience(brief: Brief, gem: GemFact) -> tuple[float, str]:
    taste = brief.class_taste
    ranked = taste.minions if is_minion(gem) else taste.skills
    words = f"the {brief.class_fact.name} rarely builds around it"
    if gem.name in ranked:
        return 40.0 - 3.0 * ranked.index(gem.name), f"players of the {brief.class_fact.name} reach for it less often"
    anywhere = any(gem.name in (*other.skills, *other.minions) for other in brief.taste.classes.values())
    return (8.0 if anywhere else 0.0), words


def _weapon(brief: Brief, gem: GemFact) -> tuple[float, str]:
    words, asked, own = weapon_words(gem), brief.listed("weapon"), brief.class_taste.weapons
    held = [w for w in asked if w not in {"Shield", "Focus"}]
    if held:
        fits = any(matches(held, word) for word in words) if words else any(w in CASTER for w in held)
        return (80.0 if fits else -120.0), f"it cannot be used with a {' or '.join(held).lower()}"
    if not words:
        casts = not own or any(w in CASTER for w in own)
        return (10.0 if casts else -25.0), f"the {brief.class_fact.name} usually fights with a weapon"
    usual = [own.index(word) for word in words if word in own]
    if usual:
        return 25.0 - 5.0 * min(usual), ""
    return -30.0, f"the {brief.class_fact.name} does not usually hold a {words[0].lower()}"


def _attribute(brief: Brief, gem: GemFact) -> tuple[float, str]:
    wanted, have = attributes_of(gem), brief.class_fact.attributes
    if not wanted or not have:
        return -8.0, "it is not cut from a gem of an attribute"
    mean = sum(have.get(a, 0) for a in wanted) / len(wanted)
    return 2.0 * (mean - min(have.values())), "it needs attributes the class is poor in"


def has_style(gem: GemFact, style: str) -> bool:
    """Say whether a skill is played in a way that was asked for."""
    if style == "spell":
        return is_spell(gem)
    return bool(tags(gem) & _STYLE_TAGS.get(style, frozenset({style.replace("_", "")})))


def _style(brief: Brief, gem: GemFact) -> tuple[float, str]:
    points = sum(25.0 if has_style(gem, style) else -25.0 for style in brief.listed("style"))
    return points, f"it is not played as asked: {listing(brief.listed('style'))}"


def _handling(brief: Brief, gem: GemFact) -> tuple[float, str]:
    own, asked = tags(gem), set(brief.listed("style"))
    ignored = asked | ({"detonator", "payoff", "conditional"} if is_minion(gem) else set())
    bad = {tag: cost for tag, cost in _ODD.items() if tag in own and tag not in ignored}
    points = -sum(bad.values())
    words = _ODD_WORDS.get(max(bad, key=lambda tag: bad[tag]), "it is slower to use") if bad else "it is slower to use"
    if any(resource.startswith("Ward") for resource in gem.costs):
        points, words = points - 100.0, "it costs Ward, which few builds have"
    if gem.colour is None:
        points, words = points - 80.0, "it comes only from an item or an ascendancy"
    if gem.tier == 0 and not is_minion(gem) and any(other.tier for other in brief.catalogue.active):
        points, words = points - 45.0, "it comes only with a certain weapon"
    if (
        "shapeshift" in own
        and not asked & {"shapeshift", "bear", "wolf", "wyvern"}
        and brief.class_fact.name != "Druid"
    ):
        points -= 25.0
    return points, words


def _goal(brief: Brief, gem: GemFact) -> tuple[float, str]:
    own = tags(gem)
    if brief.demands.goal is Goal.MAPPING:
        return 2.0 * len(own & _MAPPING), "it clears packs less widely"
    if brief.demands.goal is Goal.BOSSING:
        return 2.0 * len(own & _BOSSING), "it hits a single target less well"
    if brief.demands.goal is Goal.LEVELING:
        return -0.4 * level_required(gem), "it comes late while leveling"
    return 1.0 * len(own & (_MAPPING | _BOSSING)), "it is less of an all-rounder"
