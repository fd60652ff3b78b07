"""What every EventStore promises."""

from __future__ import annotations

import asyncio

import pytest

from app.core.errors import NotFound, StorageError
from app.core.logs import Redactor
from app.model.events import CallOutcome
from app.model.names import Phase, SubProblemName
from app.storage.events import SqlEventStore
from app.storage.store import Storage
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record


@pytest.fixture
async def build(storage: Storage) -> str:
    return (await storage.builds.insert(new_record())).id


async def test_an_event_is_open_until_it_is_finished_and_comes_back_equal(storage: Storage, build: str) -> None:
    started = await storage.events.start(
        an_open_event(build, outcome=CallOutcome.OK, sub_problem=SubProblemName.ASCENDANCY, args={"n": 1})
    )
    assert (started.seq, started.outcome) == (1, CallOutcome.INCOMPLETE)
    assert await storage.events.all(build) == [started]
    ended = started.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.5, "usage": {"input": 3}})
    await storage.events.finish(ended)
    assert await storage.events.all(build) == [ended]


async def test_what_is_left_for_soon_is_read_by_whoever_asks_next(storage: Storage, build: str) -> None:
    started = await storage.events.start(an_open_event(build))
    ended = started.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.5})
    storage.events.soon(storage.events.finish(ended))
    assert [attempt.outcome for attempt in await storage.events.measured(build)] == [CallOutcome.OK]
    assert await storage.events.all(build) == [ended]


async def test_a_finished_event_is_never_changed(storage: Storage, build: str) -> None:
    started = await storage.events.start(an_open_event(build))
    ended = started.model_copy(update={"outcome": CallOutcome.ERROR, "duration_ms": 1.0})
    await storage.events.finish(ended)
    with pytest.raises(StorageError):
        await storage.events.finish(started.model_copy(update={"outcome": CallOutcome.OK}))
    assert await storage.events.all(build) == [ended]


async def test_an_attempt_is_recorded_once_and_a_refusal_leaves_no_gap(storage: Storage, build: str) -> None:
    event = an_open_event(build)
    await storage.events.start(event)
    with pytest.raises(StorageError):
        await storage.events.start(event)
    second = await storage.events.start(event.model_copy(update={"attempt": 2}))
    assert second.seq == 2


async def test_no_event_without_a_build(storage: Storage) -> None:
    with pytest.raises(NotFound):
        await storage.events.start(an_open_event("missing"))


async def test_parallel_starts_are_numbered_without_gaps_per_build(storage: Storage, build: str) -> None:
    other = (await storage.builds.insert(new_record())).id
    await asyncio.gather(*(storage.events.start(an_open_event(b)) for _ in range(25) for b in (build, other)))
    for owner in (build, other):
        assert [event.seq for event in await storage.events.all(owner)] == list(range(1, 26))


async def test_pages_filter_and_continue(storage: Storage, build: str) -> None:
    for number in range(6):
        phase = Phase.EXPLORE if number % 2 else Phase.CONSTRUCT
        await storage.events.start(an_open_event(build, phase=phase, tool=f"t{number % 3}"))
    await storage.events.finish(
        (await storage.events.all(build))[0].model_copy(update={"outcome": CallOutcome.TIMEOUT, "duration_ms": 9.0})
    )
    page = storage.events.page
    assert [e.seq for e in await page(build, phase=Phase.EXPLORE)] == [2, 4, 6]
    assert [e.seq for e in await page(build, tool="t0")] == [1, 4]
    assert [e.seq for e in await page(build, outcome=CallOutcome.TIMEOUT)] == [1]
    assert [e.seq for e in await page(build, after_seq=2, limit=3)] == [3, 4, 5]


async def test_secrets_and_bulk_never_reach_the_table(storage: Storage, build: str) -> None:
    store = SqlEventStore(storage.database, Redactor(["sk-canary-1"]).data)
    started = await store.start(
        an_open_event(build, args={"note": "uses sk-canary-1", "api_key": "other", "keyword": "k"})
    )
    await store.finish(
        started.model_copy(
            update={
                "outcome": CallOutcome.ERROR,
                "error_message": "sk-canary-1 " + "x" * 600,
                "result_preview": "sk-canary-1 " + "ß" * 4000,
            }
        )
    )
    (stored,) = await storage.events.all(build)
    assert stored.args == {"note": "uses [redacted]", "api_key": "[redacted]", "keyword": "k"}
    assert "canary" not in stored.model_dump_json()
    assert len(stored.error_message or "") == 500
    assert 2000 < len((stored.result_preview or "").encode()) <= 2048
