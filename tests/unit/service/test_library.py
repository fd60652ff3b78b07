"""Views are read rarely, shared by all who ask, and never older than what the asker did."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from app.core.errors import NotFound
from app.model.names import BuildStatus
from app.model.record import BuildRecord
from app.service.library import FRESH_MS, Library
from app.service.view import view_of
from tests.fakes.samples import WHEN, a_record
from tests.fakes.service import World
from tests.fakes.steps import new_record
from tests.fakes.stores import MemoryBuildStore


class CountingStore(MemoryBuildStore):
    """Counts reads, and takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    async def get(self, build_id: str) -> BuildRecord:
        self.reads += 1
        await asyncio.sleep(0)
        return await super().get(build_id)


class HandClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.ms = 0.0

    def now(self) -> datetime:
        return WHEN

    def monotonic_ms(self) -> float:
        return self.ms


async def test_many_who_ask_at_once_share_one_read() -> None:
    store, clock = CountingStore(), HandClock()
    record = store.put(a_record())
    library = Library(store, clock)
    views = await asyncio.gather(*(library.get(record.id) for _ in range(50)))
    assert len({view.id for view in views}) == 1
    assert store.reads == 1


async def test_a_view_ages() -> None:
    store, clock = CountingStore(), HandClock()
    record = store.put(a_record())
    library = Library(store, clock)
    await library.get(record.id)
    store.put(record, status=BuildStatus.RUNNING)
    clock.ms = FRESH_MS - 1
    assert (await library.get(record.id)).status is BuildStatus.QUEUED
    clock.ms = FRESH_MS
    assert (await library.get(record.id)).status is BuildStatus.RUNNING


async def test_an_unknown_build_is_asked_for_again() -> None:
    store = CountingStore()
    library = Library(store, HandClock())
    with pytest.raises(NotFound):
        await library.get(a_record().id)
    store.put(a_record())
    assert (await library.get(a_record().id)).status is BuildStatus.QUEUED


async def test_one_who_leaves_does_not_disturb_the_others() -> None:
    store = CountingStore()
    record = store.put(a_record())
    library = Library(store, HandClock())
    leaving = asyncio.create_task(library.get(record.id))
    staying = asyncio.create_task(library.get(record.id))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).id == record.id


async def test_everybody_sees_their_own_writes() -> None:
    world = World()
    record = world.store.put(a_record())
    services = world.services
    await services.library.get(record.id)
    await services.builds.cancel(record.id)
    assert (await services.library.get(record.id)).status is BuildStatus.CANCELLED
    await services.builds.resume(record.id)
    assert (await services.library.get(record.id)).status is BuildStatus.QUEUED


def test_a_build_that_is_set_aside_says_why_and_until_when() -> None:
    until = datetime(2026, 1, 1, tzinfo=UTC)
    aside = view_of(new_record(attempts=6, not_before=until)).set_aside
    assert aside is not None
    assert (aside.reason, aside.until) == (
        "Its process ended again and again in the phase decompose; the step is tried alone then.",
        until,
    )
    again = view_of(new_record(attempts=8, trials=2, not_before=until)).set_aside
    assert again is not None
    assert "in the phase decompose, 2 of the times while nothing else ran" in again.reason
    assert view_of(new_record()).set_aside is None
