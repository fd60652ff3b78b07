"""Reading a refinement: what should become better, what must stay, and what is left of the prompt."""

from __future__ import annotations

import re

from app.model.blueprint import OFF_HAND, SWAP
from app.model.experiments import Direction, Wish
from app.model.moves import WEAPON_SLOTS, Locks, Part
from app.reasoning.base import RefineReading

_KEEP = (
    r"(?:keep(?:ing)?|lock(?:ed)?|preserv\w+|retain\w*|leave|without (?:changing|touching|replacing|losing|swapping)"
)
_KEEP += r"|(?:do not|don'?t|dont|never) (?:change|touch|replace|swap|lose|remove|alter))"
_WISH_FOLLOWS = r"(?:make|give|more|better|higher|get|improve|raise|increase|boost|cap|i (?:want|need)"
_WISH_FOLLOWS += r"|for (?:more|better|higher))\b"
_END = rf"(?=$|[.;!?]|,?\s*\b(?:but|while|then|so)\b|(?:,|,?\s+and|\s)\s*{_WISH_FOLLOWS})"
_KEEPS = re.compile(rf"\b{_KEEP}\b(?P<what>[^.;!?]*?){_END}", re.I)
_ONLY = re.compile(
    r"\b(?:change nothing (?:but|except)|nothing but|only (?:change|touch|swap|replace|improve|use)"
    r"|just (?:change|swap|replace)|(?:change|touch|swap|replace) (?:only|just))\b(?P<what>[^.;!?]*?)" + _END,
    re.I,
)
_PERCENT = r"(?P<number>\d{1,3}(?:\.\d+)?)\s*(?:%|per ?cent)"
_LOSS = re.compile(
    r"\b(?:at most|no more than|up to|max(?:imum)?|lose|losing|cost(?:ing)?|give up|sacrific\w+)\b[^.;,]{0,30}?"
    rf"{_PERCENT}"
    r"(?:\s+(?:of )?(?:the |my |its )?\w+)?(?:\s+lost)?",
    re.I,
)
_GAIN = re.compile(
    rf"{_PERCENT}\s*(?:\w+\s+)?(?:more|better|higher|extra|tankier)|\bby\s+{_PERCENT.replace('number', 'by')}", re.I
)

_SLOTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"weapons?|bow|crossbow|wand|staff|quarterstaff|spear|mace|sceptre|swords?|axe|dagger|talisman", WEAPON_SLOTS),
    (r"off.?hand|shield|focus|quiver|buckler", (OFF_HAND, OFF_HAND + SWAP)),
    (r"helm(?:et)?s?|hat", ("Helmet",)),
    (r"(?:body )?armou?r|chest(?: ?piece)?|robe", ("Body Armour",)),
    (r"gloves?", ("Gloves",)),
    (r"boots?|shoes", ("Boots",)),
    (r"amulet|necklace", ("Amulet",)),
    (r"rings?", ("Ring 1", "Ring 2", "Ring 3")),
    (r"belt", ("Belt",)),
)
_PARTS: tuple[tuple[str, tuple[Part, ...]], ...] = (
    (r"gear|items?|equipment", (Part.GEAR, Part.FLASKS, Part.JEWELS)),
    (r"jewels?", (Part.JEWELS,)),
    (r"flasks?|charms?", (Part.FLASKS,)),
    (r"(?:passive )?tree|passives?|passive (?:skill )?points?|nodes", (Part.TREE, Part.JEWELS)),
    (r"ascendancy", (Part.ASCENDANCY,)),
    (r"supports?|gems?|skills?|links?", (Part.SUPPORTS, Part.SPIRIT)),
    (r"spirit|auras?|heralds?|persistent", (Part.SPIRIT,)),
    (r"attribute(?:s| passives| nodes)?", (Part.ATTRIBUTES,)),
)
_JUST: tuple[tuple[str, tuple[Part, ...]], ...] = (
    (r"gear|items?|equipment", (Part.GEAR,)),
    (r"jewels?", (Part.JEWELS,)),
    (r"(?:passive )?tree|passives?|passive points?|nodes", (Part.TREE, Part.ATTRIBUTES)),
    (r"ascendancy", (Part.ASCENDANCY,)),
    (r"supports?|gems?|links?", (Part.SUPPORTS,)),
    (r"spirit|auras?|heralds?|persistent", (Part.SPIRIT,)),
    (r"attribute(?:s| passives| nodes)?", (Part.ATTRIBUTES,)),
)
_EVERYTHING = re.compile(r"\b(?:everything|all)\b", re.I)
_THE_REST = re.compile(r"\b(?:everything|all) else\b|\bthe rest\b|\bother\w*\b", re.I)

