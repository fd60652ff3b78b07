"""How well a main skill and what to hold for it fit a brief, by topic, so that a choice can be explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.knowledge.exclusions import grants
from app.knowledge.gems import (
    WAITING,
    attributes_of,
    awkwardness,
    dealt,
    has_style,
    is_attack,
    is_minion,
    level_required,
    tags,
)
from app.knowledge.styles import DUAL_WIELD, OF_MAIN_SKILL, OVER_TIME
from app.knowledge.weapons import (
    BARE_HANDS,
    CASTER,
    IN_EACH_HAND,
    IN_ONE_HAND,
    MARTIAL,
    OFF_HANDS,
    SCEPTRE,
    UNARMED,
    bare_handed_by,
    can_be_paired,
    held_by,
    matches,
    needs_shield,
    one_handed,
    two_handed,
    weapon_words,
    word_of,
)
from app.knowledge.words import listing, with_article
from app.model.facts import GemFact
from app.model.names import Goal
from app.reasoning.questions.brief import Brief

_ODD_WORDS = {
    WAITING: "it is not always ready",
    "totem": "a totem deals the damage",
    "travel": "it is mainly for moving",
    "conditional": "it needs a condition to be met first",
    "payoff": "it needs another skill to prepare the enemy",
    "cooldown": "it has a cooldown",
    "grenade": "grenades have a cooldown and a fuse",
    "targetsdestructiblecorpses": "it needs corpses, which bosses do not leave",
}
KNOWN = 10.0
"""Points of experience from which players of the class are known to build on a skill."""

_WISHED, _GUESSED = 60.0, 25.0
"""Points of a style that the user asked for: as much as a damage type; and of one that was guessed."""

_MAPPING = frozenset({"area", "chaining", "projectile", "nova"})
_BOSSING = frozenset({"strike", "sustained", "meleesingletarget", "channelling", "projectile"})


@dataclass(frozen=True)
class Setup:
    """A weapon and what goes with it."""

    weapon: str
    off_hand: str | None = None

    @property
    def text(self) -> str:
        """The set-up in words."""
        parts = (BARE_HANDS if self.weapon == UNARMED else self.weapon, self.off_hand)
        return " and ".join(part.lower() for part in parts if part)


SHIELD = "Shield"
_FOR_SPELLS = (Setup("Wand", "Focus"), Setup("Staff"), Setup("Wand", SHIELD), Setup(SCEPTRE, "Focus"))
_FOR_MINIONS = (Setup(SCEPTRE, "Focus"), Setup(SCEPTRE, SHIELD), Setup("Wand", "Focus"), Setup("Staff"))


def setups(brief: Brief, gem: GemFact) -> list[Setup]:
    """Return the set-ups the skill works with and the engine has items for, best first; never empty."""
    words = weapon_words(gem)
    if is_minion(gem) and not words:
        found = list(_FOR_MINIONS)
    elif words or is_attack(gem):
        usual = [weapon for weapon in brief.class_taste.weapons if weapon in MARTIAL]
        weapons = words or list(dict.fromkeys([*usual, "One Hand Mace", "Spear"]))
        if needs_shield(gem):
            weapons = [weapon for weapon in weapons if one_handed(weapon)]
        found = [_martial(weapon) for weapon in weapons or ["One Hand Mace"]]
        found += [Setup(UNARMED)] if UNARMED in brief.weapons and bare_handed_by(words) else []
        found += _both_armed(brief, weapons)
    else:
        found = list(_FOR_SPELLS)
    if not words and not is_attack(gem):  # it works with anything in hand, so with what was asked for
        found += [_martial(weapon) for weapon in MARTIAL if matches(brief.weapons, weapon)]
        found += [Setup("Wand", SCEPTRE)] if {"Wand", SCEPTRE} <= set(brief.weapons) else []
    if granting := {word_of(base) for base in grants(gem, brief.bases)}:
        found = [setup for setup in found if setup.weapon in granting] or [Setup(word) for word in sorted(granting)]
    held = {UNARMED, *(word_of(base) for base in brief.bases)}
    carried = {base.type for base in brief.bases}
    gone = brief.exclusions.weapons
    known = [s if not brief.bases or s.off_hand in carried else Setup(s.weapon) for s in found]
    kept = [
        setup
        for setup in known
        if not brief.bases or setup.weapon in held
        if not matches(gone, setup.weapon) and setup.off_hand not in gone
    ]
    shielded = [setup for setup in kept if setup.off_hand == SHIELD]
    if blocks(brief) and shielded and not brief.weapons:
        kept = shielded
    return sorted(kept or found[:1], key=lambda setup: _rank(brief, setup))


def blocks(brief: Brief) -> bool:
    """Say whether it was asked for to block hits, in words or as a figure: hardly anything blocks without a shield."""
    as_figure = brief.invariants.get("block") is not None
    return as_figure or "block" in brief.listed("defence") or "max_block" in brief.listed("style")


def _martial(weapon: str) -> Setup:
    if weapon == "Bow":
        return Setup(weapon, "Quiver")
    return Setup(weapon, None if two_handed(weapon) or weapon == UNARMED else SHIELD)


def _both_armed(brief: Brief, weapons: Sequence[str]) -> list[Setup]:
    """Return the set-ups with a weapon in each hand, those that a keystone allows which was named or is needed, and
    those with a sceptre in the other hand where one was asked for.

    Unasked no keystone is taken for it: a Titan's Boneshatter of level 90 with a shield beside a mace for two hands is
    finished with 2.39 of the objective, a Sunder with mace and shield with 2.36, and only begun it is far ahead.
    """
    there = {node.name for node in brief.nodes if not brief.exclusions.node(node)}
    large = {keystone: kind for keystone, kind in IN_ONE_HAND.items() if keystone in there and kind in weapons}
    dual = [kind for kind in large.values() if kind in brief.weapons and wants_pair(brief)]
    named = [kind for keystone, kind in large.items() if brief.is_named(keystone) or kind in dual]
    pairs = [Setup(kind, off) for kind in named for off in (SHIELD, kind)]
    if SCEPTRE in brief.weapons:
        pairs += [Setup(kind, SCEPTRE) for kind in weapons if kind in MARTIAL and one_handed(kind)]
    return [*pairs, *(Setup(kind, kind) for kind in weapons if kind in IN_EACH_HAND)]


def wants_hands(brief: Brief) -> bool:
    """Say whether it was asked what the hands hold: by kind, a weapon in each, or a keystone that is about it."""
    asked = any(brief.is_named(keystone) for keystone in IN_ONE_HAND)
    return brief.explicit("weapon") or wants_pair(brief) or asked


def wants_pair(brief: Brief) -> bool:
    """Say whether it was asked for a weapon in each hand, and can be had."""
    return DUAL_WIELD in brief.listed("style") and can_be_paired(brief.listed("weapon"))


def asked_in(brief: Brief, setup: Setup) -> int:
    """Return how many things that were asked for the set-up has: kinds in its hands, one in each, a keystone's use."""
    dual = setup.off_hand == setup.weapon
    off = not dual and setup.off_hand in brief.weapons
    used = any(brief.is_named(one) for one in held_by(setup.weapon, setup.off_hand, ()))
    return matches(brief.weapons, setup.weapon) + off + (dual and wants_pair(brief)) + used


