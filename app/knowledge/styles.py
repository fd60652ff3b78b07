"""What styles ask of a build: of its main skill, of its supports, of further skills, of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from app.model.damage import SHARE_AFTER_HIT, SHARES, type_share
from app.model.stats import MOVEMENT

OF_MAIN_SKILL = frozenset(
    {
        "attack", "ballista", "bear", "bleed", "channelling", "companion", "critical", "damage_over_time", "grenade",
        "ignite", "melee", "minion", "plant", "poison", "projectile", "shapeshift", "slam", "spell", "totem", "wolf",
        "wyvern",
    }
)  # fmt: skip
"""Styles that the main skill has or has not; the others are about the rest of the build."""

OF_MINIONS = frozenset({"minion", "companion"})

OF_FURTHER_SKILLS = frozenset({"aura", "banner", "curse", "herald", "mark", "warcry"})
"""Styles that a skill beside the main one brings: one with this tag."""

ONE_BUTTON = "one_button"
"""Nothing but the main skill is pressed: what else there is acts by itself."""

DUAL_WIELD = "dual_wield"
"""A weapon in each hand."""

GLASS_CANNON = "glass_cannon"
"""Damage before what keeps alive."""

OVER_TIME: Mapping[str, float] = MappingProxyType(
    {
        "Contagion": 1.0,
        "Tornado": 1.0,
        "Essence Drain": 0.63,
        "Soulrend": 0.56,
        "Flame Wall": 0.14,
        "Incinerate": 0.08,
    }
)
"""Share of damage over time in the damage that counts (docs/damage.md) of the bare spell at level 90 with a plain wand.
Of attacks it depends on the weapon, and what needs corpses has no figure."""

SUPPORTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "poison": ("Poison III", "Poison II", "Poison I"),
        "bleed": ("Bleed III", "Bleed II", "Bleed I"),
        "ignite": ("Ignite III", "Ignite II", "Ignite I"),
    }
)
"""Supports by which any hit brings about the ailment, the strongest first: one of them is used where nothing else does.
Bleed IV is none: what it supports cannot make anything bleed."""

BY_ITSELF = OF_MAIN_SKILL - {"critical", "damage_over_time", *SUPPORTS}
"""Styles that a main skill is of by itself: nothing else in a build brings them about."""

MAXIMUM_BLOCK = 75.0
"""Percent: no character blocks more without help."""

CRITICAL_CHANCE = 30.0
"""Percent of hits that must be critical, at the double damage that they deal without help, to be worth calling a build
after them."""

FAST = 1.2
"""Movement speed, as a multiple of a naked character's, from which a build is fast."""

HALF = 0.5
"""Share of the damage from which a build is called after it."""

ROOM = 0.01
"""Share that is worked for beyond `HALF`, so that what a later stage changes a little does not undo it."""

LEAST_AILMENT = 0.25
"""Share of the damage from which a build counts as one that poisons, ignites or makes bleed: the hit comes with it."""

LEAST_LAYER = 25.0
"""Percent of hits that are evaded or blocked, or that armour takes off a usual physical hit, from which a layer keeps a
build alive."""

LAYERS: Mapping[str, str] = MappingProxyType(
    {"armour": "PhysicalDamageReduction", "evasion": "EvadeChance", "block": "EffectiveBlockChance"}
)
"""Layers of defence that a figure tells, in percent, under the engine's name."""

_AT_ANY_LEVEL: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "max_block": ("EffectiveBlockChance", MAXIMUM_BLOCK),
        "critical": ("CritChance", CRITICAL_CHANCE),
        "damage_over_time": (SHARE_AFTER_HIT, HALF),
        "fast": (MOVEMENT, FAST),
        **{kind.value: (share, LEAST_AILMENT) for kind, share in SHARES.items()},
    }
)
_OWN = frozenset({"critical", "damage_over_time", *SHARES})
"""Of whoever deals the damage: a minion's are not asked for, because a candidate shows the character's."""
_PER_LEVEL: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "strength_stacking": ("Str", 3.5),
        "dexterity_stacking": ("Dex", 3.5),
        "intelligence_stacking": ("Int", 3.5),
        "life_stacking": ("Life", 30.0),
        "mana_stacking": ("Mana", 25.0),
        "energy_shield_stacking": ("EnergyShield", 60.0),
        "armour_stacking": ("Armour", 150.0),
        "evasion_stacking": ("Evasion", 150.0),
        "spirit_stacking": ("Spirit", 3.0),
    }
)
"""Per character level what somebody has who stacks the figure: about half as much again as others of the class."""


def style_stat(style: str) -> str | None:
    """Return the figure that the style asks for, under the engine's name; None where no figure tells it."""
    stat, _ = _AT_ANY_LEVEL.get(style) or _PER_LEVEL.get(style) or (None, 0.0)
    return stat


def style_targets(styles: Iterable[str], level: int) -> dict[str, float]:
    """Return the figures that the styles ask for at the level, under the engine's names; a minion's are its own."""
    wished = set(styles)
    if wished & OF_MINIONS:
        wished -= _OWN
    found = {stat: value for style, (stat, value) in _AT_ANY_LEVEL.items() if style in wished}
    return found | {stat: value * level for style, (stat, value) in _PER_LEVEL.items() if style in wished}


def type_targets(kinds: Sequence[str]) -> dict[str, float]:
    """Return the shares of the damage that a wish for these types asks for: together half of it, and a little room."""
    return {type_share(kind): (HALF + ROOM) / len(kinds) for kind in kinds}


def layer_targets(layers: Sequence[str]) -> dict[str, float]:
    """Return what the layers of defence that were asked for must come to; armour and evasion together half each."""
    both = HALF if {"armour", "evasion"} <= set(layers) else 1.0
    return {LAYERS[one]: LEAST_LAYER * (both if one != "block" else 1.0) for one in layers if one in LAYERS}
