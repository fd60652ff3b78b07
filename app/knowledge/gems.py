"""What a skill gem is, read from its facts."""

from __future__ import annotations

from app.model.facts import GemFact

DAMAGE_TYPES = ("physical", "lightning", "cold", "fire", "chaos")
ELEMENTS = ("lightning", "cold", "fire")
_COLOUR_TAGS = {"strength": "str", "dexterity": "dex", "intelligence": "int"}
_NOT_A_HIT = frozenset({"herald", "aura", "curse", "mark", "banner", "invocation", "warcry", "persistent"})
_SET_OFF = frozenset({"triggered", "inbuilttrigger", "trigger", "meta"})


def tags(gem: GemFact) -> frozenset[str]:
    """Return tags and skill types as one set of lower-case words."""
    return frozenset(tag.lower().replace(" ", "") for tag in (*gem.tags, *gem.skill_types))


def damage_types_of(gem: GemFact) -> list[str]:
    """Return the damage types among the gem's tags, in our fixed order."""
    own = {tag.lower() for tag in gem.tags} or tags(gem)
    return [kind for kind in DAMAGE_TYPES if kind in own]


def attributes_of(gem: GemFact) -> list[str]:
    """Return the attributes that the gem asks for: its tags, else its colour."""
    named = [short for tag, short in _COLOUR_TAGS.items() if tag in tags(gem)]
    return named or ([gem.colour] if gem.colour else [])


def level_required(gem: GemFact) -> int:
    """Return the character level at which the gem can first be used.

    A skill of tier n is cut from uncut gems of level n and above, so its first usable gem level is its tier.
    """
    levels = gem.level_requirements
    if not levels:
        return 1
    return max(1, levels[min(max(gem.tier, 1), len(levels)) - 1])


def gem_level_at(gem: GemFact, level: int) -> int:
    """Return the highest gem level (up to its natural maximum) that a character of this level can use."""
    usable = [i for i, need in enumerate(gem.level_requirements[: gem.natural_max_level], 1) if need <= level]
    return max(usable, default=1)


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


def deals_damage(gem: GemFact) -> bool:
    """Say whether the skill is used by hand and deals damage by itself: a main skill that is no minion."""
    own, types = tags(gem), frozenset(kind.lower() for kind in gem.skill_types)
    if gem.kind != "active" or own & _NOT_A_HIT or _is_set_off(own, types):
        return False
    if "attack" in own:
        return "spell" not in own or "damage" in own
    return "spell" in own and bool(own & {"damage", "damageovertime", "totem"})


def _is_set_off(own: frozenset[str], types: frozenset[str]) -> bool:
    """Say whether something else sets the skill off; one that itself hits may set off others besides."""
    by_hand = bool(types & {"attack", "damage"}) and not types & {"triggered", "inbuilttrigger"}
    return bool(own & _SET_OFF) and not by_hand


def can_be_main(gem: GemFact) -> bool:
    """Say whether a build can be made around the skill: modelled, and either deals damage or brings minions."""
    return gem.kind == "active" and gem.modelled and (deals_damage(gem) or is_minion(gem))
