"""A whole store into an empty one, of the same or another kind: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, Table, func, insert, select, text
from sqlmodel import SQLModel

from app.core.errors import Conflict, StorageError
from app.storage.sqlite import sqlite_file
from app.storage.store import connected, owned, upgrade

_ROWS = 200


def copy_store(source: str, target: str) -> dict[str, int]:
    """Copy every row and return how many there are by table (blocking).

    Everything is written in one transaction: whatever goes wrong, the target is as empty as before, and the copy can
    be begun anew. An SQLite file is owned meanwhile, so nobody writes to it; stop what uses a server.

    Raises:
        StorageLocked: a process makes builds on the source.
        Conflict: there is something in the target already.
        StorageError: one of them cannot be used, or what arrived is not what was sent.
    """
    file = sqlite_file(source)
    if file is not None and not file.is_file():
        msg = f"there is no database at {file}"
        raise StorageError(msg)
    with owned(source), owned(target):
        upgrade(source)
        upgrade(target)
        with connected(source) as reading, connected(target) as writing:
            return _copied(reading, writing)


def _copied(reading: Connection, writing: Connection) -> dict[str, int]:
    tables = SQLModel.metadata.sorted_tables
    if full := [table.name for table in tables if _count(writing, table)]:
        msg = f"the target is not empty: it has rows in {', '.join(full)}"
        raise Conflict(msg)
    for table in tables:
        for rows in reading.execution_options(yield_per=_ROWS).execute(select(table)).mappings().partitions():
            writing.execute(insert(table), [_storable(row) for row in rows])
        _count_on(writing, table)
    counts = {table.name: _count(writing, table) for table in tables}
    if lost := [table.name for table in tables if counts[table.name] != _count(reading, table)]:
        msg = f"not every row of {', '.join(lost)} arrived; nothing was copied"
        raise StorageError(msg)
    return counts


def _storable(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the row without NUL in its texts, which PostgreSQL cannot keep."""
    return {
        name: value.replace("\x00", "\ufffd") if isinstance(value, str) else value
        for name, value in ((str(name), value) for name, value in row.items())
    }


def _count(connection: Connection, table: Table) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0


def _count_on(connection: Connection, table: Table) -> None:
    """Let a server's own numbering go on after the numbers that were copied."""
    (key, *others) = table.primary_key.columns
    if connection.dialect.name != "postgresql" or others or not isinstance(key.type, Integer):
        return
    last = connection.scalar(select(func.max(key)))
    if last is not None:
        sequence = text("SELECT setval(pg_get_serial_sequence(:table, :key), :last)")
        connection.execute(sequence, {"table": table.name, "key": key.name, "last": last})


def address_of(place: str) -> str:
    """Return the address of a store that was given as one, or as the path of an SQLite file."""
    return place if "://" in place else f"sqlite+aiosqlite:///{Path(place).resolve()}"
