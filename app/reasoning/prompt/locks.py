"""Which parts of a build a refinement's words name, and what of it stays."""

from __future__ import annotations

import re

from app.model.blueprint import OFF_HAND, SWAP
from app.model.moves import WEAPON_SLOTS, Locks, Part

_OFF = r"off.?hand|(?<!energy )shield|focus|quiver|buckler"
_SLOTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"weapons?|bow|crossbow|wand|staff|quarterstaff|spear|mace|sceptre|swords?|axe|dagger|talisman", WEAPON_SLOTS),
    (_OFF, (OFF_HAND, OFF_HAND + SWAP)),
    (r"helm(?:et)?s?|hat", ("Helmet",)),
    (r"(?:body )?armou?r|chest(?: ?piece)?|robe", ("Body Armour",)),
    (r"gloves?", ("Gloves",)),
    (r"boots?|shoes", ("Boots",)),
    (r"amulet|necklace", ("Amulet",)),
    (r"rings?", ("Ring 1", "Ring 2", "Ring 3")),
    (r"belt", ("Belt",)),
)
_TREE = r"(?:passive )?tree|passives?|(?:passive |skill )+points?|nodes"
_PARTS: tuple[tuple[str, tuple[Part, ...], tuple[Part, ...]], ...] = (
    (r"gear|items?|equipment", (Part.GEAR, Part.FLASKS, Part.JEWELS), (Part.GEAR,)),
    (r"jewels?", (Part.JEWELS,), (Part.JEWELS,)),
    (r"flasks?|charms?", (Part.FLASKS,), ()),
    (_TREE, (Part.TREE, Part.JEWELS), (Part.TREE, Part.ATTRIBUTES)),
    (r"ascendancy(?: points?)?", (Part.ASCENDANCY,), (Part.ASCENDANCY,)),
    (r"supports?|gems?|links?", (Part.SUPPORTS, Part.SPIRIT), (Part.SUPPORTS,)),
    (r"skills?", (Part.SUPPORTS, Part.SPIRIT), ()),
    (r"spirit|auras?|heralds?|persistent", (Part.SPIRIT,), (Part.SPIRIT,)),
    (r"attribute(?:s| passives| nodes)?", (Part.ATTRIBUTES,), (Part.ATTRIBUTES,)),
)
"""What words name, what stays with it, and what alone may change where nothing else is to."""
PLACE = "|".join([*(pattern for pattern, _ in _SLOTS), *(pattern for pattern, _, may in _PARTS if may)])
"""The words that name what may change alone, as a pattern without groups."""

KEEP = r"(?:keep(?:ing)?|lock(?:ed)?|preserv\w+|retain\w*|leave(?! out\b)"
KEEP += r"|no changes? (?:to|in|on)|without (?:changing|touching|replacing|losing|swapping)"
KEEP += r"|(?:do not|don'?t|dont|can'?t|cannot|can not|never) (?:change|touch|replace|swap|lose|remove|alter))"
KEEP += r"(?! (?:dying|getting|running|losing|being|failing|up)\b)"  # "I keep dying" is a complaint
"""The words that say that what follows stays."""

_PLACES = rf"(?:(?:the|my|this|its|for) )*(?:{PLACE})(?:(?:,| and|, and| or| &) (?:the |my )?(?:{PLACE}))*"
_BUT = r"(?:but(?: for| not)?|except(?:ing|ed)?|apart from|aside from|besides|other than|save|excluding)"
_EXCEPTED = re.compile(
    r"(?P<kept>\b(?:everything|all|anything|it all|gear|items?|equipment)\b[^.,;!?]{0,30}?)"
    rf",? {_BUT} (?P<free>{_PLACES})\b",
    re.I,
)
"""What is kept but for a part of it, which "but" alone would end."""
_EXCEPT = " except "
_STAYING = (
    r"(?:(?:is|are) (?:locked|fixed)|(?:must |should |ha(?:s|ve) to |can )?(?:stays?|remains?)\b"
    r"(?: (?:locked|fixed|the same|unchanged|untouched|as (?:it is|they are|is)))?)"
)
_STAYING_NEXT = re.compile(rf" {_STAYING}", re.I)
_KEPT = re.compile(rf"\b(?:{KEEP}\b|{_STAYING})", re.I)
_CLAUSE = re.compile(r"[.,;!?]")
_STAYS = re.compile(
    rf"\b(?:everything|all)(?: else)?"
    rf"(?: {_STAYING}{_EXCEPT}(?P<one>{_PLACES})|{_EXCEPT}(?P<other>{_PLACES}) {_STAYING})"
    rf"|\b(?P<rest>(?:everything|all) else|the rest) {_STAYING}"
    rf"|\b(?:(?:my|the) )?(?P<what>(?:{PLACE})(?:(?:,| and|, and) (?:my |the )?(?:{PLACE}))*) {_STAYING}",
    re.I,
)
_EVERYTHING = re.compile(r"\b(?:everything|all|anything)\b|^\s*(?:it|this|that)(?: as (?:it )?is)?\s*$", re.I)
_THE_REST = re.compile(r"\b(?:everything|all) else\b|\bthe rest\b|\bother\w*\b", re.I)


