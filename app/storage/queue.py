"""Every SQL statement of ours on the queue's tables: procrastinate's own, in a PostgreSQL schema of their own.

The queue only says when somebody should look at a build; what is true of a build stands in its row.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib import resources
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    DateTime,
    Executable,
    Integer,
    String,
    Subquery,
    cast,
    column,
    exists,
    func,
    or_,
    select,
    table,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ENUM
from sqlmodel import col

from app.model.names import BuildStatus, Mode
from app.storage.builds import RUNNABLE
from app.storage.failures import typed_errors
from app.storage.postgres import engine_for
from app.storage.tables import BuildRow

BUILDS = "builds"
"""The queue that every worker takes from; a command that works for itself has a queue of its own."""
SCHEMA = "queue"
SEARCH_PATH = f"{SCHEMA},public"
_SWEEPING = 7_240_118
"""The advisory lock of whoever brings jobs and builds together."""
_PLACES = 50
"""Beyond this place in an owner's line the order is by age alone."""
_REMEMBERED = timedelta(hours=1)
_LEFT_BEHIND = timedelta(minutes=10)
"""A job in the queue of one command that waits so long has outlived the command."""

_PREPARED = "CREATE TABLE IF NOT EXISTS buildwright_migration (name text PRIMARY KEY)"
_INDEX = """
CREATE INDEX IF NOT EXISTS buildwright_jobs_lock_idx ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing')
"""
"""Without it, fetching a job gets ten times slower once some hundred thousand builds wait."""

_STATUS = ENUM("todo", "doing", name="procrastinate_job_status", create_type=False)
_JOBS = table(
    "procrastinate_jobs",
    column("id", Integer),
    column("lock", String),
    column("status", _STATUS),
    column("priority", Integer),
    column("queue_name", String),
    column("worker_id", Integer),
)
_EVENTS = table("procrastinate_events", column("job_id", Integer), column("at", DateTime(timezone=True)))
_WORKERS = table("procrastinate_workers", column("id", Integer), column("last_heartbeat", DateTime(timezone=True)))
_WAITING, _DOING = "todo", "doing"
_UNFINISHED = col(BuildRow.status).in_(RUNNABLE)
_JOBLESS = (
    select(col(BuildRow.id))
    .where(
        _UNFINISHED,
        or_(col(BuildRow.not_before).is_(None), col(BuildRow.not_before) <= func.now()),
        ~exists().where(_JOBS.c.lock == col(BuildRow.id), _JOBS.c.status.in_((_WAITING, _DOING))),
    )
    .order_by(col(BuildRow.created_at), col(BuildRow.id))
)


def _placed(*which: ColumnElement[bool]) -> Subquery:
    """Return the priority that each unfinished build has by now, of `which` owners; greater is earlier.

    Fair shares: the first build of each owner goes before the second of any other. What runs has its place in the line
    of its owner, and so has what was asked for and made within the hour. Of equals a refinement goes first: somebody
    sits and waits for it.
    """
    lately = (~_UNFINISHED, col(BuildRow.created_at) > func.now() - _REMEMBERED)
    made = (
        select(col(BuildRow.owner), func.count().label("many")).where(*lately).group_by(col(BuildRow.owner)).subquery()
    )
    line = (col(BuildRow.status) == BuildStatus.QUEUED.value, col(BuildRow.created_at), col(BuildRow.id))
    place = func.row_number().over(partition_by=col(BuildRow.owner), order_by=line) - 1 + func.coalesce(made.c.many, 0)
    urgent = col(BuildRow.request)["mode"].as_string() == Mode.REFINEMENT.value
    lined = (
        select(col(BuildRow.id), cast(urgent, Integer).label("urgent"), place.label("place"))
        .outerjoin(made, made.c.owner == col(BuildRow.owner))
        .where(_UNFINISHED, *which)
        .subquery()
    )
    return select(lined.c.id, (lined.c.urgent - 2 * func.least(lined.c.place, _PLACES)).label("priority")).subquery()


