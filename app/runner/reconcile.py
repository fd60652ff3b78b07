"""Every unfinished build has exactly one live job: what makes losing a job harmless."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import suppress

from app.core.errors import StorageError
from app.runner.base import Pace
from app.runner.jobs import JobQueue
from app.storage.queue import QueueTables

_log = logging.getLogger(__name__)
_PRUNED_EVERY = 720
"""Rounds between two removals of jobs that ended long ago: an hour at the usual pace."""


class Reconciler:
    """Sweeps jobs of workers that are gone, and rings for builds that nobody looks at.

    `worker` and `working_on` say who this process is among the workers and what it really does: a job that it was
    given in an answer that never arrived would wait for it for ever.
    """

    def __init__(
        self,
        jobs: JobQueue,
        tables: QueueTables,
        pace: Pace,
        worker: Callable[[], int | None],
        working_on: Collection[str],
    ) -> None:
        self._jobs = jobs
        self._tables = tables
        self._pace = pace
        self._worker = worker
        self._working_on = working_on
        self._missing: set[int] = set()
        self._rounds = 0
        self._calm_s = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep every few seconds until `stop`, whatever the database does."""
        while not stop.is_set():
            try:
                await self.sweep()
                self._calm_s += self._pace.sweep
            except StorageError as error:
                self._calm_s = 0.0
                _log.warning("the queue could not be swept: %s", error.message)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._pace.sweep)

    async def sweep(self) -> None:
        """Bring jobs and builds together once; what another worker is sweeping is left to it.

        Raises:
            StorageError: the database failed.
        """
        await self._give_up_what_never_arrived()
        async with self._tables.sweeping() as mine:
            if not mine:
                return
            if self._calm_s >= self._pace.stall:
                await self._give_up_stalled()
            for job in await self._tables.left_behind():
                await self._jobs.give_up(job)
            for build in await self._tables.jobless():
                await self._jobs.put(build, await self._tables.priority(build))
            await self._tables.rank()
            if self._rounds % _PRUNED_EVERY == 0:
                await self._jobs.forget_ended()
            self._rounds += 1

    async def _give_up_stalled(self) -> None:
        """End jobs of workers without a sign of life; not soon after an outage, in which nobody could give one."""
        for job in await self._jobs.stalled(self._pace):
            _log.warning("a worker is gone; its job is given up", extra={"job": job})
            await self._jobs.give_up(job)

    async def _give_up_what_never_arrived(self) -> None:
        """End jobs that this worker is said to do and, for two rounds, does not."""
        worker = self._worker()
        given = {} if worker is None else await self._tables.doing(worker)
        missing = {job for build, job in given.items() if build not in self._working_on}
        for job in missing & self._missing:
            _log.warning("a job never arrived; it is given up", extra={"job": job})
            await self._jobs.give_up(job)
        self._missing = missing