def with_keeps(text: str) -> str:
    """Return the text with "keep" for what else says that something stays, and "except" for what else excepts.

    So "everything but the tree stays" is "keep everything except the tree", "my boots stay" is "keep boots", and
    "change everything but my boots" is "change everything, keep my boots".
    """

    def except_(match: re.Match[str]) -> str:
        before = _CLAUSE.split(text[: match.start()])[-1] + match["kept"]
        is_kept = _KEPT.search(before) or _STAYING_NEXT.match(text, match.end())
        return f"{match['kept']}{_EXCEPT if is_kept else ', keep '}{match['free']}"

    def keep(match: re.Match[str]) -> str:
        return f"keep {match['what'] or match['rest'] or 'everything' + _EXCEPT + (match['one'] or match['other'])}"

    return _STAYS.sub(keep, _EXCEPTED.sub(except_, text))


def names_part(what: str) -> bool:
    """Say whether words name something that can be locked: a part, a slot, or everything else."""
    return any(_named(what)) or bool(_EVERYTHING.search(what) or _THE_REST.search(what))


def locks_of(only: list[str], kept: list[str], rest: str) -> Locks:
    """Return what stays: all but what `only` names, what `kept` names; "the rest" is what `rest` does not name."""
    parts: list[Part] = []
    slots: list[str] = []
    for what in kept:
        if _THE_REST.search(what):
            only = [*only, rest]
            continue
        what, _, free = what.partition(_EXCEPT)
        found_parts, found_slots = _named(what)
        if _EVERYTHING.search(what) and not found_parts and not found_slots and not only:
            found_parts = list(Part)
        free_parts, staying = _free(free)
        parts += [part for part in found_parts if part not in free_parts]
        slots += [*found_slots, *(staying if Part.GEAR in found_parts else ())]
    if only:
        free_parts, free_slots = _free(" ".join(only))
        parts += [part for part in Part if part not in free_parts]
        slots += free_slots
    return Locks(parts=sorted(set(parts)), slots=sorted(set(slots)))


def _named(what: str) -> tuple[list[Part], list[str]]:
    parts = [part for pattern, stays, _ in _PARTS if _has(pattern, what) for part in stays]
    slots = [slot for pattern, found in _SLOTS if _has(pattern, what) for slot in found]
    return parts, slots


def _free(what: str) -> tuple[list[Part], list[str]]:
    """Return the parts that may change, and the slots that stay although their part may change."""
    parts = [part for pattern, _, may in _PARTS if _has(pattern, what) for part in may]
    slots = [slot for pattern, found in _SLOTS if _has(pattern, what) for slot in found]
    if not _has(rf"weapons|{_OFF}", what):  # one weapon is what the main hand holds
        slots = [slot for slot in slots if slot not in (OFF_HAND, OFF_HAND + SWAP)]
    if slots and Part.GEAR not in parts:
        every = {slot for _, found in _SLOTS for slot in found}
        return [*parts, Part.GEAR], sorted(every - set(slots))
    return parts, []


def _has(pattern: str, text: str) -> bool:
    return re.search(rf"\b(?:{pattern})\b", text, re.I) is not None
