"""Builds through the queue on PostgreSQL: who submits them, and who takes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from app.core.errors import NotFound, StorageBusy, StorageError
from app.machine.driver import Driver
from app.model.record import BuildRecord
from app.runner.base import Pace
from app.runner.drives import UNFINISHED, Drives, due
from app.runner.jobs import JobQueue, Taker
from app.runner.reconcile import Reconciler
from app.storage.base import BuildStore
from app.storage.queue import BUILDS, QueueTables

_log = logging.getLogger(__name__)
_LOOK_S = 0.2
_ANEW_S = 1.0


class BuildWorker:
    """Takes builds from a queue and drives them; any number of these may work on one database."""

    def __init__(
        self,
        driver: Driver,
        store: BuildStore,
        jobs: JobQueue,
        tables: QueueTables,
        *,
        queue: str = BUILDS,
        concurrency: int = 1,
        pace: Pace | None = None,
        ended: Callable[[BuildRecord], None] | None = None,
    ) -> None:
        self._stop = asyncio.Event()
        self._drives = Drives(driver, store, self._stop, concurrency, ended)
        self._jobs = jobs
        self._tables = tables
        self._queue = queue
        self._concurrency = concurrency
        self._pace = pace or Pace()
        self._working_on: set[str] = set()
        self._taking: Taker | None = None
        self._reconciler = Reconciler(jobs, tables, self._pace, self._given_to, self._working_on)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; steps in flight get the grace, unfinished builds stay runnable."""
        working = asyncio.create_task(self._work())
        sweeping = asyncio.create_task(self._reconciler.run(self._stop)) if self._queue == BUILDS else None
        try:
            await stop.wait()
        finally:
            self._stop.set()
            _, late = await asyncio.wait({working}, timeout=2 * self._pace.grace)
            for task in late | ({sweeping} if sweeping else set()):
                task.cancel()
            await asyncio.gather(working, *([sweeping] if sweeping else []), return_exceptions=True)

    async def ask(self) -> None:
        """Return when the database has answered.

        Raises:
            StorageError: it failed.
        """
        await self._tables.workers(timedelta())

    async def _work(self) -> None:
        """Take jobs until we stop; whatever ends the taking, it begins anew."""
        while not self._stop.is_set():
            self._taking = self._jobs.taker(self._build, self._queue, self._concurrency, self._pace)
            taking = asyncio.create_task(self._taking.run())
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait({taking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            self._taking.stop()
            try:
                await taking
            except Exception:
                _log.exception("taking jobs failed; it begins anew")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _ANEW_S)

    def _given_to(self) -> int | None:
        """Return who this is among the workers, None while it is none."""
        return None if self._taking is None else self._taking.id

    async def _build(self, build_id: str) -> None:
        """Drive the build as far as it can be driven now. Never raises: what became of it stands in its row."""
        self._working_on.add(build_id)
        try:
            alone = False
            while not self._stop.is_set():
                record = await self._drives.drive(build_id, alone=alone)
                if record is None or record.status not in UNFINISHED:
                    return
                when, tried = due(record), alone
                alone = when is not None and when <= datetime.now(UTC)
                if not alone and (when is not None or not tried):
                    return
        finally:
            self._working_on.discard(build_id)


class QueuedRunner:
    """Has builds driven by workers; implements `Runner`.

    `own`: a worker of this process for a queue that only this process uses, for commands that work for themselves.
    """

    def __init__(
        self,
        store: BuildStore,
        jobs: JobQueue,
        tables: QueueTables,
        own: BuildWorker | None = None,
        queue: str = BUILDS,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._tables = tables
        self._own = own
        self._queue = queue
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Do nothing: workers take up what is unfinished."""

    async def submit(self, build_id: str) -> None:
        """Ring the doorbell for a stored build; when it cannot be rung now, a worker finds the build by itself.

        Raises:
            StorageError: it cannot be rung, and only this process would have heard it.
        """
        if self._own is not None and self._working is None:
            self._working = asyncio.create_task(self._own.run(self._stop))
        try:
            await self._jobs.put(build_id, await self._tables.priority(build_id), self._queue)
        except StorageError as error:
            if self._own is not None:
                raise
            _log.warning("nobody was told of a build: %s", error.message, extra={"build_id": build_id})

    async def wait(self, build_id: str) -> None:
        """Return when the build has ended, or is gone, or this runner is closed."""
        while not self._stop.is_set():
            with suppress(StorageBusy):
                try:
                    if (await self._store.standing(build_id)).status not in UNFINISHED:
                        return
                except NotFound:
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _LOOK_S)

    async def close(self) -> None:
        """Stop what works here; unfinished builds stay runnable."""
        self._stop.set()
        if self._working is not None:
            await self._working
