"""Connections: how transactions begin, and what a database error means to us."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from app.core.eager import Backlog
from app.storage.failures import typed_errors
from app.storage.journal import Journal, SqliteJournal
from app.storage.postgres import PostgresJournal, reading_engine, writing_engine
from app.storage.sqlite import set_pragmas, sqlite_file

_READERS = 8


class Database:
    """Three ways in: `write` takes the write lock at once (BEGIN IMMEDIATE on SQLite), `read` never does, `journal`
    is for single statements about what happens.

    A deferred BEGIN that later writes fails at once when another writer came first; taking the lock first waits.
    Writers of this process queue for one connection, so they wait in order instead of polling the file's lock.
    On PostgreSQL, writers lock rows, and a few of them work side by side.
    What the journal writes survives the end of the process like everything else. Only a power cut can lose it, and
    only when nothing was written through `write` since: each durable commit makes what came before it durable, too.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        path = sqlite_file(url)
        self.journal: Journal
        if path is None:
            self._writer, self._reader = writing_engine(url), reading_engine(url)
            self.journal = PostgresJournal(url)
        else:
            self._writer = _engine(url, "BEGIN IMMEDIATE", connections=1)
            self._reader = _engine(url, "BEGIN", connections=_READERS)
            self.journal = SqliteJournal(path)
        self._backlog = Backlog()
        self._write_sessions = async_sessionmaker(self._writer, expire_on_commit=False)
        self._read_sessions = async_sessionmaker(self._reader, expire_on_commit=False)

    @property
    def writers(self) -> tuple[AsyncEngine, ...]:
        """Return the engines that write durable transactions."""
        return (self._writer,)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncSession]:
        """Open one write transaction: committed at the end, rolled back by any error.

        Raises:
            StorageBusy: the write lock was not free in time.
            StorageError: the database failed.
        """
        await self.settled()
        with typed_errors():
            async with self._write_sessions.begin() as session:
                yield session

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this work of the journal's when the loop is next free, at the latest before the next transaction here.

        Nobody waits for it, so it goes on while whoever left it does something else, and it must raise nothing.
        """
        self._backlog.add(work)

    async def settled(self) -> None:
        """Return when what was left for `soon` is done."""
        await self._backlog.settled()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncSession]:
        """Open one read transaction: a stable view of the database.

        Raises:
            StorageError: the database failed.
        """
        await self.settled()
        with typed_errors():
            async with self._read_sessions.begin() as session:
                yield session

    async def close(self) -> None:
        """Close every connection."""
        await self.settled()
        await self.journal.close()
        for engine in (self._writer, self._reader):
            await engine.dispose()


def _engine(url: str, begin: str, connections: int) -> AsyncEngine:
    engine = create_async_engine(url, pool_size=connections, max_overflow=0, pool_timeout=30)

    @event.listens_for(engine.sync_engine, "connect")
    def on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver must not begin transactions of its own
        set_pragmas(connection)

    event.listen(engine.sync_engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine
