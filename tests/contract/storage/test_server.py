"""What only a database server does: several owners, schema changes side by side, connections that are cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, text
from sqlmodel import SQLModel

from app.core.errors import StorageBusy, StorageError
from app.model.record import ProgressData
from app.model.state import BuildState
from app.storage.base import Checkpoint
from app.storage.store import Storage, check_database, is_current, open_storage, upgrade
from tests.databases import emptied_database, fresh_database
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record

pytestmark = pytest.mark.postgres


@pytest.fixture
def url() -> str:
    return emptied_database()


@pytest.fixture
def empty_url() -> Iterator[str]:
    with fresh_database() as address:
        yield address


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"include_name": ours})
    return list(compare_metadata(context, SQLModel.metadata))


def ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or name in SQLModel.metadata.tables


def test_the_scripts_make_exactly_the_tables_of_the_code(empty_url: str) -> None:
    assert not is_current(empty_url)
    with ThreadPoolExecutor(3) as together:
        list(together.map(upgrade, [empty_url] * 3))
    assert is_current(empty_url)
    engine = create_engine(empty_url)
    with engine.connect() as connection:
        found = differences(connection)
    engine.dispose()
    assert found == []


def test_an_older_database_is_upgraded_with_everything_in_it(empty_url: str) -> None:
    upgrade(empty_url, "0001")
    engine = create_engine(empty_url)
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO build (id, status, epoch, attempts, cancel_requested, progress_seq, event_seq, request,"
                " invariants, state, created_at, updated_at)"
                " VALUES ('old', 'running', 3, 0, false, 1, 0, :request, '{}', '{}', now(), now())"
            ),
            {"request": json.dumps({"prompt": "a witch"})},
        )
        connection.execute(text("INSERT INTO build_progress VALUES ('old', 1, 'step', '{}', now())"))
    engine.dispose()
    assert not is_current(empty_url)

    async def read() -> tuple[int, int, list[str]]:
        async with open_storage(empty_url) as storage:
            record = await storage.builds.get("old")
            told = await storage.builds.progress("old")
            return record.epoch, len(told), await check_database(storage.database)

    assert asyncio.run(read()) == (3, 1, [])


async def test_several_processes_own_a_server(storage: Storage, url: str) -> None:
    record = await storage.builds.insert(new_record())
    async with open_storage(url) as second:
        assert await second.builds.get(record.id) == record


async def test_of_two_claims_at_once_the_later_one_counts(storage: Storage, url: str) -> None:
    build = (await storage.builds.insert(new_record())).id
    async with open_storage(url) as second:
        claims = await asyncio.gather(*(store.builds.claim(build) for store in (storage, second) * 5))
    assert sorted(claim.epoch for claim in claims if claim) == list(range(1, 11))
    progress = await storage.builds.progress(build)
    assert [event.data.status for event in progress] == ["queued", "running"]


async def cut_every_connection(storage: Storage) -> None:
    mine = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    async with storage.database.write() as session:
        await session.execute(text(mine))


async def test_a_cut_connection_is_busy_at_most_and_comes_back(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    await storage.builds.claim(record.id)
    event = an_open_event(record.id, epoch=1)
    await storage.events.start(event)
    with pytest.raises(StorageBusy):
        await cut_every_connection(storage)
    for _ in range(3):  # each connection notices when it is used
        try:
            await storage.events.start(an_open_event(record.id, epoch=1))
            break
        except StorageBusy:
            continue
    change = Checkpoint(state=BuildState(caveats=["x"]), progress=[("step", ProgressData())])
    await storage.builds.checkpoint(record.id, 1, change)
    assert (await storage.builds.get(record.id)).state.caveats == ["x"]
    assert await check_database(storage.database) == []


async def test_words_that_a_server_cannot_keep_are_kept_without_what_it_cannot(storage: Storage) -> None:
    build = (await storage.builds.insert(new_record())).id
    event = an_open_event(build, args={"text": "a\x00b"})
    started = await storage.events.start(event)
    ended = started.model_copy(
        update={"outcome": "error", "error_message": "nul \x00 here", "result_preview": "x\x00", "duration_ms": 1.0}
    )
    await storage.events.finish(ended)
    (found,) = await storage.events.all(build)
    assert (found.error_message, found.result_preview) == ("nul \ufffd here", "x\ufffd")
    assert found.args == {"text": "a\x00b"}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql+psycopg://nobody:secret@127.0.0.1:1/none", "cannot be opened"),
        ("mysql://localhost/builds", "only an SQLite file or a PostgreSQL server"),
    ],
)
async def test_a_server_that_cannot_be_used_is_said_so(address: str, told: str) -> None:
    with pytest.raises(StorageError, match=told) as caught:
        async with open_storage(address):
            pass
    assert "secret" not in str(caught.value)


async def test_the_driver_need_not_be_named(url: str) -> None:
    async with open_storage(url.replace("+psycopg", "")) as storage:
        assert await storage.builds.runnable() == []
