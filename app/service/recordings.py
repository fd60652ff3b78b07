"""Reading what was recorded while a build was made: progress, tool events, metrics."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.metrics.breakdown import BuildMetrics
from app.metrics.efficiency import Standards
from app.metrics.expectations import Expectations, RecordedCall, Verdict, check_usable, evaluate
from app.model.base import Model, changed
from app.model.events import Attempt, CallOutcome, ToolEvent
from app.model.names import Phase
from app.model.record import ProgressEvent
from app.service.builds import FINISHED
from app.service.estimates import Estimates
from app.storage.base import BuildStore, EventStore


class CallView(Model):
    """One call with the result of its last attempt; `duration_ms` is the sum over attempts, null while running.

    `turn` 0 = unknown; `sequence` counts calls 1..N in start order; `result` is a preview of at most 2 kB.
    """

    turn: int
    sequence: int
    tool_call_id: str
    tool_name: str
    args: dict[str, Any] | None
    result: str | None
    success: bool
    duration_ms: float | None
    error: str | None


class FoldedCall(Model):
    """A call with what can be filtered on: phase and the outcome of its last attempt."""

    call: CallView
    phase: str
    outcome: CallOutcome


def fold_calls(events: Iterable[ToolEvent]) -> list[FoldedCall]:
    """Return one entry per call id, in the order of the first attempts."""
    attempts: dict[str, list[ToolEvent]] = {}
    for event in events:
        attempts.setdefault(event.call_id, []).append(event)
    folded = []
    for sequence, group in enumerate(attempts.values(), start=1):
        last = max(group, key=lambda event: (event.attempt, event.seq))
        durations = [event.duration_ms for event in group if event.duration_ms is not None]
        ok = last.outcome is CallOutcome.OK
        call = CallView(
            turn=last.turn,
            sequence=sequence,
            tool_call_id=last.call_id,
            tool_name=last.tool,
            args=last.args,
            result=last.result_preview,
            success=ok,
            duration_ms=sum(durations) if durations else None,
            error=None if ok else last.error_message or last.error_type or last.outcome.value,
        )
        folded.append(FoldedCall(call=call, phase=last.phase.value, outcome=last.outcome))
    return folded


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
        await asyncio.to_thread(check_usable, wanted)
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


KEPT_METRICS = 256


@dataclass(frozen=True)
class ToolFilter:
    """Which tool events to return; None = all. `after` is the last sequence number seen."""

    phase: Phase | None = None
    tool: str | None = None
    outcome: CallOutcome | None = None
    after: int = 0
    limit: int = 200


class AttemptPage(Model):
    """Attempts in start order; `next_cursor` null = nothing more for now."""

    view: str = "attempts"
    tool_events: list[ToolEvent]
    next_cursor: str | None


class CallPage(Model):
    """Calls in start order; `next_cursor` null = nothing more for now."""

    view: str = "calls"
    tool_events: list[CallView]
    next_cursor: str | None


class Recordings:
    """The read side of what happened to a build; metrics of finished builds, by the standards, are remembered."""

    def __init__(
        self,
        builds: BuildStore,
        events: EventStore,
        standards: Standards | None = None,
        estimates: Estimates | None = None,
    ) -> None:
        self._builds = builds
        self._events = events
        self._standards = standards or Standards()
        self._estimates = estimates
        self._measured: OrderedDict[tuple[str, datetime], BuildMetrics] = OrderedDict()

    async def progress(self, build_id: str, after: int = 0) -> list[ProgressEvent]:
        """Return progress events after the given sequence number."""
        return await self._builds.progress(build_id, after_seq=after)

    async def attempts(self, build_id: str, wanted: ToolFilter) -> AttemptPage:
        """Return a page of attempts.

        Raises:
            NotFound: no such build.
        """
        await self._builds.standing(build_id)
        found = await self._events.page(
            build_id, wanted.phase, wanted.tool, wanted.outcome, wanted.after, wanted.limit + 1
        )
        page = found[: wanted.limit]
        more = len(found) > wanted.limit
        return AttemptPage(tool_events=page, next_cursor=str(page[-1].seq) if more else None)

    async def calls(self, build_id: str, wanted: ToolFilter) -> CallPage:
        """Return a page of calls; filters look at the last attempt of each.

        Raises:
            NotFound: no such build.
        """
        await self._builds.standing(build_id)
        folded = fold_calls(await self._events.all(build_id))
        kept = [
            entry.call
            for entry in folded
            if entry.call.sequence > wanted.after
            and wanted.phase in (None, entry.phase)
            and wanted.tool in (None, entry.call.tool_name)
            and wanted.outcome in (None, entry.outcome)
        ]
        page = kept[: wanted.limit]
        more = len(kept) > wanted.limit
        return CallPage(tool_events=page, next_cursor=str(page[-1].sequence) if more else None)

    async def metrics(self, build_id: str) -> BuildMetrics:
        """Return calls, success and time of the build: per run, per phase, per phase and tool, where time went, what
        the figures say to change, and what a language model was asked beside what was expected.

        Raises:
            NotFound: no such build.
        """
        now = await self._builds.standing(build_id)
        if (known := self._measured.get((build_id, now.changed))) is not None:
            return known
        events, ended = await self._events.measured(build_id), now.status in FINISHED
        traces = await self._builds.traces(build_id)
        found = await asyncio.to_thread(
            lambda: BuildMetrics.of(self._standards.measure(events, ended, now.engine), traces)
        )
        if self._estimates is not None:
            found = changed(found, language_model=await self._estimates.report(build_id))
        if ended:
            self._measured[build_id, now.changed] = found
            while len(self._measured) > KEPT_METRICS:
                self._measured.popitem(last=False)
        return found

    async def timings(self, build_id: str) -> Sequence[Attempt]:
        """Return of every attempt, in start order, what metrics are computed from.

        Raises:
            NotFound: no such build.
        """
        await self._builds.standing(build_id)
        return await self._events.measured(build_id)
