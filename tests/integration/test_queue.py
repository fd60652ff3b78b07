"""Builds through the queue on PostgreSQL: submitted, found, ordered, swept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from app.core.errors import EngineMissing, StorageBusy, StorageError
from app.machine.driver import Driver, DriverLimits
from app.model.names import BuildStatus, Mode, Phase
from app.model.record import BuildRecord, BuildRequest
from app.phases.base import PhaseStep
from app.runner.base import Pace
from app.runner.jobs import JobQueue
from app.runner.queued import BuildWorker, QueuedRunner
from app.runner.reconcile import Reconciler
from app.storage.queue import BUILDS, QueueTables
from app.storage.store import Storage, open_storage
from app.tools.runner import ToolRunner
from app.wiring.runners import queue_of_its_own
from tests.databases import conninfo, emptied_database
from tests.fakes.calculators import FakeEngine, FakeReasoner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import Endless, Raising, new_record, steps

pytestmark = pytest.mark.postgres
QUICK = Pace(heartbeat=0.2, stall=1.0, sweep=0.2, poll=0.1, grace=1.0, silence=20.0)
SHORT = steps(decompose=Raising(EngineMissing("no engine")))
"""A build that has failed after one step."""
SOON_S = 60.0


class Queue:
    """A store, its queue, and workers as the test wants them."""

    def __init__(self, url: str, storage: Storage, jobs: JobQueue, tables: QueueTables) -> None:
        self.url, self.storage, self.jobs, self.tables = url, storage, jobs, tables
        self.runner = QueuedRunner(storage.builds, jobs, tables)
        self.ended: list[str] = []

    async def add(self, **fields: Any) -> str:
        return (await self.storage.builds.insert(new_record(**fields))).id

    async def submit(self, **fields: Any) -> str:
        build = await self.add(**fields)
        await self.runner.submit(build)
        return build

    def reconciler(self, pace: Pace = QUICK) -> Reconciler:
        return Reconciler(self.jobs, self.tables, pace, lambda: None, ())

    @asynccontextmanager
    async def worker(
        self, phases: Mapping[Phase, PhaseStep] | None = None, pace: Pace = QUICK, concurrency: int = 1
    ) -> AsyncIterator[None]:
        storage = self.storage
        contexts = RecordedContexts(lambda r: FakeEngine(), lambda r: FakeReasoner(), ToolRunner(storage.events))
        driver = Driver(
            storage.builds, phases or steps(), contexts, DriverLimits(poll_s=0.02, pauses_s=(0.5, 0.5, 0.5))
        )
        worker = BuildWorker(
            driver, storage.builds, self.jobs, self.tables, concurrency=concurrency, pace=pace, ended=self._told
        )
        stop = asyncio.Event()
        working = asyncio.create_task(worker.run(stop))
        try:
            yield
        finally:
            stop.set()
            await working

    def _told(self, record: BuildRecord) -> None:
        self.ended.append(record.id)

    async def status(self, build: str) -> BuildStatus:
        return (await self.storage.builds.standing(build)).status

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(conninfo(self.url), options="-c search_path=queue,public", autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def jobs_of(self, build: str) -> list[str]:
        return [row[0] for row in self.sql("SELECT status::text FROM procrastinate_jobs WHERE lock = %s", build)]

    async def is_jobless(self, build: str) -> bool:
        return not self.jobs_of(build)


@pytest.fixture
async def queue() -> AsyncIterator[Queue]:
    url = emptied_database()
    jobs, tables = JobQueue(url), QueueTables(url)
    async with open_storage(url) as storage:
        await jobs.open()
        yield Queue(url, storage, jobs, tables)
        await jobs.close()
        await tables.close()


async def soon(what: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(SOON_S):
        while not await what():  # noqa: ASYNC110  the store has no bell
            await asyncio.sleep(0.02)


async def test_a_submitted_build_is_made_and_leaves_no_job(queue: Queue) -> None:
    async with queue.worker():
        build = await queue.submit()
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
        # A build that took longer than a sweep may have been rung for once more.
        await soon(lambda: queue.is_jobless(build))
    assert await queue.status(build) is BuildStatus.COMPLETE
    assert queue.ended == [build]


async def test_a_build_that_is_rung_for_again_is_told_of_once(queue: Queue) -> None:
    async with queue.worker(SHORT):
        build = await queue.submit()
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
        await queue.jobs.put(build, 0)
        await soon(lambda: queue.is_jobless(build))
    assert queue.ended == [build]


async def test_a_build_for_which_nobody_rang_is_found(queue: Queue) -> None:
    builds = [await queue.add() for _ in range(3)]
    async with queue.worker(SHORT):
        for build in builds:
            await asyncio.wait_for(queue.runner.wait(build), SOON_S)
    assert sorted(queue.ended) == sorted(builds)


async def test_however_often_it_is_rung_and_swept_there_is_one_job(queue: Queue) -> None:
    rung, found = await queue.submit(), await queue.add()
    await asyncio.gather(*(queue.runner.submit(rung) for _ in range(5)))
    await asyncio.gather(*(queue.reconciler().sweep() for _ in range(4)))
    assert [queue.jobs_of(build) for build in (rung, found)] == [["todo"], ["todo"]]


async def test_owners_take_turns_and_a_refinement_goes_first_among_equals(queue: Queue) -> None:
    many = [await queue.submit(owner="many") for _ in range(4)]
    few = [await queue.submit(owner="few") for _ in range(2)]
    child = BuildRequest(prompt="tankier", mode=Mode.REFINEMENT)
    urgent = await queue.submit(owner="third", request=child)
    async with queue.worker(SHORT):
        await soon(lambda: _all_ended(queue, 7))
    assert queue.ended[0] == urgent
    assert queue.ended[1:] == [many[0], few[0], many[1], few[1], *many[2:]]


async def _all_ended(queue: Queue, many: int) -> bool:
    return len(queue.ended) == many


async def test_what_runs_has_its_place_in_its_owners_line(queue: Queue) -> None:
    running, second = await queue.submit(owner="a"), await queue.submit(owner="a")
    await queue.storage.builds.claim(running)
    other = await queue.submit(owner="b")
    assert await queue.tables.priority(second) < await queue.tables.priority(other)
    await queue.storage.builds.request_cancel(other)
    assert await queue.tables.priority(other) == 0
    queue.sql("UPDATE procrastinate_jobs SET priority = -7 WHERE lock = %s", second)
    await queue.tables.rank()
    assert queue.sql("SELECT priority FROM procrastinate_jobs WHERE lock = %s", second) == [(-2,)]


async def test_a_job_of_a_worker_that_is_gone_is_given_up_and_never_tried_again(queue: Queue) -> None:
    build = await queue.submit()
    (gone,) = queue.sql(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '5 s') RETURNING id"
    )
    queue.sql("UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s WHERE lock = %s", gone[0], build)
    await queue.storage.builds.claim(build)
    async with queue.worker(SHORT):
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
        assert queue.jobs_of(build)[0] == "aborted"
    record = await queue.storage.builds.get(build)
    assert (record.status, record.epoch) == (BuildStatus.FAILED, 2)


async def test_nothing_is_given_up_soon_after_an_outage(queue: Queue) -> None:
    build = await queue.submit()
    queue.sql("UPDATE procrastinate_jobs SET status = 'doing' WHERE lock = %s", build)
    await queue.reconciler(Pace(stall=1.0)).sweep()
    assert queue.jobs_of(build) == ["doing"]


async def test_a_worker_that_was_stopped_while_sweeping_stops_no_other(queue: Queue) -> None:
    build = await queue.add()
    stopped = QueueTables(queue.url)
    with pytest.raises(StorageBusy):
        await _stop_while_sweeping(stopped, queue, build)
    await stopped.close()


async def _stop_while_sweeping(stopped: QueueTables, queue: Queue, build: str) -> None:
    async with stopped.sweeping() as mine:
        assert mine
        await queue.reconciler().sweep()
        assert queue.jobs_of(build) == []
        await soon(lambda: _swept(queue, build))


async def _swept(queue: Queue, build: str) -> bool:
    await queue.reconciler().sweep()
    return queue.jobs_of(build) == ["todo"]


async def test_a_job_that_never_arrived_is_given_up(queue: Queue) -> None:
    """Its worker lives and gives signs of life, but the answer that brought the job was lost."""
    async with queue.worker(SHORT):
        await soon(lambda: _worker_there(queue))
        build = await queue.add()
        queue.sql(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, status, worker_id)"
            " SELECT 'builds', 'build', %s, 'doing', max(id) FROM procrastinate_workers",
            build,
        )
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
    assert "aborted" in queue.jobs_of(build)


async def _worker_there(queue: Queue) -> bool:
    return await queue.tables.workers(timedelta(seconds=20)) > 0


async def test_a_running_build_is_cancelled_and_resumed(queue: Queue) -> None:
    endless = Endless()
    async with queue.worker(steps(construct=endless)):
        build = await queue.submit()
        await asyncio.wait_for(endless.begun.wait(), SOON_S)
        await queue.storage.builds.request_cancel(build)
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
        assert await queue.status(build) is BuildStatus.CANCELLED
        endless.begun.clear()
        await queue.storage.builds.requeue(build)
        await queue.runner.submit(build)
        await asyncio.wait_for(endless.begun.wait(), SOON_S)
    assert await queue.storage.builds.runnable() == [build]
    assert endless.ended == "cancelled"


async def test_a_build_that_is_set_aside_waits_for_its_time_and_then_runs(queue: Queue) -> None:
    build = await queue.submit()
    for _ in range(6):
        claimed = await queue.storage.builds.claim(build)
    assert claimed is not None
    async with queue.worker():
        await soon(lambda: _is_aside(queue, build))
        aside = await queue.storage.builds.get(build)
        assert aside.not_before is not None
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
    record = await queue.storage.builds.get(build)
    assert record.status is BuildStatus.COMPLETE
    assert record.updated_at > aside.not_before


async def _is_aside(queue: Queue, build: str) -> bool:
    return (await queue.storage.builds.get(build)).not_before is not None


async def test_a_build_that_is_set_aside_is_not_rung_for(queue: Queue) -> None:
    build = await queue.add()
    queue.sql("UPDATE build SET not_before = now() + interval '1 hour'")
    await queue.reconciler().sweep()
    assert queue.jobs_of(build) == []


async def test_a_command_works_for_itself_alone(queue: Queue) -> None:
    name = queue_of_its_own()
    other = await queue.submit()
    storage = queue.storage
    contexts = RecordedContexts(lambda r: FakeEngine(), lambda r: FakeReasoner(), ToolRunner(storage.events))
    own = BuildWorker(
        Driver(storage.builds, steps(), contexts), storage.builds, queue.jobs, queue.tables, queue=name, pace=QUICK
    )
    runner = QueuedRunner(storage.builds, queue.jobs, queue.tables, own, name)
    build = await queue.add()
    await runner.submit(build)
    await asyncio.wait_for(runner.wait(build), SOON_S)
    await runner.close()
    assert [await queue.status(one) for one in (build, other)] == [BuildStatus.COMPLETE, BuildStatus.QUEUED]


async def test_what_a_command_left_in_its_queue_is_done_by_workers(queue: Queue) -> None:
    build = await queue.add()
    await queue.jobs.put(build, 0, "a command that was killed")
    queue.sql("UPDATE procrastinate_events SET at = now() - interval '1 hour'")
    async with queue.worker(SHORT):
        await asyncio.wait_for(queue.runner.wait(build), SOON_S)
    assert queue.ended == [build]


async def test_fetching_uses_the_index_of_locks(queue: Queue) -> None:
    queue.sql(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock)"
        " SELECT %s, 'build', 'b' || n, 'b' || n FROM generate_series(1, 3000) n",
        BUILDS,
    )
    queue.sql("ANALYZE procrastinate_jobs")
    plan = "\n".join(
        row[0]
        for row in queue.sql(
            "EXPLAIN SELECT 1 FROM procrastinate_jobs WHERE lock = 'b7' AND status IN ('todo', 'doing')"
        )
    )
    with suppress(psycopg.Error):
        queue.sql("DELETE FROM procrastinate_jobs")
    assert "buildwright_jobs_lock_idx" in plan


async def test_a_command_that_nobody_would_hear_says_so(queue: Queue) -> None:
    """PostgreSQL refuses a queue whose name does not fit into the name of a channel."""
    name = "a queue" * 10
    storage = queue.storage
    contexts = RecordedContexts(lambda r: FakeEngine(), lambda r: FakeReasoner(), ToolRunner(storage.events))
    driver = Driver(storage.builds, steps(), contexts)
    own = BuildWorker(driver, queue.storage.builds, queue.jobs, queue.tables, queue=name, pace=QUICK)
    runner = QueuedRunner(queue.storage.builds, queue.jobs, queue.tables, own, name)
    with pytest.raises(StorageError):
        await runner.submit(await queue.add())
    await runner.close()
