"""Every SQL statement on builds and their progress events."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from app.core.clock import Clock, SystemClock
from app.core.errors import IdempotencyMismatch, InvalidTransition, LeaseLost, NotFound
from app.model.names import BuildStatus
from app.model.record import UNTRIED, BuildRecord, Happening, ProgressData, ProgressEvent
from app.model.spans import StepTrace
from app.storage.base import Checkpoint, Standing
from app.storage.database import Database
from app.storage.tables import (
    BuildRow,
    BuildTraceRow,
    IdempotencyRow,
    MemoryRaceRow,
    MemoryRow,
    ProgressRow,
    as_json,
    build_record,
    build_row,
    holds,
    progress_event,
)

RUNNABLE = (BuildStatus.QUEUED.value, BuildStatus.RUNNING.value)


class SqlBuildStore:
    """The BuildStore port on SQL; each method is one transaction."""

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    async def insert(self, record: BuildRecord, idempotency_key: str | None = None) -> BuildRecord:
        """Store a new build; with a key seen before and the same request, return the build stored then.

        Raises:
            IdempotencyMismatch: the key was used with another request.
            InvalidTransition: a build with this id exists.
        """
        digest = hashlib.sha256(record.request.model_dump_json().encode()).hexdigest()
        try:
            async with self._database.write() as session:
                return await self._insert(session, record, idempotency_key, digest)
        except IntegrityError as exc:
            async with self._database.write() as session:  # where writers work side by side, another had the key first
                if (first := await _stored_first(session, record.owner, idempotency_key, digest)) is not None:
                    return first
            msg = "a build with this id exists already"
            raise InvalidTransition(msg) from exc

    async def _insert(self, session: AsyncSession, record: BuildRecord, key: str | None, digest: str) -> BuildRecord:
        if (first := await _stored_first(session, record.owner, key, digest)) is not None:
            return first
        row = build_row(record)
        session.add(row)
        await session.flush()
        self._happened(session, row, [("status", ProgressData(status=record.status))])
        if key is not None:
            now = self._clock.now()
            session.add(
                IdempotencyRow(owner=row.owner, key=key, build_id=row.id, request_sha256=digest, created_at=now)
            )
        return build_record(row)

    async def get(self, build_id: str) -> BuildRecord:
        """Return the build.

        Raises:
            NotFound: no such build.
        """
        async with self._database.read() as session:
            return build_record(await _row(session, build_id))

    async def standing(self, build_id: str) -> Standing:
        """Return how the build stands, without reading all of it.

        Raises:
            NotFound: no such build.
        """
        columns = (BuildRow.owner, BuildRow.status, BuildRow.updated_at, BuildRow.engine)
        query = select(*(col(column) for column in columns)).where(_is(build_id))
        async with self._database.read() as session:
            row = (await session.execute(query)).one_or_none()
        if row is None:
            raise NotFound.of(build_id)
        return Standing(row[0], BuildStatus(row[1]), row[2], row[3]["name"] if row[3] else None)

    async def page(
        self,
        status: BuildStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
        owner: str | None = None,
    ) -> tuple[list[BuildRecord], str | None]:
        """Return builds (of one owner, None = of all), newest first, and the cursor of the next page (None = last)."""
        order = tuple_(col(BuildRow.created_at), col(BuildRow.id))
        query = select(BuildRow).order_by(col(BuildRow.created_at).desc(), col(BuildRow.id).desc()).limit(limit + 1)
        if status is not None:
            query = query.where(col(BuildRow.status) == status.value)
        if owner is not None:
            query = query.where(col(BuildRow.owner) == owner)
        if cursor is not None:
            query = query.where(
                order < select(col(BuildRow.created_at), col(BuildRow.id)).where(_is(cursor)).scalar_subquery(),
            )
        async with self._database.read() as session:
            rows = (await session.scalars(query)).all()
        shown = rows[:limit]
        return [build_record(row) for row in shown], shown[-1].id if len(rows) > limit else None

    async def runnable(self) -> list[str]:
        """Return ids of builds that are queued or running, oldest first."""
        query = (
            select(col(BuildRow.id))
            .where(col(BuildRow.status).in_(RUNNABLE))
            .order_by(col(BuildRow.created_at), col(BuildRow.id))
        )
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def claim(self, build_id: str, *, alone: bool = False) -> BuildRecord | None:
        """Raise epoch and attempts of a runnable build, mark it running and return it; None when it is not runnable.

        A build that is set aside is claimed `alone`, once its time has come, and counts that as a trial. One whose
        process ended during its trial comes back with `alone` false, to be judged.
        """
        async with self._database.write() as session:
            row = await session.get(BuildRow, build_id, with_for_update=True)
            if row is None or row.status not in RUNNABLE:
                return None
            trial = row.not_before is not None and not row.alone
            if trial and not (alone and row.not_before is not None and row.not_before <= self._clock.now()):
                return None
            if row.status == BuildStatus.QUEUED:
                self._happened(session, row, [("status", ProgressData(status=BuildStatus.RUNNING))])
            row.status = BuildStatus.RUNNING.value
            row.epoch += 1
            row.attempts += 1
            row.alone = trial
            row.trials += trial
            row.updated_at = self._clock.now()
            return build_record(row)

    async def release(self, build_id: str, epoch: int) -> None:
        """Give the claim back, as if it had not been made: whoever had it stops in good order; it stays runnable.

        Raises:
            LeaseLost: another runner claimed the build, or it is no longer running.
        """
        async with self._database.write() as session:
            row = await _held(session, build_id, epoch)
            row.attempts = max(0, row.attempts - 1)
            row.trials -= row.alone
            row.alone = False

    async def set_aside(self, build_id: str, epoch: int, until: datetime) -> None:
        """Queue the build again and let nobody claim it until then, and then only alone.

        Raises:
            LeaseLost: another runner claimed the build, or it is no longer running.
        """
        async with self._database.write() as session:
            row = await _held(session, build_id, epoch)
            row.not_before, row.alone = until, False
            self._set_status(session, row, BuildStatus.QUEUED)

    async def pardon(self) -> None:
        """Forget the trials of builds that are set aside: a process ended while they were not worked on."""
        waiting = (col(BuildRow.not_before).is_not(None), col(BuildRow.alone).is_(False), col(BuildRow.trials) > 0)
        async with self._database.write() as session:
            await session.execute(update(BuildRow).where(*waiting).values(trials=0))

    async def delete(self, build_id: str) -> None:
        """Remove the build with its events, keys, evaluation runs and what it taught; a runner of it loses its lease.

        Raises:
            NotFound: no such build.
        """
        async with self._database.write() as session:
            await session.execute(delete(MemoryRow).where(col(MemoryRow.build_id) == build_id))
            await session.execute(delete(MemoryRaceRow).where(col(MemoryRaceRow.build_id) == build_id))
            found = await session.scalar(delete(BuildRow).where(_is(build_id)).returning(col(BuildRow.id)))
        if found is None:
            raise NotFound.of(build_id)

    async def checkpoint(self, build_id: str, epoch: int, change: Checkpoint) -> None:
        """Write what a step changed, fenced by the epoch; attempts and trials count anew.

        Raises:
            LeaseLost: another runner claimed the build.
        """
        values = {**_changed(change), **UNTRIED, "attempts": change.attempts, "updated_at": self._clock.now()}
        count = len(change.progress)
        async with self._database.write() as session:
            last = await session.scalar(
                update(BuildRow)
                .where(*_fence(build_id, epoch))
                .values(**values, progress_seq=col(BuildRow.progress_seq) + count)
                .returning(col(BuildRow.progress_seq))
            )
            if last is None:
                raise _lost()
            self._append(session, build_id, last - count, change.progress)
            if change.trace is not None:
                await _keep_trace(session, build_id, epoch, change.trace)

    async def traces(self, build_id: str) -> list[StepTrace]:
        """Return where the time went, one checkpoint after another; nothing where it was not recorded."""
        query = select(col(BuildTraceRow.data)).where(col(BuildTraceRow.build_id) == build_id)
        async with self._database.read() as session:
            found = await session.scalars(query.order_by(col(BuildTraceRow.seq)))
            return [StepTrace.model_validate(data) for data in found]

    async def cancel_requested(self, build_id: str, epoch: int) -> bool:
        """Return whether somebody asked to cancel the build that this epoch owns.

        Raises:
            LeaseLost: another runner claimed the build, or it is no longer running.
        """
        async with self._database.read() as session:
            asked = await session.scalar(select(col(BuildRow.cancel_requested)).where(*_fence(build_id, epoch)))
        if asked is None:
            raise _lost()
        return asked

    async def request_cancel(self, build_id: str) -> BuildRecord:
        """Ask for cancellation; a queued build becomes cancelled at once. Idempotent.

        Raises:
            NotFound: no such build.
        """
        async with self._database.write() as session:
            row = await _row(session, build_id, lock=True)
            if row.status == BuildStatus.QUEUED:
                row.sqlmodel_update(dict(UNTRIED))
                self._set_status(session, row, BuildStatus.CANCELLED)
                ended = ProgressData(status=BuildStatus.CANCELLED, outcome=None)
                self._happened(session, row, [("finished", ended)])
            elif row.status == BuildStatus.RUNNING and not row.cancel_requested:
                row.cancel_requested = True
                row.updated_at = self._clock.now()
            return build_record(row)

    async def requeue(self, build_id: str) -> BuildRecord:
        """Make a failed or cancelled build runnable again from its last checkpoint; a runnable one stays as it is.

        Raises:
            NotFound: no such build.
            InvalidTransition: the build is complete.
        """
        async with self._database.write() as session:
            row = await _row(session, build_id, lock=True)
            if row.status == BuildStatus.COMPLETE:
                msg = "the build is complete; refine it instead"
                raise InvalidTransition(msg)
            if row.status not in RUNNABLE:
                anew = {"failure": None, "cancel_requested": False, "size": None, "thinned": False}
                row.sqlmodel_update({**UNTRIED, **anew})
                self._set_status(session, row, BuildStatus.QUEUED)
            return build_record(row)

    async def progress(self, build_id: str, after_seq: int = 0, limit: int = 500) -> list[ProgressEvent]:
        """Return progress events with a greater seq, in order."""
        query = (
            select(ProgressRow)
            .where(col(ProgressRow.build_id) == build_id, col(ProgressRow.seq) > after_seq)
            .order_by(col(ProgressRow.seq))
            .limit(limit)
        )
        async with self._database.read() as session:
            return [progress_event(row) for row in await session.scalars(query)]

    def _set_status(self, session: AsyncSession, row: BuildRow, status: BuildStatus) -> None:
        row.status = status.value
        row.updated_at = self._clock.now()
        self._happened(session, row, [("status", ProgressData(status=status))])

    def _happened(self, session: AsyncSession, row: BuildRow, happenings: Sequence[Happening]) -> None:
        self._append(session, row.id, row.progress_seq, happenings)
        row.progress_seq += len(happenings)

    def _append(self, session: AsyncSession, build_id: str, after: int, happenings: Sequence[Happening]) -> None:
        now = self._clock.now()
        for seq, (kind, data) in enumerate(happenings, start=after + 1):
            written = data.model_dump(mode="json")
            session.add(ProgressRow(build_id=build_id, seq=seq, type=kind, data=written, at=now))


def _is(build_id: str) -> ColumnElement[bool]:
    return col(BuildRow.id) == build_id


def _fence(build_id: str, epoch: int) -> tuple[ColumnElement[bool], ...]:
    return (_is(build_id), holds(epoch))


async def _held(session: AsyncSession, build_id: str, epoch: int) -> BuildRow:
    """Return the row of a build that this epoch owns, locked for changes.

    Raises:
        LeaseLost: another runner claimed the build, or it is no longer running.
    """
    row = await session.get(BuildRow, build_id, with_for_update=True)
    if row is None or row.epoch != epoch or row.status != BuildStatus.RUNNING:
        raise _lost()
    return row


def _lost() -> LeaseLost:
    msg = "another runner owns this build"
    return LeaseLost(msg)


async def _stored_first(session: AsyncSession, owner: str, key: str | None, digest: str) -> BuildRecord | None:
    """Return the build that the owner stored with the key, None when there is none."""
    known = await session.get(IdempotencyRow, (owner, key)) if key is not None else None
    if known is None:
        return None
    if known.request_sha256 != digest:
        msg = "this idempotency key was used before with another request"
        raise IdempotencyMismatch(msg)
    return build_record(await _row(session, known.build_id))


async def _keep_trace(session: AsyncSession, build_id: str, epoch: int, trace: StepTrace) -> None:
    last = select(func.coalesce(func.max(col(BuildTraceRow.seq)), 0) + 1).where(col(BuildTraceRow.build_id) == build_id)
    row = {"build_id": build_id, "seq": last.scalar_subquery(), "epoch": epoch, "data": as_json(trace)}
    await session.execute(insert(BuildTraceRow).values(row))


async def _row(session: AsyncSession, build_id: str, lock: bool = False) -> BuildRow:
    row = await session.get(BuildRow, build_id, with_for_update=lock)
    if row is None:
        raise NotFound.of(build_id)
    return row


def _changed(change: Checkpoint) -> dict[str, Any]:
    models = {name: getattr(change, name) for name in ("invariants", "engine", "reasoner", "failure")}
    values = {name: as_json(model) for name, model in models.items() if model is not None}
    values["state"] = as_json(change.state)
    plain: dict[str, Any] = values
    if change.xml is not None:
        plain["xml"] = change.xml
    if change.status is not None:
        plain |= {"status": change.status.value, "cancel_requested": False}
    return plain
