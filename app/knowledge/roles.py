"""What players have skills for beside the main one: read from a gem's facts, and from lists where facts are mute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from app.knowledge.gems import (
    ELEMENTS,
    deals_damage,
    dealt,
    is_attack,
    is_called,
    is_minion,
    is_spell,
    stands_alone,
    tags,
)
from app.model.facts import GemFact
from app.model.groups import GroupRole
from app.model.names import Goal

PURPOSES: Mapping[GroupRole, str] = MappingProxyType(
    {
        GroupRole.MAIN: "what the build deals its damage with",
        GroupRole.CLEAR: "kills packs of monsters between the strong ones",
        GroupRole.SINGLE_TARGET: "for rare monsters and bosses that outlast the main skill",
        GroupRole.MOVEMENT: "crosses ground and gets out of danger",
        GroupRole.CURSE: "weakens enemies before the fight; one curse of yours lasts at a time",
        GroupRole.MARK: "marks the strongest enemy of a fight",
        GroupRole.EXPOSURE: "lowers the elemental resistances of enemies nearby",
        GroupRole.WARCRY: "shouted before a fight, to strengthen the attacks after it",
        GroupRole.HERALD: "acts by itself when enemies die",
        GroupRole.BANNER: "placed for a while when Glory is full",
        GroupRole.GUARD: "keeps you alive",
        GroupRole.MINIONS: "fights beside you and draws attacks",
        GroupRole.OFFERING: "strengthens minions for a while",
        GroupRole.TOTEM: "fights where it stands and draws attacks",
        GroupRole.EMPOWERMENT: "used before the main skill in a long fight, to strengthen it",
        GroupRole.LASTING: "switched on once, and stays on",
        GroupRole.SUPPORTING: "used when ready",
    }
)
"""What each role is for, in words; nothing in them is a figure."""

MOVEMENT: Sequence[str] = (
    "Leap Slam", "Vaulting Impact", "Thunderous Leap", "Escape Shot", "Pounce", "Disengage", "Shield Charge", "Blink",
)  # fmt: skip
"""Skills that players cross ground with, the most usual of a weapon first."""

_EXPOSING = frozenset({"Frost Bomb"})
"""Skills that bring exposure about by themselves."""

_GUARDING: Sequence[str] = (
    "Fortifying Cry", "Wind Dancer", "Ghost Dance", "Scavenged Plating", "Convalescence", "Barkskin", "Iron Ward",
    "Magma Barrier", "Arctic Armour", "Barrier Invocation", "Refutation", "Bone Cage", "Encase in Jade", "Sorcery Ward",
)  # fmt: skip
"""Skills that players keep alive with, the most usual first."""

_BY_TAG: Sequence[tuple[str, GroupRole]] = (
    ("mark", GroupRole.MARK),
    ("curse", GroupRole.CURSE),
    ("herald", GroupRole.HERALD),
    ("banner", GroupRole.BANNER),
    ("warcry", GroupRole.WARCRY),
    ("offering", GroupRole.OFFERING),
    ("summonstotem", GroupRole.TOTEM),
    ("createsminion", GroupRole.MINIONS),
    ("createscompanion", GroupRole.MINIONS),
)

COUNTED = frozenset({GroupRole.CURSE, GroupRole.MARK, GroupRole.EXPOSURE, GroupRole.WARCRY})
"""Roles of buttons whose effect the engine's figures hold: it is up whenever the main skill is used, or the engine
calculates for what share of the time it is."""

SECOND = frozenset({GroupRole.CLEAR, GroupRole.SINGLE_TARGET})
"""What a second damage skill is for: one of these."""

_BARRAGE, _EFFIGY = "Barrage", "Dark Effigy"
USUAL: Mapping[GroupRole, Sequence[str]] = MappingProxyType(
    {
        GroupRole.MOVEMENT: MOVEMENT,
        GroupRole.GUARD: _GUARDING,
        GroupRole.CURSE: ("Enfeeble", "Temporal Chains"),
        GroupRole.MARK: ("Sniper's Mark", "Bloodhound's Mark"),
        GroupRole.WARCRY: ("Infernal Cry", "Seismic Cry"),
        GroupRole.EXPOSURE: ("Frost Bomb",),
        GroupRole.EMPOWERMENT: (_BARRAGE, "Mana Tempest", "Mantra of Destruction", "Emergency Reload"),
        GroupRole.OFFERING: ("Pain Offering", "Bone Offering"),
        GroupRole.TOTEM: ("Shockwave Totem", "Artillery Ballista", "Siege Ballista", _EFFIGY),
        GroupRole.HERALD: (
            "Herald of Thunder",
            "Herald of Ice",
            "Herald of Ash",
            "Herald of Blood",
            "Herald of Plague",
        ),
        GroupRole.LASTING: (
            "Mana Remnants",
            "Siphon Elements",
            "Overwhelming Presence",
            "Alchemist's Boon",
            "Grim Feast",
        ),
    }
)
"""Skills for a role that the engine measures nothing of, the most usual first (players' files, and gems' words)."""

SUPPORTS: Mapping[GroupRole, Sequence[str]] = MappingProxyType(
    {
        GroupRole.MOVEMENT: ("Rapid Attacks", "Mobility", "Efficiency"),
        GroupRole.CURSE: ("Magnified Area", "Prolonged Duration", "Efficiency"),
        GroupRole.MARK: ("Prolonged Duration", "Efficiency"),
        GroupRole.EXPOSURE: ("Cooldown Recovery", "Magnified Area"),
        GroupRole.WARCRY: ("Tireless", "Magnified Area", "Cooldown Recovery"),
        GroupRole.HERALD: ("Magnified Area",),
        GroupRole.OFFERING: ("Prolonged Duration", "Efficiency"),
        GroupRole.TOTEM: ("Urgent Totems", "Reinforced Totems", "Prolonged Duration"),
        GroupRole.EMPOWERMENT: ("Cooldown Recovery", "Prolonged Duration", "Efficiency"),
        GroupRole.MINIONS: ("Meat Shield",),
        GroupRole.GUARD: ("Vitality", "Clarity"),
        GroupRole.LASTING: ("Vitality", "Clarity"),
    }
)
"""What serves a role though no figure shows it: families of supports, the best first."""


NARROWING = frozenset({"ConcentratedEffect"})
"""Families of supports that make an area smaller: nothing for a skill that is to reach packs."""


def clears(gem: GemFact) -> bool:
    """Say whether a damage skill reaches many enemies at once."""
    own = tags(gem)
    return bool(own & {"area", "chaining", "chains", "nova"}) and "meleesingletarget" not in own


def role_of(gem: GemFact, second: GroupRole = GroupRole.SINGLE_TARGET) -> GroupRole:
    """Return what a skill beside the main one is for; `second` is what the build has a second damage skill for."""
    if gem.name in MOVEMENT:
        return GroupRole.MOVEMENT
    if gem.name in _EXPOSING:
        return GroupRole.EXPOSURE
    if gem.name in _GUARDING:
        return GroupRole.GUARD
    own = tags(gem)
    found = next((role for tag, role in _BY_TAG if tag in own), None)
    if found is not None:
        return found
    if gem.spirit > 0 or "HasReservation" in gem.skill_types:
        return GroupRole.MINIONS if is_minion(gem) else GroupRole.LASTING
    if {"EmpowersOtherSkill", "ModifiesNextSkill"} & set(gem.skill_types) or gem.name in USUAL[GroupRole.EMPOWERMENT]:
        return GroupRole.EMPOWERMENT
    return second if deals_damage(gem) else GroupRole.SUPPORTING


def second_role(goal: Goal, main: GemFact) -> GroupRole:
    """Return what a second damage skill is for: what the main one is not; packs, while that one is not ready."""
    if goal is Goal.BOSSING or {"Cooldown", "HasUsageCondition"} & set(main.skill_types):
        return GroupRole.CLEAR
    return GroupRole.SINGLE_TARGET if goal is Goal.MAPPING or clears(main) else GroupRole.CLEAR


_SECOND_UNFIT = frozenset(
    {
        "channelling", "channel", "payoff", "detonator", "minion", "shapeshift", "consumescharges", "requirescharges",
        "warcry", "curse", "mark",
    }
)  # fmt: skip
"""Kinds that need something first, or that are no attack to repeat, beside those that do not stand alone."""


def second_skills(gems: Sequence[GemFact], main: GemFact, role: GroupRole) -> list[GemFact]:
    """Return the skills that could be the second damage skill: by hand, of the main one's kind and damage.

    As of a main one its figure is had by using it over and over: not while it cools from heat, and no walls that
    something else must break. Beside a main skill that cools down it is there for that time, so it does not.
    """
    wanted = set(dealt(main))
    unfit = _SECOND_UNFIT | ({"cooldown"} & tags(main))
    return [
        gem
        for gem in gems
        if gem.id != main.id and deals_damage(gem) and gem.name not in (*MOVEMENT, *_EXPOSING)
        if is_attack(gem) == is_attack(main) and (is_attack(gem) or wanted & set(dealt(gem)))
        if not tags(gem) & unfit and stands_alone(gem) and (role is not GroupRole.CLEAR or clears(gem))
    ]


_ANSWERS_TO: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "Bloodhound's Mark": ("physical",),
        _EFFIGY: ("chaos",),
        "Herald of Ice": ("cold",),
        "Herald of Thunder": ("lightning",),
        "Herald of Ash": ("fire",),
        "Herald of Blood": ("physical",),
        "Herald of Plague": ("chaos", "physical"),
        **dict.fromkeys(("Mana Remnants", "Siphon Elements", *_EXPOSING), ELEMENTS),
    }
)
"""Skills that answer to what hits of one of these damages inflict."""

_WORKS_WITH: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "Ghost Dance": ("energy_shield", "evasion"),
        "Convalescence": ("energy_shield",),
        "Barkskin": ("energy_shield",),
        "Wind Dancer": ("evasion",),
        "Iron Ward": ("armour",),
    }
)
"""Skills that do something with these defences alone."""


_ENOUGH, _MOST_HITS = 0.25, 0.5
_FOR_SPELLS = frozenset({"Mana Tempest", "Soul Offering", *_EXPOSING})
"""What strengthens spells alone, or is cast by who casts spells anyway."""

_FOR_HITS, _BY_CRITICAL_HITS = frozenset({"Mana Tempest"}), frozenset({"Sniper's Mark"})
"""What adds damage to hits, at a price; marks that wait for a critical hit."""

_ON_MANA = frozenset({"Mana Tempest"})
"""What strengthens by the mana that is spent: nothing where costs are paid with life."""

_FOR_MINIONS = frozenset({"Grim Feast"})
"""What revives minions."""


@dataclass(frozen=True)
class BuildTraits:
    """What a build's further skills depend on.

    `types`: share (0-1) of the main skill's hits that is of each damage type; `critical`: chance (0-1) that a hit is
    critical; `hits`: share (0-1) of its damage that hits deal themselves, ailments and damage over time left out.
    `defences`: energy shield as a share (0-1) of it and life, armour and evasion as shares of both. `on_life`: its
    main skill costs life and no mana.
    """

    types: Mapping[str, float]
    critical: float = 0.0
    hits: float = 1.0
    on_life: bool = False
    defences: Mapping[str, float] = field(default_factory=dict)


def brought_about(gem: GemFact, used: Sequence[GemFact], traits: BuildTraits) -> bool:
    """Say whether the build can bring about what the skill's effect needs.

    `used`: skills of the build. An offering needs a skeleton to skewer, what strengthens spells a spell, a warcry an
    attack in melee that no totem makes, Barrage an attack that can be repeated, minions that spells call such a spell,
    a herald an attack, what revives minions some. What answers to what a damage inflicts needs a quarter of the hits to
    be of it, exposure of the elements; a mark for critical hits a quarter that are critical; what adds to hits half of
    the damage, and a Dark Effigy, which fires at who suffers from chaos damage over time, a quarter that is dealt after
    the hit. What works with a defence needs a quarter of it to be of that kind.
    """
    own, hits = tags(gem), [fact for fact in used if deals_damage(fact)]
    kinds, defences = _ANSWERS_TO.get(gem.name, ()), _WORKS_WITH.get(gem.name, ())
    needed = [
        "offering" not in own or any("CreatesSkeletonMinion" in fact.skill_types for fact in used),
        gem.name not in _FOR_SPELLS or any(is_spell(fact) for fact in hits),
        "warcry" not in own or any("melee" in tags(fact) and "totem" not in tags(fact) for fact in hits),
        "herald" not in own or any(is_attack(fact) for fact in hits),
        gem.name not in _FOR_MINIONS or any(is_minion(fact) for fact in used),
        is_called(gem, used),
        gem.name != _BARRAGE or any("barrageable" in tags(fact) for fact in hits),
        gem.name not in _BY_CRITICAL_HITS or traits.critical >= _ENOUGH,
        gem.name not in _FOR_HITS or traits.hits >= _MOST_HITS,
        gem.name not in _ON_MANA or not traits.on_life,
        gem.name != _EFFIGY or traits.hits <= 1 - _ENOUGH,
        not kinds or sum(traits.types.get(kind, 0.0) for kind in kinds) >= _ENOUGH,
        *(traits.defences.get(kind, 0.0) >= _ENOUGH for kind in defences),
    ]
    return all(needed)
