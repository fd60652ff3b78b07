"""`bench build`: seconds per phase and outcome of whole builds, and what a later one gains from what is known."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.bench.verdict import judged
from app.core.config import Settings
from app.model.record import BuildRequest
from app.service.services import Services
from app.wiring import open_services


def cpu_seconds(pid: int) -> float:
    """Return the processor time that the main thread of a process has used, in seconds, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def private_megabytes(pid: int) -> float:
    """Return the memory that a process shares with no other, in MB (10^6 bytes)."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) * 1024 / 1e6


PROMPTS = ("lightning sorceress for mapping", "titan with maces for bossing", "deadeye with bow, evasion")
AGAIN = {"the same prompt": PROMPTS[0], "the same skill for another purpose": "lightning sorceress for bossing"}
"""Built after the others on the same store, to see what is answered from what is known already."""


async def measure(settings: Settings) -> dict[str, Any]:
    """Return seconds (s) in all and per phase, outcome, DPS and EHP of each prompt.

    `again`: builds that follow on the same store, with their share of the first build's seconds and the share of
    engine calls that was answered from what earlier builds left (0-1).
    """
    async with scratch_services(settings) as services:
        runs = [await build(services, BuildRequest(prompt=prompt)) for prompt in PROMPTS]
        again = {why: await _again(services, prompt, runs[0]["seconds"]) for why, prompt in AGAIN.items()}
    median = statistics.median(run["seconds"] for run in runs)
    return {"benchmark": "build", "cores": cores(), "median_seconds": median, "runs": runs, "again": again}


async def _again(services: Services, prompt: str, first_s: float) -> dict[str, Any]:
    run = await build(services, BuildRequest(prompt=prompt))
    return {"share_of_first": round(run["seconds"] / first_s, 3), **run}


@asynccontextmanager
async def scratch_services(settings: Settings, **options: Any) -> AsyncIterator[Services]:
    """Open the services on an empty store that is removed afterwards; options as `open_services` takes them."""
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        alone = settings.model_copy(update={"database_url": url, "memory": "off"})
        async with open_services(alone, **options) as services:
            yield services


async def build(services: Services, request: BuildRequest) -> dict[str, Any]:
    """Make one build and return what is read off it, with its wall time in seconds (s)."""
    start = time.monotonic()
    made = await services.builds.create(request)
    await services.builds.wait(made.id)
    seconds = time.monotonic() - start
    known = (await services.recordings.metrics(made.id)).run.cache_hit_rate
    found = {"id": made.id, "prompt": request.prompt, "seconds": round(seconds, 2), "cache_hit_rate": known}
    return {**found, **await judged(services, made.id)}


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
