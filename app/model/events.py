"""Tool events: one record per attempt of a call."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import Field

from app.model.base import Model
from app.model.names import Phase, SubProblemName

EVENT_SCHEMA_VERSION = "1.1"
"""1.1: `original_ms` and `results`."""


class ToolKind(StrEnum):
    """Who is called."""

    LLM = "llm"
    POB = "pob"
    OTHER = "other"


CHAT = "llm.chat"
"""The tool name of a request to a language model."""

ANSWER_REJECTED = "answer_rejected"
"""Error type of a model's answer that arrived and could not be used: paid for, and no success."""


class CallOutcome(StrEnum):
    """How an attempt ended; `incomplete` = it never did, because the process died."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    REJECTED = "rejected"
    INCOMPLETE = "incomplete"


class CacheUse(StrEnum):
    """Whether the answer came from a cache."""

    HIT = "hit"
    MISS = "miss"
    COALESCED = "coalesced"
    BYPASS = "bypass"
    UNCACHEABLE = "uncacheable"


class ToolEvent(Model):
    """One attempt of one call, written before the call starts and completed once when it ends.

    `seq` counts 1..N without gaps per build in start order. `duration_ms` is monotonic and null until the end.
    `args` are redacted; `args_sha256` is of the unredacted canonical JSON. Large results are kept as hash, size and
    a preview of at most 2 kB. `turn` 0 = unknown. `queue_ms`: how much of it was waiting, for a free engine session or
    for the session's other callers, and what was waited before for the session that it is the first call of; so it can
    exceed the duration. `original_ms`: what making an answer took that came from the cache. `results`: how many results
    the answer holds, for example figures of so many candidates. Both are null where that is not known.

    `epoch` is no part of the record: it names the claim on the build under which the event is written, and a store
    refuses it when that claim is lost. None = written under no claim, for a build that nobody drives.
    """

    schema_version: str = EVENT_SCHEMA_VERSION
    build_id: str
    seq: int
    phase: Phase
    sub_problem: SubProblemName | None = None
    turn: int = 0
    kind: ToolKind
    tool: str
    tool_version: str = ""
    call_id: str
    parent_call_id: str | None = None
    provider_call_id: str | None = None
    attempt: int = 1
    started_at: datetime
    duration_ms: float | None = None
    queue_ms: float | None = None
    outcome: CallOutcome = CallOutcome.INCOMPLETE
    error_type: str | None = None
    error_message: str | None = None
    args: dict[str, Any] | None = None
    args_sha256: str = ""
    result_sha256: str | None = None
    result_preview: str | None = None
    bytes_in: int = 0
    bytes_out: int | None = None
    cache: CacheUse = CacheUse.UNCACHEABLE
    usage: dict[str, int] | None = None
    cost_usd: str | None = None
    cost_source: str = "none"
    price_version: str | None = None
    original_ms: float | None = None
    results: int | None = None
    epoch: int | None = Field(default=None, exclude=True, repr=False)


class Timing(NamedTuple):
    """The part of a tool event that metrics are computed from; the fields mean the same."""

    seq: int
    phase: Phase
    kind: ToolKind
    tool: str
    call_id: str
    parent_call_id: str | None
    attempt: int
    started_at: datetime
    duration_ms: float | None
    queue_ms: float | None
    outcome: CallOutcome
    args_sha256: str
    cache: CacheUse
    usage: dict[str, int] | None
    cost_usd: str | None
    cost_source: str
    original_ms: float | None
    results: int | None


Attempt = ToolEvent | Timing
"""What metrics are computed from: whole events, or just the part that they need."""
