"""`bench service`: what recording, polling and metrics cost, and what the cache of answers saves."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import os
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from app.bench.builds import cores, scratch_services, scratch_settings, timed_build
from app.bench.load import load, workers
from app.bench.processes import get, served
from app.core.config import Settings
from app.core.errors import EngineError, InputError
from app.core.ids import new_build_id, new_call_id
from app.metrics.figures import nearest_rank
from app.model.base import changed
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.model.record import BuildRecord, BuildRequest
from app.model.stats import EHP
from app.storage.base import BuildStore, EventStore
from app.wiring.services import read_side
from app.wiring.stores import storage

REQUEST = BuildRequest(prompt="lightning sorceress for mapping", level=90)
"""The build that is made to measure what happens around it."""

PAIRS, RECORDING_PAIRS = 2, 6
"""Recording costs a few percent of a build: on a busy machine less than one build differs from the next."""

_WARM_UP = changed(REQUEST, level=12)


async def measure(settings: Settings, only: Collection[str] = ()) -> dict[str, Any]:
    """Return the parts named in `only`, by default all that need no server: cache, recording, polling, metrics, load.

    Raises:
        InputError: there is no such part.
    """
    parts: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
        "cache": lambda: cache_gain(settings),
        "recording": lambda: recording_cost(settings, RECORDING_PAIRS),
        "polling": lambda: asyncio.to_thread(polling_cost, settings, PAIRS),
        "metrics": lambda: metrics_cost(settings),
        "load": lambda: load(settings),
        "workers": lambda: workers(settings),
    }
    if unknown := sorted(set(only) - set(parts)):
        raise InputError(f"`bench service` has no part {unknown[0]!r}; it has {', '.join(parts)}.")
    report: dict[str, Any] = {"benchmark": "service", "cores": cores(), "engine": settings.engine}
    for name, part in parts.items():
        if name in (only or set(parts) - {"workers"}):
            report[name] = await part()
    return report


async def cache_gain(settings: Settings) -> dict[str, Any]:
    """Return seconds (s) of the same build twice on one store, what the second took from the cache, and the ratio."""
    seconds: list[float] = []
    rates: list[float | None] = []
    digests: list[str] = []
    async with scratch_services(settings) as services:
        for _ in range(2):
            build_id, took_s = await timed_build(services, REQUEST)
            rate = (await services.recordings.metrics(build_id)).run.cache_hit_rate
            seconds.append(round(took_s, 2))
            rates.append(None if rate is None else round(rate, 4))
            digests.append(hashlib.sha256(await services.library.export(build_id, "xml")).hexdigest())
    ratio = round(seconds[0] / seconds[1], 2)
    return {"seconds": seconds, "ratio": ratio, "hit_rates": rates, "same_bytes": digests[0] == digests[1]}


BUILDS, EVENTS = 65, 1540
_READS = 65
_PHASES = (Phase.EXPLORE, Phase.CONSTRUCT, Phase.VALIDATE)
_TOOLS = ("pob.what_if", "pob.apply", "pob.build", "pob.facts.affixes")
_START = datetime(2026, 1, 1, tzinfo=UTC)


async def metrics_cost(settings: Settings, builds: int = BUILDS, events: int = EVENTS) -> dict[str, Any]:
    """Return milliseconds (ms) of wall and processor for the metrics of one build, none of them remembered.

    The processor's are what it costs; the wall's also hold what else the machine did.
    """
    wall: list[float] = []
    processor: list[float] = []
    with scratch_settings(settings) as alone:
        async with storage(alone, exclusive=True) as opened:
            ids = [await _new_build(opened.builds) for _ in range(builds)]
            for build_id in ids:
                for number in range(events):
                    await opened.events.record(_event(build_id, number, events))
            for number in range(_READS):
                recordings = read_side(alone, opened).recordings
                wall_s, processor_s = time.perf_counter(), time.process_time()
                await recordings.metrics(ids[number % builds])
                wall.append((time.perf_counter() - wall_s) * 1000)
                processor.append((time.process_time() - processor_s) * 1000)
    wall.sort()
    processor.sort()
    return {
        "events_in_store": builds * events,
        "events_of_build": events,
        "p50_ms": round(nearest_rank(wall, 0.5) or 0.0, 1),
        "p95_ms": round(nearest_rank(wall, 0.95) or 0.0, 1),
        "processor_p50_ms": round(nearest_rank(processor, 0.5) or 0.0, 1),
        "processor_p95_ms": round(nearest_rank(processor, 0.95) or 0.0, 1),
    }


async def _new_build(builds: BuildStore) -> str:
    now = datetime.now(UTC)
    record = BuildRecord(id=new_build_id(), request=REQUEST, created_at=now, updated_at=now)
    await builds.insert(record)
    return record.id


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


T = TypeVar("T")
_WRITES = 600


class TimedEvents:
    """An EventStore that notes how long each write takes, in milliseconds."""

    def __init__(self, inner: EventStore) -> None:
        self._inner = inner
        self.took_ms: list[float] = []

    @property
    def immediate(self) -> bool:
        """As the inner one."""
        return self._inner.immediate

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

    Neither uses the cache of answers. Those without recording work out no hash of what they ask either; what the engine
    said about the game they keep as long. A small build goes before, so that neither begins cold.

    `ratio`: median over pairs of with / without by the wall clock, `processor_ratio` the same by processor time of
    this program and of its engines (which other work on the machine changes less). The milliseconds within builds
    include waiting for whatever else the process does at that moment; `alone` are the same writes with nothing else
    going on. `share_of_wall`: processor time of all writes over the wall time of the recorded builds.
    """
    uncached = changed(settings, cache_mb=0)
    on: list[float] = []
    off: list[float] = []
    took_ms: list[float] = []
    used: dict[bool, list[float]] = {True: [], False: []}
    async with scratch_services(uncached) as services:
        await timed_build(services, _WARM_UP)
    for number in range(pairs):
        for recorded in (True, False) if number % 2 == 0 else (False, True):
            timed: list[TimedEvents] = []

            def watched(events: EventStore, timed: list[TimedEvents] = timed) -> EventStore:
                timed.append(TimedEvents(events))
                return timed[-1]

            before = _processor_s()
            async with scratch_services(uncached, events=watched, recorded=recorded) as services:
                (on if recorded else off).append((await timed_build(services, REQUEST))[1])
            used[recorded].append(_processor_s() - before)
            took_ms += [ms for events in timed for ms in events.took_ms]
    took_ms.sort()
    alone = await _writes_alone(settings)
    return {
        "pairs": pairs,
        "seconds_recorded": [round(s, 2) for s in on],
        "seconds_unrecorded": [round(s, 2) for s in off],
        "processor_seconds_recorded": [round(s, 2) for s in used[True]],
        "processor_seconds_unrecorded": [round(s, 2) for s in used[False]],
        "ratio": round(statistics.median(a / b for a, b in zip(on, off, strict=True)), 4),
        "processor_ratio": round(statistics.median(a / b for a, b in zip(used[True], used[False], strict=True)), 4),
        "writes": len(took_ms),
        "write_p50_ms": _rounded(nearest_rank(took_ms, 0.5)),
        "write_p95_ms": _rounded(nearest_rank(took_ms, 0.95)),
        "alone": alone,
        "share_of_wall": round(alone["write_processor_ms"] * len(took_ms) / 1000 / sum(on), 4),
    }


