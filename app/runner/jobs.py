"""One job per build that waits or runs, kept by procrastinate: the doorbell, never the truth."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Status
from procrastinate.worker import Worker

from app.core.errors import StorageBusy, StorageError
from app.runner.base import Pace
from app.storage.postgres import connection_options, server
from app.storage.queue import BUILDS, SEARCH_PATH

T = TypeVar("T")
_TASK = "build"
_AGAIN_S = 0.5
_CONNECTIONS = 3


class PatientConnector(PsycopgConnector):
    """Tries again while the server is away; what was done twice by that is found by its lock, or swept up."""

    def __init__(self, patience_s: float, **options: Any) -> None:
        super().__init__(**options)
        self._patience_s = patience_s

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        """Execute, patiently."""
        inner = super().execute_query_async
        await self._patiently(lambda: inner(query, **arguments))

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        """Return one row, patiently."""
        inner = super().execute_query_one_async
        return await self._patiently(lambda: inner(query, **arguments))

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        """Return the rows, patiently."""
        inner = super().execute_query_all_async
        return await self._patiently(lambda: inner(query, **arguments))

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen until cancelled, also to a server that comes back."""
        while True:
            try:
                await super().listen_notify(on_notification, channels)
            except ConnectorException:
                await asyncio.sleep(_AGAIN_S)

    async def _patiently(self, query: Callable[[], Awaitable[T]]) -> T:
        until = time.monotonic() + self._patience_s
        while True:
            try:
                return await query()
            except ConnectorException as exc:
                away = isinstance(exc.__cause__, (psycopg.OperationalError, psycopg.InterfaceError))
                if not away or time.monotonic() > until:
                    raise
            await asyncio.sleep(_AGAIN_S)


class Taker:
    """Takes jobs, one process's worth."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @property
    def id(self) -> int | None:
        """Who this is among the workers, None while it is none."""
        return self._worker.worker_id

    async def run(self) -> None:
        """Take jobs until stopped, then wait for those in flight, then cancel them."""
        await self._worker.run()  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """Take no more jobs."""
        self._worker.stop()  # type: ignore[no-untyped-call]


class JobQueue:
    """Jobs of builds. `patience_s`: how long a server that is away is waited for."""

    def __init__(self, url: str, patience_s: float = 5.0) -> None:
        self._app = App(
            connector=PatientConnector(
                patience_s,
                conninfo=server(url).set(drivername="postgresql").render_as_string(hide_password=False),
                kwargs=connection_options(search_path=SEARCH_PATH),
                min_size=1,
                max_size=_CONNECTIONS,
                timeout=5.0,
            )
        )

    async def open(self) -> None:
        """Connect.

        Raises:
            StorageBusy: the server is away.
        """
        try:
            await self._app.open_async()
        except (ConnectorException, psycopg.OperationalError) as exc:
            raise StorageBusy("the database server cannot be reached") from exc

    async def close(self) -> None:
        """Disconnect."""
        await self._app.close_async()

    async def put(self, build_id: str, priority: int, queue: str = BUILDS) -> None:
        """Have a worker look at the build; nothing changes when one already will.

        Raises:
            StorageError: the queue cannot be written.
        """
        job = self._app.configure_task(
            _TASK, allow_unknown=True, lock=build_id, queueing_lock=build_id, priority=priority, queue=queue
        )
        try:
            await job.defer_async(build_id=build_id)
        except AlreadyEnqueued:
            return
        except ConnectorException as exc:
            raise StorageError("the queue cannot be written") from exc

    async def stalled(self, pace: Pace) -> list[int]:
        """Return ids of jobs whose worker gives no sign of life."""
        try:
            found = await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=pace.stall)
        except ConnectorException as exc:
            raise StorageError("the queue cannot be read") from exc
        return [job.id for job in found if job.id is not None]

    async def give_up(self, job_id: int) -> None:
        """End a job for good; its build gets another one. A job is never tried again: its first worker may come back.

        Ending one that has just ended by itself is harmless.
        """
        try:
            await self._app.job_manager.finish_job_by_id_async(job_id, Status.ABORTED, delete_job=False)
        except ConnectorException as exc:
            if not isinstance(exc.__cause__, psycopg.errors.RaiseException):
                raise StorageError("the queue cannot be written") from exc

    async def forget_ended(self, hours: int = 24) -> None:
        """Remove jobs that ended so long ago."""
        try:
            await self._app.job_manager.delete_old_jobs(
                nb_hours=hours, include_failed=True, include_cancelled=True, include_aborted=True
            )
        except ConnectorException as exc:
            raise StorageError("the queue cannot be written") from exc

    def taker(self, work: Callable[[str], Awaitable[None]], queue: str, concurrency: int, pace: Pace) -> Taker:
        """Return who takes jobs from the queue and has `work` done for each build."""

        async def task(build_id: str) -> None:
            await work(build_id)

        if _TASK not in self._app.tasks:
            self._app.task(name=_TASK)(task)
        worker = Worker(
            self._app,
            queues=[queue],
            name=None,
            concurrency=concurrency,
            fetch_job_polling_interval=pace.poll,
            shutdown_graceful_timeout=pace.grace,
            delete_jobs=DeleteJobCondition.SUCCESSFUL,
            install_signal_handlers=False,
            update_heartbeat_interval=pace.heartbeat,
            stalled_worker_timeout=pace.stall,
        )
        return Taker(worker)
