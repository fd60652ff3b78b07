"""Rules about how strong the build must be: resistances, damage, effective hit points, single hits, recovery."""

from __future__ import annotations

from collections.abc import Iterable

from app.conflicts.case import Case, advice, conflict
from app.conflicts.items import filling, slots_with_room
from app.knowledge.gems import brings_cooldown, called_by, is_called, is_had_each_time, is_minion, waits
from app.knowledge.uniques import empties_a_flask, is_for_the_first, is_for_the_unhit, is_paid_for_elsewhere
from app.model.anchors import PLAUSIBLE, column_of
from app.model.base import changed
from app.model.blueprint import SkillGroup
from app.model.conflicts import BuildConflict, Details, Evidence
from app.model.damage import DamageKind
from app.model.demands import Floor, column_for
from app.model.facts import GemFact
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.stats import (
    CHAOS_RESISTANCE,
    COOLDOWN_S,
    EHP,
    ELEMENTAL_HITS,
    PHYSICAL_HIT,
    RECOVERY_METRICS,
    USES_PER_SECOND,
    elemental_hit,
    recovery,
)

ELEMENTS = ("Fire", "Cold", "Lightning")
PHYSICAL, ELEMENTAL, RECOVERY = "physical hit", "elemental hit", "recovery"
"""Subjects of conflicts about defence; resistances to the elements have no part in the first and the last."""

_NEEDS = SubProblemName.STAT_REQUIREMENTS
_SCALING = SubProblemName.DAMAGE_SCALING
_DELIVERY = SubProblemName.DAMAGE_DELIVERY
_SURVIVAL = SubProblemName.SURVIVABILITY


EXPLAINED = 0.01
"""What the sources' shares may miss of the whole."""


def _severity(value: float, floor: Floor) -> Severity | None:
    """Blocking below `least`, a warning below `good`, nothing from `good` on."""
    if value < floor.least:
        return Severity.BLOCKING
    return Severity.WARNING if value < floor.good else None


def resistances(case: Case) -> list[BuildConflict]:
    """Fire, cold and lightning resistance reach the floor of the level."""
    found, slots = [], slots_with_room(case)
    for element in ELEMENTS:
        value, floor = case.stats.get(f"{element}Resist"), case.demands.floors.resistance
        severity = _severity(value, floor)
        if severity is None:
            continue
        missing = floor.good - value
        values = Details(element=element.lower(), required=floor.good, missing=missing)
        suggestions = [
            advice("resistance_on_gear", _NEEDS, Demand.MORE_RESISTANCE, f"{missing:.0f}% more on gear", values),
            advice("resistance_on_tree", _SURVIVAL, Demand.MORE_RESISTANCE, "resistance passives", values),
        ]
        if slots:
            refill = changed(values, slots=slots, local=True)
            suggestions.insert(0, advice("refill_items", _NEEDS, Demand.MORE_RESISTANCE, filling(slots), refill))
        message = f"{element} resistance is {value:.0f}%, {floor.good:.0f}% is wanted at level {case.level}."
        kind = ConflictType.RESISTANCE_GAP
        evidence = Evidence(required=floor.good, available=value, unit="percent")
        found.append(conflict(kind, severity, element.lower(), message, suggestions, evidence))
    return found


def chaos_resistance(case: Case) -> list[BuildConflict]:
    """Chaos resistance below what three quarters of real players have is told: no build fails by it alone."""
    value, floor = case.stats.values.get(CHAOS_RESISTANCE), case.demands.floors.chaos_resistance
    if value is None or not (missing := floor.short_of(value)):
        return []
    least = floor.least
    values = Details(element="chaos", required=least, measured=value, missing=missing)
    more = advice("resistance_on_gear", _NEEDS, Demand.MORE_RESISTANCE, f"{missing:.0f}% more on gear", values)
    players, share = column_for(case.level, case.demands.gear), "half" if case.demands.hardcore else "three quarters"
    message = f"Chaos resistance is {value:.0f}%: {share} of real players ({players.column}) have {least:.0f}% or more."
    evidence = Evidence(required=least, available=value, unit="percent")
    return [conflict(ConflictType.RESISTANCE_GAP, Severity.WARNING, "chaos", message, [more], evidence)]