_LIFE = re.compile(
    r"\btank\w*|\behp\b|\beffective (?:hp|hit points|health|life)"
    r"|\b(?:more|higher|better|increase|raise|improve|extra)\s+"
    r"(?:the |my |its )?(?:\w+ )?(?:life|hp|health|hit points|defen[cs]e\w*|armou?r|evasion|energy shield|survivab\w*)"
    r"|\bsurviv\w*|\bdefensive\w*|\bsturd\w*|\bdurab\w*|\bsafer\b|\bsquish\w*|\bdie\w*\b|\bdying\b"
    r"|\bone.?shot\w*|\bdefen[cs]es?\b",
    re.I,
)
_DAMAGE = re.compile(
    r"\bdps\b|\bdamage\b|\bhit(?:s|ting)? harder|\bkill\w*|\bstronger\b|\boffen[cs]\w*|\bclear\w*|\bfaster\b|\bburst\b",
    re.I,
)
_SUSTAIN = re.compile(r"\bmana\b|\bsustain\w*|\boom\b|\bcosts? too much\b", re.I)
_REPAIR = re.compile(r"\bfix\w*|\brepair\w*|\bmend\w*|\bcorrect\b|\bwhat'?s wrong\b|\bfaults?\b|\bbroken\b", re.I)
_RESISTANCE = re.compile(r"\bresist\w*|\bres(?:es)?\b|\bcap(?:ped)?\b", re.I)


def read_refinement(prompt: str) -> RefineReading:
    """Return what the prompt wishes and locks; without a wish everything may become better."""
    text = " ".join(prompt.replace("\u2019", "'").split())  # the patterns look ahead over white space, again and again
    only, kept = list(_ONLY.finditer(text)), list(_KEEPS.finditer(_ONLY.sub(" ", text)))
    rest = _KEEPS.sub(" ", _ONLY.sub(" ", text))
    return RefineReading(
        wish=_wish(rest),
        locks=_locks([m["what"] for m in only], [m["what"] for m in kept], rest),
        kept=tuple(dict.fromkeys(" ".join(m.group().split()) for m in [*only, *kept])),
        rest=" ".join(_GAIN.sub(" ", _LOSS.sub(" ", rest)).split()).strip(" ,.;"),
        covers=says_wish,
    )


def _wish(rest: str) -> Wish:
    loss = _LOSS.search(rest)
    wanted = _LOSS.sub(" ", rest)
    gain = _GAIN.search(wanted)
    direction, reason = _direction(wanted)
    return Wish(
        direction=direction,
        reason=reason,
        said=says_wish(wanted),
        gain=_share(gain["number"] or gain["by"] if gain else None, 0.15, 3.0),
        loss=_share(loss["number"] if loss else None, 0.05, 0.5),
    )


def says_wish(text: str) -> bool:
    """Say whether a text names something that a refinement can wish for, or how much of it."""
    return any(pattern.search(text) for pattern in (_LIFE, _DAMAGE, _SUSTAIN, _REPAIR, _RESISTANCE, _GAIN, _LOSS))


def _share(text: str | None, default: float, most: float) -> float:
    return default if not text else min(most, max(0.01, float(text) / 100))


def _direction(text: str) -> tuple[Direction, str]:
    life, damage, resistance = _LIFE.search(text), _DAMAGE.search(text), _RESISTANCE.search(text)
    if life and damage:
        return "balanced", f'you wrote "{life.group()}" and "{damage.group()}"'
    if life:
        return "survivability", f'you wrote "{life.group()}"'
    if damage:
        return "damage", f'you wrote "{damage.group()}"'
    if resistance:
        return "resistances", f'you wrote "{resistance.group()}"'
    if sustain := _SUSTAIN.search(text):
        return "sustain", f'you wrote "{sustain.group()}"'
    if repair := _REPAIR.search(text):
        return "repair", f'you wrote "{repair.group()}"'
    return "balanced", "you did not say what should become better, so damage and effective hit points both count"


def _locks(only: list[str], kept: list[str], rest: str) -> Locks:
    parts: list[Part] = []
    slots: list[str] = []
    for what in kept:
        if _THE_REST.search(what):
            only = [*only, rest]
            continue
        found_parts, found_slots = _named(what)
        if _EVERYTHING.search(what) and not found_parts and not found_slots and not only:
            found_parts = list(Part)
        parts += found_parts
        slots += found_slots
    if only:
        free_parts, free_slots = _free(" ".join(only))
        parts += [part for part in Part if part not in free_parts]
        slots += free_slots
    return Locks(parts=sorted(set(parts)), slots=sorted(set(slots)))


def _named(what: str) -> tuple[list[Part], list[str]]:
    parts = [part for pattern, found in _PARTS if _has(pattern, what) for part in found]
    slots = [slot for pattern, found in _SLOTS if _has(pattern, what) for slot in found]
    return parts, slots


def _free(what: str) -> tuple[list[Part], list[str]]:
    """Return the parts that may change, and the slots that stay although their part may change."""
    parts = [part for pattern, found in _JUST if _has(pattern, what) for part in found]
    slots = [slot for pattern, found in _SLOTS if _has(pattern, what) for slot in found]
    if slots and Part.GEAR not in parts:
        every = {slot for _, found in _SLOTS for slot in found}
        return [*parts, Part.GEAR], sorted(every - set(slots))
    return parts, []


def _has(pattern: str, text: str) -> bool:
    return re.search(rf"\b(?:{pattern})\b", text, re.I) is not None
