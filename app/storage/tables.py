"""The tables, and what their rows mean in the model. Only this package knows them.

The schema is created by the scripts under `migrations/`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    and_,
)
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel, col

from app.model.events import CacheUse, CallOutcome, Timing, ToolEvent, ToolKind
from app.model.names import LOCAL_OWNER, BuildStatus, Phase
from app.model.record import BuildRecord, ProgressData, ProgressEvent

ULID_LENGTH = 26


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC datetime, also on databases that keep no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times: they would silently mean the machine's zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            msg = "a stored time needs a time zone"
            raise ValueError(msg)
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


def _json(nullable: bool = True) -> Column[Any]:
    return Column(JSON(none_as_null=True), nullable=nullable)


def _time() -> Column[datetime]:
    return Column(UtcDateTime(), nullable=False)


def _owner() -> Column[str]:
    return Column(ForeignKey("build.id", ondelete="CASCADE"), primary_key=True)


class BuildRow(SQLModel, table=True):
    """One build; `progress_seq` is the number of its last progress event, `size` its bytes once it has ended.

    `thinned`: the arguments and results of its tool events have been let go.
    """

    __tablename__ = "build"
    __table_args__ = (
        Index("ix_build_status", "status", "created_at"),
        Index("ix_build_created", "created_at", "id"),
        Index("ix_build_owner", "owner", "created_at", "id"),
    )

    id: str = Field(primary_key=True, max_length=ULID_LENGTH)
    owner: str = Field(default=LOCAL_OWNER, max_length=64)
    parent_id: str | None = Field(default=None, index=True, max_length=ULID_LENGTH)
    status: str = Field(max_length=16)
    epoch: int = 0
    attempts: int = 0
    trials: int = 0
    alone: bool = False
    not_before: datetime | None = Field(default=None, sa_column=Column(UtcDateTime()))
    cancel_requested: bool = False
    progress_seq: int = 0
    request: dict[str, Any] = Field(sa_column=_json(nullable=False))
    invariants: dict[str, Any] = Field(sa_column=_json(nullable=False))
    state: dict[str, Any] = Field(sa_column=_json(nullable=False))
    xml: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    engine: dict[str, Any] | None = Field(default=None, sa_column=_json())
    reasoner: dict[str, Any] | None = Field(default=None, sa_column=_json())
    failure: dict[str, Any] | None = Field(default=None, sa_column=_json())
    size: int | None = Field(default=None, sa_column=Column(BigInteger))
    thinned: bool = False
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())


class ProgressRow(SQLModel, table=True):
    """One progress event."""

    __tablename__ = "build_progress"

    build_id: str = Field(sa_column=_owner())
    seq: int = Field(primary_key=True)
    type: str = Field(max_length=32)
    data: dict[str, Any] = Field(sa_column=_json(nullable=False))
    at: datetime = Field(sa_column=_time())


class ToolEventRow(SQLModel, table=True):
    """One attempt of a tool call; the columns are the fields of `app.model.events.ToolEvent`."""

    __tablename__ = "tool_event"
    __table_args__ = (
        UniqueConstraint("call_id", "attempt", name="uq_tool_event_call"),
        Index("ix_tool_event_started", "started_at"),
    )

    build_id: str = Field(sa_column=_owner())
    seq: int = Field(primary_key=True)
    schema_version: str = Field(max_length=8)
    phase: str = Field(max_length=16)
    sub_problem: str | None = Field(default=None, max_length=32)
    turn: int = 0
    kind: str = Field(max_length=8)
    tool: str = Field(max_length=64)
    tool_version: str
    call_id: str = Field(max_length=64)
    parent_call_id: str | None = None
    provider_call_id: str | None = None
    attempt: int
    started_at: datetime = Field(sa_column=_time())
    duration_ms: float | None = None
    queue_ms: float | None = None
    outcome: str = Field(max_length=16)
    error_type: str | None = None
    error_message: str | None = None
    args: dict[str, Any] | None = Field(default=None, sa_column=_json())
    args_sha256: str
    result_sha256: str | None = None
    result_preview: str | None = None
    bytes_in: int = 0
    bytes_out: int | None = None
    cache: str = Field(max_length=16)
    usage: dict[str, Any] | None = Field(default=None, sa_column=_json())
    cost_usd: str | None = None
    cost_source: str = Field(max_length=16)
    price_version: str | None = None
    original_ms: float | None = None
    results: int | None = None


class BuildTraceRow(SQLModel, table=True):
    """Where the time went from one checkpoint of a build to the next; `data` is the whole `StepTrace`."""

    __tablename__ = "build_trace"

    build_id: str = Field(sa_column=_owner())
    seq: int = Field(primary_key=True)
    epoch: int
    data: dict[str, Any] = Field(sa_column=_json(nullable=False))


class IdempotencyRow(SQLModel, table=True):
    """Which build an owner's idempotency key stands for, and the hash of the request it came with."""

    __tablename__ = "idempotency"

    owner: str = Field(primary_key=True, max_length=64)
    key: str = Field(primary_key=True, max_length=255)
    build_id: str = Field(sa_column=Column(ForeignKey("build.id", ondelete="CASCADE"), nullable=False))
    request_sha256: str = Field(max_length=64)
    created_at: datetime = Field(sa_column=_time())