def damage(case: Case) -> list[BuildConflict]:
    """Damage per second reaches the floor of level and tier; a skill without a rate is said to have none."""
    dps, floor = case.stats.dps, case.demands.floors.dps
    if dps is None:
        return [_unknown_damage(case)] if case.inspection.disabled_reason is None else []
    severity = _severity(dps, floor)
    if severity is None:
        return []
    values = Details(required=floor.least if severity is Severity.BLOCKING else floor.good, measured=dps)
    suggestions = [
        advice("more_damage", _SCALING, Demand.MORE_DAMAGE, "weigh damage higher in passives and gear", values),
        advice("better_weapon", _DELIVERY, Demand.OTHER_WEAPON, "another weapon type", values),
        advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "another main skill", values),
    ]
    message = f"{case.main_skill} deals {dps:,.0f} damage per second; {_wanted(floor)} at level {case.level}."
    evidence = Evidence(required=floor.least, good=floor.good, available=dps, unit="damage per second")
    return [conflict(ConflictType.DAMAGE_GAP, severity, "dps", message, suggestions, evidence)]


UNEXPLAINED, UNMODELLED = "unexplained", "unmodelled"
"""Subjects of damage that nobody vouches for: such a build is not validated."""


def plausible_damage(case: Case) -> list[BuildConflict]:
    """Damage far above what real players of the tier have is explained by its sources, or said not to be explained."""
    dps, column = case.stats.dps or 0.0, column_of(case.demands.gear)
    most = PLAUSIBLE * column.dps.upper
    if dps <= most:
        return []
    found = case.stats.damage.sources
    explained = abs(sum(one.share for one in found) - 1.0) < EXPLAINED
    kinds = {one.kind: "" if one.kind is DamageKind.CULLING else f" {one.kind.replace('_', ' ')}" for one in found}
    told = "; ".join(f"{one.name}{kinds[one.kind]} {one.share:.0%}" for one in found if one.share >= 0.01)
    message = (
        f"{dps:,.0f} damage per second is more than {PLAUSIBLE:g} times the upper quartile of real players "
        f"({column.column}: a quarter of them have {column.dps.upper:,.0f} or more)"
    )
    message += f". It is {told}." if explained else ", and the engine does not say where it comes from."
    subject = "explained" if explained else UNEXPLAINED
    evidence = Evidence(required=most, available=dps, unit="damage per second")
    look = advice("other_states", _SCALING, Demand.MORE_DAMAGE, "look at what the damage is made of in the Calcs tab")
    return [conflict(ConflictType.DAMAGE_GAP, Severity.WARNING, subject, message, [look], evidence)]


NOT_ALWAYS = "not always"


def readiness(case: Case) -> list[BuildConflict]:
    """A main skill that is ready only when something has happened is told to be calculated as if it always were."""
    main, dps = case.main_gem, case.stats.dps
    if main is None or not dps or not waits(main):
        return []
    rate = f"{dps:,.0f} damage per second"
    told = f"the engine takes it as ready at every use: {rate} is what it deals then, not what it deals all the time"
    if case.stats.damage.not_counted:
        told = f"the {rate} told are dealt by what fights beside it"
    message = (
        f"{main.name} is not always ready: it waits for what it needs (Glory, combo, fuel, flask charges, a corpse, an "
        f"enemy that suffers already or nearly dies, something that breaks what it puts up) or has to cool down, "
        f"and {told}."
    )
    other = advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "a main skill that can be used without a pause")
    evidence = Evidence(available=dps, unit="damage per second")
    return [conflict(ConflictType.DAMAGE_GAP, Severity.WARNING, NOT_ALWAYS, message, [other], evidence)]


SLOW = "slow"
LONGEST_USE_S = 2.0
"""Seconds of one use of the main skill beyond which a player is told: our own judgement of how long one can stand."""


