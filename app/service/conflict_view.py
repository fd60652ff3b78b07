"""A conflict as a caller sees it."""

from __future__ import annotations

from typing import Any

from app.model.base import Model
from app.model.names import ConflictType, Role, Severity, SubProblemName


class SuggestionView(Model):
    """A way out of a conflict."""

    strategy: str
    sub_problem: SubProblemName
    demand: str
    text: str


class CauseView(Model):
    """A conflict that brings about another one, and why."""

    conflict_id: str
    because: str


class ConflictView(Model):
    """What is wrong, how it was measured, what brings it about and what could be done."""

    id: str
    type: ConflictType
    severity: Severity
    role: Role
    affected: list[SubProblemName]
    provisional: bool
    attempts: int
    message: str
    evidence: dict[str, Any]
    causes: list[CauseView]
    roots: list[str]
    tried: list[str]
    suggested_solutions: list[SuggestionView]
