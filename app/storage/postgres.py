"""What is PostgreSQL's alone: its address, how each connection is set up, and where single statements go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.core.errors import StorageBusy, StorageError
from app.storage.failures import typed_errors
from app.storage.journal import Statement

T = TypeVar("T")
STATEMENT_TIMEOUT = "30s"
IDLE_TIMEOUT = "10s"
"""A process that is stopped within a transaction would keep its locks for ever; shorter than a worker may be silent."""
_CONNECT_TIMEOUT_S = 5
_DEAD_PEER_S = 20
"""After how long without any acknowledgement a connection counts as lost."""
_WRITERS = 3
_READERS = 5
_SAME_NUMBER = 20
_NUMBER_TAKEN = "tool_event_pkey"
_MIGRATING = 7_240_117
"""The advisory lock of whoever changes the schema."""


def server(url: str) -> URL:
    """Return the address with the one driver that is used.

    Raises:
        StorageError: it names another kind of database.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "postgresql":
        msg = "only an SQLite file or a PostgreSQL server can be the store"
        raise StorageError(msg)
    return parsed.set(drivername="postgresql+psycopg")


def connection_options(**settings: str) -> dict[str, Any]:
    """Return what every connection is opened with: a server that is gone is noticed, and nothing waits for ever.

    `settings` are PostgreSQL's own, for example `search_path`.
    """
    known = {
        "statement_timeout": STATEMENT_TIMEOUT,
        "idle_in_transaction_session_timeout": IDLE_TIMEOUT,
        "timezone": "UTC",
        **settings,
    }
    return {
        "connect_timeout": _CONNECT_TIMEOUT_S,
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 2,
        "tcp_user_timeout": 1000 * _DEAD_PEER_S,
        "options": " ".join(f"-c {name}={value}" for name, value in known.items()),
    }


def writing_engine(url: str) -> AsyncEngine:
    """Return the connections that write; rows are locked, nothing else."""
    return engine_for(url, _WRITERS)


def reading_engine(url: str) -> AsyncEngine:
    """Return the connections that read, each transaction from one moment."""
    engine = engine_for(url, _READERS)
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def engine_for(url: str, connections: int, **settings: str) -> AsyncEngine:
    """Return at most so many connections with these settings of PostgreSQL's; each is tried before it is used."""
    return create_async_engine(
        server(url),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=30,
        pool_pre_ping=True,
        connect_args=connection_options(**settings),
    )


class PostgresJournal:
    """A few connections that commit each statement by itself and do not wait for the disk.

    What they wrote survives the end of this process, and the server's, too, as soon as a durable transaction follows:
    the log is written in order.
    """

    immediate = False

    def __init__(self, url: str) -> None:
        engine = engine_for(url, 2, synchronous_commit="off")
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    async def write(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Execute the statement and return its rows; a number that another writer took at once is taken anew.

        Raises:
            IntegrityError: a constraint forbids it.
            StorageBusy: the server cannot be reached for the moment.
            StorageError: the database failed.
        """
        for _ in range(_SAME_NUMBER):
            try:
                return await self._rows(statement, values)
            except IntegrityError as exc:
                if _NUMBER_TAKEN not in str(exc.orig):
                    raise
        msg = "too many writers of one build at once"
        raise StorageBusy(msg)

    async def read(
        self, statement: Statement, values: Mapping[str, Any], form: Callable[[tuple[Any, ...]], T]
    ) -> list[T]:
        """Return the rows in the given form.

        Raises:
            StorageError: the database failed.
        """
        rows = await self._rows(statement, values)
        return await asyncio.to_thread(lambda: [form(row) for row in rows])

    async def _rows(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with typed_errors():
            async with self._engine.connect() as connection:
                return [tuple(row) for row in (await connection.execute(statement.form, dict(values))).all()]

    async def close(self) -> None:
        """Close the connections."""
        await self._engine.dispose()


def migrate_alone(connection: Connection) -> None:
    """Wait until nobody else changes the schema; nobody else will until the end of the transaction."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATING})
