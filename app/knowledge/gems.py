"""What a skill gem is, read from its facts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from app.model.demands import QUEST_REWARDS, QUEST_SPIRIT, quest_spirit
from app.model.facts import GemFact

DAMAGE_TYPES = ("physical", "lightning", "cold", "fire", "chaos")
ELEMENTS = ("lightning", "cold", "fire")
_COLOUR_TAGS = {"strength": "str", "dexterity": "dex", "intelligence": "int"}
_NOT_A_HIT = frozenset({"herald", "aura", "curse", "mark", "banner", "invocation", "warcry", "persistent"})
_STYLE_TAGS = {
    "damage_over_time": frozenset({"damageovertime", "degenonlyspelldamage"}),
    "critical": frozenset({"attack", "spell"}),
    "channelling": frozenset({"channelling", "channel"}),
    "ballista": frozenset({"totemsareballistae"}),
}
INFLICTED_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"poison": ("chaos", "physical"), "bleed": ("physical",), "ignite": ("fire",)}
)
"""Damage types of the hits that an ailment's damage comes of."""

_SET_OFF = frozenset({"triggered", "inbuilttrigger", "trigger", "meta"})

WAITING = "waiting"
"""What makes a skill awkward that is not always ready (`waits`), beside its tags."""

AWKWARD: Mapping[str, float] = MappingProxyType(
    {
        WAITING: 30.0,
        "totem": 60.0, "travel": 30.0, "conditional": 15.0, "payoff": 10.0, "cooldown": 12.0, "grenade": 10.0,
        "channelling": 8.0, "stages": 6.0, "sustained": 4.0, "detonator": 10.0, "consumescharges": 6.0,
        "targetsdestructiblecorpses": 15.0, "command": 25.0, "parry": 60.0, "activeblock": 60.0,
        "requirescharges": 10.0, "companion": 10.0,
        "remnant": 30.0, "trigger": 30.0, "meta": 30.0, "limit": 5.0,
    }
)  # fmt: skip
"""Points by which a tag makes a skill awkward to use over and over by itself: our own judgement."""

TOO_AWKWARD = 14.0
"""Points beyond which a skill is more awkward than a cooldown, so that it is only played where players know how."""

_WAITS = frozenset({"hasusagecondition", "targetsdestructiblecorpses", "icecrystal", "objectdurability"})
_PAUSES = re.compile(
    r"will prevent you from firing|cannot gain fuel while using|can only detonate curses for which"
    r"|explode when shattered|destroyed when enemies touch|bombards enemies afflicted by"
    r"|consume charges from your \w+ flask"
    r"|dealing enough damage to the enemy|falls under the cull threshold|your projectile attacks attach",
    re.IGNORECASE,
)

_NOT_EACH_TIME = re.compile(
    r"can(?:not| only) be used (?:until|unless|after|while|when)|gain a glory requirement"
    r"|consume a percentage of your maximum (?:life|mana) flask charges|consume (?:a|many) corpses? on use"
    r"|sacrifice a portion of your life|causing you to lose life"
    r"|draining the life from one of your minions|gain an energy shield cost",
    re.IGNORECASE,
)

_COOLS = re.compile(
    r"gain(?:ing)? a (?:long )?cooldown|(?:are given|giving them) a (?:moderate )?cooldown", re.IGNORECASE
)

_CALLED = re.compile(r"while active, (\w+) spells you use yourself will also summon", re.IGNORECASE)


def tags(gem: GemFact) -> frozenset[str]:
    """Return tags and skill types as one set of lower-case words."""
    return frozenset(tag.lower().replace(" ", "") for tag in (*gem.tags, *gem.skill_types))


def damage_types_of(gem: GemFact) -> list[str]:
    """Return the damage types among the gem's tags, in our fixed order."""
    own = {tag.lower() for tag in gem.tags} or tags(gem)
    return [kind for kind in DAMAGE_TYPES if kind in own]


def dealt(gem: GemFact) -> list[str]:
    """Return the damage types a skill deals; an attack without one deals the weapon's physical damage."""
    return damage_types_of(gem) or (["physical"] if is_attack(gem) or is_minion(gem) else [])


def attributes_of(gem: GemFact) -> list[str]:
    """Return the attributes that the gem asks for: its tags, else its colour."""
    named = [short for tag, short in _COLOUR_TAGS.items() if tag in tags(gem)]
    return named or ([gem.colour] if gem.colour else [])


