"""Every SQL statement that lets go of what is old: calls are thinned, builds removed, space given back."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Text,
    cast,
    create_engine,
    delete,
    event,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from app.core.errors import StorageError
from app.storage.builds import RUNNABLE
from app.storage.database import Database
from app.storage.postgres import connection_options, server
from app.storage.sqlite import set_pragmas, sqlite_file
from app.storage.tables import BuildRow, EvaluationRow, ToolEventRow

_BATCH = 50
_CALL_BYTES = 450
"""What a recorded call takes without arguments and result, indexes included; measured on builds of 1,400 calls."""
_LET_GO = ("args", "result_preview")
_EVENTS = ToolEventRow.metadata.tables["tool_event"]
_BUILDS = BuildRow.metadata.tables["build"]
_CHILDREN = _BUILDS.alias("child")
_FINISHED = _BUILDS.c.status.not_in(RUNNABLE)
_COMPACT_TIMEOUT = "1h"


class SqlRetentionStore:
    """The RetentionStore port on SQL; each method is one short transaction, so that builds go on beside it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def measure(self) -> int:
        """Measure finished builds that have not been measured, and return the bytes of all that have."""
        unknown = select(_BUILDS.c.id).where(_FINISHED, _BUILDS.c.size.is_(None)).limit(_BATCH)
        while True:
            async with self._database.write() as session:
                found = list(await session.scalars(unknown))
                measured = update(_BUILDS).where(_BUILDS.c.id.in_(found), _FINISHED).values(size=_size())
                await session.execute(measured)
            if len(found) < _BATCH:
                break
        async with self._database.read() as session:
            return int(await session.scalar(select(func.coalesce(func.sum(_BUILDS.c.size), 0))) or 0)

    async def oldest(self, used_after: datetime, before: datetime | None = None, *, whole: bool = False) -> str | None:
        """Return the finished build that nobody needs and that changed first (before a time); `whole`: not thinned yet.

        Needed are builds of evaluation runs, and those with a child that is unfinished or changed after `used_after`.
        """
        query = select(_BUILDS.c.id).where(_FINISHED, ~_needed(used_after))
        query = query.where(_BUILDS.c.updated_at < before) if before is not None else query
        query = query.where(_BUILDS.c.thinned.is_(False)) if whole else query
        async with self._database.read() as session:
            found: str | None = await session.scalar(query.order_by(_BUILDS.c.updated_at, _BUILDS.c.id).limit(1))
        return found

    async def thin(self, build_id: str) -> None:
        """Let go of arguments and results of the recorded calls of a finished build; numbers, times and hashes stay.

        The rows are written anew: pages whose rows only shrink are of no use to other builds.
        """
        mine = _EVENTS.c.build_id == build_id
        kept = [column for column in _EVENTS.c if column.name not in _LET_GO]
        async with self._database.write() as session:
            query = update(_BUILDS).where(_BUILDS.c.id == build_id, _FINISHED).values(thinned=True, size=None)
            if await session.scalar(query.returning(_BUILDS.c.id)) is None:
                return
            rows = (await session.execute(select(*kept).where(mine).order_by(_EVENTS.c.seq))).mappings().all()
            await session.execute(delete(_EVENTS).where(mine))
            if rows:
                await session.execute(insert(_EVENTS), [dict(row) for row in rows])

    async def remove(self, build_id: str, used_after: datetime) -> None:
        """Remove a finished build that nobody needs with all that is recorded of it; what it taught stays."""
        async with self._database.write() as session:
            await session.execute(delete(_BUILDS).where(_BUILDS.c.id == build_id, _FINISHED, ~_needed(used_after)))


def _needed(used_after: datetime) -> ColumnElement[bool]:
    """Return whether somebody needs the build."""
    active = or_(_CHILDREN.c.status.in_(RUNNABLE), _CHILDREN.c.updated_at >= used_after)
    children = exists(select(_CHILDREN.c.id).where(_CHILDREN.c.parent_id == _BUILDS.c.id, active))
    runs = exists(select(col(EvaluationRow.build_id)).where(col(EvaluationRow.build_id) == _BUILDS.c.id))
    return or_(children, runs)


def _size() -> ColumnElement[int]:
    """Return the bytes of a build with its recorded calls."""
    own = [func.length(cast(_BUILDS.c[name], Text)) for name in ("state", "request", "invariants")]
    words = [func.coalesce(func.length(cast(_EVENTS.c[name], Text)), 0) for name in _LET_GO]
    calls = select(func.coalesce(func.sum(sum(words, start=func.length("")) + _CALL_BYTES), 0)).where(
        _EVENTS.c.build_id == _BUILDS.c.id
    )
    size: ColumnElement[int] = sum(own, start=func.coalesce(func.length(_BUILDS.c.xml), 0)) + calls.scalar_subquery()
    return size


def compact(url: str) -> None:
    """Give unused space back to the disk (blocking); writers wait meanwhile on an SQLite file.

    Raises:
        StorageError: the database cannot be opened, or is in use too much.
    """
    if sqlite_file(url) is None:
        options = connection_options(statement_timeout=_COMPACT_TIMEOUT)
        engine = create_engine(server(url), connect_args=options, isolation_level="AUTOCOMMIT")
    else:
        engine = create_engine(make_url(url).set(drivername="sqlite"), isolation_level="AUTOCOMMIT")
        event.listen(engine, "connect", lambda connection, _record: set_pragmas(connection))
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("VACUUM")
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    except SQLAlchemyError as exc:
        msg = f"the database cannot be compacted now: {getattr(exc, 'orig', exc)}"
        raise StorageError(msg) from exc
    finally:
        engine.dispose()
