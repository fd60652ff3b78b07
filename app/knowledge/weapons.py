"""Weapons: what a skill can be used with, and what a class would hold.

Our words for weapons are the item base types, except that a martial staff is called a Quarterstaff.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from app.model.facts import BaseFact, GemFact

MELEE = ("Two Hand Mace", "One Hand Mace", "Quarterstaff", "Spear", "Talisman")
RANGED = ("Bow", "Crossbow")
MARTIAL = (*MELEE, *RANGED)
SCEPTRE = "Sceptre"
CASTER = ("Wand", "Staff", SCEPTRE)
UNFOUND = ("Two Hand Axe", "Two Hand Sword", "One Hand Axe", "One Hand Sword", "Flail", "Claw", "Dagger")
"""Kinds that the engine has item bases of and nobody finds: no skill is made for one and no unique item is one, because
the classes that would hold them are not in the game yet (Path of Building 0.20.0, passive tree 0_5)."""
OFF_HANDS = frozenset({"Shield", "Focus", "Quiver"})
"""What a player asks for who does not speak of the main hand."""
UNARMED, BARE_HANDS = "Unarmed", "bare hands"
"""What it is called to hold nothing, as a kind of weapon and to people."""
BARE_HANDED: Mapping[str, str] = MappingProxyType({"Hollow Palm Technique": "Quarterstaff"})
"""Keystones by which skills of a weapon are used with nothing in either hand."""

IN_EACH_HAND = frozenset({"One Hand Mace"})
"""Kinds that are found of which each hand can hold one: spears, wands and sceptres cannot be held so (Path of Exile 2
Wiki, "Dual wielding")."""
IN_ONE_HAND: Mapping[str, str] = MappingProxyType({"Giant's Blood": "Two Hand Mace"})
"""Keystones by which one hand holds a weapon for two, so that the other has room for another one, or a shield."""

_TWO_HANDED = frozenset(
    {"Two Hand Mace", "Two Hand Axe", "Two Hand Sword", "Quarterstaff", "Crossbow", "Staff", "Talisman"}
)
_SAME = {"staff": "Quarterstaff", "warstaff": "Quarterstaff", "none": UNARMED}
_PROPER = {name.lower(): name for name in (*MARTIAL, UNARMED)}


def weapon_words(gem: GemFact) -> list[str]:
    """Return the weapons that the skill can be used with, in our words; empty = it needs none of them."""
    found: dict[str, None] = {}
    for text in gem.weapon_types:
        found.update(dict.fromkeys(_words(text.lower())))
    return list(found)


def _words(text: str) -> Iterable[str]:
    if "shield" in text or "buckler" in text:
        return ()
    if "any" not in text:
        word = _SAME.get(text, _PROPER.get(text))
        return (word,) if word else ()
    kinds = MELEE if "melee" in text else MARTIAL
    kept = tuple(kind for kind in kinds if kind != "Talisman" or "non-talisman" not in text)
    return (*kept, UNARMED) if "unarmed" in text else kept


def bare_handed_by(words: Collection[str]) -> frozenset[str]:
    """Return the keystones of which a skill with these words needs one to be used with bare hands; empty: it never is,
    or always."""
    if UNARMED in words:
        return frozenset()
    return frozenset(keystone for keystone, weapon in BARE_HANDED.items() if weapon in words)


def held_by(weapon: str, off_hand: str | None, words: Collection[str]) -> frozenset[str]:
    """Return the keystones of which one is needed to use a skill with these words so armed; empty: none is."""
    if weapon == UNARMED:
        return bare_handed_by(words)
    return frozenset(keystone for keystone, kind in IN_ONE_HAND.items() if off_hand and kind == weapon)


def needs_shield(gem: GemFact) -> bool:
    """Say whether the skill needs a shield in the off hand."""
    texts = [text.lower() for text in (*gem.weapon_types, *gem.skill_types)]
    return any("shield" in text or "buckler" in text for text in texts)


def two_handed(weapon: str) -> bool:
    """Say whether the weapon leaves no hand for an off hand (a bow leaves one for a quiver)."""
    return weapon in _TWO_HANDED


def one_handed(weapon: str) -> bool:
    """Say whether the other hand has room for a shield, a focus or a sceptre."""
    return not two_handed(weapon) and weapon != "Bow"


def word_of(base: BaseFact) -> str:
    """Return our word for an item base's type."""
    return "Quarterstaff" if base.type == "Staff" and base.sub_type == "Warstaff" else base.type


def matches(asked: Iterable[str], weapon: str) -> bool:
    """Say whether a weapon is among those that a player asked for ("Mace" means both kinds)."""
    return any(weapon == word or word in weapon.split() for word in asked)


def for_other_hand(asked: Collection[str]) -> frozenset[str]:
    """Return which of the weapons asked for the other hand holds: a sceptre, too, beside what one hand holds."""
    main = [word for word in asked if word not in (*OFF_HANDS, SCEPTRE, UNARMED) and one_handed(word)]
    return OFF_HANDS.union([SCEPTRE] if main else []).intersection(asked)


def can_be_paired(asked: Iterable[str]) -> bool:
    """Say whether each hand can hold one of the weapons that a player asked for; whoever asked for none may."""
    held = [word for word in asked if word not in OFF_HANDS and not unfound(word)]
    return not held or any(matches(held, kind) for kind in (*IN_EACH_HAND, *IN_ONE_HAND.values()))


def unfound(word: str) -> bool:
    """Say whether nobody finds a weapon of the kind that a player named."""
    return any(matches([word], kind) for kind in UNFOUND)
