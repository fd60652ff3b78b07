"""What is wrong with a build, and what could be done about it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.model.base import Model
from app.model.names import ConflictType, Demand, Role, Severity, SubProblemName


class Suggestion(Model):
    """A way out: which sub-problem to re-open with which demand; suggestions are ordered least disruptive first.

    `values["local"]` = only what the values name is changed, the rest of the build stays as it is.
    """

    strategy: str
    sub_problem: SubProblemName
    demand: Demand
    values: dict[str, Any] = Field(default_factory=dict)
    text: str = ""

    @property
    def local(self) -> bool:
        """Return whether the way out changes only what it names."""
        return self.values.get("local") is True


class Cause(Model):
    """Why a conflict is a consequence: the conflict that brings it about, in words, and what was measured of it."""

    conflict_id: str
    because: str
    evidence: dict[str, Any] = Field(default_factory=dict)


class BuildConflict(Model):
    """A conflict; `id` is type + affected + subject, stable over iterations.

    `evidence`: what was measured (required, available, unit ...). `attempts`: how often resolution was tried.
    `causes`: what brings it about, empty for a root; `roots`: ids of the roots it goes back to, its own for a root.
    """

    id: str
    type: ConflictType
    severity: Severity
    role: Role = Role.ROOT
    subject: str = ""
    affected: list[SubProblemName]
    provisional: bool = False
    attempts: int = 0
    evidence: dict[str, Any] = Field(default_factory=dict)
    message: str = ""
    suggested_solutions: list[Suggestion] = Field(default_factory=list)
    tried: list[str] = Field(default_factory=list)
    causes: list[Cause] = Field(default_factory=list)
    roots: list[str] = Field(default_factory=list)

    @property
    def next_suggestion(self) -> Suggestion | None:
        """Return the first suggestion that was not tried yet, or None when all were."""
        return next((s for s in self.suggested_solutions if s.strategy not in self.tried), None)


def conflict_id(kind: ConflictType, affected: list[SubProblemName], subject: str) -> str:
    """Return the stable id of a conflict."""
    return ":".join([kind.value, "+".join(sorted(name.value for name in affected)), subject])
