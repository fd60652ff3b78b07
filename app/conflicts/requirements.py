"""Rules about what gems, items and the main skill require."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.conflicts.case import Case, advice, conflict, granted_skills
from app.conflicts.items import slots_with_room
from app.knowledge.gems import can_be_cut, comes_as_gem, level_required
from app.knowledge.weapons import CASTER, MARTIAL, word_of
from app.knowledge.words import phrase
from app.model.base import changed
from app.model.blueprint import MAIN_HAND
from app.model.conflicts import BuildConflict, Details, Evidence, Suggestion
from app.model.demands import ATTRIBUTE_PER_SUPPORT
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.stats import ATTRIBUTE_METRICS, CANNOT_PAY, GemFinding, Requirement
from app.model.sub_problems import DeliveryChoice

_DELIVERY = SubProblemName.DAMAGE_DELIVERY
_HAS_OWN_RULE = re.compile(
    r"requirement|too many (passive|ascendancy|secondary)|weapon set \d passives|unreserved|reserv", re.IGNORECASE
)
_LIFE_FIXED = re.compile(r"cannot pay .*allocated", re.IGNORECASE)
_ETERNAL_LIFE = "Eternal Life"
_TOO_MANY_GEMS = re.compile(r"too many (gems|gem groups|.*lineage)", re.IGNORECASE)


def no_gem_without_effect(case: Case) -> list[BuildConflict]:
    """Every enabled gem does something; a gem of somebody's file that the engine does not know may well do so."""
    return [
        _unknown_gem(finding) if case.imported and finding.is_unknown else _idle(finding)
        for finding in case.inspection.idle_gems
    ]


def _unknown_gem(finding: GemFinding) -> BuildConflict:
    message = f"The engine knows no gem called {finding.name}; the figures lack what it does."
    text = f"choose in Path of Building's Skills tab what {finding.name} is called now, or leave it out"
    way = advice("rename_gem", _DELIVERY, Demand.DROP_SUPPORT, text, Details(gem=finding.name))
    measured = Evidence(gem=finding.name, group=finding.group, position=finding.gem, reason=finding.reason)
    subject = f"unknown {finding.group} {finding.name}"[:120]
    return conflict(ConflictType.INEFFECTIVE_SUPPORT, Severity.WARNING, subject, message, [way], measured)


def _idle(finding: GemFinding) -> BuildConflict:
    values = Details(gem=finding.name, group=finding.group, position=finding.gem)
    measured = Evidence(gem=finding.name, group=finding.group, position=finding.gem, reason=finding.reason)
    text = f"leave {finding.name} out"
    ways = [
        advice("drop_gem", _DELIVERY, Demand.DROP_SUPPORT, text, changed(values, local=True)),
        advice("other_gems", _DELIVERY, Demand.DROP_SUPPORT, f"{text}, and choose what depends on it anew", values),
    ]
    message = f"{finding.name} does nothing: {finding.reason}."
    kind = ConflictType.INEFFECTIVE_SUPPORT
    subject = f"{finding.group} {finding.name}"
    return conflict(kind, Severity.BLOCKING, subject, message, ways, measured)


def no_engine_warning(case: Case) -> list[BuildConflict]:
    """The engine warns of nothing; warnings about points, requirements and reservations have rules of their own."""
    lines = dict.fromkeys(line for line in case.inspection.warnings if not _HAS_OWN_RULE.search(line))
    return [_warning(line, case.imported) for line in lines]


def _warning(line: str, imported: bool) -> BuildConflict:
    severity = Severity.BLOCKING
    values = Details(warning=line)
    if CANNOT_PAY.search(line):
        kind = ConflictType.SUSTAIN_GAP
        sustain = SubProblemName.RESOURCE_SUSTAIN
        suggestions = [
            advice("more_pool", sustain, Demand.MORE_RECOVERY, "a larger pool to pay from", values),
            advice("cheaper_supports", sustain, Demand.CHEAPER_SKILL, "use supports that cost less", values),
        ]
    elif _LIFE_FIXED.search(line):
        kind = ConflictType.SUSTAIN_GAP
        scaling = SubProblemName.DAMAGE_SCALING
        without = f"do without {_ETERNAL_LIFE}"
        values = changed(values, excluded=_ETERNAL_LIFE)
        suggestions = [advice("without_fixed_life", scaling, Demand.DROP_SUPPORT, without, values)]
    elif _TOO_MANY_GEMS.search(line):
        kind = ConflictType.GEAR_SLOT_CONTENTION
        text = "switch off a skill group that is not played, or that an item or passive grants anyway"
        suggestions = [advice("fewer_gems", _DELIVERY, Demand.DROP_SUPPORT, text, values)]
        # The engine takes skills that weapons and passives grant for gems: a character has what it has.
        severity = Severity.WARNING if imported else severity
    else:
        kind = ConflictType.ILLEGAL_ITEM
        needs = SubProblemName.STAT_REQUIREMENTS
        suggestions = [advice("replace_item", needs, Demand.REPLACE_ITEM, "replace what is warned of", values)]
    message = f"The engine warns: {line}"
    return conflict(kind, severity, line[:60], message, suggestions, Evidence(warning=line))