async def _writes_alone(settings: Settings) -> dict[str, Any]:
    """Write events one after the other with nothing else going on: milliseconds (ms) of wall and processor each."""
    with scratch_settings(settings) as alone:
        async with storage(alone, exclusive=True) as opened:
            build_id = await _new_build(opened.builds)
            events = TimedEvents(opened.events)
            processor_s = time.process_time()
            for _ in range(_WRITES // 2):
                started = ToolEvent(
                    build_id=build_id,
                    seq=0,
                    phase=Phase.CONSTRUCT,
                    kind=ToolKind.POB,
                    tool="pob.what_if",
                    call_id=new_call_id(),
                    started_at=datetime.now(UTC),
                    args={"candidates": 40, "metrics": [EHP] * 10, "build_sha256": "f" * 64},
                    args_sha256="f" * 64,
                )
                begun = await events.start(started)
                await events.finish(changed(begun, outcome=CallOutcome.OK, duration_ms=1.0))
            processor_s = time.process_time() - processor_s
    took_ms = sorted(events.took_ms)
    return {
        "write_p50_ms": _rounded(nearest_rank(took_ms, 0.5)),
        "write_p95_ms": _rounded(nearest_rank(took_ms, 0.95)),
        "write_processor_ms": round(processor_s * 1000 / _WRITES, 3),
    }


def _processor_s() -> float:
    """Return the processor time, in seconds, of this program and of the children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


POLLS_PER_S = 50
_BUILD_S = 1800.0
_OVER = ("complete", "failed", "cancelled")


def polling_cost(settings: Settings, pairs: int) -> dict[str, Any]:
    """Return seconds (s) of builds polled and left alone, their ratio, and milliseconds (ms) per poll.

    `ratio`: median over pairs of polled / left alone. The server is a process of its own.
    """
    polled: list[float] = []
    alone: list[float] = []
    took_ms: list[float] = []
    with served(changed(settings, database_url=None)) as port:
        for number in range(pairs):
            for watched in (True, False) if number % 2 == 0 else (False, True):
                seconds = _served_build(port, took_ms if watched else None)
                (polled if watched else alone).append(seconds)
    took_ms.sort()
    return {
        "pairs": pairs,
        "polls_per_second": POLLS_PER_S,
        "seconds_polled": [round(s, 2) for s in polled],
        "seconds_alone": [round(s, 2) for s in alone],
        "ratio": round(statistics.median(a / b for a, b in zip(polled, alone, strict=True)), 4),
        "polls": len(took_ms),
        "poll_p50_ms": round(nearest_rank(took_ms, 0.5) or 0.0, 2),
        "poll_p95_ms": round(nearest_rank(took_ms, 0.95) or 0.0, 2),
    }


def _served_build(port: int, took_ms: list[float] | None) -> float:
    """Make a build, polling it when there is where to note how long polls take; return seconds by the server's clock.

    Raises:
        EngineError: it does not end in time.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = REQUEST.model_dump_json(exclude_none=True)
    connection.request("POST", "/v1/builds", body, {"Content-Type": "application/json"})
    made = json.loads(connection.getresponse().read())
    path = f"/v1/builds/{made['id']}"
    stop = threading.Event()
    poller = threading.Thread(target=_poll, args=(port, path, stop, took_ms if took_ms is not None else []))
    if took_ms is not None:
        poller.start()
    try:
        until = time.monotonic() + _BUILD_S
        while time.monotonic() < until:
            view = json.loads(get(connection, path)[1])
            if view["status"] in _OVER:
                began, ended = (datetime.fromisoformat(view[name]).timestamp() for name in ("created_at", "updated_at"))
                return ended - began
            time.sleep(1.0)
        raise EngineError("the build did not end in time")
    finally:
        stop.set()
        if took_ms is not None:
            poller.join()


def _poll(port: int, path: str, stop: threading.Event, took_ms: list[float]) -> None:
    """Ask fifty times a second, evenly; who is late asks again at once, but never catches up."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    due = time.monotonic()
    while not stop.is_set():
        start = time.perf_counter()
        get(connection, path)
        took_ms.append((time.perf_counter() - start) * 1000)
        due = max(due + 1 / POLLS_PER_S, time.monotonic() - 1 / POLLS_PER_S)
        stop.wait(max(0.0, due - time.monotonic()))
