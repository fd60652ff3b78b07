"""What recording costs: the same builds with and without it, in turns, and how long each record takes."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from app.bench.builds import scratch_services
from app.core.config import Settings
from app.core.ids import new_build_id, new_call_id
from app.metrics.figures import nearest_rank
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.model.record import BuildRecord, BuildRequest
from app.model.stats import EHP
from app.service.recordings import Recordings
from app.service.services import Services
from app.storage.base import EventStore
from app.storage.opening import Storage, open_storage

BUILDS, EVENTS = 65, 1540
_READS = 65
_PHASES = (Phase.EXPLORE, Phase.CONSTRUCT, Phase.VALIDATE)
_TOOLS = ("pob.what_if", "pob.apply", "pob.build", "pob.facts.affixes")
_START = datetime(2026, 1, 1, tzinfo=UTC)


async def metrics_cost(builds: int = BUILDS, events: int = EVENTS) -> dict[str, Any]:
    """Return milliseconds (ms) of wall and processor for the metrics of one build, none of them remembered.

    The processor's are what it costs; the wall's also hold what else the machine did.
    """
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder:
        async with open_storage(f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}") as opened:
            ids = [await _filled(opened, events) for _ in range(builds)]
            took = [await _read(opened, ids[number % builds]) for number in range(_READS)]
    wall, processor = sorted(ms for ms, _ in took), sorted(ms for _, ms in took)
    return {
        "events_in_store": builds * events,
        "events_of_build": events,
        "p50_ms": round(nearest_rank(wall, 0.5) or 0.0, 1),
        "p95_ms": round(nearest_rank(wall, 0.95) or 0.0, 1),
        "processor_p50_ms": round(nearest_rank(processor, 0.5) or 0.0, 1),
        "processor_p95_ms": round(nearest_rank(processor, 0.95) or 0.0, 1),
    }


async def _filled(opened: Storage, events: int) -> str:
    now = datetime.now(UTC)
    request = BuildRequest(prompt="lightning sorceress")
    build_id = new_build_id()
    await opened.builds.insert(BuildRecord(id=build_id, request=request, created_at=now, updated_at=now))
    for number in range(events):
        await opened.events.record(_event(build_id, number, events))
    return build_id


def _event(build_id: str, number: int, events: int) -> ToolEvent:
    """Return one of a build's events: every third call is a repeat, previews are as large as they get."""
    return ToolEvent(
        build_id=build_id,
        seq=0,
        phase=_PHASES[number * len(_PHASES) // events],
        kind=ToolKind.POB,
        tool=_TOOLS[number % len(_TOOLS)],
        call_id=f"{build_id}-{number}",
        started_at=_START + timedelta(milliseconds=100 * number),
        duration_ms=float(number % 90 + 5),
        outcome=CallOutcome.OK,
        args={"candidates": 40, "build_sha256": "a" * 64},
        args_sha256=f"{number // 3:064x}",
        result_sha256="b" * 64,
        result_preview="x" * 2000,
        bytes_in=400,
        bytes_out=7000,
        cache=CacheUse.MISS,
    )


async def _read(opened: Storage, build_id: str) -> tuple[float, float]:
    recordings = Recordings(opened.builds, opened.events)
    wall_s, processor_s = time.perf_counter(), time.process_time()
    await recordings.metrics(build_id)
    return (time.perf_counter() - wall_s) * 1000, (time.process_time() - processor_s) * 1000


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
                begun = await events.start(_recording_event(record.id))
                await events.finish(begun.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.0}))
            processor_s = time.process_time() - processor_s
    took_ms = sorted(events.took_ms)
    return {
        "write_p50_ms": _rounded(nearest_rank(took_ms, 0.5)),
        "write_p95_ms": _rounded(nearest_rank(took_ms, 0.95)),
        "write_processor_ms": round(processor_s * 1000 / _WRITES, 3),
    }


def _recording_event(build_id: str) -> ToolEvent:
    args = {"candidates": 40, "metrics": [EHP] * 10, "build_sha256": "f" * 64}
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
