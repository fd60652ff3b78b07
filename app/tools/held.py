"""Events of a build that is not stored yet: kept here, and recorded once it is."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from app.core.errors import StorageError
from app.model.events import Attempt, CallOutcome, ToolEvent
from app.model.names import Phase
from app.storage.base import EventStore

_log = logging.getLogger(__name__)


class HeldEvents:
    """An event store in memory for one build; implements `EventStore`."""

    def __init__(self) -> None:
        self._events: list[ToolEvent] = []

    async def start(self, event: ToolEvent) -> ToolEvent:
        """Keep the event with the next seq."""
        return await self.record(event.model_copy(update={"outcome": CallOutcome.INCOMPLETE}))

    async def record(self, event: ToolEvent) -> ToolEvent:
        """Keep an event that is over already."""
        kept = event.model_copy(update={"seq": len(self._events) + 1})
        self._events.append(kept)
        return kept

    async def finish(self, event: ToolEvent) -> None:
        """Complete a started event."""
        self._events[event.seq - 1] = event

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

    async def release(self, store: EventStore) -> None:
        """Record everything in the store; the build must be there by now. A store that cannot fails nothing else."""
        try:
            for event in self._events:
                await store.record(event)
        except StorageError as error:
            _log.warning("calls are not recorded: %s", error.code)
