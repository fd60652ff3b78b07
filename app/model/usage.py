"""What builds and their calls used, as the store counts it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from app.model.names import BuildStatus, Outcome, Phase


class UsedBuild(NamedTuple):
    """One build: when it was asked for, and how it ended. `seconds`: from request to end, None while it has none."""

    id: str
    owner: str
    created_at: datetime
    status: BuildStatus
    outcome: Outcome | None
    seconds: float | None


class UsedCalls(NamedTuple):
    """The attempts of one tool in one phase of a build; answers from a cache and rejected attempts are none.

    `model`: the language model, None of other tools. `ms`: their durations. `usd`: what is known of their cost,
    `unpriced`: requests that it lacks.
    """

    build_id: str
    phase: Phase
    tool: str
    model: str | None
    attempts: int
    ok: int
    ms: float
    tokens: int = 0
    usd: Decimal | None = None
    unpriced: int = 0


class UsedChats(NamedTuple):
    """The requests of a build to language models. `versions`: wire format and name of each model that was asked.

    `requests`: all attempts. `input`, `output`: tokens, None where an answer did not report them. `usd`: None where an
    answer has no price.
    """

    build_id: str
    versions: frozenset[str]
    requests: int
    input: int | None
    output: int | None
    usd: Decimal | None
