"""`bench service`: what recording, polling and metrics cost, and what the cache of answers saves."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from app.bench.builds import cores, scratch_services
from app.bench.manyevents import metrics_cost
from app.bench.polling import polling_cost
from app.bench.recording import PROMPT, recording_cost
from app.core.config import Settings
from app.core.errors import InputError
from app.service.services import Services

PAIRS = 2


async def measure(settings: Settings, only: Collection[str] = ()) -> dict[str, Any]:
    """Return the parts named in `only`, all by default: cache, recording, polling, metrics.

    Raises:
        InputError: there is no such part.
    """
    parts: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
        "cache": lambda: cache_gain(settings),
        "recording": lambda: recording_cost(settings, PAIRS),
        "polling": lambda: polling_cost(settings, PAIRS),
        "metrics": metrics_cost,
    }
    if unknown := sorted(set(only) - set(parts)):
        raise InputError(f"`bench service` has no part {unknown[0]!r}; it has {', '.join(parts)}.")
    report: dict[str, Any] = {"benchmark": "service", "cores": cores(), "engine": settings.engine}
    for name, part in parts.items():
        if not only or name in only:
            report[name] = await part()
    return report


async def cache_gain(settings: Settings) -> dict[str, Any]:
    """Return seconds (s) of the same build twice on one store, what the second took from the cache, and the ratio."""
    async with scratch_services(settings) as services:
        first, second = [await _build(services) for _ in range(2)]
    return {
        "seconds": [first["seconds"], second["seconds"]],
        "ratio": round(first["seconds"] / second["seconds"], 2),
        "hit_rates": [first["hit_rate"], second["hit_rate"]],
        "same_bytes": first["sha256"] == second["sha256"],
    }


async def _build(services: Services) -> dict[str, Any]:
    start = time.monotonic()
    made = await services.builds.create(PROMPT)
    await services.builds.wait(made.id)
    seconds = time.monotonic() - start
    run = (await services.recordings.metrics(made.id)).run
    xml = await services.library.export(made.id, "xml")
    rate = run.cache_hit_rate
    return {
        "seconds": round(seconds, 2),
        "hit_rate": None if rate is None else round(rate, 4),
        "sha256": hashlib.sha256(xml).hexdigest(),
    }
