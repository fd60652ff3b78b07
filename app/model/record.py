"""A build as the store keeps it: request, constraints, state, the last valid XML, and who may write it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from app.model.base import Model
from app.model.invariants import InvariantSet
from app.model.names import BuildStatus
from app.model.request import BuildRequest
from app.model.state import BuildState
from app.model.stats import EngineVersion


class ReasonerVersion(Model):
    """Who decided: adapter name and the language model, if any."""

    name: str
    model: str | None = None


class BuildFailure(Model):
    """Why a build failed, with the stable code of the error."""

    code: str
    message: str


class BuildRecord(Model):
    """One build. `epoch` rises with every claim and fences writers; `attempts` counts claims without progress.

    `xml` is the canonical PoB XML of the last valid state, None until there is one.
    """

    id: str
    request: BuildRequest
    status: BuildStatus = BuildStatus.QUEUED
    epoch: int = 0
    attempts: int = 0
    cancel_requested: bool = False
    invariants: InvariantSet = Field(default_factory=InvariantSet)
    state: BuildState = Field(default_factory=BuildState)
    xml: bytes | None = None
    engine: EngineVersion | None = None
    reasoner: ReasonerVersion | None = None
    failure: BuildFailure | None = None
    created_at: datetime
    updated_at: datetime


class ProgressEvent(Model):
    """Something that happened to a build, for people watching; `seq` counts 1..N per build without gaps.

    `type`: status | phase | step | question | finished. `data` is small JSON.
    """

    build_id: str
    seq: int
    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    at: datetime
