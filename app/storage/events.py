"""Every SQL statement on tool events."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from sqlalchemy import ColumnElement, Integer, and_, bindparam, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from app.core.errors import LeaseLost, NotFound, StorageError
from app.model.base import changed
from app.model.events import Attempt, CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.storage.base import Used
from app.storage.database import Database
from app.storage.journal import Journal, Statement
from app.storage.tables import MEASURED, BuildRow, ToolEventRow, holds, timing, tool_event

PREVIEW_BYTES = 2048
ERROR_CHARS = 500
_FINISHED = (
    "duration_ms",
    "queue_ms",
    "outcome",
    "error_type",
    "error_message",
    "result_sha256",
    "result_preview",
    "bytes_out",
    "cache",
    "usage",
    "cost_usd",
    "cost_source",
    "price_version",
    "provider_call_id",
    "original_ms",
    "results",
)
_ANSWERED = (CacheUse.HIT.value, CacheUse.COALESCED.value)
_TABLE = ToolEventRow.metadata.tables["tool_event"]
_BUILD = BuildRow.metadata.tables["build"]
_STARTED = tuple(column.name for column in _TABLE.c if column.name != "seq")
_START_FIELDS = {f"new_{name}": name for name in _STARTED}
_FINISH_FIELDS = {f"new_{name}": name for name in _FINISHED}
"""Which field of an event each parameter is."""
_WORDS = ("new_phase", "new_sub_problem", "new_kind", "new_outcome", "new_cache")
"""The parameters that are words of a closed set."""


def _writable(build: str) -> ColumnElement[bool]:
    """Return the fence: the build is claimed under the epoch and runs; without an epoch it only has to be there."""
    epoch = bindparam("epoch", type_=Integer)
    return and_(_BUILD.c.id == bindparam(build), or_(epoch.is_(None), holds(epoch)))


_START = Statement(
    insert(_TABLE)
    .from_select(
        [*_STARTED, "seq"],
        select(
            *(bindparam(f"new_{name}", type_=_TABLE.c[name].type) for name in _STARTED),
            select(func.coalesce(func.max(_TABLE.c.seq), 0) + 1)
            .where(_TABLE.c.build_id == bindparam("new_build_id"))
            .scalar_subquery(),
        )
        .select_from(_BUILD)
        .where(_writable("new_build_id"))
        .with_for_update(key_share=True, of=_BUILD),
    )
    .returning(_TABLE.c.seq),
    {parameter: _TABLE.c[name] for parameter, name in _START_FIELDS.items()},
)
"""One statement, so the fence is looked at and the number is taken and used at once.

