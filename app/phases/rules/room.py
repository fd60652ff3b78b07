"""What could still be put on the items that a build wears."""

from __future__ import annotations

from collections.abc import Iterable

from app.model.blueprint import JEWEL_SLOT, GearItem
from app.phases.rules.case import Case
from app.search.bases import ARMOUR_SLOTS, JEWELLERY_SLOTS
from app.search.flasks import FLASK_SLOTS
from app.search.legality import side_limit

_EXPECTED = (*ARMOUR_SLOTS, *JEWELLERY_SLOTS, *sorted(FLASK_SLOTS))
_SMALL = ("Flask", "Charm", JEWEL_SLOT)


def slots_with_room(case: Case) -> list[str]:
    """Return the slots that lack something, in order: empty ones, and items with a place or a socket to fill.

    Uniques, jewels, flasks and charms are as full as they are meant to be; a build without any item has no gear yet.
    """
    worn = case.blueprint.items
    if not worn:
        return []
    empty = [slot for slot in _EXPECTED if slot not in worn]
    return sorted([*empty, *_roomy(case, worn.values())])


def filling(slots: list[str]) -> str:
    """Return in words that the slots are filled."""
    return f"fill what is missing on {', '.join(slots)}"


def _roomy(case: Case, items: Iterable[GearItem]) -> list[str]:
    return [item.slot for item in items if not item.slot.startswith(_SMALL) and _has_room(case, item)]


def _has_room(case: Case, item: GearItem) -> bool:
    base = case.bases.get(item.base)
    if base is None or item.rarity == "UNIQUE" or item.text is not None:
        return False
    most = min(case.floors.gear.max_affixes, 2 * side_limit(base, "RARE"))
    filled = sum(rune != "None" for rune in item.runes)
    return len(item.prefixes) + len(item.suffixes) < most or filled < item.sockets
