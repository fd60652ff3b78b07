"""Rules about gems that do nothing, and about what the engine itself warns of."""

from __future__ import annotations

import re

from app.model.conflicts import BuildConflict
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.stats import GemFinding
from app.phases.rules.case import Case, advice, conflict

_DELIVERY = SubProblemName.DAMAGE_DELIVERY
_HAS_OWN_RULE = re.compile(
    r"requirement|too many (passive|ascendancy|secondary)|weapon set \d passives|unreserved|reserv", re.IGNORECASE
)
_CANNOT_PAY = re.compile(r"do not have enough .* to use", re.IGNORECASE)
_LIFE_FIXED = re.compile(r"cannot pay .*allocated", re.IGNORECASE)
_ETERNAL_LIFE = "Eternal Life"
_TOO_MANY_GEMS = re.compile(r"too many (gems|gem groups|.*lineage)", re.IGNORECASE)


def no_gem_without_effect(case: Case) -> list[BuildConflict]:
    """Every enabled gem does something."""
    return [_idle(finding) for finding in case.inspection.idle_gems]


def _idle(finding: GemFinding) -> BuildConflict:
    values = {"gem": finding.name, "group": finding.group, "position": finding.gem}
    text = f"leave {finding.name} out"
    ways = [
        advice("drop_gem", _DELIVERY, Demand.DROP_SUPPORT, text, **values, local=True),
        advice("other_gems", _DELIVERY, Demand.DROP_SUPPORT, f"{text}, and choose what depends on it anew", **values),
    ]
    message = f"{finding.name} does nothing: {finding.reason}."
    kind = ConflictType.INEFFECTIVE_SUPPORT
    subject = f"{finding.group} {finding.name}"
    return conflict(kind, Severity.BLOCKING, subject, message, ways, **values, reason=finding.reason)


def no_engine_warning(case: Case) -> list[BuildConflict]:
    """The engine warns of nothing; warnings about points, requirements and reservations have rules of their own."""
    lines = dict.fromkeys(line for line in case.inspection.warnings if not _HAS_OWN_RULE.search(line))
    return [_warning(line) for line in lines]


def _warning(line: str) -> BuildConflict:
    if _CANNOT_PAY.search(line):
        kind = ConflictType.SUSTAIN_GAP
        sustain = SubProblemName.RESOURCE_SUSTAIN
        suggestions = [
            advice("more_pool", sustain, Demand.MORE_RECOVERY, "a larger pool to pay from", warning=line),
            advice("cheaper_supports", sustain, Demand.CHEAPER_SKILL, "use supports that cost less", warning=line),
        ]
    elif _LIFE_FIXED.search(line):
        kind = ConflictType.SUSTAIN_GAP
        scaling = SubProblemName.DAMAGE_SCALING
        without = f"do without {_ETERNAL_LIFE}"
        values = {"warning": line, "excluded": _ETERNAL_LIFE}
        suggestions = [advice("without_fixed_life", scaling, Demand.DROP_SUPPORT, without, **values)]
    elif _TOO_MANY_GEMS.search(line):
        kind = ConflictType.GEAR_SLOT_CONTENTION
        suggestions = [advice("fewer_gems", _DELIVERY, Demand.DROP_SUPPORT, "use fewer gems", warning=line)]
    else:
        kind = ConflictType.ILLEGAL_ITEM
        needs = SubProblemName.STAT_REQUIREMENTS
        suggestions = [advice("replace_item", needs, Demand.REPLACE_ITEM, "replace what is warned of", warning=line)]
    return conflict(kind, Severity.BLOCKING, line[:60], f"The engine warns: {line}", suggestions, warning=line)
