"""Writing attempts down: at their start, at their end, and never at the price of the call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from app.core.eager import begun
from app.core.errors import LeaseLost, StorageError
from app.core.spans import SpanKind, span
from app.model.base import changed
from app.model.events import Attempt, CallOutcome, ToolEvent
from app.model.names import Phase
from app.storage.base import EventStore
from app.telemetry.observers import Observer

_log = logging.getLogger(__name__)


class BufferedEvents:
    """An event store in memory for one build; implements `EventStore`."""

    immediate = True

    def __init__(self) -> None:
        self._events: list[ToolEvent] = []

    async def start(self, event: ToolEvent) -> ToolEvent:
        """Keep the event with the next seq."""
        return await self.record(changed(event, outcome=CallOutcome.INCOMPLETE))

    async def record(self, event: ToolEvent) -> ToolEvent:
        """Keep an event that is over already."""
        kept = changed(event, seq=len(self._events) + 1)
        self._events.append(kept)
        return kept

    async def finish(self, event: ToolEvent) -> None:
        """Complete a started event."""
        self._events[event.seq - 1] = event

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work now: it waits for nothing."""
        begun(work)

    async def page(
        self,
        build_id: str,
        phase: Phase | None = None,
        tool: str | None = None,
        outcome: CallOutcome | None = None,
        after_seq: int = 0,
        limit: int = 200,
    ) -> list[ToolEvent]:
        """Return the events with a greater seq; whose they are and what they are about does not matter here."""
        return self._events[after_seq : after_seq + limit]

    async def all(self, build_id: str) -> list[ToolEvent]:
        """Return every event."""
        return list(self._events)

    async def measured(self, build_id: str) -> Sequence[Attempt]:
        """Return nothing: metrics are about builds that are stored."""
        return []

    async def store_in(self, store: EventStore) -> None:
        """Record everything in the store; the build must be there by now. A store that cannot fails nothing else."""
        try:
            for event in self._events:
                await store.record(event)
        except StorageError as error:
            _log.warning("calls are not recorded: %s", error.code)


T = TypeVar("T")


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
        with span("records", SpanKind.STORE):
            write = self._written(self._events.start(event))
            if not isinstance(write, asyncio.Future):
                return write
            try:
                return await asyncio.shield(write)
            except asyncio.CancelledError:
                stored = await write
                self.finish(event, stored, {"outcome": CallOutcome.CANCELLED, "duration_ms": 0.0}, last=True)
                raise

    def finish(self, event: ToolEvent, stored: ToolEvent | None, ending: Mapping[str, Any], last: bool) -> None:
        """Complete what `start` returned for the event, None where its start was lost.

        Nobody waits for the write: it is made while the engine or the model works on the next call.
        """
        over = changed(event if stored is None else stored, **ending)
        if self._observer is not None:
            self._observer.finished(over, last)
        if stored is None:
            return
        self._events.soon(self._guarded(self._events.finish(over)))

    async def record(self, event: ToolEvent) -> None:
        """Store an attempt that is over already."""
        if self._observer is not None:
            self._observer.recorded(event, last=True)
        with span("records", SpanKind.STORE):
            await self._guarded(self._events.record(event))

    def _written(self, write: Awaitable[T]) -> asyncio.Future[T | None] | T | None:
        """Begin the write; what is returned is its result, or the task that does it."""
        guarded = self._guarded(write)
        return begun(guarded) if self._events.immediate else asyncio.ensure_future(guarded)

    async def _guarded(self, write: Awaitable[T]) -> T | None:
        try:
            return await write
        except LeaseLost as lost:
            _log.warning("a late tool event was refused: %s", lost.message, extra=lost.details)
            return None
        except Exception as error:
            self.dropped += 1
            _log.warning("a tool event was not recorded: %s", type(error).__name__)
            return None
