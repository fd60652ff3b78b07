"""Who may write a build's tool events: whoever holds the claim on it, and nobody later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.core.errors import LeaseLost, StorageError
from app.model.events import CallOutcome, ToolEvent
from app.model.names import BuildStatus, Phase
from app.model.state import BuildState
from app.storage.base import Checkpoint
from app.storage.database import Database
from app.storage.events import SqlEventStore
from app.storage.store import Storage
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record


@pytest.fixture
async def build(storage: Storage) -> str:
    return (await storage.builds.insert(new_record())).id


@pytest.fixture
async def late(storage: Storage) -> AsyncIterator[SqlEventStore]:
    """The events of a runner that does not know yet that another has the build: a journal of its own."""
    database = Database(storage.database.url)
    yield SqlEventStore(database)
    await database.close()


async def claim(storage: Storage, build: str) -> int:
    claimed = await storage.builds.claim(build)
    assert claimed is not None
    return claimed.epoch


async def seqs(storage: Storage, build: str) -> list[tuple[int, str]]:
    return [(event.seq, event.tool) for event in await storage.events.all(build)]


async def test_an_older_claim_appends_nothing_and_leaves_no_gap(
    storage: Storage, late: SqlEventStore, build: str
) -> None:
    older = await claim(storage, build)
    assert (await late.start(an_open_event(build, epoch=older, tool="before"))).seq == 1
    newer = await claim(storage, build)
    assert (await storage.events.start(an_open_event(build, epoch=newer, tool="after"))).seq == 2
    with pytest.raises(LeaseLost):
        await late.start(an_open_event(build, epoch=older, tool="late"))
    with pytest.raises(LeaseLost):
        await late.record(an_open_event(build, epoch=older, tool="late", outcome=CallOutcome.OK))
    assert (await storage.events.record(an_open_event(build, epoch=newer, tool="after"))).seq == 3
    assert await seqs(storage, build) == [(1, "before"), (2, "after"), (3, "after")]


async def test_two_journals_at_once_number_only_the_newer_claim(
    storage: Storage, late: SqlEventStore, build: str
) -> None:
    older, newer = await claim(storage, build), await claim(storage, build)
    writes = [
        store.start(an_open_event(build, epoch=epoch, tool=tool))
        for _ in range(25)
        for store, epoch, tool in ((late, older, "late"), (storage.events, newer, "mine"))
    ]
    ended = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(one) for one in ended[0::2]] == [LeaseLost] * 25
    assert await seqs(storage, build) == [(number, "mine") for number in range(1, 26)]


async def test_what_a_lost_claim_left_open_stays_as_the_next_one_found_it(
    storage: Storage, late: SqlEventStore, build: str
) -> None:
    started = await late.start(an_open_event(build, epoch=await claim(storage, build)))
    await claim(storage, build)
    with pytest.raises(LeaseLost):
        await late.finish(started.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.0}))
    (found,) = await storage.events.all(build)
    assert (found.outcome, found.duration_ms) == (CallOutcome.INCOMPLETE, None)


async def test_the_holder_is_told_apart_from_a_record_that_is_closed(storage: Storage, build: str) -> None:
    started = await storage.events.start(an_open_event(build, epoch=await claim(storage, build)))
    await storage.events.finish(started.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.0}))
    with pytest.raises(StorageError, match="no open event"):
        await storage.events.finish(started)


async def test_nothing_is_appended_to_a_build_that_has_ended(storage: Storage, build: str) -> None:
    epoch = await claim(storage, build)
    state = (await storage.builds.get(build)).state
    await storage.builds.checkpoint(build, epoch, Checkpoint(state, BuildStatus.CANCELLED))
    with pytest.raises(LeaseLost):
        await storage.events.start(an_open_event(build, epoch=epoch))
    assert await seqs(storage, build) == []


async def test_an_event_under_no_claim_is_not_fenced(storage: Storage, build: str) -> None:
    assert (await storage.events.record(an_open_event(build, epoch=None))).seq == 1
    await claim(storage, build)
    assert (await storage.events.record(an_open_event(build, epoch=None))).seq == 2


async def test_the_claim_is_no_part_of_the_record(storage: Storage, build: str) -> None:
    event = await storage.events.start(an_open_event(build, epoch=await claim(storage, build)))
    (kept,) = await storage.events.all(build)
    assert (event.epoch, kept.epoch) == (1, None)
    assert kept.model_dump() == event.model_dump()
    assert "epoch" not in event.model_dump_json()
    assert "epoch" not in ToolEvent.model_json_schema(mode="serialization")["properties"]


async def test_what_is_left_for_soon_is_written_before_the_build_ends(storage: Storage, build: str) -> None:
    epoch = await claim(storage, build)
    started = await storage.events.start(an_open_event(build, epoch=epoch))

    async def slowly() -> None:
        await asyncio.sleep(0.05)
        await storage.events.finish(started.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.5}))

    storage.events.soon(slowly())
    ended = Checkpoint(state=BuildState(phase=Phase.COMPLETE), status=BuildStatus.CANCELLED)
    await storage.builds.checkpoint(build, epoch, ended)
    assert [event.outcome for event in await storage.events.all(build)] == [CallOutcome.OK]