def pace(case: Case) -> list[BuildConflict]:
    """A main skill of which one use takes long is told to: damage comes in few blows, and one stands still for each.

    A cooldown of its own is no such time, because one chose the skill with it; one that a support brings is told.
    """
    main, rate = case.main_gem, case.stats.get(USES_PER_SECOND)
    if main is None or rate <= 0 or is_minion(main):
        return []
    taken = 1 / rate
    evidence = Evidence(required=LONGEST_USE_S, available=round(taken, 2), unit="seconds")
    if cooling := [fact.name for fact in _main_supports(case) if brings_cooldown(fact)]:
        message = (
            f"With {_list(cooling)} {main.name} can be used only once in {taken:.1f} seconds, so "
            f"{case.stats.dps or 0.0:,.0f} damage per second comes in few blows."
        )
        without = advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "supports that bring no cooldown")
        return [conflict(ConflictType.DAMAGE_GAP, Severity.WARNING, SLOW, message, [without], evidence)]
    if case.stats.get(COOLDOWN_S) > 0 or taken <= LONGEST_USE_S:
        return []
    message = (
        f"One use of {main.name} takes {taken:.1f} seconds, so {case.stats.dps or 0.0:,.0f} damage per second comes in "
        "few blows, and you stand still for each."
    )
    faster = advice("better_weapon", _DELIVERY, Demand.OTHER_WEAPON, "a faster weapon, or more speed on gear")
    return [conflict(ConflictType.DAMAGE_GAP, Severity.WARNING, SLOW, message, [faster], evidence)]


UNCALLED = "uncalled"


def called_minions(case: Case) -> list[BuildConflict]:
    """Minions that come with spells of a kind are told to be counted where no skill of the build is such a spell."""
    used = [case.gems[group.gems[0].gem_id] for group in case.blueprint.groups if _is_used(case, group)]
    alone = [fact for fact in used if not is_called(fact, used)]
    if not alone or not case.stats.dps:
        return []
    name, kind = alone[0].name, called_by(alone[0])
    message = (
        f"{name} come when {kind} spells are used, and the build has none; the engine counts them all the same, so "
        f"less than {case.stats.dps:,.0f} damage per second is dealt."
    )
    other = advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, f"a {kind} spell beside {name}, or other minions")
    evidence = Evidence(available=case.stats.dps, unit="damage per second", source=name)
    return [conflict(ConflictType.DAMAGE_GAP, Severity.WARNING, UNCALLED, message, [other], evidence)]


def _is_used(case: Case, group: SkillGroup) -> bool:
    return group.enabled and bool(group.gems) and group.gems[0].gem_id in case.gems


def _main_supports(case: Case) -> list[GemFact]:
    group = case.blueprint.main
    found = [case.gems[gem.gem_id] for gem in group.gems[1:] if gem.gem_id in case.gems] if group is not None else []
    return [fact for fact in found if fact.kind == "support"]


AT_TIMES = "at times"


def supports_and_items_at_times(case: Case) -> list[BuildConflict]:
    """What the main skill has from supports and items at times is told to be calculated as if it were always had."""
    worn = [item for item in case.blueprint.items.values() if item.text and empties_a_flask(item.text.splitlines())]
    names = [fact.name for fact in _main_supports(case) if not is_had_each_time(fact)]
    names += [item.title or item.base for item in worn]
    if not names or not case.stats.dps:
        return []
    message = (
        f"The engine calculates {', '.join(names)} as if it helped at every use; it waits for something, or uses up "
        "a flask or life faster than it comes back, so less than "
        f"{case.stats.dps:,.0f} damage per second is had for long."
    )
    other = advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "supports and items that help at every use")
    evidence = Evidence(available=case.stats.dps, unit="damage per second", source=names[0])
    return [conflict(ConflictType.DAMAGE_GAP, Severity.WARNING, AT_TIMES, message, [other], evidence)]


def passives_and_items_in_full(case: Case) -> list[BuildConflict]:
    """Passives and items whose gift the engine counts in full, though not everybody has it or something is paid."""
    held = [case.nodes[node.id] for node in case.blueprint.nodes if node.id in case.nodes]
    worn = {item.title or item.base: item.text.splitlines() for item in case.blueprint.items.values() if item.text}
    had = [*((node.name, node.mods) for node in held), *worn.items()]
    unhit = [name for name, lines in had if is_for_the_unhit(lines)]
    first = [name for name, lines in had if is_for_the_first(lines)]
    paid = [node.name for node in held if is_paid_for_elsewhere(node.mods)]
    said = [f"{_list(unhit)} as if nothing ever hit the character"] if unhit else []
    said += [f"{_list(first)} as if every hit were the first"] if first else []
    said += [f"{_list(paid)} without what it takes later or asks for in between"] if paid else []
    if not said:
        return []
    message = f"The engine counts {' and '.join(said)}: in a fight damage and effective hit points are less than told."
    less = advice("more_layers", _SURVIVAL, Demand.MORE_EFFECTIVE_LIFE, "passives and items that help whoever is hit")
    evidence = Evidence(available=case.stats.get(EHP), unit="hit points", source=(unhit + first + paid)[0])
    return [conflict(ConflictType.SURVIVABILITY_GAP, Severity.WARNING, AT_TIMES, message, [less], evidence)]


