"""What a player can do by hand against a conflict, in Path of Building or in the game."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from app.conflicts.strength import (
    AT_TIMES,
    ELEMENTAL,
    NOT_ALWAYS,
    PHYSICAL,
    RECOVERY,
    SLOW,
    UNCALLED,
    UNEXPLAINED,
    UNMODELLED,
)
from app.model.conflicts import BuildConflict
from app.model.names import ConflictType

_T = ConflictType
_CALCS = (
    "look in Path of Building's Calcs tab at what the damage is made of, and switch off under Configuration what does "
    "not hold in a fight"
)
_OF_STRENGTH = MappingProxyType(
    {
        (_T.DAMAGE_GAP, "dps"): "raise the weapon's damage or the skill gem's level first, then exchange supports",
        (_T.DAMAGE_GAP, UNMODELLED): "read in the game what the skill deals: Path of Building cannot tell",
        (_T.DAMAGE_GAP, "explained"): _CALCS,
        (_T.DAMAGE_GAP, UNEXPLAINED): _CALCS,
        (_T.DAMAGE_GAP, AT_TIMES): "take it off in Path of Building to see what is dealt without it",
        (_T.DAMAGE_GAP, SLOW): "hold a faster weapon in Path of Building and look at what is lost",
        (_T.DAMAGE_GAP, UNCALLED): "have a spell that calls them, and use it over and over",
        (_T.DAMAGE_GAP, NOT_ALWAYS): "count how often it is ready in a fight, and have another skill for in between",
        (_T.SURVIVABILITY_GAP, "ehp"): "put life, energy shield or resistances where items have weak lines, then take "
        "passives of defence beside the tree",
        (_T.SURVIVABILITY_GAP, PHYSICAL): "get more armour, or more life and energy shield",
        (_T.SURVIVABILITY_GAP, ELEMENTAL): "cap all resistances first, then get more life and energy shield",
        (_T.SURVIVABILITY_GAP, AT_TIMES): "give them back in Path of Building to see what is left without them",
        (_T.SURVIVABILITY_GAP, RECOVERY): "get life regeneration or leech from items and passives",
    }
)
"""Steps by type and subject, for what no figure makes clearer."""


def step(conflict: BuildConflict) -> str | None:
    """Return the step for the conflict with its figures, None where its first suggestion says it already."""
    told = _OF_STRENGTH.get((conflict.type, conflict.subject))
    measured = _MEASURED.get(conflict.type)
    return told or (measured(conflict) if measured is not None else None)


def _missing(conflict: BuildConflict) -> float | None:
    """Return how much is missing (negative: too much), None where that is not a matter of figures."""
    required, available = conflict.evidence.required, conflict.evidence.available
    if isinstance(required, (int, float)) and isinstance(available, (int, float)):
        return float(required) - float(available)
    return None


def _resistance(conflict: BuildConflict) -> str | None:
    missing = _missing(conflict)
    if missing is None:
        return None
    return f"get {missing:.0f}% more {conflict.subject} resistance from rings, amulet, belt, boots or a rune in armour"


def _sustain(conflict: BuildConflict) -> str | None:
    missing, found = _missing(conflict), conflict.evidence
    if missing is None:
        return None
    if found.lasts_s is None:
        return f"leave out the support that raises the cost most, until one use costs at most {found.available:.0f}"
    how = "regeneration on rings and amulet, or leech" if conflict.subject == "mana" else "regeneration or leech"
    return f"get {missing:.0f} more {conflict.subject} per second ({how}), or leave out the support that costs most"


def _attribute(conflict: BuildConflict) -> str | None:
    missing, found = _missing(conflict), conflict.evidence
    if missing is None or not found.unit:
        return None
    if found.unit == "level":
        what = found.source or conflict.subject
        return f"use {what} at a lower level until the character is level {found.required:.0f}"
    return f"get {missing:.0f} more {found.unit}: attribute passives give 5 each, rings and amulets more"


def _spirit(conflict: BuildConflict) -> str | None:
    missing = _missing(conflict)
    return None if missing is None else f"switch off persistent skills that reserve {missing:.0f} Spirit"


def _points(conflict: BuildConflict) -> str | None:
    missing = _missing(conflict)
    match conflict.subject:
        case "ascendancy" if missing is not None and missing > 0:
            return f"spend {missing:.0f} more ascendancy points; the trials give them"
        case "ascendancy" if missing is not None:
            return f"take back {-missing:.0f} ascendancy points"
        case "unspent" if missing is not None:
            return f"spend {missing:.0f} more points on passives beside the tree"
        case "older":
            return "choose today's tree in Path of Building's Tree tab, and see which passives are lost"
        case "passives" | "weapon_set" if missing is not None:
            return f"take back {missing:.0f} passives at the ends of branches"
        case _:
            return None


_MEASURED: MappingProxyType[ConflictType, Callable[[BuildConflict], str | None]] = MappingProxyType(
    {
        _T.RESISTANCE_GAP: _resistance,
        _T.SUSTAIN_GAP: _sustain,
        _T.STAT_REQUIREMENT: _attribute,
        _T.ATTRIBUTE_SQUEEZE: _attribute,
        _T.SPIRIT_OVERFLOW: _spirit,
        _T.TREE_OVERFLOW: _points,
    }
)
