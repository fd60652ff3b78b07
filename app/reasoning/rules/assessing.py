"""What no figure shows: whether the decisions are what the user asked for."""

from __future__ import annotations

from app.model.choices import AscendancyChoice, DeliveryChoice, SurvivabilityChoice
from app.model.conflicts import BuildConflict, Suggestion, conflict_id
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.reasoning.rules.brief import Brief
from app.reasoning.rules.gems import is_attack
from app.reasoning.rules.judging import dealt, has_style
from app.reasoning.rules.weapons import matches
from app.reasoning.rules.words import listing

Q = SubProblemName


def assess(brief: Brief) -> list[BuildConflict]:
    """Return where the decisions contradict what the user said, blocking where another answer could agree."""
    checks = (
        _wrong_style(brief),
        _wrong_class(brief),
        _wrong_damage(brief),
        _wrong_weapon(brief),
        _wrong_defence(brief),
        _excluded_main(brief),
    )
    return [conflict for conflict in checks if conflict is not None]


def _wrong_class(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.ASCENDANCY, AscendancyChoice)
    if choice is None or not brief.explicit("class") or choice.class_name == brief.class_fact.name:
        return None
    text = f"The build is a {choice.class_name}, but a {brief.class_fact.name} was asked for."
    return _conflict(ConflictType.INVARIANT_VIOLATED, Q.ASCENDANCY, "class_choice", text, Demand.OTHER_SKILL)


def _wrong_damage(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(choice.skill_id) if choice else None
    if gem is None or not brief.explicit("damage_type") or set(dealt(gem)) & set(brief.damage_types):
        return None
    wanted = " or ".join(brief.listed("damage_type"))
    text = f"{gem.name} does not deal {wanted} damage by itself, which was asked for."
    # an attack can still gain the damage asked for, and a skill asked for by name is not exchanged
    severity = Severity.WARNING if is_attack(gem) or brief.explicit("skill") else Severity.BLOCKING
    return _conflict(ConflictType.GOAL_MISMATCH, Q.DAMAGE_DELIVERY, "damage_type", text, Demand.OTHER_SKILL, severity)


def _wrong_style(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(choice.skill_id) if choice else None
    missed = [style for style in brief.listed("style") if gem is not None and not has_style(gem, style)]
    if gem is None or not missed or not brief.explicit("style"):
        return None
    text = f"{gem.name} is not played as asked: {listing(missed)}."
    return _conflict(ConflictType.GOAL_MISMATCH, Q.DAMAGE_DELIVERY, "style", text, Demand.OTHER_SKILL, Severity.WARNING)


def _wrong_weapon(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    asked = brief.listed("weapon")
    if choice is None or not asked or not brief.explicit("weapon"):
        return None
    held = [*choice.weapon_types, *([choice.off_hand] if choice.off_hand else [])]
    if any(matches(asked, weapon) for weapon in held):
        return None
    text = f"The build holds {' and '.join(held).lower() or 'nothing'}, but {' or '.join(asked).lower()} was asked for."
    severity = Severity.WARNING if brief.explicit("skill") else Severity.BLOCKING
    return _conflict(ConflictType.GOAL_MISMATCH, Q.DAMAGE_DELIVERY, "weapon", text, Demand.OTHER_WEAPON, severity)


def _wrong_defence(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.SURVIVABILITY, SurvivabilityChoice)
    asked = set(brief.listed("defence"))
    if choice is None or not asked or not brief.explicit("defence"):
        return None
    pools = asked & {"life", "energy_shield", "hybrid"}
    layers = asked & {"armour", "evasion"}
    if (not pools or choice.pool in pools) and layers <= set(choice.mitigation):
        return None
    wanted = " and ".join(sorted(asked)).replace("_", " ")
    text = f"The build relies on {choice.pool.replace('_', ' ')}, but {wanted} was asked for."
    return _conflict(ConflictType.GOAL_MISMATCH, Q.SURVIVABILITY, "defence", text, Demand.MORE_EFFECTIVE_LIFE)


def _excluded_main(brief: Brief) -> BuildConflict | None:
    choice = brief.decided(Q.DAMAGE_DELIVERY, DeliveryChoice)
    gem = brief.catalogue.by_id.get(choice.skill_id) if choice else None
    if gem is None or not brief.exclusions.gem(gem):
        return None
    text = f"{gem.name} is among what was ruled out ({', '.join(brief.listed('exclude'))})."
    severity = Severity.WARNING if brief.explicit("skill") else Severity.BLOCKING
    return _conflict(ConflictType.INVARIANT_VIOLATED, Q.DAMAGE_DELIVERY, "exclude", text, Demand.OTHER_SKILL, severity)


def _conflict(
    kind: ConflictType,
    where: SubProblemName,
    subject: str,
    text: str,
    demand: Demand,
    severity: Severity = Severity.BLOCKING,
) -> BuildConflict:
    return BuildConflict(
        id=conflict_id(kind, [where], subject),
        type=kind,
        severity=severity,
        subject=subject,
        affected=[where],
        message=text,
        suggested_solutions=[Suggestion(strategy=f"as_asked_{subject}", sub_problem=where, demand=demand, text=text)],
    )
