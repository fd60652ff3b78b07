"""What to hold for a skill: weapon and off hand, best first."""

from __future__ import annotations

from dataclasses import dataclass

from app.model.facts import GemFact
from app.reasoning.rules.brief import Brief
from app.reasoning.rules.gems import is_attack, is_minion
from app.reasoning.rules.weapons import (
    CASTER,
    MARTIAL,
    UNARMED,
    matches,
    needs_shield,
    two_handed,
    weapon_words,
    word_of,
)


@dataclass(frozen=True)
class Setup:
    """A weapon and what goes with it."""

    weapon: str
    off_hand: str | None = None

    @property
    def text(self) -> str:
        """The set-up in words."""
        return " and ".join(part.lower() for part in (self.weapon, self.off_hand) if part)


_FOR_SPELLS = (Setup("Wand", "Focus"), Setup("Staff"), Setup("Wand", "Shield"), Setup("Sceptre", "Focus"))
_FOR_MINIONS = (Setup("Sceptre", "Focus"), Setup("Sceptre", "Shield"), Setup("Wand", "Focus"), Setup("Staff"))


def setups(brief: Brief, gem: GemFact) -> list[Setup]:
    """Return the set-ups the skill works with and the engine has items for, best first; never empty."""
    words = weapon_words(gem)
    if is_minion(gem) and not words:
        found = list(_FOR_MINIONS)
    elif words or is_attack(gem):
        found = _martial(words or _any_weapon(brief), needs_shield(gem))
    else:
        found = list(_FOR_SPELLS)
    kept = [
        s for s in (_with_known_off_hand(brief, s) for s in found) if _exists(brief, s) and not _ruled_out(brief, s)
    ]
    return sorted(kept or found[:1], key=lambda setup: _rank(brief, setup))


def _any_weapon(brief: Brief) -> list[str]:
    own = [weapon for weapon in brief.class_taste.weapons if weapon in MARTIAL]
    return list(dict.fromkeys([*own, "One Hand Mace", "Spear"]))


def _martial(words: list[str], shield: bool) -> list[Setup]:
    usable = [w for w in words if not (shield and two_handed(w)) and not (shield and w == "Bow")] or ["One Hand Mace"]
    return [Setup(weapon, _off_hand(weapon)) for weapon in usable]


def _off_hand(weapon: str) -> str | None:
    if weapon == "Bow":
        return "Quiver"
    return None if two_handed(weapon) or weapon == UNARMED else "Shield"


def _exists(brief: Brief, setup: Setup) -> bool:
    return not brief.bases or setup.weapon == UNARMED or setup.weapon in {word_of(base) for base in brief.bases}


def _with_known_off_hand(brief: Brief, setup: Setup) -> Setup:
    known = not brief.bases or setup.off_hand in {base.type for base in brief.bases}
    return setup if known else Setup(setup.weapon)


def _ruled_out(brief: Brief, setup: Setup) -> bool:
    gone = brief.exclusions.weapons
    return matches(gone, setup.weapon) or setup.off_hand in gone


def _rank(brief: Brief, setup: Setup) -> tuple[int, int, int]:
    """Order set-ups: those asked for, then those the class usually holds, then our own order."""
    asked = brief.listed("weapon")
    hits = matches(asked, setup.weapon) + (setup.off_hand in asked)
    if "block" in brief.listed("defence"):
        hits += setup.off_hand == "Shield"
    own = brief.class_taste.weapons
    usual = own.index(setup.weapon) if setup.weapon in own else len(own)
    every = (*CASTER, *MARTIAL)
    if setup.weapon in CASTER:
        usual = 0
    return (-hits, usual, every.index(setup.weapon) if setup.weapon in every and setup.weapon not in CASTER else 0)
