"""Which item bases fit a slot of a build: usable at the level and tier, of the wanted kind; and what hands hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.knowledge.exclusions import grants
from app.knowledge.weapons import IN_ONE_HAND, UNARMED, UNFOUND, weapon_words
from app.knowledge.words import phrase
from app.model.blueprint import LIFE_FLASK, MAIN_HAND, MANA_FLASK, OFF_HAND
from app.model.facts import BaseFact, GemFact
from app.model.names import Attribute
from app.search.base import SearchContext

ARMOUR_SLOTS = ("Helmet", "Body Armour", "Gloves", "Boots")
RING_SLOTS = ("Ring 1", "Ring 2")
JEWELLERY_SLOTS = ("Amulet", *RING_SLOTS, "Belt")
FLASK_SLOTS = {LIFE_FLASK: "Life", MANA_FLASK: "Mana"}
"""What the flask of each slot recovers."""

ATTRIBUTE_JEWELS = frozenset({"Ruby", "Emerald", "Sapphire"})
JEWEL_BASES = ATTRIBUTE_JEWELS | {"Diamond"}
"""Jewels that act wherever they sit, without a radius: those of one attribute, and the one of all."""
RADIUS_JEWELS = frozenset({"Time-Lost Ruby", "Time-Lost Emerald", "Time-Lost Sapphire"})
"""Jewels that act through the passives around their socket; the one of all attributes is left to uniques."""
TWO_HANDED = frozenset({"Bow", "Crossbow", "Staff", "Talisman", "Two Hand Axe", "Two Hand Mace", "Two Hand Sword"})
_RARE_TAGS = frozenset({"demigods", "not_for_sale", "runeforged"})
_ODD = re.compile(r"modifiers? allowed|\{variant|as though|maximum quality|skill slot", re.IGNORECASE)
_DEFENCES = (("Armour", "armour"), ("Evasion", "evasion"), ("Energy Shield", "energy_shield"))
_ALIASES = {"quarterstaff": "warstaff"}


def usable(bases: Iterable[BaseFact], ctx: SearchContext, *, as_named: bool = True) -> list[BaseFact]:
    """Return the ordinary bases that drop within the gear tier and can be worn at the level, sorted by name.

    Bases that change how many affixes fit, that are not traded or found, or whose implicit is a choice are left out,
    and so is what the user excluded. A base that the user named needs the level alone, and `as_named` leaves no other
    in its place.
    """
    highest = min(ctx.demands.level, ctx.demands.floors.gear.max_affix_level)
    named = {phrase(name) for name in ctx.invariants.listed("with")}
    excluded = ctx.exclusions
    found = [
        base
        for base in bases
        if base.requirements.get("level", 0) <= (ctx.demands.level if phrase(base.name) in named else highest)
        and not _RARE_TAGS & set(base.tags)
        and (base.type not in UNFOUND or phrase(base.name) in named)
        and not any(_ODD.search(line) for line in base.implicits)
        and not excluded.item("", base, unique=False)
    ]
    taken = {place for base in found if as_named and phrase(base.name) in named and (place := _place(base))}
    return [base for base in found if _place(base) not in taken or phrase(base.name) in named]


def _place(base: BaseFact) -> str | None:
    """Return the place that only one item of a build can take, None for what there are several places for."""
    if base.type in ("Ring", "Charm", "Jewel") or not base.slots:
        return None
    return base.sub_type if base.type == "Flask" else MAIN_HAND if MAIN_HAND in base.slots else base.slots[0]


def named_rings(bases: Iterable[BaseFact], ctx: SearchContext) -> dict[str, list[BaseFact]]:
    """Return the ring slots that hold a base which the user named, in the order of naming."""
    known = {phrase(base.name): base for base in bases if base.type == "Ring"}
    wanted = [known[name] for one in ctx.invariants.listed("with") if (name := phrase(one)) in known]
    return {slot: [base] for slot, base in zip(RING_SLOTS, wanted, strict=False)}


def of_type(bases: Iterable[BaseFact], wanted: str) -> list[BaseFact]:
    """Return the bases whose type, sub type or kind is the wanted word ("Wand", "Quarterstaff", "Any Shield").

    A quarterstaff is not a caster's staff although the engine files both under Staff.
    """
    word = wanted.casefold().removeprefix("any ").strip()
    word = _ALIASES.get(word, word)
    found = []
    for base in bases:
        kind = base.sub_type if base.type == "Staff" and base.sub_type else base.type
        words = {kind.casefold(), base.sub_type.casefold()}
        if base.type == "Shield":
            words.add("armoured shield" if base.defences.get("Armour") else "buckler")
        if word in words:
            found.append(base)
    return found


def best_first(bases: Iterable[BaseFact]) -> list[BaseFact]:
    """Return the bases by level requirement, highest first, then by what they give, then by name."""

    def order(base: BaseFact) -> tuple[int, float, str]:
        defences = sum(value for name, value in base.defences.items() if name != "BlockChance")
        damage = sum(value for name, value in base.weapon.items() if name.endswith(("Min", "Max")))
        return -base.requirements.get("level", 0), -(defences + damage), base.name

    return sorted(bases, key=order)


def sub_types(mitigation: Sequence[str]) -> list[str]:
    """Return the armour sub types that serve the mitigation, best first: the first, the mix of two, the rest."""
    order = [word for word, name in _DEFENCES if name in mitigation[:2]]
    names = {name: word for word, name in _DEFENCES}
    single = [names[name] for name in mitigation if name in names]
    mixed = ["/".join(order)] if len(order) > 1 else []
    return list(dict.fromkeys([*single[:1], *mixed, *single])) or ["Armour"]


def armour_options(
    bases: Sequence[BaseFact], slot: str, mitigation: Sequence[str], per_kind: int = 2
) -> list[BaseFact]:
    """Return armour bases for the slot: per sub type the best, and one of lower requirements; never empty in PoB."""
    fitting = [base for base in bases if slot in base.slots]
    found: list[BaseFact] = []
    for kind in sub_types(mitigation):
        ranked = best_first(base for base in fitting if base.sub_type == kind)
        found += ranked[:per_kind]
        found += [base for base in ranked if _needs(base) <= 0.7 * _needs(ranked[0])][:1] if ranked else []
    return list({base.name: base for base in found or best_first(fitting)[:per_kind]}.values())


def _needs(base: BaseFact) -> int:
    return sum(base.requirements.get(attribute, 0) for attribute in Attribute)


def jewellery_options(bases: Sequence[BaseFact], slot: str) -> list[BaseFact]:
    """Return every usable base of the slot; their implicits compete in the joint choice."""
    return sorted((base for base in bases if slot in base.slots), key=lambda base: base.name)


def weapon_options(bases: Sequence[BaseFact], wanted: str, per_kind: int = 2) -> list[BaseFact]:
    """Return the best bases of the weapon type, `per_kind` of each set of tags: tags decide which affixes fit.

    Where a base came from (its culture) decides nothing and does not make it a kind of its own.
    """
    kinds: dict[tuple[str, ...], list[BaseFact]] = {}
    for base in best_first(of_type(bases, wanted)):
        tags = tuple(tag for tag in base.tags if not tag.endswith("_basetype"))
        kinds.setdefault(tags, []).append(base)
    return [base for tags in sorted(kinds) for base in kinds[tags][:per_kind]]


def socket_count(base: BaseFact) -> int:
    """Return how many sockets an ordinary, uncorrupted item has: 2 on body armour and two-handers, else 1."""
    usual = 2 if base.type == "Body Armour" or base.type in TWO_HANDED else 1
    return min(base.socket_limit, usual)


def charm_slots(belt: BaseFact | None) -> int:
    """Return how many charm slots the belt has at the middle of its range (0 without one)."""
    for line in belt.implicits if belt is not None else []:
        match = re.search(r"Has \(?(\d+)(?:-(\d+)\))? Charm Slot", line)
        if match:
            low, high = int(match[1]), int(match[2] or match[1])
            return (low + high) // 2
    return 0


_CASTING = ("Wand", "Staff")
_CASTER_MAIN = frozenset({"Wand", "Sceptre"})


@dataclass(frozen=True)
class WeaponPair:
    """A way to arm oneself: a weapon type and the bases for both hands (empty = nothing held there)."""

    weapon_type: str
    main: tuple[BaseFact, ...]
    off: tuple[BaseFact, ...] = ()


def weapon_pairs(ctx: SearchContext, bases: Sequence[BaseFact], skill: GemFact | None, large: bool) -> list[WeaponPair]:
    """Return the ways to arm oneself that fit plan and main skill, in the plan's order; empty = unarmed.

    The types are the plan's that the skill can be used with; without one the skill's own, or a caster's. `large`: a
    keystone is in reach by which one hand holds a weapon for two.
    """
    asked = list(ctx.plan.delivery.weapon_types)
    if UNARMED in asked:
        return []
    granting = {base.name for base in grants(skill, bases)} if skill is not None else set[str]()
    if granting:  # without the base that grants it there is no such skill
        bases = [base for base in bases if base.name in granting or MAIN_HAND not in base.slots]
    allowed = weapon_words(skill) if skill is not None else []
    types = [name for name in allowed if name in asked] or allowed or asked or list(_CASTING)
    found = []
    for weapon_type in types:
        main = weapon_options(bases, weapon_type)
        if main:
            found.append(WeaponPair(weapon_type, tuple(main), tuple(_off_hand(ctx, bases, main[0], skill, large))))
    return found


def _off_hand(
    ctx: SearchContext, bases: Sequence[BaseFact], main: BaseFact, skill: GemFact | None, large: bool
) -> list[BaseFact]:
    """Return what the other hand may hold: a shield when the skill needs one, else what the plan says or is usual."""
    off = ctx.plan.delivery.off_hand
    in_one = large and off is not None and main.type in IN_ONE_HAND.values()
    if main.type in TWO_HANDED and not in_one:
        return [base for base in bases if base.type == "Quiver"] if main.type == "Bow" else []
    # a caster whose first layer is energy shield usually holds a focus, everybody else a shield
    guarded = (ctx.plan.survivability.mitigation or ["energy_shield"])[0]
    usual = "Focus" if main.type in _CASTER_MAIN and guarded == "energy_shield" else "Shield"
    wanted = off or usual
    if skill and any("shield" in name.casefold() for name in skill.weapon_types):
        wanted = next(name for name in skill.weapon_types if "shield" in name.casefold())
    options = [base for base in of_type(bases, wanted) if OFF_HAND in base.slots or in_one]
    if any(base.type == "Shield" for base in options):
        return armour_options(options, OFF_HAND, ctx.plan.survivability.mitigation)
    if any(base.type == "Focus" for base in options):
        return best_first(options)[:2] + best_first(options)[4:8:3]
    return weapon_options(options, wanted)
