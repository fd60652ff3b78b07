"""What is wrong with a build, and what could be done about it."""

from __future__ import annotations

from pydantic import Field

from app.model.base import Model, Sparse
from app.model.names import ConflictType, Demand, Role, Severity, SubProblemName

Measured = bool | int | float | str | list[str] | None
"""A figure, or the name of what was found in its place; None = unknown."""


class Details(Sparse):
    """What the next answer must know: figures of what is missing, and names of what is to change.

    `required`, `measured` and `missing` are in the unit of what the demand is about; `over` and `unspent` are points
    or Spirit. `attribute` and `colour` are str | dex | int, `element` is a damage type. `slots` are places
    with room, `slot` the one whose item must go, for its `line`. `group` and `position` count skill groups and gems
    from 1. `nodes` are ids of passives. `target` is the constraint whose figure the user asked for and is not reached,
    `style` the style asked for whose figure is not. `local` = only what is named here changes, the rest of the build
    stays.
    """

    resource: str | None = None
    attribute: str | None = None
    element: str | None = None
    colour: str | None = None
    required: int | float | None = None
    measured: int | float | None = None
    missing: int | float | None = None
    source: str | None = None
    slots: list[str] = Field(default_factory=list)
    slot: str | None = None
    line: str | None = None
    gem: str | None = None
    group: int | None = None
    position: int | None = None
    reason: str | None = None
    over: int | float | None = None
    unspent: int | None = None
    nodes: list[int] = Field(default_factory=list)
    warning: str | None = None
    excluded: str | None = None
    target: str | None = None
    style: str | None = None
    local: bool = False


class Evidence(Sparse):
    """What was measured of a conflict: `available` of what is `required`, in words of `unit`, and where.

    `good`: what would leave nothing to wish for. `source`: what requires it. `lasts_s`, `must_last_s`: seconds of
    continuous use. `nearest`: a similar skill that the engine models; `judged_by`: the language model whose opinion
    this is. The other fields are as in `Details`.
    """

    modelled: bool | None = None
    required: Measured = None
    good: int | float | None = None
    available: Measured = None
    unit: str | None = None
    source: str | None = None
    supports: int | None = None
    lasts_s: float | None = None
    must_last_s: float | None = None
    slot: str | None = None
    line: str | None = None
    gem: str | None = None
    group: int | None = None
    position: int | None = None
    reason: str | None = None
    skill: str | None = None
    warning: str | None = None
    level: int | None = None
    quality: int | None = None
    nodes: list[int] = Field(default_factory=list)
    excluded: str | None = None
    nearest: str | None = None
    judged_by: str | None = None


class Suggestion(Model):
    """A way out: which sub-problem to re-open with which demand; suggestions are ordered least disruptive first."""

    strategy: str
    sub_problem: SubProblemName
    demand: Demand
    values: Details = Field(default_factory=Details)
    text: str = ""

    @property
    def local(self) -> bool:
        """Return whether the way out changes only what it names."""
        return self.values.local


class Cause(Model):
    """Why a conflict is a consequence: the conflict that brings it about, in words, and what was measured of it."""

    conflict_id: str
    because: str
    evidence: Evidence = Field(default_factory=Evidence)


class BuildConflict(Model):
    """A conflict; `id` is type + affected + subject, stable over iterations.

    `evidence`: what was measured. `attempts`: how often resolution was tried. `causes`: what brings it about, empty
    for a root; `roots`: ids of the roots it goes back to, its own for a root.
    """

    id: str
    type: ConflictType
    severity: Severity
    role: Role = Role.ROOT
    subject: str = ""
    affected: list[SubProblemName]
    provisional: bool = False
    attempts: int = 0
    evidence: Evidence = Field(default_factory=Evidence)
    message: str = ""
    suggested_solutions: list[Suggestion] = Field(default_factory=list)
    tried: list[str] = Field(default_factory=list)
    causes: list[Cause] = Field(default_factory=list)
    roots: list[str] = Field(default_factory=list)

    @property
    def next_suggestion(self) -> Suggestion | None:
        """Return the first suggestion that was not tried yet, or None when all were."""
        return next((s for s in self.suggested_solutions if s.strategy not in self.tried), None)

    @property
    def tried_words(self) -> list[str]:
        """Return in words what was tried."""
        texts = {s.strategy: s.text for s in self.suggested_solutions}
        return [texts.get(strategy) or strategy.replace("_", " ") for strategy in self.tried]


def conflict_id(kind: ConflictType, affected: list[SubProblemName], subject: str) -> str:
    """Return the stable id of a conflict."""
    return ":".join([kind.value, "+".join(sorted(name.value for name in affected)), subject])
