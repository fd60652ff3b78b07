"""Questions, what was found out about them, and what was decided."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.model.base import Model
from app.model.choices import Choice
from app.model.experiments import Spending
from app.model.names import Demand, Provenance, SubProblemName, SubProblemStatus


class Option(Model):
    """One possible answer; `score` orders options of one question; `rejected_because` is set on alternatives."""

    name: str
    choice: Choice
    score: float | None = None
    reason: str = ""
    rejected_because: str | None = None


class Decision(Model):
    """The chosen option and those that lost; `spending` is what it takes from which budget of the finished build."""

    name: str
    choice: Choice
    reason: str
    provenance: Provenance = Provenance.INFERRED
    alternatives: list[Option] = Field(default_factory=list)
    spending: list[Spending] = Field(default_factory=list)


class Discovery(Model):
    """A fact gathered before reasoning; `call_id` names the recorded tool call it came from; can go stale."""

    sub_problem: SubProblemName
    fact: str
    source: str
    data: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = None
    stale: bool = False


class Constraint(Model):
    """What a conflict demands of the next answer; `values` hold its figures (required, available, slot ...).

    `values["iteration"]` is the round that put it, `values["local"]` as in a suggestion.
    """

    conflict_id: str
    demand: Demand
    values: dict[str, Any] = Field(default_factory=dict)
    text: str = ""

    @property
    def iteration(self) -> int:
        """Return the round that put the constraint, 0 for one that none did."""
        found = self.values.get("iteration")
        return found if isinstance(found, int) else 0

    @property
    def local(self) -> bool:
        """Return whether only what the values name is to change."""
        return self.values.get("local") is True


class SubProblem(Model):
    """One of the seven questions: status, dependencies, decision, prior attempts and constraints from conflicts."""

    name: SubProblemName
    status: SubProblemStatus = SubProblemStatus.PENDING
    depends_on: list[SubProblemName] = Field(default_factory=list)
    decision: Decision | None = None
    prior_attempts: list[Decision] = Field(default_factory=list)
    constraints: list[Constraint] = Field(default_factory=list)
