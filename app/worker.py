"""A worker of the many-machines mode: takes builds from the queue on PostgreSQL until a signal."""

from __future__ import annotations

import asyncio
import logging
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from app.core.config import Settings
from app.core.errors import NotReady
from app.core.logs import set_up_logging
from app.runner.base import Pace
from app.runner.watchdog import is_beating, loop_watched, watch_database
from app.wiring import open_worker, redactor

_log = logging.getLogger(__name__)
BEAT = "buildwright-worker"
"""The file in the system's temporary folder that a worker touches while it works; one worker per container."""


def work(settings: Settings, pace: Pace | None = None) -> None:
    """Take builds from the queue until SIGINT or SIGTERM; steps in flight then get their grace.

    Raises:
        InputError: the store is no PostgreSQL server.
        StorageError: the server cannot be used.
    """
    set_up_logging(settings.log_level, redactor(settings), as_json=True)
    asyncio.run(_work(settings, pace or Pace()))


def check() -> None:
    """Return when a worker of this machine works: it reached the database within the last minute.

    Raises:
        NotReady: none does.
    """
    if not is_beating(_beat(), Pace().silence):
        raise NotReady("No worker on this machine has reached the database lately.")


async def _work(settings: Settings, pace: Pace) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with open_worker(settings, pace) as worker:
        with loop_watched(pace.silence):
            watching = asyncio.create_task(watch_database(worker.ask, pace.silence, _beat().touch))
            _log.info("taking builds from the queue")
            try:
                await worker.run(stop)
            finally:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
                await asyncio.to_thread(_beat().unlink, missing_ok=True)


def _beat() -> Path:
    return Path(tempfile.gettempdir()) / BEAT
