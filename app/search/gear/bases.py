"""Which item bases fit a slot of a build: usable at the level and tier, of the wanted kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.model.facts import AttributeName, BaseFact
from app.search.base import SearchContext

ARMOUR_SLOTS = ("Helmet", "Body Armour", "Gloves", "Boots")
JEWELLERY_SLOTS = ("Amulet", "Ring 1", "Ring 2", "Belt")
ATTRIBUTE_JEWELS = frozenset({"Ruby", "Emerald", "Sapphire"})
JEWEL_BASES = ATTRIBUTE_JEWELS | {"Diamond"}
"""Jewels that act wherever they sit, without a radius: those of one attribute, and the one of all."""
TWO_HANDED = frozenset({"Bow", "Crossbow", "Staff", "Talisman", "Two Hand Axe", "Two Hand Mace", "Two Hand Sword"})
_RARE_TAGS = frozenset({"demigods", "not_for_sale", "runeforged"})
_ODD = re.compile(r"modifiers? allowed|\{variant|as though|maximum quality|skill slot", re.IGNORECASE)
_DEFENCES = (("Armour", "armour"), ("Evasion", "evasion"), ("Energy Shield", "energy_shield"))
_ALIASES = {"quarterstaff": "warstaff"}
_ATTRIBUTES: tuple[AttributeName, ...] = ("str", "dex", "int")


def usable(bases: Iterable[BaseFact], ctx: SearchContext) -> list[BaseFact]:
    """Return the ordinary bases that drop within the gear tier and can be worn at the level, sorted by name.

    Bases that change how many affixes fit, that are not traded or whose implicit is a choice are left out.
    """
    highest = min(ctx.demands.level, ctx.demands.floors.gear.max_affix_level)
    return [base for base in bases if base.requirements.get("level", 0) <= highest and _ordinary(base)]


def _ordinary(base: BaseFact) -> bool:
    return not _RARE_TAGS & set(base.tags) and not any(_ODD.search(line) for line in base.implicits)


def of_type(bases: Iterable[BaseFact], wanted: str) -> list[BaseFact]:
    """Return the bases whose type, sub type or tag is the wanted word ("Wand", "Quarterstaff", "Any Shield")."""
    word = wanted.casefold().removeprefix("any ").strip()
    word = _ALIASES.get(word, word)
    return [base for base in bases if word in _words(base)]


def _words(base: BaseFact) -> set[str]:
    """A quarterstaff is not a caster's staff although the engine files both under Staff."""
    kind = base.sub_type.casefold() if base.type == "Staff" and base.sub_type else base.type.casefold()
    words = {kind, base.sub_type.casefold()}
    if base.type == "Shield":
        words.add("armoured shield" if base.defences.get("Armour") else "buckler")
    return words


def best_first(bases: Iterable[BaseFact]) -> list[BaseFact]:
    """Return the bases by level requirement, highest first, then by what they give, then by name."""
    return sorted(bases, key=lambda base: (-base.requirements.get("level", 0), -_worth(base), base.name))


def _worth(base: BaseFact) -> float:
    return sum(value for name, value in base.defences.items() if name != "BlockChance") + sum(
        value for name, value in base.weapon.items() if name.endswith(("Min", "Max"))
    )


def sub_types(mitigation: Sequence[str]) -> list[str]:
    """Return the armour sub types that serve the mitigation, best first: the mix of the first two, then each alone."""
    order = [word for word, name in _DEFENCES if name in mitigation[:2]]
    names = {name: word for word, name in _DEFENCES}
    single = [names[name] for name in mitigation if name in names]
    mixed = ["/".join(order)] if len(order) > 1 else []
    first = single[:1]
    return list(dict.fromkeys([*first, *mixed, *single])) or ["Armour"]


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
    return sum(base.requirements.get(attribute, 0) for attribute in _ATTRIBUTES)


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
