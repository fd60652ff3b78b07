"""What recording costs: the same builds with and without it, in turns, and how long each record takes."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from app.bench.builds import scratch_services
from app.core.config import Settings
from app.core.ids import new_build_id, new_call_id
from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.model.record import BuildRecord
from app.model.request import BuildRequest
from app.service.services import Services
from app.storage.base import EventStore
from app.storage.opening import open_storage
from app.tools.figures import nearest_rank

T = TypeVar("T")
_WRITES = 600
PROMPT = BuildRequest(prompt="lightning sorceress for mapping", level=90)


class TimedEvents:
    """An EventStore that notes how long each write takes, in milliseconds."""

    def __init__(self, inner: EventStore) -> None:
        self._inner = inner
        self.took_ms: list[float] = []

    def __getattr__(self, name: str) -> Any:
        """Read as the inner one does."""
        return getattr(self._inner, name)

    async def start(self, event: ToolEvent) -> ToolEvent:
        """Store the start of an attempt."""
        return await self._timed(self._inner.start(event))

    async def record(self, event: ToolEvent) -> ToolEvent:
        """Store an attempt that is over already."""
        return await self._timed(self._inner.record(event))

    async def finish(self, event: ToolEvent) -> None:
        """Complete a started event."""
        await self._timed(self._inner.finish(event))

    async def _timed(self, write: Awaitable[T]) -> T:
        start = time.perf_counter()
        try:
            return await write
        finally:
            self.took_ms.append((time.perf_counter() - start) * 1000)


async def recording_cost(settings: Settings, pairs: int) -> dict[str, Any]:
    """Return seconds (s) of builds with and without recording, their ratio, and milliseconds (ms) per write.

    `ratio`: median over pairs of with / without. The milliseconds within builds include waiting for whatever else the
    process does at that moment; `alone` are the same writes with nothing else going on. `share_of_wall`: processor
    time of all writes over the wall time of the recorded builds.
    """
    uncached = settings.model_copy(update={"cache_mb": 0})
    on: list[float] = []
    off: list[float] = []
    took_ms: list[float] = []
    for number in range(pairs):
        for recorded in (True, False) if number % 2 == 0 else (False, True):
            timed: list[TimedEvents] = []

            def watched(events: EventStore, timed: list[TimedEvents] = timed) -> EventStore:
                timed.append(TimedEvents(events))
                return timed[-1]

            async with scratch_services(uncached, events=watched, recorded=recorded) as services:
                (on if recorded else off).append(await _seconds(services))
            took_ms += [ms for events in timed for ms in events.took_ms]
    took_ms.sort()
    alone = await _alone()
    return {
        "pairs": pairs,
        "seconds_recorded": [round(s, 2) for s in on],
        "seconds_unrecorded": [round(s, 2) for s in off],
        "ratio": round(statistics.median(a / b for a, b in zip(on, off, strict=True)), 4),
        "writes": len(took_ms),
        "write_p50_ms": _rounded(nearest_rank(took_ms, 0.5)),
        "write_p95_ms": _rounded(nearest_rank(took_ms, 0.95)),
        "alone": alone,
        "share_of_wall": round(alone["write_processor_ms"] * len(took_ms) / 1000 / sum(on), 4),
    }


async def _alone() -> dict[str, Any]:
    """Write events one after the other with nothing else going on: milliseconds (ms) of wall and processor each."""
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder:
        async with open_storage(f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}") as opened:
            now = datetime.now(UTC)
            record = BuildRecord(id=new_build_id(), request=PROMPT, created_at=now, updated_at=now)
            events = TimedEvents(opened.events)
            await opened.builds.insert(record)
            processor_s = time.process_time()
            for _ in range(_WRITES // 2):
                begun = await events.start(_event(record.id))
                await events.finish(begun.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.0}))
            processor_s = time.process_time() - processor_s
    took_ms = sorted(events.took_ms)
    return {
        "write_p50_ms": _rounded(nearest_rank(took_ms, 0.5)),
        "write_p95_ms": _rounded(nearest_rank(took_ms, 0.95)),
        "write_processor_ms": round(processor_s * 1000 / _WRITES, 3),
    }


def _event(build_id: str) -> ToolEvent:
    args = {"candidates": 40, "metrics": ["TotalEHP"] * 10, "build_sha256": "f" * 64}
    return ToolEvent(
        build_id=build_id,
        seq=0,
        phase=Phase.CONSTRUCT,
        kind=ToolKind.POB,
        tool="pob.what_if",
        call_id=new_call_id(),
        started_at=datetime.now(UTC),
        args=args,
        args_sha256="f" * 64,
    )


async def _seconds(services: Services) -> float:
    start = time.monotonic()
    made = await services.builds.create(PROMPT)
    await services.builds.wait(made.id)
    return time.monotonic() - start


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