SUPPORT_SOURCE = "Support Gems"
_OUTPUT = {attribute.value: metric for attribute, metric in ATTRIBUTE_METRICS.items()}
_WORD = {"str": "Strength", "dex": "Dexterity", "int": "Intelligence", "level": "level"}
_NEEDS = SubProblemName.STAT_REQUIREMENTS


def requirements_met(case: Case) -> list[BuildConflict]:
    """Level and attribute requirements of every item and gem are met (one conflict per attribute, the worst)."""
    worst: dict[str, Requirement] = {}
    for need in case.inspection.requirements:
        if need.required <= need.available or need.source == SUPPORT_SOURCE:
            continue
        if need.attribute not in worst or need.required > worst[need.attribute].required:
            worst[need.attribute] = need
    return [_requirement(case, worst[attribute]) for attribute in sorted(worst)]


def _requirement(case: Case, need: Requirement) -> BuildConflict:
    word = _WORD.get(need.attribute, need.attribute)
    source = need.source or "an item or gem"
    missing = need.required - need.available
    values = Details(attribute=need.attribute, required=need.required, missing=missing, source=need.source)
    other = advice("easier_item", _NEEDS, Demand.REPLACE_ITEM, f"use something that needs less {word}", values)
    suggestions = [other]
    if need.attribute in _OUTPUT:
        text = f"{missing:.0f} more {word}"
        refill = changed(values, slots=slots_with_room(case), local=True)
        more = advice("more_attribute", _NEEDS, Demand.MORE_ATTRIBUTES, text, refill)
        suggestions = [more, other]
    message = f"{source} needs {need.required:.0f} {word}, the build has {need.available:.0f}."
    return conflict(
        ConflictType.STAT_REQUIREMENT,
        Severity.BLOCKING,
        need.attribute,
        message,
        suggestions,
        Evidence(required=need.required, available=need.available, unit=word, source=need.source),
    )


def supports_affordable(case: Case) -> list[BuildConflict]:
    """Per colour, 5 times the enabled supports of the whole build fit into the attribute."""
    found = []
    for colour in sorted(_OUTPUT):
        count = case.inspection.support_counts.get(colour, 0)
        required, available = ATTRIBUTE_PER_SUPPORT * count, case.stats.get(_OUTPUT[colour])
        if required > available:
            found.append(_squeeze(case, colour, count, required, available))
    return found


def _squeeze(case: Case, colour: str, count: int, required: float, available: float) -> BuildConflict:
    word = _WORD[colour]
    missing = required - available
    values = Details(attribute=colour, required=required, missing=missing, slots=slots_with_room(case), local=True)
    fewer = Details(colour=colour)
    suggestions = [
        advice("more_attribute", _NEEDS, Demand.MORE_ATTRIBUTES, f"{missing:.0f} more {word}", values),
        advice("fewer_supports", _DELIVERY, Demand.DROP_SUPPORT, f"drop a support of {word}", fewer),
    ]
    message = f"{count} supports of {word} need {required:.0f} {word}, the build has {available:.0f}."
    return conflict(
        ConflictType.ATTRIBUTE_SQUEEZE,
        Severity.BLOCKING,
        colour,
        message,
        suggestions,
        Evidence(required=required, available=available, unit=word, supports=count),
    )


def main_skill_usable(case: Case) -> list[BuildConflict]:
    """There is a main skill and nothing (such as the weapon type) keeps it from being used."""
    reason = case.inspection.disabled_reason
    if reason is None and (case.blueprint.main_group > 0 or case.blueprint.main_granted is not None):
        return []
    return [unusable(case.main_skill, reason or "no skill is chosen as the main skill", planned_weapon(case))]


def unusable(skill: str, reason: str, planned: Sequence[str] = ()) -> BuildConflict:
    """Return the conflict of a main skill that cannot work at all; `planned`: the weapons decided on but not held."""
    why = Details(reason=reason)
    suggestions = [
        *_rearm(planned, reason),
        advice("fitting_weapon", _DELIVERY, Demand.OTHER_WEAPON, "use a weapon that fits the skill", why),
        advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "use another main skill", why),
    ]
    message = f"{skill} cannot be used: {reason}."
    kind = ConflictType.CORE_ASSUMPTION_INVALIDATED
    return conflict(kind, Severity.BLOCKING, "main_skill", message, suggestions, Evidence(reason=reason, skill=skill))


def _rearm(planned: Sequence[str], reason: str) -> list[Suggestion]:
    if not planned:
        return []
    text, values = f"hold {' or '.join(planned)} as decided", Details(slot=MAIN_HAND, reason=reason, local=True)
    return [advice("planned_weapon", _DELIVERY, Demand.REPLACE_ITEM, text, values)]


