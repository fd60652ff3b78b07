"""Targets: figures that the user wants the build to reach."""

from __future__ import annotations

from collections.abc import Sequence

from app.conflicts.case import Case, WishVerdict, advice, other_ascendancy
from app.conflicts.items import filling, slots_with_room
from app.model.base import changed
from app.model.conflicts import Details, Suggestion
from app.model.constraints import INVARIANTS, Figure, InvariantType, InvariantValue
from app.model.names import Demand, SubProblemName
from app.model.stats import DPS

_NEEDS = SubProblemName.STAT_REQUIREMENTS
_SCALING = SubProblemName.DAMAGE_SCALING
_DELIVERY = SubProblemName.DAMAGE_DELIVERY
_SURVIVAL = SubProblemName.SURVIVABILITY
_SUSTAIN = SubProblemName.RESOURCE_SUSTAIN

_DAMAGE = frozenset({"dps", "attack_rate", "cast_rate", "critical_chance", "critical_damage"})
_SLOTS = {"movement_speed": "Boots", "spirit": "Amulet"}
"""Which item gives most of what no question is about."""
_RESISTANCE = "_resistance"


def target_verdict(case: Case, name: str, value: InvariantValue) -> WishVerdict:
    """Return whether the build's figure meets the target; a figure that the engine does not give cannot tell."""
    row = INVARIANTS[name]
    assert row.figure is not None
    wanted = float(value) if isinstance(value, (int, float)) else 0.0
    known = {} if case.stats.dps is None else {DPS: case.stats.dps}
    wish, reached = wish_words(row, wanted), row.figure.of({**case.stats.values, **known})
    if reached is None:
        return WishVerdict(wish, wanted, None, None, f"it would need an engine that calculates {row.meaning}")
    if row.figure.holds(reached, wanted):
        return WishVerdict(wish, wanted, reached, True)
    off = "over" if row.figure.at_most else "short"
    text = f"{row.figure.words(reached)}, {row.figure.words(abs(wanted - reached))} {off}"
    if why := case.never.get((name, "")):
        return WishVerdict(wish, wanted, reached, False, f"{text}; no build can: {why}")
    return WishVerdict(wish, wanted, reached, False, text, tuple(_ways(case, row, row.figure, wanted, reached)))


def wish_words(row: InvariantType, wanted: float) -> str:
    """Return a target as a sentence names it: "at least 20,000 effective hit points"."""
    assert row.figure is not None
    bound = "at most" if row.figure.at_most else "at least"
    number = row.figure.number(wanted)
    if row.meaning.startswith("largest"):
        return f"{row.meaning} of {bound} {number}"
    return f"{bound} {number} {row.meaning}"


def _ways(case: Case, row: InvariantType, figure: Figure, wanted: float, reached: float) -> Sequence[Suggestion]:
    """Return what could bring the figure nearer, least disruptive first."""
    name, required, measured = row.name, figure.in_stats(wanted), figure.in_stats(reached)
    values = Details(required=required, measured=measured, missing=abs(required - measured), target=name)
    if name in _DAMAGE:
        ways = [
            advice("more_damage", _SCALING, Demand.MORE_DAMAGE, "weigh damage higher in passives and gear", values),
            advice("better_weapon", _DELIVERY, Demand.OTHER_WEAPON, "another weapon type", values),
            advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "another main skill", values),
            *other_ascendancy(case, Demand.MORE_DAMAGE, values),
        ]
        kept = [way for way in ways if way.demand is not Demand.OTHER_WEAPON or not case.asked("weapon")]
        return [way for way in kept if way.demand is not Demand.OTHER_SKILL or not case.asked("skill")]
    if name.endswith(_RESISTANCE) or name == "elemental_resistances":
        element = name.removesuffix(_RESISTANCE) if name.endswith(_RESISTANCE) else None
        text = f"{values.missing:.0f}% more on gear"
        more = advice("resistance_on_gear", _NEEDS, Demand.MORE_RESISTANCE, text, changed(values, element=element))
        return _with_refill(case, Demand.MORE_RESISTANCE, [more])
    if name in ("mana", "mana_cost"):
        asked = changed(values, resource="mana")
        cheaper = advice("cheaper_supports", _SUSTAIN, Demand.CHEAPER_SKILL, "use supports that cost less", asked)
        larger = advice("more_mana", _SUSTAIN, Demand.MORE_RECOVERY, "more mana on gear and passives", asked)
        return [cheaper] if name == "mana_cost" else [larger]
    if name in _SLOTS:
        item = changed(values, slot=_SLOTS[name], local=True)
        return [advice("other_item", _NEEDS, Demand.REPLACE_ITEM, f"another item in {_SLOTS[name]}", item)]
    heavier, tougher = "weigh defence higher in passives and gear", Demand.MORE_EFFECTIVE_LIFE
    ways = [
        advice("more_layers", _SURVIVAL, tougher, heavier, values),
        advice("gear_defence", _NEEDS, tougher, "defences on gear before damage", values),
        *other_ascendancy(case, tougher, values),
    ]
    return _with_refill(case, tougher, ways)


def _with_refill(case: Case, demand: Demand, ways: list[Suggestion]) -> list[Suggestion]:
    """Return the ways with the filling of free places before them, where there are any."""
    slots = slots_with_room(case)
    if not slots:
        return ways
    values = changed(ways[0].values, slots=slots, local=True)
    return [advice("refill_items", _NEEDS, demand, filling(slots), values), *ways]
