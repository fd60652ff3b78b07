"""`bench service --only load|workers`: many who watch, and what a second worker brings."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import ExitStack
from typing import Any

from app.bench.builds import cores
from app.bench.processes import served, started
from app.core.config import Settings
from app.core.errors import InputError
from app.metrics.figures import nearest_rank
from app.model.base import changed
from app.model.record import BuildRequest
from app.wiring import open_services
from app.wiring.stores import is_server

REQUEST = BuildRequest(prompt="lightning sorceress for mapping", level=90)
POLLERS, STREAMS, BUILDS = 200, 20, 8
_EVERY_S = 1.0
_OVER = ("complete", "failed", "cancelled")


async def load(settings: Settings, builds: int = BUILDS) -> dict[str, Any]:
    """Return what becomes of a server with one process while builds wait and hundreds watch.

    `poll_p50_ms`, `poll_p95_ms`: milliseconds per poll, each poller asking once a second. `errors`: polls that did not
    answer 200, and event streams that ended before their build.
    """
    with served(changed(settings, database_url=None)) as port:
        began = time.monotonic()
        ids = [await _submit(port) for _ in range(builds)]
        watchers = _Watchers(port, ids)
        await watchers.run()
        seconds = time.monotonic() - began
    took_ms = sorted(watchers.took_ms)
    return {
        "pollers": POLLERS,
        "event_streams": STREAMS,
        "builds": builds,
        "seconds": round(seconds, 1),
        "builds_per_hour": round(3600 * builds / seconds, 1),
        "polls": len(took_ms),
        "events": watchers.events,
        "errors": len(watchers.errors),
        "first_errors": watchers.errors[:3],
        "poll_p50_ms": round(nearest_rank(took_ms, 0.5) or 0.0, 1),
        "poll_p95_ms": round(nearest_rank(took_ms, 0.95) or 0.0, 1),
    }


class _Watchers:
    """Everybody who watches the builds until the last one has ended."""

    def __init__(self, port: int, ids: list[str]) -> None:
        self._port = port
        self._ids = ids
        self._over = asyncio.Event()
        self.took_ms: list[float] = []
        self.events = 0
        self.errors: list[str] = []

    async def run(self) -> None:
        """Watch until every build has ended."""
        streams = [self._follow(self._ids[number % len(self._ids)]) for number in range(STREAMS)]
        pollers = [self._poll(number) for number in range(POLLERS)]
        await asyncio.gather(self._wait(), *streams, *pollers)

    async def _wait(self) -> None:
        waiting = list(self._ids)
        while waiting:
            view = json.loads((await _get(self._port, f"/v1/builds/{waiting[0]}"))[1])
            if view["status"] in _OVER:
                waiting.pop(0)
            else:
                await asyncio.sleep(_EVERY_S)
        self._over.set()

    async def _poll(self, number: int) -> None:
        await asyncio.sleep(number * _EVERY_S / POLLERS)
        while not self._over.is_set():
            start = time.perf_counter()
            try:
                status, _ = await _get(self._port, f"/v1/builds/{self._ids[number % len(self._ids)]}")
                if status != 200:
                    self.errors.append(f"a poll answered {status}")
            except (OSError, EOFError) as error:
                self.errors.append(f"a poll failed: {error!r}")
            took_s = time.perf_counter() - start
            self.took_ms.append(took_s * 1000)
            await asyncio.sleep(max(0.0, _EVERY_S - took_s))

    async def _follow(self, build_id: str) -> None:
        try:
            reader, writer = await _asked(self._port, f"/v1/builds/{build_id}/events")
            while line := await reader.readline():
                self.events += line.startswith(b"event:")
                if line.strip() == b"event: finished":
                    break
            else:
                self.errors.append("an event stream ended before its build")
            writer.close()
        except OSError as error:
            self.errors.append(f"an event stream failed: {error!r}")


async def _asked(port: int, path: str, body: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}\r\n".encode() + body)
    await writer.drain()
    return reader, writer


async def _get(port: int, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """Return status and body of an answer; a connection for each, as pollers behind a proxy have."""
    reader, writer = await _asked(port, path, body)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    answer = await reader.readexactly(int(length.partition(b":")[2]))
    writer.close()
    return int(head.split(b" ", 2)[1]), answer


async def _submit(port: int) -> str:
    _, answer = await _get(port, "/v1/builds", REQUEST.model_dump_json(exclude_none=True).encode())
    return str(json.loads(answer)["id"])


async def workers(settings: Settings, builds: int = BUILDS) -> dict[str, Any]:
    """Return builds per hour of one worker and of two, with one engine each, and their ratio; nobody watches.

    The builds stay in the store that the settings name: take a database made for this.

    Raises:
        InputError: the store is no PostgreSQL server.
    """
    if not is_server(settings):
        raise InputError("`--only workers` needs BUILDWRIGHT_DATABASE_URL to name a PostgreSQL database made for it.")
    alone = changed(settings, engine_workers=1, cache_mb=0, memory="off")
    per_hour = {many: await _rate(alone, many, builds) for many in (1, 2)}
    return {
        "cores": cores(),
        "builds": builds,
        "builds_per_hour": {str(many): round(rate, 1) for many, rate in per_hour.items()},
        "ratio": round(per_hour[2] / per_hour[1], 2),
    }


async def _rate(settings: Settings, many: int, builds: int) -> float:
    """Return builds per hour; each worker has made one before, so that engines are warm."""
    with ExitStack() as working:
        for _ in range(many):
            working.enter_context(started(settings, ["worker"]))
        async with open_services(settings, take_up=True) as services:
            for count in (many, builds):
                began = time.monotonic()
                made = [(await services.builds.create(REQUEST)).id for _ in range(count)]
                for build_id in made:
                    await services.builds.wait(build_id)
            return 3600 * builds / (time.monotonic() - began)
