"""The embedded runner: builds as asyncio tasks of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from app.machine.driver import Driver
from app.model.record import BuildRecord
from app.runner.drives import UNFINISHED, Drives, due
from app.storage.base import BuildStore

_LOOK_S = 1.0
"""How often a build that is set aside looks whether somebody asks for it."""


class LocalRunner:
    """Drives at most `concurrency` builds at a time; implements `Runner`.

    The store is the truth: what it calls runnable when this starts is taken up again. `grace_s`: how long `close`
    waits for steps in flight before it cancels them; either way unfinished builds stay runnable.
    `ended` is told each build that ended here. A build that is set aside waits for its time, then runs alone.
    """

    def __init__(
        self,
        driver: Driver,
        store: BuildStore,
        concurrency: int = 1,
        grace_s: float = 30.0,
        ended: Callable[[BuildRecord], None] | None = None,
    ) -> None:
        self._store = store
        self._stop = asyncio.Event()
        self._drives = Drives(driver, store, self._stop, concurrency, ended)
        self._grace_s = grace_s
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()

    async def start(self) -> None:
        """Begin working; builds left running by an earlier process are taken up again."""
        await self._store.pardon()
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
        record: BuildRecord | None = None
        while not self._stop.is_set():
            self._again.discard(build_id)
            when = due(record)
            if when is None:
                record = await self._drives.drive(build_id)
            elif await self._rest(build_id, when):
                record = await self._drives.drive(build_id, alone=True)
                if record is not None and record.status in UNFINISHED and record.not_before is None:
                    continue  # the step that was interrupted is done, and the build is like any other again
            else:
                record = None
                continue
            if due(record) is None and build_id not in self._again:
                break
        self._tasks.pop(build_id, None)  # at once: a bell rung after this line must start a new task

    async def _rest(self, build_id: str, when: datetime) -> bool:
        """Return true when the time of a build that is set aside has come, false when somebody asks for it before."""
        while (left_s := (when - datetime.now(UTC)).total_seconds()) > 0:
            if self._stop.is_set() or build_id in self._again:
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), min(left_s, _LOOK_S))
        return True

    def _forget(self, build_id: str, ended: asyncio.Task[None]) -> None:
        if self._tasks.get(build_id) is ended:
            del self._tasks[build_id]
