"""Checking what must and must not have been called, against the calls as they are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from app.model.events import ToolEvent
from app.service.tool_calls import fold_calls
from app.storage.base import BuildStore, EventStore
from app.tools.expectations import Expectations, RecordedCall, Verdict, check_usable, evaluate


class ExpectationChecks:
    """Evaluates expectations on recorded calls."""

    def __init__(self, builds: BuildStore, events: EventStore) -> None:
        self._builds = builds
        self._events = events

    async def check(self, build_id: str, wanted: Expectations) -> Verdict:
        """Return which expectations the calls recorded so far meet.

        Raises:
            InvalidMatcher, InputError: a matcher or tool name is unusable; nothing has been read then.
            NotFound: no such build.
        """
        check_usable(wanted)
        await self._builds.standing(build_id)
        calls = recorded_calls(await self._events.all(build_id))
        return await asyncio.to_thread(evaluate, wanted, calls)


def recorded_calls(events: Iterable[ToolEvent]) -> list[RecordedCall]:
    """Return the calls of the events, as `view=calls` numbers them."""
    return [
        RecordedCall(
            turn=folded.call.turn,
            sequence=folded.call.sequence,
            tool_name=folded.call.tool_name,
            args=folded.call.args,
            success=folded.call.success,
        )
        for folded in fold_calls(events)
    ]