def holds_what_was_decided(case: Case) -> list[BuildConflict]:
    """The main hand holds a weapon of the kind that was decided on, where the main skill can be used with one.

    Of somebody's own character nothing was decided but what it holds.
    """
    planned = planned_weapon(case)
    if not planned or case.inspection.disabled_reason is not None or case.imported:
        return []
    item = case.blueprint.items.get(MAIN_HAND)
    held, severity = (item.base, Severity.BLOCKING) if item is not None else ("Nothing", Severity.WARNING)
    message = f"{held} is held, but {' or '.join(planned)} was decided on, and everything else was chosen for that."
    ways = [*_rearm(planned, message), advice("fitting_weapon", _DELIVERY, Demand.OTHER_WEAPON, "decide on another")]
    kind = ConflictType.CORE_ASSUMPTION_INVALIDATED
    return [conflict(kind, severity, "weapon", message, ways, Evidence(required=planned, available=held))]


def planned_weapon(case: Case) -> list[str]:
    """Return the kinds of weapon that were decided on, when none of them is held; else nothing.

    A decision that the main skill cannot be used with binds nobody.
    """
    choice = case.choices.get(_DELIVERY)
    wanted = list(choice.weapon_types) if isinstance(choice, DeliveryChoice) else []
    known = [word for word in wanted if word in (*MARTIAL, *CASTER)]
    fitting = [word for word in known if not case.skill_weapons or word in case.skill_weapons]
    item = case.blueprint.items.get(MAIN_HAND)
    base = case.bases.get(item.base) if item is not None else None
    held = {word_of(base), base.type} if base is not None else set()
    return [] if held & set(fitting) else fitting


def gems_within_level(case: Case) -> list[BuildConflict]:
    """No gem is above level 20 or quality 20, and none comes later than the character's level.

    Of somebody's own character neither is asked: corruption and items raise gems above that, and what it has, it has.
    """
    if case.imported:
        return []
    gems = [gem for group in case.blueprint.groups for gem in group.gems]
    above = [_gem_limit(gem.name, gem.level, gem.quality) for gem in gems if gem.level > 20 or gem.quality > 20]
    known = {gem.gem_id: fact for gem in gems if (fact := case.gems.get(gem.gem_id)) is not None}
    late = [fact for _, fact in sorted(known.items()) if level_required(fact) > case.level]
    return [*above, *(_too_early(fact.name, level_required(fact), case.level) for fact in late)]


def skills_to_be_had(case: Case) -> list[BuildConflict]:
    """Every skill is cut from a gem, bound as a monster, or granted by what is worn or allocated.

    A Monk threw the Concoctions that only passives of the Pathfinder grant. Somebody's own file has what it has.
    """
    known = any(can_be_cut(fact) for fact in case.gems.values())  # where nothing says how gems are had, none is missed
    groups = [] if case.imported or not known else [one for one in case.blueprint.groups if one.enabled and one.gems]
    facts = [fact for one in groups if (fact := case.gems.get(one.gems[0].gem_id)) is not None]
    had = granted_skills(case)
    lacking = [f for f in facts if not (f.kind != "active" or comes_as_gem(f) or phrase(f.name) in had)]
    return [_not_had(fact.name, case.main_skill == fact.name) for fact in lacking]


def _not_had(name: str, is_main: bool) -> BuildConflict:
    values = Details(gem=name, excluded=name)
    ways = [advice("leave_out", _DELIVERY, Demand.DROP_SUPPORT, f"leave {name} out", values)]
    if is_main:
        ways = [advice("other_skill", _DELIVERY, Demand.OTHER_SKILL, "use a main skill that can be cut", values)]
    message = f"{name} is no gem that can be cut: what grants it, a passive or an item, is not in the file."
    return conflict(ConflictType.ILLEGAL_ITEM, Severity.BLOCKING, f"skill {name}", message, ways, Evidence(skill=name))


def _too_early(name: str, needed: int, level: int) -> BuildConflict:
    out = advice("leave_out", _DELIVERY, Demand.DROP_SUPPORT, f"leave {name} out", Details(gem=name, excluded=name))
    message = f"{name} cannot be had before level {needed}, the character is {level}."
    kind, measured = ConflictType.STAT_REQUIREMENT, Evidence(required=needed, available=level, unit="level")
    return conflict(kind, Severity.BLOCKING, f"early {name}", message, [out], measured)


def _gem_limit(name: str, level: int, quality: int) -> BuildConflict:
    text = f"use {name} at level and quality 20 or less"
    lower = advice("lower_gem", _NEEDS, Demand.REPLACE_ITEM, text, Details(gem=name))
    message = f"{name} at level {level} and quality {quality} is beyond level 20 and quality 20."
    kind = ConflictType.STAT_REQUIREMENT
    return conflict(kind, Severity.BLOCKING, f"gem {name}", message, [lower], Evidence(level=level, quality=quality))