SUPPORT_TIERS = (1, 16, 33, 45, 55)
"""Level of the areas from which supports of tiers 1 to 5 are found, which is about the character's (uncut gems)."""


_SPIRIT_FROM_GEAR, _SPIRIT_OF_SCEPTRE = 30.0, 100.0
_GEAR_GIVES_SPIRIT = max(QUEST_REWARDS[option] for option in QUEST_SPIRIT)
"""The level from which gear is taken to give some: that of the last quest which does."""


def usual_spirit(level: int, *, sceptre: bool = False) -> float:
    """Return the Spirit that a character of this level can plausibly reserve; gear made for it gives more."""
    gear = _SPIRIT_FROM_GEAR if level >= _GEAR_GIVES_SPIRIT else 0.0
    return quest_spirit(level) + gear + (_SPIRIT_OF_SCEPTRE if sceptre else 0.0)


def level_required(gem: GemFact) -> int:
    """Return the character level at which the gem can first be used.

    A skill of tier n is cut from uncut gems of level n and above, so its first usable gem level is its tier. A
    support has no level of its own, but is cut from uncut gems of its tier.
    """
    levels = gem.level_requirements
    if gem.kind == "support":
        return SUPPORT_TIERS[min(max(gem.tier, 1), len(SUPPORT_TIERS)) - 1]
    if not levels:
        return 1
    return max(1, levels[min(max(gem.tier, 1), len(levels)) - 1])


def gem_level_at(gem: GemFact, level: int) -> int:
    """Return the highest gem level (up to its natural maximum) that a character of this level can use."""
    usable = [i for i, need in enumerate(gem.level_requirements[: gem.natural_max_level], 1) if need <= level]
    return max(usable, default=1)


def gem_requirement(gem: GemFact, level: int) -> dict[str, int]:
    """Return a skill gem's attribute requirement at the level a character of this level can use.

    4 + (5 + 2.25 x (L - 3)) x share^0.9, L the level requirement, share 1 for one attribute and 1/2 for two: the
    figures that Path of Building shows (205 for one attribute at level 90).
    """
    names = attributes_of(gem)
    levels = gem.level_requirements
    at = levels[gem_level_at(gem, level) - 1] if levels else level
    share = (1 / len(names)) ** 0.9 if names else 0.0
    need = round((5 + 2.25 * (min(at, level) - 3)) * share) + 4
    return dict.fromkeys(names, max(0, need) if need >= 14 else 0)


def cost_per_second(gem: GemFact) -> float:
    """Return the mana that holding the skill's button costs per second, without supports, at the fact's gem level."""
    rate = 1.0 / gem.cast_time_s if gem.cast_time_s > 0 else 1.0
    return gem.costs.get("Mana", 0.0) * rate + gem.costs.get("ManaPerMinute", 0.0) / 60.0


def is_minion(gem: GemFact) -> bool:
    """Say whether the skill's damage is a minion's."""
    own = tags(gem)
    if "minion" not in own or own & {"attack", "spell", "meta", "trigger"}:
        return False
    return "buff" not in own or own >= {"createsminion", "persistent"}


def is_attack(gem: GemFact) -> bool:
    """Say whether the skill uses a weapon's damage."""
    return "attack" in tags(gem)


def is_spell(gem: GemFact) -> bool:
    """Say whether the skill is a spell."""
    return "spell" in tags(gem) and not is_attack(gem)


def has_style(gem: GemFact, style: str) -> bool:
    """Say whether a skill is played in a way that was asked for: one whose hits can poison is played as poison."""
    if style == "spell":
        return is_spell(gem)
    if style in INFLICTED_BY:
        return style in tags(gem) or not set(INFLICTED_BY[style]).isdisjoint(dealt(gem))
    return bool(tags(gem) & _STYLE_TAGS.get(style, frozenset({style.replace("_", "")})))


def deals_damage(gem: GemFact) -> bool:
    """Say whether the skill is used by hand and deals damage by itself: a main skill that is no minion."""
    own, types = tags(gem), frozenset(kind.lower() for kind in gem.skill_types)
    # something else sets the skill off; one that itself hits may set off others besides
    by_hand = bool(types & {"attack", "damage"}) and not types & {"triggered", "inbuilttrigger"}
    if gem.kind != "active" or own & _NOT_A_HIT or (own & _SET_OFF and not by_hand):
        return False
    if "attack" in own:
        return "spell" not in own or "damage" in own
    return "spell" in own and bool(own & {"damage", "damageovertime", "totem"})


