"""What the metrics of one build cost in a store with a hundred thousand events."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from app.core.ids import new_build_id
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.model.record import BuildRecord
from app.model.request import BuildRequest
from app.service.recordings import Recordings
from app.storage.opening import Storage, open_storage
from app.tools.figures import nearest_rank

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
