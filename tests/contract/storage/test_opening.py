"""Opening, upgrading, locking and checking an SQLite store."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text
from sqlmodel import SQLModel

from app.core.errors import StorageBusy, StorageError, StorageLocked
from app.model.record import ProgressData
from app.model.state import BuildState
from app.storage.base import Checkpoint
from app.storage.store import Storage, check_database, is_current, open_storage, upgrade
from tests.fakes.steps import new_record

HOLDER = """
import asyncio, sys
from app.storage.store import open_storage
async def main():
    async with open_storage(sys.argv[1]):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
asyncio.run(main())
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}"


async def test_a_second_owner_is_refused_and_a_reader_is_not(storage: Storage, url: str) -> None:
    record = await storage.builds.insert(new_record())
    with pytest.raises(StorageLocked, match="BUILDWRIGHT_DATABASE_URL"):
        async with open_storage(url):
            pass
    async with open_storage(url, exclusive=False) as reader:
        assert await reader.builds.get(record.id) == record


def test_a_second_process_is_refused_until_the_first_is_gone(url: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StorageLocked, match=f"pid {holder.pid}"):
            asyncio.run(_open(url))
        holder.kill()
    asyncio.run(_open(url))


async def test_a_reader_may_come_first(url: str) -> None:
    async with open_storage(url, exclusive=False) as reader:
        assert await reader.builds.page() == ([], None)
        async with open_storage(url) as owner:
            record = await owner.builds.insert(new_record())
        assert await reader.builds.get(record.id) == record


