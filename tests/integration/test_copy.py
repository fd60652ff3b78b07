"""A store moves to a server, and back."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlmodel import SQLModel

from app.core.errors import Conflict, StorageError, StorageLocked
from app.model.events import CallOutcome
from app.model.record import ProgressData
from app.model.state import BuildState
from app.storage.base import Checkpoint, KeptResult
from app.storage.copy import copy_store
from app.storage.store import check_database, connected, open_storage
from tests.crash.harness import url_in
from tests.databases import emptied_database
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record

pytestmark = pytest.mark.postgres
NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def fill(url: str) -> str:
    """Store a build under way with everything that belongs to one, and return its id."""
    async with open_storage(url) as storage:
        record = await storage.builds.insert(new_record("größer ≥ 1", xml=b"\x00\xff"), "key")
        await storage.builds.claim(record.id)
        event = await storage.events.start(an_open_event(record.id, epoch=1, args={"text": "a\x00b"}))
        await storage.events.finish(event.model_copy(update={"outcome": CallOutcome.OK, "usage": {"input": 1}}))
        change = Checkpoint(state=BuildState(caveats=["x"]), progress=[("step", ProgressData(label="one"))])
        await storage.builds.checkpoint(record.id, 1, change)
        await storage.results.keep([KeptResult(name, "t", b"data", NOW) for name in ("a", "b")], 10_000)
        return record.id


def contents(url: str) -> dict[str, list[dict[str, Any]]]:
    with connected(url) as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
            for table in SQLModel.metadata.sorted_tables
        }


def test_everything_arrives_and_goes_on(tmp_path: Path) -> None:
    source, target = url_in(tmp_path), emptied_database()
    build = asyncio.run(fill(source))
    counts = copy_store(source, target)
    before = contents(source)
    assert contents(target) == before
    assert counts == {name: len(rows) for name, rows in before.items()}
    assert counts["tool_event"] == counts["build"] == 1

    async def go_on() -> None:
        async with open_storage(target) as storage:
            assert await storage.builds.runnable() == [build]
            await storage.results.keep([KeptResult("c", "t", b"data", NOW)], 10_000)
            assert [kept.key for kept in await storage.results.find("a")] == ["a", "b", "c"]
            claimed = await storage.builds.claim(build)
            assert claimed is not None
            assert claimed.epoch == 2
            assert (await storage.events.start(an_open_event(build, epoch=2))).seq == 2
            assert await check_database(storage.database) == []

    asyncio.run(go_on())


def test_it_goes_back_as_well(tmp_path: Path) -> None:
    source, target = emptied_database(), url_in(tmp_path)
    asyncio.run(fill(source))
    copy_store(source, target)
    assert contents(target) == contents(source)


def test_what_has_something_in_it_is_no_target(tmp_path: Path) -> None:
    source, target = url_in(tmp_path), emptied_database()
    asyncio.run(fill(source))
    asyncio.run(fill(target))
    before = contents(target)
    with pytest.raises(Conflict, match="build"):
        copy_store(source, target)
    assert contents(target) == before


def test_a_copy_that_breaks_leaves_nothing_and_can_be_made_again(tmp_path: Path) -> None:
    source, target = url_in(tmp_path), emptied_database()
    asyncio.run(fill(source))
    with connected(source) as connection:
        table = SQLModel.metadata.tables["kept_result"]
        row = {"key": "k" * 100, "tool": "t", "size": 1, "born_at": NOW, "used_at": NOW, "data": b"x"}
        connection.execute(insert(table), [row])
    with pytest.raises(StorageError, match="value too long"):
        copy_store(source, target)
    assert not any(contents(target).values())
    with sqlite3.connect(tmp_path / "builds.db") as file:
        file.execute("DELETE FROM kept_result WHERE length(key) > 64")
    file.close()
    assert copy_store(source, target)["build"] == 1


def test_a_store_that_somebody_writes_is_not_copied(tmp_path: Path) -> None:
    source, target = url_in(tmp_path), emptied_database()

    async def beside() -> None:
        async with open_storage(source):
            with pytest.raises(StorageLocked):
                await asyncio.to_thread(copy_store, source, target)

    asyncio.run(beside())


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no database"):
        copy_store(url_in(tmp_path), emptied_database())
    assert list(tmp_path.iterdir()) == []