Where writers work side by side (PostgreSQL), it holds the build's row: a claim comes before it or after it.
"""
_FINISH = Statement(
    update(_TABLE)
    .where(
        _TABLE.c.build_id == bindparam("build"),
        _TABLE.c.seq == bindparam("number"),
        _TABLE.c.call_id == bindparam("call"),
        _TABLE.c.outcome == CallOutcome.INCOMPLETE.value,
        exists(select(_BUILD.c.id).where(_writable("build")).with_for_update(key_share=True, of=_BUILD)),
    )
    .values({name: bindparam(f"new_{name}", type_=_TABLE.c[name].type) for name in _FINISHED})
    .returning(_TABLE.c.seq),
    {parameter: _TABLE.c[name] for parameter, name in _FINISH_FIELDS.items()},
)
_FENCE = Statement(select(_BUILD.c.id).where(_writable("build")), {})
_MEASURED = Statement(
    select(*(_TABLE.c[name] for name in MEASURED))
    .where(_TABLE.c.build_id == bindparam("build"))
    .order_by(_TABLE.c.seq),
    {"build": _TABLE.c.build_id},
)


def unchanged(value: Any) -> Any:
    """Redact nothing."""
    return value


class SqlEventStore:
    """The EventStore port on SQL; `redact` is applied to everything that came from outside before it is written.

    An event with an epoch is fenced like a checkpoint: after the claim is lost nothing of it is written.
    """

    def __init__(self, database: Database, redact: Callable[[Any], Any] = unchanged) -> None:
        self._database = database
        self._cleaned: dict[str, Callable[[Any], Any]] = {
            "new_args": redact,
            "new_error_message": lambda text: _storable(redact(text))[:ERROR_CHARS],
            "new_result_preview": lambda text: clip(_storable(redact(text))),
        }

    @property
    def immediate(self) -> bool:
        """Whether a write mostly ends without waiting: in SQLite's own file."""
        return self._journal.immediate

    async def start(self, event: ToolEvent) -> ToolEvent:
        """Store the event with the next seq of its build and outcome `incomplete`; return it with its seq.

        Raises:
            LeaseLost: the event has an epoch, and another runner claimed the build or it has ended.
            NotFound: no such build.
            StorageError: this attempt of this call is stored already.
        """
        begins = event.outcome is CallOutcome.INCOMPLETE
        return await self.record(event if begins else changed(event, outcome=CallOutcome.INCOMPLETE))

    async def record(self, event: ToolEvent) -> ToolEvent:
        """Store an event that is over already, with the next seq of its build; return it with its seq.

        Raises:
            LeaseLost: the event has an epoch, and another runner claimed the build or it has ended.
            NotFound: no such build.
            StorageError: this attempt of this call is stored already.
        """
        try:
            rows = await self._journal.write(_START, {"epoch": event.epoch} | self._values(event, _START_FIELDS))
        except IntegrityError as exc:
            raise StorageError("this attempt of this call is recorded already", call_id=event.call_id) from exc
        if not rows:
            raise _refused(event)
        return event.model_copy(update={"seq": rows[0][0]})

    async def finish(self, event: ToolEvent) -> None:
        """Complete a started event; a finished event is never changed again.

        Raises:
            LeaseLost: the event has an epoch, and another runner claimed the build or it has ended.
            StorageError: there is no such event that is still open.
        """
        fence = {"build": event.build_id, "epoch": event.epoch}
        known = fence | {"number": event.seq, "call": event.call_id}
        if await self._journal.write(_FINISH, known | self._values(event, _FINISH_FIELDS)):
            return
        if not await self._journal.write(_FENCE, fence):
            raise _refused(event)
        msg = "there is no open event to complete"
        raise StorageError(msg, build_id=event.build_id, seq=event.seq)

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this work on the store when the loop is next free, before anything else is read or durably written."""
        self._database.soon(work)

    async def page(
        self,
        build_id: str,
        phase: Phase | None = None,
        tool: str | None = None,
        outcome: CallOutcome | None = None,
        after_seq: int = 0,
        limit: int = 200,
    ) -> list[ToolEvent]:
        """Return events in seq order."""
        wanted = [(ToolEventRow.phase, phase), (ToolEventRow.tool, tool), (ToolEventRow.outcome, outcome)]
        conditions = [col(column) == str(value) for column, value in wanted if value is not None]
        query = (
            select(ToolEventRow)
            .where(col(ToolEventRow.build_id) == build_id, col(ToolEventRow.seq) > after_seq, *conditions)
            .order_by(col(ToolEventRow.seq))
            .limit(limit)
        )
        async with self._database.read() as session:
            return [tool_event(row) for row in await session.scalars(query)]

    async def all(self, build_id: str) -> list[ToolEvent]:
        """Return every event of the build in seq order."""
        query = select(ToolEventRow).where(col(ToolEventRow.build_id) == build_id).order_by(col(ToolEventRow.seq))
        async with self._database.read() as session:
            return [tool_event(row) for row in await session.scalars(query)]

    async def measured(self, build_id: str) -> Sequence[Attempt]:
        """Return of every event of the build, in seq order, what metrics need."""
        await self._database.settled()
        return await self._journal.read(_MEASURED, {"build": build_id}, timing)

    async def used(self, build_id: str | None = None, since: datetime | None = None) -> Used:
        """Return what the attempts of a build (None = all) that started at or after `since` used."""
        where = [_TABLE.c.outcome != CallOutcome.REJECTED.value, _TABLE.c.cache.not_in(_ANSWERED)]
        where += [] if build_id is None else [_TABLE.c.build_id == build_id]
        where += [] if since is None else [_TABLE.c.started_at >= since]
        paid = select(_TABLE.c.usage, _TABLE.c.cost_usd).where(*where, _TABLE.c.kind == ToolKind.LLM.value)
        async with self._database.read() as session:
            calls = await session.scalar(select(func.count()).select_from(_TABLE).where(*where))
            rows = (await session.execute(paid)).all()
        usages = [usage for usage, _ in rows if usage]
        return Used(
            calls=calls or 0,
            tokens=sum(usage.get("input", 0) + usage.get("output", 0) for usage in usages),
            usd=sum((Decimal(usd) for _, usd in rows if usd is not None), Decimal()),
        )

    @property
    def _journal(self) -> Journal:
        return self._database.journal

    def _values(self, event: ToolEvent, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters of these fields, cleaned of secrets and of what is too long."""
        known = vars(event)
        found = {parameter: known[name] for parameter, name in fields.items()}
        for parameter in _WORDS:
            if isinstance(word := found.get(parameter), Enum):
                found[parameter] = word._value_
        for parameter, clean in self._cleaned.items():
            if (value := found.get(parameter)) is not None:
                found[parameter] = clean(value)
        return found


def _refused(event: ToolEvent) -> NotFound | LeaseLost:
    """Return what it means that the fence let nothing through."""
    if event.epoch is None:
        return NotFound.of(event.build_id)
    return LeaseLost("another runner owns this build, or it has ended", build_id=event.build_id)


def _storable(text: object) -> str:
    """Return the text without NUL, which PostgreSQL cannot keep."""
    return str(text).replace("\x00", "\ufffd")


def clip(text: str) -> str:
    """Return the text cut to the preview's size in bytes, never inside a character."""
    return text.encode()[:PREVIEW_BYTES].decode(errors="ignore")
