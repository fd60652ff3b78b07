"""How long builds are kept: by age and by size, recorded calls before whole builds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from app.core.clock import Clock
from app.core.errors import AppError
from app.model.base import Model

_log = logging.getLogger(__name__)
EVERY_S = 3600.0
_GB = 1_000_000_000
IN_USE = timedelta(days=1)
"""A parent is in use while a child of it is unfinished, or changed so lately."""


class RetentionStore(Protocol):
    """What is old, and letting go of it."""

    async def measure(self) -> int:
        """Measure finished builds that have not been measured, and return the bytes of all that have."""
        ...

    async def oldest(self, used_after: datetime, before: datetime | None = None, *, whole: bool = False) -> str | None:
        """Return the finished build that nobody needs and that changed first (before a time); `whole`: not thinned yet.

        Needed are builds of evaluation runs, and those with a child that is unfinished or changed after `used_after`.
        """
        ...

    async def thin(self, build_id: str) -> None:
        """Let go of arguments and results of the recorded calls of a finished build; numbers, times and hashes stay."""
        ...

    async def remove(self, build_id: str, used_after: datetime) -> None:
        """Remove a finished build that nobody needs with all that is recorded of it; what it taught stays."""
        ...


@dataclass(frozen=True)
class RetentionLimits:
    """How long and how much; None = without limit. `event_days`: of the arguments and results of recorded calls."""

    event_days: float | None = None
    days: float | None = None
    gigabytes: float | None = None


class Swept(Model):
    """What a sweep did: builds whose calls were thinned, builds removed, and bytes of finished builds in the end."""

    thinned: int
    removed: int
    bytes: int


class Retention:
    """Lets go of what is old. Unfinished builds, parents in use and builds of evaluation runs are never touched."""

    def __init__(
        self, store: RetentionStore, clock: Clock, limits: RetentionLimits, compact: Callable[[], Awaitable[None]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._compact = compact

    async def sweep(self) -> Swept:
        """Thin and remove what is too old, then the oldest until what is left is small enough.

        Raises:
            StorageError: the store failed; what is done stays done.
        """
        limits, thinned, removed = self._limits, 0, 0
        if (before := self._ago(limits.event_days)) is not None:
            while (build_id := await self._store.oldest(self._used_after, before, whole=True)) is not None:
                await self._store.thin(build_id)
                thinned += 1
        if (before := self._ago(limits.days)) is not None:
            while (build_id := await self._store.oldest(self._used_after, before)) is not None:
                await self._store.remove(build_id, self._used_after)
                removed += 1
        size = await self._store.measure()
        while limits.gigabytes is not None and size > limits.gigabytes * _GB:
            if (build_id := await self._store.oldest(self._used_after, whole=True)) is not None:
                await self._store.thin(build_id)
                thinned += 1
            elif (build_id := await self._store.oldest(self._used_after)) is not None:
                await self._store.remove(build_id, self._used_after)
                removed += 1
            else:
                break
            size = await self._store.measure()
        return Swept(thinned=thinned, removed=removed, bytes=size)

    async def run(self) -> None:
        """Sweep now and every hour, until cancelled; a sweep that fails is tried again an hour later."""
        while True:
            try:
                swept = await self.sweep()
                if swept.thinned or swept.removed:
                    _log.info("old builds were let go", extra=swept.model_dump())
            except AppError as error:
                _log.warning("old builds could not be let go: %s", error.message)
            await asyncio.sleep(EVERY_S)

    async def vacuum(self) -> Swept:
        """Sweep, and give what became free back to the disk.

        Raises:
            StorageError: the store failed, or is in use too much.
        """
        swept = await self.sweep()
        await self._compact()
        return swept

    @property
    def _used_after(self) -> datetime:
        return self._clock.now() - IN_USE

    def _ago(self, days: float | None) -> datetime | None:
        return None if days is None else self._clock.now() - timedelta(days=days)
