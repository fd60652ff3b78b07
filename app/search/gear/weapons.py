"""What a build holds in its hands: pairs of main hand and off hand that the plan and the main skill allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.model.blueprint import OFF_HAND
from app.model.facts import BaseFact, GemFact
from app.search.base import SearchContext
from app.search.gear.bases import TWO_HANDED, armour_options, best_first, of_type, weapon_options

_CASTING = ("Wand", "Staff")
_MARTIAL = (
    "One Hand Mace",
    "Two Hand Mace",
    "Quarterstaff",
    "Spear",
    "Bow",
    "Crossbow",
    "One Hand Sword",
    "One Hand Axe",
    "Two Hand Sword",
    "Two Hand Axe",
    "Dagger",
    "Claw",
    "Flail",
)
_RANGED = frozenset({"Bow", "Crossbow"})
_CASTER_MAIN = frozenset({"Wand", "Sceptre"})


@dataclass(frozen=True)
class Hands:
    """A way to arm oneself: a weapon type and the bases for both hands (empty = nothing held there)."""

    weapon_type: str
    main: tuple[BaseFact, ...]
    off: tuple[BaseFact, ...] = ()


def ways_to_arm(ctx: SearchContext, bases: Sequence[BaseFact], skill: GemFact | None) -> list[Hands]:
    """Return the ways to arm oneself that fit plan and main skill, in the plan's order; empty = unarmed."""
    found = []
    for weapon_type in _weapon_types(ctx, skill):
        main = weapon_options(bases, weapon_type)
        if main:
            found.append(Hands(weapon_type, tuple(main), tuple(_off_hand(ctx, bases, main[0], skill))))
    return found


def _weapon_types(ctx: SearchContext, skill: GemFact | None) -> list[str]:
    """Return the plan's types that the skill can be used with; without one the skill's own, or a caster's."""
    asked = list(ctx.plan.delivery.weapon_types)
    needed = [name for name in skill.weapon_types if "shield" not in name.casefold()] if skill else []
    if not needed:
        return asked or list(_CASTING)
    allowed = [name for word in needed for name in _expanded(word)]
    both = [name for name in allowed if name in asked]
    return both or list(dict.fromkeys(allowed))


def _expanded(requirement: str) -> list[str]:
    """Turn a skill's requirement into weapon types: "Any Melee Martial Weapon or Unarmed" into all that are melee."""
    if "martial weapon" not in requirement.casefold():
        return [requirement]
    melee = "melee" in requirement.casefold()
    return [name for name in _MARTIAL if not (melee and name in _RANGED)]


def _off_hand(ctx: SearchContext, bases: Sequence[BaseFact], main: BaseFact, skill: GemFact | None) -> list[BaseFact]:
    if main.type in TWO_HANDED:
        return [base for base in bases if base.type == "Quiver"] if main.type == "Bow" else []
    wanted = ctx.plan.delivery.off_hand or _usual_off_hand(ctx, main)
    if skill and any("shield" in name.casefold() for name in skill.weapon_types):
        wanted = next(name for name in skill.weapon_types if "shield" in name.casefold())
    options = [base for base in of_type(bases, wanted) if OFF_HAND in base.slots]
    if any(base.type == "Shield" for base in options):
        return armour_options(options, OFF_HAND, ctx.plan.survivability.mitigation)
    if any(base.type == "Focus" for base in options):
        return best_first(options)[:2] + best_first(options)[4:8:3]
    return weapon_options(options, wanted)


def _usual_off_hand(ctx: SearchContext, main: BaseFact) -> str:
    """A caster whose first layer is energy shield holds a focus, everybody else a shield."""
    guarded = (ctx.plan.survivability.mitigation or ["energy_shield"])[0]
    return "Focus" if main.type in _CASTER_MAIN and guarded == "energy_shield" else "Shield"