class TokenRow(SQLModel, table=True):
    """An access token: only its hash is kept. `scopes`: words between spaces. Limits: null = those of the settings."""

    __tablename__ = "token"

    name: str = Field(primary_key=True, max_length=64)
    sha256: str = Field(unique=True, max_length=64)
    owner: str = Field(max_length=64)
    scopes: str = Field(max_length=100)
    builds_per_day: int | None = None
    requests_per_minute: int | None = None
    created_at: datetime = Field(sa_column=_time())
    revoked_at: datetime | None = Field(default=None, sa_column=Column(UtcDateTime()))


class TokenDayRow(SQLModel, table=True):
    """How many builds a token has started on a day (UTC); deleting builds does not give them back."""

    __tablename__ = "token_day"

    token: str = Field(primary_key=True, max_length=64)
    day: date = Field(primary_key=True)
    builds: int


class KeptResultRow(SQLModel, table=True):
    """The compressed answer to a deterministic call; `seq` is the order of storing, `size` that of `data` in bytes."""

    __tablename__ = "kept_result"
    __table_args__ = (Index("ix_kept_result_used", "used_at", "size"),)

    seq: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True, max_length=64)
    tool: str = Field(max_length=64)
    size: int
    took_ms: float | None = None
    born_at: datetime = Field(sa_column=_time())
    used_at: datetime = Field(sa_column=_time())
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class EvaluationRow(SQLModel, table=True):
    """One trial of one task of a suite, under a label; the columns are the fields of `EvaluationRun`."""

    __tablename__ = "evaluation"
    __table_args__ = (Index("ix_evaluation_at", "at"),)

    label: str = Field(primary_key=True, max_length=100)
    task: str = Field(primary_key=True, max_length=200)
    trial: int = Field(primary_key=True)
    suite: str = Field(max_length=100)
    build_id: str = Field(sa_column=Column(ForeignKey("build.id", ondelete="CASCADE"), nullable=False))
    passed: bool
    selected: bool | None = None
    checks: list[dict[str, Any]] = Field(sa_column=_json(nullable=False))
    seconds: float
    at: datetime = Field(sa_column=_time())


class ResultFileRow(SQLModel, table=True):
    """The runs under a label that were made elsewhere: a whole result file, as it came."""

    __tablename__ = "result_file"

    label: str = Field(primary_key=True, max_length=100)
    content: str = Field(sa_column=Column(Text, nullable=False))
    at: datetime = Field(sa_column=_time())


class MemoryRow(SQLModel, table=True):
    """What one validated build taught; `data` is the whole `Memory`. It outlives the build."""

    __tablename__ = "memory"
    __table_args__ = (
        Index("ix_memory_about", "skill_id", "goal", "engine", "score"),
        Index("ix_memory_owner", "owner"),
    )

    build_id: str = Field(primary_key=True, max_length=ULID_LENGTH)
    owner: str = Field(max_length=64)
    skill_id: str = Field(max_length=255)
    skill: str = Field(max_length=255)
    goal: str = Field(max_length=16)
    engine: str = Field(max_length=64)
    score: float
    data: dict[str, Any] = Field(sa_column=_json(nullable=False))
    learned_at: datetime = Field(sa_column=_time())