def can_be_cut(gem: GemFact) -> bool:
    """Say whether a character can have the gem: a skill without a tier is granted by an item, or by nothing."""
    return gem.tier > 0


def comes_as_gem(gem: GemFact) -> bool:
    """Say whether the skill is cut from a gem or bound as a monster; any other is there once something grants it."""
    return can_be_cut(gem) or bool(gem.monsters)


def can_be_main(gem: GemFact) -> bool:
    """Say whether a build can be made around the skill: modelled, and either deals damage or brings minions."""
    return gem.kind == "active" and gem.modelled and (deals_damage(gem) or is_minion(gem))


_CHARGING = frozenset({"gainsstages", "perfecttiming"})


def waits(gem: GemFact) -> bool:
    """Say whether a skill deals its damage only at times: with full Glory or combo, on a corpse, once cooled down.

    Or once something else breaks what it puts up, hurts the enemy enough, or brings it about.
    The engine calculates it as if it always did: Rapid Shot never gets too hot, a Shield Wall shatters by itself, a
    boss runs into the spikes of each Bone Cage, a Dark Effigy has always somebody who suffers from something else, each
    Living Bomb explodes, and each Lightning Warp meets an enemy that is nearly dead.
    """
    return bool(tags(gem) & _WAITS or _PAUSES.search(gem.description))


def charges_up(gem: GemFact) -> bool:
    """Say whether every use of a skill has to be charged up first: fit for a boss, slow where packs are to be cleared.

    It gains stages, or has a right moment to be let go, while it is channelled, or its description says so.
    """
    own = tags(gem)
    return "channelling" in own and (not own.isdisjoint(_CHARGING) or "charging period" in gem.description)


def called_by(gem: GemFact) -> str | None:
    """Return the damage type of the spells whose use brings a skill's minions, None where they come by themselves.

    The engine counts Raging Spirits in a build that casts nothing.
    """
    found = _CALLED.search(gem.description)
    return found[1].lower() if found is not None else None


def calls(spell: GemFact, called: GemFact) -> bool:
    """Say whether the spell, used by hand, brings the minions of the other skill."""
    by_hand = is_spell(spell) and deals_damage(spell) and not is_minion(spell) and not waits(spell)
    return by_hand and not tags(spell) & _SET_OFF and called_by(called) in dealt(spell)


def is_called(gem: GemFact, used: Iterable[GemFact]) -> bool:
    """Say whether a skill's minions come: by themselves, or brought by one of the spells that are used."""
    return called_by(gem) is None or any(calls(spell, gem) for spell in used)


def awkwardness(gem: GemFact, ignored: Collection[str] = ()) -> dict[str, float]:
    """Return what makes a main skill awkward to use, in points by tag; `ignored` tags were asked for.

    What sets off or waits for something else is no burden on minions, which do it by themselves.
    """
    own = tags(gem) | ({WAITING} if waits(gem) or called_by(gem) else set())
    by_minions = {"detonator", "payoff", "conditional"} if is_minion(gem) else set[str]()
    return {tag: points for tag, points in AWKWARD.items() if tag in own and tag not in {*ignored, *by_minions}}


def stands_alone(gem: GemFact) -> bool:
    """Say whether the skill's figure is had by using it over and over: Lightning Warp strikes only who nearly dies."""
    return sum(awkwardness(gem).values()) <= TOO_AWKWARD


def is_had_each_time(support: GemFact) -> bool:
    """Say whether a skill can be used over and over with what a support does for it.

    The engine takes it so: Hit and Run's speed without the steps between two attacks, Ambrosia's lightning damage with
    a flask that is empty after three uses, Extraction's chaos damage without the tenth of life that each use costs,
    Atziri's Impatience without the quarter of life, mana and energy shield, Minion Pact with minions that never die,
    Derange with an energy shield that its cost never wears down.
    """
    return not _NOT_EACH_TIME.search(support.description)


def brings_cooldown(support: GemFact) -> bool:
    """Say whether a skill is ready only now and then for a support: five to ten seconds, Hourglass's for instance.

    The figures count it. But who walks through a map, or has nothing else to use on a boss, cannot play so.
    """
    return _COOLS.search(support.description) is not None