def _rank(brief: Brief, setup: Setup) -> tuple[int, int, int]:
    """Order set-ups: those asked for, then those the class usually holds, then our own order."""
    hits = asked_in(brief, setup) + (blocks(brief) and setup.off_hand == SHIELD)
    own = brief.class_taste.weapons
    usual = own.index(setup.weapon) if setup.weapon in own else len(own)
    every = (*CASTER, *MARTIAL)
    if setup.weapon in CASTER:
        usual = 0
    return (-hits, usual, every.index(setup.weapon) if setup.weapon in every and setup.weapon not in CASTER else 0)


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
    styles, own = [style for style in brief.listed("style") if style in OF_MAIN_SKILL], tags(gem)
    weight = _WISHED if brief.explicit("style") else _GUESSED
    style = sum(weight if has_style(gem, style) else -weight for style in styles)
    if "damage_over_time" in styles and any(one.name in OVER_TIME for one in brief.catalogue.active):
        style += weight * (OVER_TIME.get(gem.name, 0.0) - 0.5)
    goal, goal_words = {
        Goal.MAPPING: (2.0 * len(own & _MAPPING), "it clears packs less widely"),
        Goal.BOSSING: (2.0 * len(own & _BOSSING), "it hits a single target less well"),
        Goal.LEVELING: (-0.4 * level_required(gem), "it comes late while leveling"),
    }.get(brief.demands.goal, (1.0 * len(own & (_MAPPING | _BOSSING)), "it is less of an all-rounder"))
    found = {
        "damage type": _damage_type(brief, gem),
        "experience": _experience(brief, gem),
        "weapon": _weapon(brief, gem),
        "attribute": _attribute(brief, gem),
        "style": (style, f"it is not played as asked: {listing(styles)}"),
        "handling": _handling(brief, gem),
        "goal": (goal, goal_words),
    }
    return Judgement(gem, {k: v[0] for k, v in found.items()}, {k: v[1] for k, v in found.items()})