def prepare(connection: Connection) -> None:
    """Bring the queue's tables to the version of the installed library, within the caller's transaction."""
    connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
    connection.execute(text(f"SET LOCAL search_path TO {SEARCH_PATH}"))
    new = connection.scalar(text("SELECT to_regclass('procrastinate_jobs')")) is None
    connection.execute(text(_PREPARED))
    applied = set(connection.scalars(text("SELECT name FROM buildwright_migration")))
    files = resources.files("procrastinate.sql")
    scripts = sorted(
        (file for file in (files / "migrations").iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    if new:
        _script(connection, (files / "schema.sql").read_text(encoding="utf-8"))
    for script in scripts:
        if script.name in applied:
            continue
        if not new:
            _script(connection, script.read_text(encoding="utf-8"))
        connection.execute(text("INSERT INTO buildwright_migration VALUES (:name)"), {"name": script.name})
    connection.execute(text(_INDEX))
    connection.execute(text("SET LOCAL search_path TO DEFAULT"))


def _script(connection: Connection, statements: str) -> None:
    """Execute a file of statements, which have no parameters."""
    cursor = connection.connection.cursor()
    cursor.execute(statements)
    cursor.close()


class QueueTables:
    """What workers ask about jobs and builds together; each method is one transaction."""

    def __init__(self, url: str) -> None:
        self._engine = engine_for(url, connections=3, search_path=SEARCH_PATH)

    @asynccontextmanager
    async def sweeping(self) -> AsyncIterator[bool]:
        """Be the only one who sweeps, for a while; False when another worker is.

        Raises:
            StorageError: the database failed.
        """
        with typed_errors():
            async with self._engine.begin() as connection:
                mine = text("SELECT pg_try_advisory_xact_lock(:lock)")
                yield bool((await connection.execute(mine, {"lock": _SWEEPING})).scalar())

    async def jobless(self, most: int = 1000) -> list[str]:
        """Return ids of unfinished builds for which no job waits or runs, oldest first."""
        return [row[0] for row in await self._rows(_JOBLESS.limit(most))]

    async def priority(self, build_id: str) -> int:
        """Return how early the build is to run; greater is earlier. 0 when it need not run at all."""
        owner = select(col(BuildRow.owner)).where(col(BuildRow.id) == build_id).correlate(None).scalar_subquery()
        placed = _placed(col(BuildRow.owner) == owner)
        rows = await self._rows(select(placed.c.priority).where(placed.c.id == build_id))
        return int(rows[0][0]) if rows else 0

    async def rank(self) -> None:
        """Give every waiting job the priority that its build has by now."""
        placed = _placed()
        moved = (_JOBS.c.lock == placed.c.id, _JOBS.c.status == _WAITING, _JOBS.c.priority != placed.c.priority)
        await self._rows(update(_JOBS).where(*moved).values(priority=placed.c.priority).returning(_JOBS.c.id))

    async def left_behind(self) -> list[int]:
        """Return ids of jobs that wait in the queue of a command that is long gone."""
        lately = exists().where(_EVENTS.c.job_id == _JOBS.c.id, _EVENTS.c.at > func.now() - _LEFT_BEHIND)
        waiting = (_JOBS.c.status == _WAITING, _JOBS.c.queue_name != BUILDS)
        return [row[0] for row in await self._rows(select(_JOBS.c.id).where(*waiting, ~lately))]

    async def doing(self, worker: int) -> dict[str, int]:
        """Return the jobs that the worker is said to do: their ids by build."""
        given = (_JOBS.c.status == _DOING, _JOBS.c.worker_id == worker)
        return {row[0]: row[1] for row in await self._rows(select(_JOBS.c.lock, _JOBS.c.id).where(*given))}

    async def workers(self, within: timedelta) -> int:
        """Return how many workers gave a sign of life within the time."""
        alive = select(func.count(_WORKERS.c.id)).where(_WORKERS.c.last_heartbeat > func.now() - within)
        return int((await self._rows(alive))[0][0])

    async def close(self) -> None:
        """Close the connections."""
        await self._engine.dispose()

    async def _rows(self, statement: Executable) -> Sequence[Any]:
        with typed_errors():
            async with self._engine.begin() as connection:
                return (await connection.execute(statement)).all()
