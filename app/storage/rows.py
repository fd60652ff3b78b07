"""Between rows and the model: nothing else knows both."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import ColumnElement, and_
from sqlmodel import col

from app.model.events import CacheUse, CallOutcome, Timing, ToolEvent, ToolKind
from app.model.names import BuildStatus, Phase
from app.model.record import BuildRecord, ProgressData, ProgressEvent
from app.storage.tables import BuildRow, ProgressRow, ToolEventRow


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
        parent_id=record.request.parent_id,
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
    return BuildRecord.model_validate(
        {name: getattr(row, name) for name in BuildRecord.model_fields},
    )


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
    "started_at": lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC),
    "outcome": _OUTCOMES.__getitem__,
    "cache": _CACHES.__getitem__,
    "usage": lambda text: None if text is None else json.loads(text),
}
_CONVERTED = tuple((MEASURED.index(name), convert) for name, convert in _CONVERSIONS.items())


def timing(row: Sequence[Any]) -> Timing:
    """Return the measured part of an event from its measured columns as SQLite stores them."""
    known = list(row)
    for place, convert in _CONVERTED:
        known[place] = convert(known[place])
    return Timing._make(known)
