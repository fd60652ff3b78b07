"""Who drives builds: this process on an SQLite file, workers on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from app.core.config import Settings
from app.machine.driver import Driver
from app.runner.base import Pace, Runner
from app.runner.local import LocalRunner
from app.service.health import CountWorkers
from app.storage.queue import BUILDS, QueueTables
from app.storage.store import Storage
from app.telemetry.prometheus import ToolCounts
from app.wiring.engines import engine_workers
from app.wiring.stores import database_url, is_server

if TYPE_CHECKING:
    from app.runner.jobs import JobQueue
    from app.runner.queued import BuildWorker


@dataclass(frozen=True)
class Running:
    """The runner, and what counts the workers that run what it is given; None when it runs builds itself."""

    runner: Runner
    workers: CountWorkers | None = None


def concurrency(settings: Settings) -> int:
    """Return how many builds one process drives at once."""
    return 2 if engine_workers(settings) >= 4 else 1


@asynccontextmanager
async def running(
    settings: Settings, opened: Storage, driver: Driver, counts: ToolCounts, *, serving: bool
) -> AsyncIterator[Running]:
    """Open who drives builds; who is `serving` takes up what an earlier process left.

    On a server, a process that serves leaves all work to workers, and any other has a worker and a queue of its own.

    Raises:
        StorageBusy: the server is away.
    """
    many = concurrency(settings)
    if not is_server(settings):
        local = LocalRunner(driver, opened.builds, concurrency=many, ended=counts.ended)
        async with _closed(local):
            if serving:
                await local.start()
            yield Running(local)
        return
    from app.runner.queued import BuildWorker, QueuedRunner  # here, for its library takes long to load

    async with _queue(settings) as (jobs, tables):
        queue = BUILDS if serving else queue_of_its_own()
        own = None if serving else BuildWorker(driver, opened.builds, jobs, tables, queue=queue, concurrency=many)
        async with _closed(QueuedRunner(opened.builds, jobs, tables, own, queue)) as runner:
            yield Running(runner, lambda: tables.workers(timedelta(seconds=Pace().stall)))


def queue_of_its_own() -> str:
    """Return a name that no other process uses; PostgreSQL cuts channels at 63 characters, 23 of them the library's."""
    return f"command-{uuid4().hex[:16]}"


@asynccontextmanager
async def working(
    settings: Settings, opened: Storage, driver: Driver, counts: ToolCounts, pace: Pace
) -> AsyncIterator[BuildWorker]:
    """Open a worker on the common queue.

    Raises:
        StorageBusy: the server is away.
    """
    from app.runner.queued import BuildWorker

    async with _queue(settings, patience_s=2 * pace.silence) as (jobs, tables):
        many = concurrency(settings)
        yield BuildWorker(driver, opened.builds, jobs, tables, concurrency=many, pace=pace, ended=counts.ended)


@asynccontextmanager
async def _queue(settings: Settings, patience_s: float = 5.0) -> AsyncIterator[tuple[JobQueue, QueueTables]]:
    from app.runner.jobs import JobQueue

    jobs, tables = JobQueue(database_url(settings), patience_s), QueueTables(database_url(settings))
    try:
        await jobs.open()
        yield jobs, tables
    finally:
        await jobs.close()
        await tables.close()


@asynccontextmanager
async def _closed(runner: Runner) -> AsyncIterator[Runner]:
    try:
        yield runner
    finally:
        await runner.close()
