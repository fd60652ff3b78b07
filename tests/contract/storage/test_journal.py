"""What the journal promises beside other writers."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from app.core.errors import StorageBusy, StorageError
from app.model.events import ToolEvent
from app.storage import journal
from app.storage.sqlite import sqlite_file
from app.storage.store import Storage
from app.storage.tables import BuildRow
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}"


@pytest.fixture
async def event(storage: Storage) -> ToolEvent:
    build = (await storage.builds.insert(new_record())).id
    return an_open_event(build)


@pytest.fixture
def other(storage: Storage) -> Iterator[sqlite3.Connection]:
    """Another connection that holds the write lock."""
    path = sqlite_file(storage.database.url)
    assert path is not None
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


async def test_a_record_waits_for_another_writer_without_stopping_the_loop(
    storage: Storage, event: ToolEvent, other: sqlite3.Connection
) -> None:
    writing = asyncio.create_task(storage.events.start(event))
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert not writing.done(), "a loop that stands still gets here when the waiting is over"
    other.execute("ROLLBACK")
    assert (await writing).seq == 1


async def test_a_lock_that_never_comes_free_is_named(
    storage: Storage, event: ToolEvent, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "BUSY_TIMEOUT_MS", 50)
    with pytest.raises(StorageBusy):
        await storage.events.start(event)
    other.close()
    assert (await storage.events.start(event)).seq == 1


async def test_a_record_is_in_the_file_before_the_call_is_made(storage: Storage, event: ToolEvent) -> None:
    stored = await storage.events.start(event)
    path = sqlite_file(storage.database.url)
    assert path is not None
    reader = sqlite3.connect(path)
    rows = reader.execute("SELECT seq, outcome FROM tool_event WHERE build_id = ?", (event.build_id,)).fetchall()
    reader.close()
    assert rows == [(stored.seq, "incomplete")]


async def test_times_are_kept_in_utc_and_never_without_a_zone(storage: Storage, event: ToolEvent) -> None:
    at = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))
    await storage.events.start(event.model_copy(update={"started_at": at}))
    assert [kept.started_at for kept in await storage.events.all(event.build_id)] == [at]
    assert [kept.started_at for kept in await storage.events.measured(event.build_id)] == [at]
    naive = event.model_copy(update={"started_at": datetime(2026, 3, 1), "call_id": "other"})  # noqa: DTZ001
    with pytest.raises(ValueError, match="time zone"):
        await storage.events.start(naive)


async def test_a_broken_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"this is no database" * 100)
    statement = journal.Statement(select(col(BuildRow.id)), {})
    with pytest.raises(StorageError):
        await journal.SqliteJournal(tmp_path / "x.db").write(statement, {})
    with pytest.raises(StorageError):
        await journal.SqliteJournal(tmp_path / "x.db").read(statement, {}, tuple)