def _list(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _unknown_damage(case: Case) -> BuildConflict:
    """Return what is said when the engine gives no rate: not zero, but unknown, so no floor can be checked."""
    instead = f"{case.nearest}, which the engine models" if case.nearest else "a main skill that the engine models"
    other = advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, instead)
    why = "does not model this skill's rate" if not case.inspection.modelled else "gives no damage figure for it"
    message = f"The damage of {case.main_skill} is unknown: the engine {why}. It is not zero, it is not measured."
    message += f" {case.nearest} is the most similar skill with a calculated rate." if case.nearest else ""
    evidence = Evidence(modelled=case.inspection.modelled, available=None, nearest=case.nearest)
    severity = Severity.BLOCKING if case.inspection.modelled else Severity.WARNING
    return conflict(ConflictType.DAMAGE_GAP, severity, UNMODELLED, message, [other], evidence)


def effective_hit_points(case: Case) -> list[BuildConflict]:
    """Total effective hit points reach the floor of level, tier and goal."""
    value, floor = case.stats.get(EHP), case.demands.floors.ehp
    return _frail(case, "ehp", f"Total effective hit points are {value:,.0f}", value, floor)


def largest_hits(case: Case) -> list[BuildConflict]:
    """The largest physical hit that is survived, and that of the element that hurts most, reach their floors."""
    values, floors = case.stats.values, case.demands.floors
    found = []
    if PHYSICAL_HIT in values:
        value = values[PHYSICAL_HIT]
        told = f"The largest physical hit that is survived is {value:,.0f}"
        found += _frail(case, PHYSICAL, told, value, floors.physical_hit)
    if any(key in values for key in ELEMENTAL_HITS):
        value = elemental_hit(values)
        told = f"The largest hit of the element that hurts most is {value:,.0f}"
        found += _frail(case, ELEMENTAL, told, value, floors.elemental_hit)
    return found


def recovery_in_fights(case: Case) -> list[BuildConflict]:
    """Enough hit points come back per second: by regeneration, leech and the recharge of energy shield."""
    value, floor = recovery(case.stats.values), case.demands.floors.recovery
    if not any(key in case.stats.values for key in RECOVERY_METRICS):
        return []
    told = f"{value:,.0f} hit points come back per second without a flask"
    return _frail(case, RECOVERY, told, value, floor, "hit points per second")


def _frail(
    case: Case, subject: str, told: str, value: float, floor: Floor, unit: str = "hit points"
) -> list[BuildConflict]:
    """Return the conflict of a figure of defence below its floor, if it is."""
    severity = _severity(value, floor)
    if severity is None:
        return []
    values = Details(required=floor.least if severity is Severity.BLOCKING else floor.good, measured=value)
    suggestions = [
        advice(
            "more_layers", _SURVIVAL, Demand.MORE_EFFECTIVE_LIFE, "weigh defence higher in passives and gear", values
        ),
        advice("gear_defence", _NEEDS, Demand.MORE_EFFECTIVE_LIFE, "life and defences on gear before damage", values),
    ]
    if slots := slots_with_room(case):
        refill = changed(values, slots=slots, local=True)
        suggestions.insert(0, advice("refill_items", _NEEDS, Demand.MORE_EFFECTIVE_LIFE, filling(slots), refill))
    message = f"{told}; {_wanted(floor)} at level {case.level}."
    evidence = Evidence(required=floor.least, good=floor.good, available=value, unit=unit)
    return [conflict(ConflictType.SURVIVABILITY_GAP, severity, subject, message, suggestions, evidence)]


def _wanted(floor: Floor) -> str:
    return f"{floor.least:,.0f} is the least and {floor.good:,.0f} is good"