def _damage_type(brief: Brief, gem: GemFact) -> tuple[float, str]:
    wanted, own = brief.damage_types, dealt(gem)
    if not wanted:
        return 0.0, "no damage type was asked for"
    hits = [kind for kind in own if kind in wanted]
    shown = " or ".join(brief.listed("damage_type"))
    weight = 60.0 if brief.sure("damage_type") else 15.0
    if is_minion(gem) and not brief.explicit("damage_type"):
        return 0.0, ""
    if not hits:
        return -1.3 * weight, f"it does not deal {shown} damage"
    first = 10.0 if hits[0] == wanted[0] else 0.0
    return weight * (0.6 + 0.4 * len(hits) / len(own)) + first, f"less of its damage is {shown}"


def _experience(brief: Brief, gem: GemFact) -> tuple[float, str]:
    taste = brief.class_taste
    ranked = taste.minions if is_minion(gem) else taste.skills
    words = f"the {brief.class_fact.name} rarely builds around it"
    if gem.name in ranked:
        return 40.0 - 3.0 * ranked.index(gem.name), f"players of the {brief.class_fact.name} reach for it less often"
    anywhere = any(gem.name in (*other.skills, *other.minions) for other in brief.taste.classes.values())
    return (8.0 if anywhere else 0.0), words


def _weapon(brief: Brief, gem: GemFact) -> tuple[float, str]:
    words, asked, own = weapon_words(gem), brief.weapons, brief.class_taste.weapons
    held = [word for word in asked if word not in OFF_HANDS]
    if wants_pair(brief) and IN_EACH_HAND.isdisjoint(words):
        return -120.0, "it is not used with a weapon in each hand"
    if held:
        usable = [*words, UNARMED] if bare_handed_by(words) else words
        fits = any(matches(held, word) for word in usable) if words else any(w in CASTER for w in held)
        return (80.0 if fits else -120.0), f"it cannot be used with {with_article(' or '.join(held))}"
    if not words:
        casts = not own or any(w in CASTER for w in own)
        return (10.0 if casts else -25.0), f"the {brief.class_fact.name} usually fights with a weapon"
    usual = [own.index(word) for word in words if word in own]
    if usual:
        return 25.0 - 5.0 * min(usual), ""
    return -30.0, f"the {brief.class_fact.name} does not usually hold {with_article(words[0])}"


def _attribute(brief: Brief, gem: GemFact) -> tuple[float, str]:
    wanted, have = attributes_of(gem), brief.class_fact.attributes
    if not wanted or not have:
        return -8.0, "it is not cut from a gem of an attribute"
    mean = sum(have.get(a, 0) for a in wanted) / len(wanted)
    return 2.0 * (mean - min(have.values())), "it needs attributes the class is poor in"


def _handling(brief: Brief, gem: GemFact) -> tuple[float, str]:
    own, asked = tags(gem), set(brief.listed("style"))
    bad = awkwardness(gem, asked | ({"totem"} if "ballista" in asked else set()))
    points = -sum(bad.values())
    words = _ODD_WORDS.get(max(bad, key=lambda tag: bad[tag]), "it is slower to use") if bad else "it is slower to use"
    if any(resource.startswith("Ward") for resource in gem.costs):
        points, words = points - 100.0, "it costs Ward, which few builds have"
    if gem.colour is None:
        points, words = points - 80.0, "it comes only from an item or an ascendancy"
    if gem.tier == 0 and not is_minion(gem) and any(other.tier for other in brief.catalogue.active):
        points, words = points - 45.0, "it comes only with a certain weapon"
    shape_asked = asked & {"shapeshift", "bear", "wolf", "wyvern"}
    if "shapeshift" in own and not shape_asked and brief.class_fact.name != "Druid":
        points -= 25.0
    return points, words
