"""A build as the store keeps it: request, constraints, state, the last valid XML, and who may write it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from app.model.base import Model, Sparse
from app.model.constraints import InvariantSet
from app.model.names import LOCAL_OWNER, BuildStatus, Effort, GearTier, Mode, Outcome, Phase
from app.model.state import BuildState
from app.model.stats import EngineVersion

EngineChoice = Literal["auto", "pob", "sketch"]
ReasonerChoice = Literal["auto", "rules", "llm"]


MIN_PROMPT = 3
"""Characters of the shortest prompt."""


class BuildRequest(Model):
    """A request as `POST /v1/builds` and `buildwright build` take it.

    `level` 1-100 and `gear` win over the prompt, the prompt wins over the defaults (90, mid).
    `overrides` sets invariants by field name; `seed` makes ties between equal options reproducible. `effort`: how much
    is tried.
    """

    prompt: Annotated[str, Field(min_length=MIN_PROMPT, max_length=4000)]
    level: Annotated[int, Field(ge=1, le=100, strict=True)] | None = None
    gear: GearTier | None = None
    effort: Effort = Effort.NORMAL
    mode: Mode = Mode.INITIAL
    parent_id: str | None = None
    engine: EngineChoice = "auto"
    reasoner: ReasonerChoice = "auto"
    overrides: dict[str, str | int | float | bool | list[str]] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=-(2**53), le=2**53, strict=True)] = 0


class ReasonerVersion(Model):
    """Who decided: adapter name and the language model, if any."""

    name: str
    model: str | None = None


class BuildFailure(Model):
    """Why a build failed, with the stable code of the error."""

    code: str
    message: str


UNTRIED: Final[Mapping[str, Any]] = {"attempts": 0, "trials": 0, "alone": False, "not_before": None}
"""How a build stands that nobody has tried in vain."""


class BuildRecord(Model):
    """One build. `epoch` rises with every claim and fences writers; `attempts` counts those of the step.

    A build that was interrupted again and again is set aside until `not_before`, and then tried while nothing else
    runs: `alone` while that lasts, `trials` counts how often. All four start anew with the next checkpoint.
    `owner`: who asked for it, and whose memory counts. `xml` is the canonical PoB XML of the last valid state, None
    until there is one.
    """

    id: str
    owner: str = LOCAL_OWNER
    request: BuildRequest
    status: BuildStatus = BuildStatus.QUEUED
    epoch: int = 0
    attempts: int = 0
    trials: int = 0
    alone: bool = False
    not_before: datetime | None = None
    cancel_requested: bool = False
    invariants: InvariantSet = Field(default_factory=InvariantSet)
    state: BuildState = Field(default_factory=BuildState)
    xml: bytes | None = None
    engine: EngineVersion | None = None
    reasoner: ReasonerVersion | None = None
    failure: BuildFailure | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def parent_id(self) -> str | None:
        """The build that this one started from."""
        return self.request.parent_id


class ProgressData(Sparse):
    """What is told of something that happened, by its type.

    status: `status`. phase: the one that begins, and `iteration`. step: `phase`, `label`, `done` of `total` steps.
    question: `field`, `text`, `options`, what is `assumed`. finished: `status`, `outcome`, and the `failure`, if any.
    """

    status: BuildStatus | None = None
    outcome: Outcome | None = None
    failure: BuildFailure | None = None
    phase: Phase | None = None
    iteration: int | None = None
    label: str | None = None
    done: int | None = None
    total: int | None = None
    field: str | None = None
    text: str | None = None
    options: list[str] = Field(default_factory=list)
    assumed: str | None = None


Happening = tuple[str, ProgressData]
"""Type and data of a progress event that is yet to be written."""


class ProgressEvent(Model):
    """Something that happened to a build, for people watching; `seq` counts 1..N per build without gaps.

    `type`: status | phase | step | question | finished.
    """

    build_id: str
    seq: int
    type: str
    data: ProgressData = Field(default_factory=ProgressData)
    at: datetime
