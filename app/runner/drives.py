"""Driving builds in a bounded number of slots, whoever says which: what both runners do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime

from app.core.errors import NotFound, StorageError
from app.machine.driver import Driver
from app.model.names import BuildStatus
from app.model.record import BuildRecord
from app.storage.base import BuildStore

_log = logging.getLogger(__name__)
UNFINISHED = (BuildStatus.QUEUED, BuildStatus.RUNNING)
_RETRY_FIRST_S = 1.0
_RETRY_LONGEST_S = 60.0


class Drives:
    """At most `concurrency` builds at once, until `stop`; `ended` is told each build that ended here."""

    def __init__(
        self,
        driver: Driver,
        store: BuildStore,
        stop: asyncio.Event,
        concurrency: int,
        ended: Callable[[BuildRecord], None] | None = None,
    ) -> None:
        self._driver = driver
        self._store = store
        self._stop = stop
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._all_slots = asyncio.Lock()
        self._ended = ended

    async def drive(self, build_id: str, *, alone: bool = False) -> BuildRecord | None:
        """Drive the build when a slot is free, or `alone` when all are; return it as it is then, None if it is gone.

        A store that fails is asked again, later and later, until it works or we stop.
        """
        async with self._all() if alone else self._slots:
            delay_s = _RETRY_FIRST_S
            while not self._stop.is_set():
                try:
                    return await self._once(build_id, alone)
                except NotFound:
                    return None
                except StorageError as error:
                    _log.warning("the store failed: %s", error.message, extra={"build_id": build_id})
                except Exception:
                    _log.exception("the driver failed", extra={"build_id": build_id})
                    return None
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), delay_s)
                delay_s = min(2 * delay_s, _RETRY_LONGEST_S)
        return None

    async def _once(self, build_id: str, alone: bool) -> BuildRecord:
        was_ours = await self._driver.drive(build_id, self._stop, alone=alone)
        record = await self._store.get(build_id)
        if self._ended is not None and was_ours and record.status not in UNFINISHED:
            self._ended(record)
        return record

    @asynccontextmanager
    async def _all(self) -> AsyncIterator[None]:
        """Hold every slot; one at a time, for two could wait for each other's."""
        async with self._all_slots, AsyncExitStack() as held:
            for _ in range(self._concurrency):
                await held.enter_async_context(self._slots)
            yield


def due(record: BuildRecord | None) -> datetime | None:
    """Return from when on a build that is set aside may be tried, None for any other."""
    aside = record is not None and record.status in UNFINISHED and not record.alone
    return record.not_before if record is not None and aside else None
