"""What a rule looks at and how it says what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.model.blueprint import Blueprint
from app.model.choices import Choice
from app.model.conflicts import BuildConflict, Suggestion, conflict_id
from app.model.facts import BaseFact
from app.model.floors import Floors
from app.model.invariants import InvariantSet
from app.model.names import ConflictType, Demand, Goal, Severity, SubProblemName
from app.model.stats import Inspection, ItemFinding, Stats


@dataclass(frozen=True)
class Case:
    """One calculated build with everything the rules compare it with.

    `findings` are faults of items that the engine does not look for; `bases` are the bases of worn items by name;
    `nearest` is a skill like the main one that has a calculated rate, looked for when the main one has none.
    `skill_weapons` are the kinds of weapon that the main skill can be used with, empty = any.
    """

    blueprint: Blueprint
    stats: Stats
    inspection: Inspection
    floors: Floors
    invariants: InvariantSet = field(default_factory=InvariantSet)
    choices: Mapping[SubProblemName, Choice] = field(default_factory=dict)
    findings: tuple[ItemFinding, ...] = ()
    bases: Mapping[str, BaseFact] = field(default_factory=dict)
    goal: Goal = Goal.ALL_ROUND
    nearest: str | None = None
    skill_weapons: frozenset[str] = frozenset()

    @property
    def level(self) -> int:
        """The character's level."""
        return self.blueprint.level

    @property
    def main_skill(self) -> str:
        """The main skill's name, or words for there being none."""
        index = self.blueprint.main_group
        groups = self.blueprint.groups
        gems = groups[index - 1].gems if 0 < index <= len(groups) else []
        return gems[0].name if gems else "no main skill"


Rule = Callable[[Case], list[BuildConflict]]


def advice(strategy: str, sub_problem: SubProblemName, demand: Demand, text: str, **values: Any) -> Suggestion:
    """Return one way out; `values` are the figures that the next answer needs, `local` = only what is named changes."""
    return Suggestion(strategy=strategy, sub_problem=sub_problem, demand=demand, values=values, text=text)


def conflict(
    kind: ConflictType,
    severity: Severity,
    subject: str,
    message: str,
    suggestions: list[Suggestion],
    **evidence: Any,
) -> BuildConflict:
    """Return a conflict; the affected questions are those that its suggestions re-open, in their order."""
    affected = list(dict.fromkeys(suggestion.sub_problem for suggestion in suggestions))
    return BuildConflict(
        id=conflict_id(kind, affected, subject),
        type=kind,
        severity=severity,
        subject=subject,
        affected=affected,
        evidence=evidence,
        message=message,
        suggested_solutions=suggestions,
    )