def _memory() -> Column[str]:
    return Column(ForeignKey("memory.build_id", ondelete="CASCADE"), primary_key=True)


class MemoryWishRow(SQLModel, table=True):
    """A constraint that the owner of a remembered build put into words."""

    __tablename__ = "memory_wish"

    build_id: str = Field(sa_column=_memory())
    field: str = Field(primary_key=True, max_length=64)
    value: Any = Field(sa_column=_json())


class MemoryFailureRow(SQLModel, table=True):
    """An option that was tried for a remembered build and made it worse."""

    __tablename__ = "memory_failure"

    build_id: str = Field(sa_column=_memory())
    number: int = Field(primary_key=True)
    sub_problem: str = Field(max_length=32)
    option: str = Field(max_length=255)
    reason: str


class MemoryRaceRow(SQLModel, table=True):
    """How far one way to build came in the race of a build. It outlives the build."""

    __tablename__ = "memory_race"
    __table_args__ = (Index("ix_memory_race_about", "owner", "goal", "engine"),)

    build_id: str = Field(primary_key=True, max_length=ULID_LENGTH)
    place: int = Field(primary_key=True)
    owner: str = Field(max_length=64)
    goal: str = Field(max_length=16)
    engine: str = Field(max_length=64)
    class_name: str = Field(max_length=64)
    skill_id: str = Field(max_length=255)
    skill: str = Field(max_length=255)
    hands: str = Field(max_length=255)
    behind: float
    rung: int
    learned_at: datetime = Field(sa_column=_time())


def holds(epoch: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Return the fence: the build is still claimed under the epoch, and runs."""
    return and_(col(BuildRow.epoch) == epoch, col(BuildRow.status) == BuildStatus.RUNNING.value)


def as_json(model: BaseModel | None) -> dict[str, Any] | None:
    """Return the model as JSON-ready data, None for None."""
    return None if model is None else model.model_dump(mode="json")


def build_row(record: BuildRecord) -> BuildRow:
    """Return the row of a new build."""
    return BuildRow(
        id=record.id,
        owner=record.owner,
        parent_id=record.parent_id,
        status=record.status.value,
        epoch=record.epoch,
        attempts=record.attempts,
        cancel_requested=record.cancel_requested,
        request=record.request.model_dump(mode="json"),
        invariants=record.invariants.model_dump(mode="json"),
        state=record.state.model_dump(mode="json"),
        xml=record.xml,
        engine=as_json(record.engine),
        reasoner=as_json(record.reasoner),
        failure=as_json(record.failure),
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def build_record(row: BuildRow) -> BuildRecord:
    """Return the build of a row."""
    return BuildRecord.model_validate({name: getattr(row, name) for name in BuildRecord.model_fields})


def progress_event(row: ProgressRow) -> ProgressEvent:
    """Return the progress event of a row."""
    data = ProgressData.model_validate(row.data)
    return ProgressEvent(build_id=row.build_id, seq=row.seq, type=row.type, data=data, at=row.at)


def tool_event(row: ToolEventRow) -> ToolEvent:
    """Return the tool event of a row."""
    return ToolEvent.model_validate({name: getattr(row, name) for name in ToolEventRow.model_fields})


MEASURED = Timing._fields
"""The columns that metrics are computed from."""

_PHASES = {phase.value: phase for phase in Phase}
_KINDS = {kind.value: kind for kind in ToolKind}
_OUTCOMES = {outcome.value: outcome for outcome in CallOutcome}
_CACHES = {use.value: use for use in CacheUse}
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "phase": _PHASES.__getitem__,
    "kind": _KINDS.__getitem__,
    "started_at": lambda at: datetime.fromisoformat(at).replace(tzinfo=UTC) if isinstance(at, str) else at,
    "outcome": _OUTCOMES.__getitem__,
    "cache": _CACHES.__getitem__,
    "usage": lambda found: json.loads(found) if isinstance(found, str) else found,
}
_CONVERTED = tuple((MEASURED.index(name), convert) for name, convert in _CONVERSIONS.items())


def timing(row: Sequence[Any]) -> Timing:
    """Return the measured part of an event from its measured columns, as a driver or SQLite's own text has them."""
    known = list(row)
    for place, convert in _CONVERTED:
        known[place] = convert(known[place])
    return Timing._make(known)
