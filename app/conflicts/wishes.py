"""Rules about what the user asked for."""

from __future__ import annotations

from app.conflicts.case import Case, advice, conflict
from app.model.conflicts import BuildConflict, Details, Evidence, Measured, Suggestion
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.sub_problems import ScalingChoice

_KIND = ConflictType.INVARIANT_VIOLATED
_OTHER = {
    "class": advice("asked_class", SubProblemName.ASCENDANCY, Demand.OTHER_SKILL, "use the class asked for"),
    "ascendancy": advice("asked_class", SubProblemName.ASCENDANCY, Demand.OTHER_SKILL, "use the ascendancy asked for"),
    "skill": advice("asked_skill", SubProblemName.DAMAGE_DELIVERY, Demand.OTHER_SKILL, "use the skill asked for"),
    "level": advice("asked_level", SubProblemName.STAT_REQUIREMENTS, Demand.REPLACE_ITEM, "use the level asked for"),
}


def asked_for(case: Case) -> list[BuildConflict]:
    """Class, ascendancy, level and main skill are those of the constraints."""
    have: dict[str, Measured] = {
        "class": case.blueprint.class_name,
        "ascendancy": case.blueprint.ascendancy,
        "level": case.level,
        "skill": case.main_skill,
    }
    return [
        _violated(field, wanted, have[field], _OTHER[field])
        for field in sorted(have)
        if (wanted := case.invariants.get(field)) is not None and not _same(wanted, have[field])
    ]


def _same(wanted: object, have: object) -> bool:
    """Compare as a person would; a skill group's name may add to the asked name ("Spark" and "Spark (Volley)")."""
    left, right = str(wanted).casefold().strip(), str(have).casefold().strip()
    return left == right or (not isinstance(wanted, (int, float)) and bool(left) and left in right)


def _violated(field: str, wanted: Measured, have: Measured, way_out: Suggestion) -> BuildConflict:
    message = f"The {field} asked for is {wanted}, the build has {have}."
    return conflict(_KIND, Severity.BLOCKING, field, message, [way_out], Evidence(required=wanted, available=have))


def nothing_excluded(case: Case) -> list[BuildConflict]:
    """No gem or passive is used that was excluded."""
    scaling = case.choices.get(SubProblemName.DAMAGE_SCALING)
    if not isinstance(scaling, ScalingChoice):
        return []
    gems = {gem.gem_id: gem.name for group in case.blueprint.groups for gem in group.gems}
    used_gems = sorted(gems[gem_id] for gem_id in set(scaling.excluded_gems) & set(gems))
    used_nodes = sorted({node.id for node in case.blueprint.nodes} & set(scaling.excluded_nodes))
    found = [_excluded(f"gem {name}", name) for name in used_gems]
    return [*found, *(_excluded(f"passive {node}", str(node)) for node in used_nodes)]


def _excluded(subject: str, name: str) -> BuildConflict:
    scaling, text = SubProblemName.DAMAGE_SCALING, f"leave {name} out"
    out = advice("leave_out", scaling, Demand.DROP_SUPPORT, text, Details(excluded=name))
    message = f"{subject} was excluded but is used."
    return conflict(_KIND, Severity.BLOCKING, subject, message, [out], Evidence(excluded=name))
