"""`bench baseline`: how long each tool takes here, as the target times that efficiency is measured by."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from app.bench.builds import PROMPTS, cores, scratch_services
from app.core.config import Settings, resource_dir
from app.metrics.efficiency import BASELINE
from app.metrics.figures import is_executed, nearest_rank
from app.model.base import changed
from app.model.events import Attempt, CallOutcome
from app.model.record import BuildRequest


async def measure(settings: Settings) -> dict[str, Any]:
    """Build some prompts without the cache, write the engine's section of the baseline file, and return it."""
    events: list[Attempt] = []
    engine = ""
    async with scratch_services(changed(settings, cache_mb=0)) as services:
        for prompt in PROMPTS:
            made = await services.builds.create(BuildRequest(prompt=prompt))
            await services.builds.wait(made.id)
            events += await services.recordings.timings(made.id)
            engine = (await services.library.get(made.id)).engine.name or engine
    path = resource_dir("evals") / BASELINE
    section = section_of(events)
    write_section(path, engine, section)
    return {"benchmark": "baseline", "engine": engine, "file": str(path), **section}


def section_of(events: Sequence[Attempt]) -> dict[str, Any]:
    """Return milliseconds per tool over executed good attempts: how many, p50, p95 (nearest rank) and the longest.

    With them how many results a call has on average, where that is not one.
    """
    results: dict[str, list[int]] = {}
    taken: dict[str, list[float]] = {}
    for event in events:
        if is_executed(event) and event.outcome is CallOutcome.OK and event.duration_ms is not None:
            taken.setdefault(event.tool, []).append(event.duration_ms)
            results.setdefault(event.tool, []).append(event.results or 1)
    tools: dict[str, dict[str, Any]] = {}
    for tool, unordered in sorted(taken.items()):
        times = sorted(unordered)
        quantiles = {"p50_ms": nearest_rank(times, 0.5), "p95_ms": nearest_rank(times, 0.95), "max_ms": times[-1]}
        tools[tool] = {"n": len(times), **{name: round(value or 0.0, 1) for name, value in quantiles.items()}}
        if (each := fmean(results[tool])) != 1:
            tools[tool]["results"] = round(each, 1)
    where = {"cores": cores(), "load": round(os.getloadavg()[0], 1), "at": f"{datetime.now(UTC):%Y-%m-%d}"}
    return {"measured": where, "tools": tools}


def write_section(path: Path, engine: str, section: dict[str, Any]) -> None:
    """Replace one engine's section of the file."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps({**known, engine: section}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
