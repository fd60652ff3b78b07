"""The embedded runner: builds as asyncio tasks of this process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from app.core.errors import StorageError
from app.machine.driver import Driver
from app.model.names import BuildStatus
from app.model.record import BuildRecord
from app.storage.base import BuildStore

_log = logging.getLogger(__name__)
_UNFINISHED = (BuildStatus.QUEUED, BuildStatus.RUNNING)
_RETRY_FIRST_S = 1.0
_RETRY_LONGEST_S = 60.0


class LocalRunner:
    """Drives at most `concurrency` builds at a time; implements `Runner`.

    The store is the truth: what it calls runnable when this starts is taken up again. `grace_s`: how long `close`
    waits for steps in flight before it cancels them; either way unfinished builds stay runnable.
    `ended` is told each build that ended here.
    """

    def __init__(
        self,
        driver: Driver,
        store: BuildStore,
        concurrency: int = 1,
        grace_s: float = 30.0,
        ended: Callable[[BuildRecord], None] | None = None,
    ) -> None:
        self._driver = driver
        self._store = store
        self._slots = asyncio.Semaphore(concurrency)
        self._grace_s = grace_s
        self._ended = ended
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._stop = asyncio.Event()

    async def start(self) -> None:
        """Begin working; builds left running by an earlier process are taken up again."""
        for build_id in await self._store.runnable():
            await self.submit(build_id)

    async def submit(self, build_id: str) -> None:
        """Ring the doorbell for a stored build; ringing while it is worked on makes the runner look once more after."""
        if self._stop.is_set():
            return
        if build_id in self._tasks:
            self._again.add(build_id)
            return
        task = asyncio.create_task(self._work(build_id), name=f"build {build_id}")
        self._tasks[build_id] = task
        task.add_done_callback(lambda ended: self._forget(build_id, ended))

    async def wait(self, build_id: str) -> None:
        """Return when this process no longer works on the build."""
        while (task := self._tasks.get(build_id)) is not None:
            await asyncio.wait({task})
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop after the current steps, or after the grace; unfinished builds stay runnable."""
        self._stop.set()
        tasks = set(self._tasks.values())
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=self._grace_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, build_id: str) -> None:
        while not self._stop.is_set():
            self._again.discard(build_id)
            async with self._slots:
                await self._drive(build_id)
            if build_id not in self._again:
                break
        self._tasks.pop(build_id, None)  # at once: a bell rung after this line must start a new task

    def _forget(self, build_id: str, ended: asyncio.Task[None]) -> None:
        if self._tasks.get(build_id) is ended:
            del self._tasks[build_id]

    async def _drive(self, build_id: str) -> None:
        """Drive the build; a store that fails is asked again, later and later, until it works or we stop."""
        delay_s = _RETRY_FIRST_S
        while not self._stop.is_set():
            try:
                await self._driver.drive(build_id, self._stop)
                if self._ended is not None and (record := await self._store.get(build_id)).status not in _UNFINISHED:
                    self._ended(record)
                return
            except StorageError as error:
                _log.warning("the store failed: %s", error.message, extra={"build_id": build_id})
            except Exception:
                _log.exception("the driver failed", extra={"build_id": build_id})
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), delay_s)
            delay_s = min(2 * delay_s, _RETRY_LONGEST_S)
