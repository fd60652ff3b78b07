"""What is let go of, in which order, and what never is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.clock import SystemClock
from app.model.base import changed
from app.model.evaluations import EvaluationRun
from app.model.events import CallOutcome
from app.model.names import BuildStatus, Mode, Outcome, Phase
from app.model.record import BuildRecord, BuildRequest
from app.model.state import BuildState
from app.service.health import check_store
from app.service.retention import Retention, RetentionLimits
from app.storage.base import Checkpoint
from app.storage.retention import compact
from app.storage.store import Storage, check_database
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record

NOW = datetime.now(UTC)
RESULT = "a long answer " * 150


def sweeping(storage: Storage, **limits: float) -> Retention:
    async def nothing() -> None:
        """Give no space back."""

    return Retention(storage.retention, SystemClock(), RetentionLimits(**limits), nothing)


async def a_build(storage: Storage, days: float, calls: int = 0, **fields: Any) -> str:
    """Return a build that changed last so many days ago."""
    at = NOW - timedelta(days=days)
    state = BuildState(phase=Phase.COMPLETE, outcome=Outcome.CAVEATS)
    complete = {"status": BuildStatus.COMPLETE, "state": state, "xml": b"<a/>"}
    record: BuildRecord = new_record(created_at=at, updated_at=at, **{**complete, **fields})
    await storage.builds.insert(record)
    for _ in range(calls):
        event = an_open_event(record.id, args={"skill": "Spark"})
        await storage.events.record(changed(event, outcome=CallOutcome.OK, duration_ms=3.0, result_preview=RESULT))
    return record.id


async def left(storage: Storage) -> set[str]:
    return {record.id for record in (await storage.builds.page(limit=200))[0]}


async def test_builds_go_by_age_and_their_calls_before(storage: Storage) -> None:
    old, middle, new = [await a_build(storage, days, calls=3) for days in (40, 20, 2)]
    before = await storage.events.all(middle), await storage.events.measured(middle)
    swept = await sweeping(storage, event_days=10, days=30).sweep()
    assert (swept.thinned, swept.removed) == (2, 1)
    assert await left(storage) == {middle, new}
    assert await storage.events.all(old) == []
    thinned = [changed(event, args=None, result_preview=None) for event in before[0]]
    assert await storage.events.all(middle) == thinned
    assert await storage.events.measured(middle) == before[1], "metrics are what they were"
    assert [event.args for event in await storage.events.all(new)] == [{"skill": "Spark"}] * 3
    assert await check_database(storage.database) == []
    assert (await check_store(storage.builds, storage.events)).findings == []
    again = await sweeping(storage, event_days=10, days=30).sweep()
    assert (again.thinned, again.removed, again.bytes) == (0, 0, swept.bytes)


async def test_size_takes_calls_first_and_then_the_oldest_builds(storage: Storage) -> None:
    builds = [await a_build(storage, days, calls=10) for days in (4, 3, 2)]
    whole = await storage.retention.measure()
    assert whole > 3 * 10 * len(RESULT)
    first = await sweeping(storage, gigabytes=(whole - 10) / 1e9).sweep()
    assert (first.thinned, first.removed) == (1, 0)
    assert (await storage.events.all(builds[0]))[0].args is None
    second = await sweeping(storage, gigabytes=(first.bytes / 2) / 1e9).sweep()
    assert (second.thinned, second.removed) == (2, 0)
    assert second.bytes < whole / 2
    third = await sweeping(storage, gigabytes=(second.bytes - 10) / 1e9).sweep()
    assert (third.thinned, third.removed) == (0, 1)
    assert await left(storage) == set(builds[1:])


async def test_what_is_in_use_is_never_touched(storage: Storage) -> None:
    running = await a_build(storage, 90, calls=1, status=BuildStatus.RUNNING, state=BuildState(), xml=None)
    queued = await a_build(storage, 90, status=BuildStatus.QUEUED, state=BuildState(), xml=None)
    parents = [await a_build(storage, 90, calls=1) for _ in range(3)]
    asked = [BuildRequest(prompt="tankier", mode=Mode.REFINEMENT, parent_id=parent) for parent in parents]
    unfinished = await a_build(storage, 80, status=BuildStatus.QUEUED, state=BuildState(), request=asked[0])
    fresh = await a_build(storage, 0, request=asked[1])
    stale = await a_build(storage, 80, request=asked[2])
    judged = await a_build(storage, 90, calls=1)
    run = EvaluationRun(
        label="l",
        suite="s",
        task="t",
        trial=1,
        build_id=judged,
        passed=True,
        selected=None,
        checks=[],
        seconds=1.0,
        at=NOW,
    )
    await storage.evaluations.add(run)
    swept = await sweeping(storage, event_days=1, days=30).sweep()
    assert await left(storage) == {running, queued, *parents[:2], unfinished, fresh, judged}
    assert stale not in await left(storage)
    for build in (running, parents[0], parents[1], judged):
        assert (await storage.events.all(build))[0].args is not None
    assert swept.removed == 2


async def test_a_build_that_goes_on_is_whole_again(storage: Storage) -> None:
    build = await a_build(storage, 20, calls=1, status=BuildStatus.FAILED, state=BuildState())
    await sweeping(storage, event_days=1).sweep()
    await storage.builds.requeue(build)
    claimed = await storage.builds.claim(build)
    assert claimed is not None
    await storage.events.record(an_open_event(build, epoch=claimed.epoch, args={"a": 1}))
    await storage.retention.thin(build)
    await storage.retention.remove(build, NOW)
    assert (await storage.events.all(build))[-1].args == {"a": 1}, "it is not finished"
    await storage.builds.checkpoint(build, claimed.epoch, Checkpoint(BuildState(), BuildStatus.CANCELLED))
    assert await storage.retention.oldest(NOW, whole=True) == build


async def test_without_limits_nothing_goes(storage: Storage) -> None:
    build = await a_build(storage, 5000, calls=1)
    swept = await sweeping(storage).sweep()
    assert (swept.thinned, swept.removed) == (0, 0)
    assert await left(storage) == {build}


async def test_a_vacuum_gives_space_back(storage: Storage, url: str) -> None:
    build = await a_build(storage, 5, calls=200)
    whole = await storage.retention.measure()
    await sweeping(storage, event_days=1).sweep()
    compact(url)
    assert await storage.retention.measure() < whole / 3
    assert len(await storage.events.all(build)) == 200
    assert await check_database(storage.database) == []


@pytest.mark.parametrize("many", [49, 50, 51])
async def test_every_finished_build_is_measured_whatever_the_batch(storage: Storage, many: int) -> None:
    for _ in range(many):
        await a_build(storage, 1)
    one = await storage.retention.measure() / many
    assert one == int(one) > 0
