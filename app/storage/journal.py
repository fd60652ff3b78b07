"""Single statements about what happens, each a transaction of its own, for the price of the statement alone."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Column, Insert, Select, Update
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import IntegrityError

from app.core.errors import StorageBusy, StorageError, StorageFull
from app.storage.failures import NO_ROOM
from app.storage.sqlite import BUSY_TIMEOUT_MS, set_pragmas

T = TypeVar("T")
_FIRST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.02
_DIALECT = SQLiteDialect_pysqlite(paramstyle="named")


class Statement:
    """A statement for any database; `columns` names the column that each parameter is a value of."""

    def __init__(self, form: Insert | Update | Select[Any], columns: Mapping[str, Column[Any]]) -> None:
        self.form = form
        self._columns = columns

    @cached_property
    def sql(self) -> str:
        """The text that SQLite is given."""
        return str(self.form.compile(dialect=_DIALECT))

    def bound(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values as SQLite stores them."""
        known = {**self._fixed, **values}
        for name, convert in self._conversions.items():
            known[name] = convert(known[name])
        return known

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        params = self.form.compile(dialect=_DIALECT).params
        return {name: value for name, value in params.items() if value is not None}

    @cached_property
    def _conversions(self) -> dict[str, Callable[[Any], Any]]:
        found = {n: c.type.dialect_impl(_DIALECT).bind_processor(_DIALECT) for n, c in self._columns.items()}
        return {name: convert for name, convert in found.items() if convert is not None}


class Journal(Protocol):
    """Where single statements go; each is a transaction of its own. `immediate`: mostly without waiting."""

    immediate: bool

    async def write(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Execute the statement and return its rows.

        Raises:
            IntegrityError: a constraint forbids it.
            StorageBusy: the database cannot be written for the moment.
            StorageError: the database failed.
        """
        ...

    async def read(
        self, statement: Statement, values: Mapping[str, Any], form: Callable[[tuple[Any, ...]], T]
    ) -> list[T]:
        """Return the rows in the given form, without stopping the loop: for a great many small rows.

        Raises:
            StorageError: the database failed.
        """
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


class SqliteJournal:
    """One plain connection to an SQLite file, used in the loop's own thread.

    A statement costs some tens of microseconds and no wait: it never waits for the disk (`synchronous` NORMAL; what it
    wrote survives the end of the process, and becomes durable with the next durable commit), it never copies the log
    into the database (durable commits do), and while another writer has the lock it is tried again after a pause that
    leaves the loop to others. Handing it to a thread and back costs a hundred times as much on a loaded machine.
    """

    immediate = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    async def write(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Execute the statement and return its rows.

        Raises:
            IntegrityError: a constraint forbids it.
            StorageBusy: the write lock was not free in time.
            StorageError: the database failed.
        """
        bound, deadline_s, pause_s = statement.bound(values), time.monotonic() + BUSY_TIMEOUT_MS / 1000, _FIRST_PAUSE_S
        while (rows := self._try(statement.sql, bound)) is None:
            if time.monotonic() > deadline_s:
                msg = "the database is locked by another writer"
                raise StorageBusy(msg)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return rows

    async def read(
        self, statement: Statement, values: Mapping[str, Any], form: Callable[[tuple[Any, ...]], T]
    ) -> list[T]:
        """Return the rows in the given form, made in one visit to a thread: for a great many small rows.

        Raises:
            StorageError: the database failed.
        """
        return await asyncio.to_thread(self._read, statement.sql, statement.bound(values), form)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _try(self, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]] | None:
        """Return the rows, None while another writer has the lock."""
        try:
            return self._opened().execute(sql, values).fetchall()
        except sqlite3.IntegrityError as exc:
            raise IntegrityError(sql, None, exc) from exc
        except sqlite3.Error as exc:
            if getattr(exc, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                return None
            if getattr(exc, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
                raise StorageFull(NO_ROOM) from exc
            msg = f"the database failed: {exc}"
            raise StorageError(msg) from exc

    def _read(self, sql: str, values: Mapping[str, Any], form: Callable[[tuple[Any, ...]], T]) -> list[T]:
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
                return [form(row) for row in connection.execute(sql, values)]
        except sqlite3.Error as exc:
            msg = f"the database failed: {exc}"
            raise StorageError(msg) from exc

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, isolation_level=None)
            set_pragmas(connection, synchronous="NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("PRAGMA busy_timeout = 0")
            self._connection = connection
        return self._connection
