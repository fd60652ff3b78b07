"""Writing attempts down: at their start, at their end, and never at the price of the call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from app.core.errors import LeaseLost
from app.model.events import CallOutcome, ToolEvent
from app.storage.base import EventStore
from app.tools.telemetry import Observer

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Recorder:
    """Stores attempts and tells who watches; `dropped` counts records that could not be written."""

    def __init__(self, events: EventStore, observer: Observer | None = None) -> None:
        self._events = events
        self._observer = observer
        self.dropped = 0

    async def start(self, event: ToolEvent) -> ToolEvent | None:
        """Store the start; a cancellation meanwhile waits for the record and completes it as cancelled."""
        if self._observer is not None:
            self._observer.started(event)
        writing = asyncio.create_task(self._kept(self._events.start(event)))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            stored = await writing
            await self.finish(event, stored, {"outcome": CallOutcome.CANCELLED, "duration_ms": 0.0}, last=True)
            raise

    async def finish(self, event: ToolEvent, stored: ToolEvent | None, ending: Mapping[str, Any], last: bool) -> None:
        """Complete what `start` returned for the event, None where its start was lost."""
        if self._observer is not None:
            self._observer.finished(event.model_copy(update=dict(ending)), last)
        if stored is None:
            return
        writing = asyncio.create_task(self._kept(self._events.finish(stored.model_copy(update=dict(ending)))))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await writing
            raise

    async def record(self, event: ToolEvent) -> None:
        """Store an attempt that is over already."""
        if self._observer is not None:
            self._observer.recorded(event, last=True)
        await self._kept(self._events.record(event))

    async def _kept(self, write: Awaitable[T]) -> T | None:
        try:
            return await write
        except LeaseLost as lost:
            _log.warning("a late tool event was refused: %s", lost.message, extra=lost.details)
            return None
        except Exception as error:
            self.dropped += 1
            _log.warning("a tool event was not recorded: %s", type(error).__name__)
            return None
