"""Rules about items."""

from __future__ import annotations

from collections.abc import Sequence

from app.conflicts.case import Case, advice, conflict
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS, JEWEL_SLOT, SWAP_SLOTS, GearItem
from app.model.conflicts import BuildConflict, Details, Evidence
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.stats import ItemFinding
from app.search.gear.bases import ARMOUR_SLOTS, FLASK_SLOTS, JEWELLERY_SLOTS
from app.search.gear.legality import is_bonded, is_named, side_limit, unobtainable

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
    roomy = [item.slot for item in worn.values() if not item.slot.startswith(_SMALL) and _has_room(case, item)]
    return sorted([*empty, *roomy])


def filling(slots: list[str]) -> str:
    """Return in words that the slots are filled."""
    return f"fill what is missing on {', '.join(slots)}"


def _has_room(case: Case, item: GearItem) -> bool:
    base = case.bases.get(item.base)
    if base is None or item.rarity == "UNIQUE" or item.text is not None:
        return False
    most = min(case.demands.floors.gear.max_affixes, 2 * side_limit(base, "RARE"))
    filled = sum(rune != "None" for rune in item.runes)
    return len(item.prefixes) + len(item.suffixes) < most or filled < item.sockets


_NEEDS = SubProblemName.STAT_REQUIREMENTS
_FULL_HANDS = frozenset({"Bow", "Crossbow", "Staff", "Talisman", "Fishing Rod"})
_SETS = (HAND_SLOTS, SWAP_SLOTS)


def no_unparsed_line(case: Case) -> list[BuildConflict]:
    """The engine understands every line of every item.

    Excepted is what a base says of itself (when a charm is used), and what a rune gives only to characters that can
    use bonded modifiers: counted as nothing, it promises nothing. What somebody owns is no fault: there the lines are
    told together, because the figures lack what they give.
    """
    unread = [f for f in case.inspection.unparsed if not is_bonded(f.line) and not _is_of_base(case, f)]
    if case.imported:
        return [_uncounted(unread)] if unread else []
    return [_faulty(finding, "unparsed", "the engine counts it as nothing") for finding in unread]


_SHOWN_LINES = 5


def _uncounted(findings: Sequence[ItemFinding]) -> BuildConflict:
    lines = [f'"{finding.line}" ({finding.slot})' for finding in findings[:_SHOWN_LINES]]
    more = f" and {len(findings) - _SHOWN_LINES} more" if len(findings) > _SHOWN_LINES else ""
    counted = "1 line of an item" if len(findings) == 1 else f"{len(findings)} lines of items"
    message = f"The engine does not count {counted}: {', '.join(lines)}{more}. The figures lack what that gives."
    text = "add what such a line gives under Custom Modifiers in Path of Building's Configuration tab, if it matters"
    way = advice("custom_modifiers", _NEEDS, Demand.REPLACE_ITEM, text)
    kind, measured = ConflictType.ILLEGAL_ITEM, Evidence(line=findings[0].line, slot=findings[0].slot)
    return conflict(kind, Severity.WARNING, "uncounted", message, [way], measured)


def _is_of_base(case: Case, finding: ItemFinding) -> bool:
    item = case.blueprint.items.get(finding.slot)
    base = case.bases.get(item.base) if item else None
    return base is not None and finding.line in base.implicits


def items_legal(case: Case) -> list[BuildConflict]:
    """Every item is craftable within its gear tier (the check itself is `app.search.gear.legality`)."""
    return [_faulty(finding, "illegal", "") for finding in case.findings]


def _faulty(finding: ItemFinding, fault: str, consequence: str) -> BuildConflict:
    values = Details(slot=finding.slot, line=finding.line, reason=finding.reason)
    measured = Evidence(slot=finding.slot, line=finding.line, reason=finding.reason)
    text = f"another item or affix in {finding.slot}"
    ways = [
        advice("replace_item", _NEEDS, Demand.REPLACE_ITEM, text, changed(values, local=True)),
        advice("craft_anew", _NEEDS, Demand.REPLACE_ITEM, f"{text}, and all other gear fitted to it", values),
    ]
    why = "; ".join(part for part in (finding.reason, consequence) if part)
    message = f'{finding.slot}, "{finding.line}": {why}.'
    subject = f"{fault} {finding.slot} {finding.line}"[:120]
    return conflict(ConflictType.ILLEGAL_ITEM, Severity.BLOCKING, subject, message, ways, measured)


def uniques_within_reach(case: Case) -> list[BuildConflict]:
    """A unique that was asked for is worn, whatever the gear tier has; that it is hard to come by has to be told."""
    limits, found = case.demands.floors.gear, []
    facts = {(fact.name, fact.base): fact for fact in case.uniques}
    for slot, item in sorted(case.blueprint.items.items()):
        fact = facts.get((item.title, item.base)) if is_named(item, limits) else None
        barred = unobtainable(fact, limits) if fact is not None else None
        if barred is None:
            continue
        message = f"{item.title} ({slot}) was asked for and is worn, but it {barred}."
        text = f"another item in {slot}, until there is a {item.title}"
        way = advice("other_item", _NEEDS, Demand.REPLACE_ITEM, text, Details(slot=slot))
        kind, measured = ConflictType.ILLEGAL_ITEM, Evidence(slot=slot, line=item.title, reason=barred)
        found.append(conflict(kind, Severity.WARNING, f"hard to find {item.title}", message, [way], measured))
    return found


def hands_free(case: Case) -> list[BuildConflict]:
    """A weapon that fills both hands has nothing beside it (a bow may have a quiver)."""
    found = []
    for main, off in _SETS:
        weapon, other = case.blueprint.items.get(main), case.blueprint.items.get(off)
        base = case.bases.get(weapon.base) if weapon else None
        second = case.bases.get(other.base) if other else None
        if base is None or second is None or base.type not in _FULL_HANDS:
            continue
        if base.type == "Bow" and second.type == "Quiver":
            continue
        found.append(_contention(off, f"{base.name} fills both hands, {second.name} cannot be held beside it."))
    return found


def charms_within_limit(case: Case) -> list[BuildConflict]:
    """Not more charms are worn than the belt has slots (checked when the engine tells the limit)."""
    limit = case.stats.values.get("CharmLimit")
    worn = sum(1 for slot, item in case.blueprint.items.items() if slot.startswith("Charm") and item.active)
    if limit is None or worn <= limit:
        return []
    return [_contention("Charm", f"{worn} charms are worn, {limit:.0f} are possible.")]


def _contention(slot: str, message: str) -> BuildConflict:
    ways = [
        advice(
            "empty_slot",
            _NEEDS,
            Demand.REPLACE_ITEM,
            f"choose anew what is in {slot}",
            Details(slot=slot, local=True),
        ),
        advice("craft_anew", _NEEDS, Demand.REPLACE_ITEM, "choose all gear anew", Details(slot=slot)),
    ]
    kind = ConflictType.GEAR_SLOT_CONTENTION
    return conflict(kind, Severity.BLOCKING, slot, message, ways, Evidence(slot=slot))