async def test_the_file_is_durable_and_concurrent(storage: Storage) -> None:
    async with storage.database.write() as session:
        found = [await session.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")]
        keys, busy = [await session.scalar(text(f"PRAGMA {name}")) for name in ("foreign_keys", "busy_timeout")]
    assert found == ["wal", 2]
    assert (keys, busy) == (1, 5000)


async def test_readers_do_not_wait_for_a_writer(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    async with storage.database.write():
        assert await asyncio.wait_for(storage.builds.get(record.id), 30) == record


async def test_a_foreign_writer_is_waited_for(storage: Storage, tmp_path: Path) -> None:
    record = await storage.builds.insert(new_record())
    with closing(sqlite3.connect(tmp_path / "builds.db", isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        claiming = asyncio.create_task(storage.builds.claim(record.id))
        await asyncio.sleep(0.3)
        assert not claiming.done()
        foreign.execute("COMMIT")
    assert await claiming is not None


async def test_a_lock_that_stays_is_reported_as_busy(storage: Storage, tmp_path: Path) -> None:
    record = await storage.builds.insert(new_record())
    async with storage.database.write() as session:
        await session.execute(text("PRAGMA busy_timeout = 50"))
    with closing(sqlite3.connect(tmp_path / "builds.db", isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy):
            await storage.builds.claim(record.id)
    assert (await storage.builds.get(record.id)).epoch == 0


async def test_a_full_disk_loses_no_checkpoint_and_writes_no_half(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    await storage.builds.claim(record.id)
    async with storage.database.write() as session:
        pages = await session.scalar(text("PRAGMA page_count"))
        await session.execute(text(f"PRAGMA max_page_count = {pages}"))
    big = Checkpoint(state=BuildState(caveats=["x" * 400_000]), progress=[("step", ProgressData())])
    with pytest.raises(StorageError, match="full"):
        await storage.builds.checkpoint(record.id, 1, big)
    assert len(await storage.builds.progress(record.id)) == 2
    async with storage.database.write() as session:
        await session.execute(text("PRAGMA max_page_count = 1000000"))
    await storage.builds.checkpoint(record.id, 1, big)
    assert (await storage.builds.get(record.id)).state == big.state
    assert await check_database(storage.database) == []


@pytest.mark.parametrize("url", ["sqlite+aiosqlite://", "sqlite+aiosqlite:///:memory:", "no url", ""])
async def test_a_store_needs_a_real_address(url: str) -> None:
    with pytest.raises(StorageError):
        await _open(url)


async def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError):
        await _open(f"sqlite+aiosqlite:///{tmp_path / 'file' / 'builds.db'}")


def test_a_file_of_a_newer_version_is_refused(url: str, tmp_path: Path) -> None:
    upgrade(url)
    with sqlite3.connect(tmp_path / "builds.db") as file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
    file.close()
    with pytest.raises(StorageError, match="does not know"):
        asyncio.run(_open(url))
    assert not is_current(url)


def test_something_that_is_no_database_is_refused(url: str, tmp_path: Path) -> None:
    (tmp_path / "builds.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StorageError):
        asyncio.run(_open(url))


def test_the_scripts_make_exactly_the_tables_of_the_code(url: str, tmp_path: Path) -> None:
    assert not is_current(url)
    upgrade(url)
    upgrade(url)
    assert is_current(url)
    engine = create_engine(f"sqlite:///{tmp_path / 'builds.db'}")
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), SQLModel.metadata)
    engine.dispose()
    assert differences == []


def test_an_older_file_is_upgraded_with_everything_in_it(url: str, tmp_path: Path) -> None:
    upgrade(url, "0001")
    now = "2026-01-01 00:00:00"
    with sqlite3.connect(tmp_path / "builds.db") as file:
        file.execute(
            "INSERT INTO build (id, status, epoch, attempts, cancel_requested, progress_seq, event_seq, request,"
            " invariants, state, created_at, updated_at)"
            " VALUES ('old', 'running', 3, 0, 0, 1, 0, '{\"prompt\": \"a witch\"}', '{}', '{}', ?, ?)",
            (now, now),
        )
        file.execute("INSERT INTO build_progress VALUES ('old', 1, 'step', '{}', ?)", (now,))
    file.close()
    assert not is_current(url)

    async def read() -> tuple[int, int, list[str]]:
        async with open_storage(url) as storage:
            record = await storage.builds.get("old")
            told = await storage.builds.progress("old")
            return record.epoch, len(told), await check_database(storage.database)

    assert asyncio.run(read()) == (3, 1, [])


def test_owners_and_keys_of_an_older_file_are_kept(url: str, tmp_path: Path) -> None:
    upgrade(url, "0006")
    now = "2026-01-01 00:00:00"
    builds = {
        "today": ({"prompt": "a witch", "owner": "alice"}, {}),
        "schema-1.0": ({"prompt": "a witch"}, {"schema_version": "1.0", "owner": "bob"}),
        "nobody": ({"prompt": "a witch"}, {}),
    }
    with sqlite3.connect(tmp_path / "builds.db") as file:
        for build_id, (request, state) in builds.items():
            file.execute(
                "INSERT INTO build (id, status, epoch, attempts, cancel_requested, progress_seq, request, invariants,"
                " state, created_at, updated_at) VALUES (?, 'queued', 0, 0, 0, 0, ?, '{}', ?, ?, ?)",
                (build_id, json.dumps(request), json.dumps(state), now, now),
            )
        file.execute("INSERT INTO idempotency VALUES ('key', 'today', 'hash', ?)", (now,))
    file.close()

    async def owners() -> dict[str, str]:
        async with open_storage(url) as storage:
            return {build_id: (await storage.builds.get(build_id)).owner for build_id in builds}

    assert asyncio.run(owners()) == {"today": "alice", "schema-1.0": "bob", "nobody": "local"}
    with sqlite3.connect(tmp_path / "builds.db") as file:
        assert file.execute("SELECT owner, key, build_id FROM idempotency").fetchall() == [("alice", "key", "today")]
    file.close()


async def test_check_finds_a_wrong_counter_and_an_orphan(storage: Storage, tmp_path: Path) -> None:
    record = await storage.builds.insert(new_record())
    assert await check_database(storage.database) == []
    with sqlite3.connect(tmp_path / "builds.db") as file:
        file.execute("UPDATE build SET progress_seq = 3")
        file.execute("INSERT INTO build_progress VALUES ('nobody', 1, 'step', '{}', '2026-01-01')")
    file.close()
    assert await check_database(storage.database) == [
        f"build {record.id}: its progress events are not numbered 1 to N",
        "a row of build_progress belongs to no build",
    ]


async def _open(url: str) -> None:
    async with open_storage(url):
        pass
