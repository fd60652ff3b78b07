"""`bench service`: what recording, polling and metrics cost, and what the cache of answers saves."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from app.bench.builds import cores, scratch_services
from app.bench.recording import PROMPT, metrics_cost, recording_cost
from app.core.config import Settings
from app.core.errors import EngineError, InputError
from app.metrics.figures import nearest_rank
from app.service.services import Services

POLLS_PER_S = 50
_START_S, _BUILD_S = 60.0, 1800.0
_OVER = ("complete", "failed", "cancelled")


async def polling_cost(settings: Settings, pairs: int) -> dict[str, Any]:
    """Return seconds (s) of builds polled and left alone, their ratio, and milliseconds (ms) per poll.

    `ratio`: median over pairs of polled / left alone.
    """
    return await asyncio.to_thread(_measure, settings, pairs)


def _measure(settings: Settings, pairs: int) -> dict[str, Any]:
    polled: list[float] = []
    alone: list[float] = []
    took_ms: list[float] = []
    with _server(settings) as port:
        for number in range(pairs):
            for watched in (True, False) if number % 2 == 0 else (False, True):
                seconds = _build(port, took_ms if watched else None)
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


@contextmanager
def _server(settings: Settings) -> Iterator[int]:
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("BUILDWRIGHT_")},
            "BUILDWRIGHT_DATA_DIR": folder,
            "BUILDWRIGHT_POB_PATH": str(settings.pob_home),
            "BUILDWRIGHT_ENGINE": settings.engine,
            "BUILDWRIGHT_ENGINE_WORKERS": str(settings.engine_workers),
            "BUILDWRIGHT_REASONER": "rules",
            "BUILDWRIGHT_CACHE_MB": "0",
            "BUILDWRIGHT_LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "app", "serve", "--port", str(port)]
        with (Path(folder) / "server.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603  our own program
            try:
                _await_ready(port, process)
                yield port
            finally:
                process.terminate()
                process.wait(timeout=60)


def _await_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            if _get(http.client.HTTPConnection("127.0.0.1", port, timeout=5), "/readyz")[0] == 200:
                return
        except OSError:
            time.sleep(0.2)
    raise EngineError("the server to be measured did not start")


def _build(port: int, took_ms: list[float] | None) -> float:
    """Make a build and return its seconds by the server's own clock."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = PROMPT.model_dump_json(exclude_none=True)
    connection.request("POST", "/v1/builds", body, {"Content-Type": "application/json"})
    made = json.loads(connection.getresponse().read())
    path = f"/v1/builds/{made['id']}"
    stop = threading.Event()
    poller = threading.Thread(target=_poll, args=(port, path, stop, took_ms if took_ms is not None else []))
    if took_ms is not None:
        poller.start()
    try:
        return _await_end(connection, path)
    finally:
        stop.set()
        if took_ms is not None:
            poller.join()


def _await_end(connection: http.client.HTTPConnection, path: str) -> float:
    until = time.monotonic() + _BUILD_S
    while time.monotonic() < until:
        view = json.loads(_get(connection, path)[1])
        if view["status"] in _OVER:
            began, ended = (_instant(view[name]) for name in ("created_at", "updated_at"))
            return ended - began
        time.sleep(1.0)
    raise EngineError("the build did not end in time")


def _poll(port: int, path: str, stop: threading.Event, took_ms: list[float]) -> None:
    """Ask fifty times a second, evenly; who is late asks again at once, but never catches up."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    due = time.monotonic()
    while not stop.is_set():
        start = time.perf_counter()
        _get(connection, path)
        took_ms.append((time.perf_counter() - start) * 1000)
        due = max(due + 1 / POLLS_PER_S, time.monotonic() - 1 / POLLS_PER_S)
        stop.wait(max(0.0, due - time.monotonic()))


def _get(connection: http.client.HTTPConnection, path: str) -> tuple[int, bytes]:
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


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
        first, second = [await _service_build(services) for _ in range(2)]
    return {
        "seconds": [first["seconds"], second["seconds"]],
        "ratio": round(first["seconds"] / second["seconds"], 2),
        "hit_rates": [first["hit_rate"], second["hit_rate"]],
        "same_bytes": first["sha256"] == second["sha256"],
    }


async def _service_build(services: Services) -> dict[str, Any]:
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
