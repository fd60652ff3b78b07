"""Watching many builds at once, on a server that a test plays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.bench import load
from app.core.config import Settings
from app.core.errors import InputError


@asynccontextmanager
async def playing(statuses: list[int], streams_end_well: bool) -> AsyncIterator[int]:
    """Play a server whose one build is complete at the third look; `statuses` are those of the first polls."""
    looks = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal looks
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/events" in head:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\nevent: step\ndata: {}\n\n")
            writer.write(b"event: finished\n\n" if streams_end_well else b"")
        else:
            looks += 1
            body = json.dumps({"status": "complete" if looks > 2 else "running"}).encode()
            status = statuses.pop(0) if statuses else 200
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("POLLERS", 4), ("STREAMS", 2), ("_EVERY_S", 0.05)):
        monkeypatch.setattr(load, name, value)


async def test_everybody_watches_until_the_last_build_has_ended() -> None:
    async with playing([], streams_end_well=True) as port:
        watchers = load._Watchers(port, ["a"])
        await asyncio.wait_for(watchers.run(), 30)
    assert (watchers.errors, watchers.events) == ([], 4)
    assert len(watchers.took_ms) >= 2


async def test_what_goes_wrong_is_counted() -> None:
    async with playing([200, 503, 500], streams_end_well=False) as port:
        watchers = load._Watchers(port, ["a"])
        await asyncio.wait_for(watchers.run(), 30)
    assert len(watchers.errors) == 4
    assert "an event stream ended before its build" in watchers.errors


async def test_comparing_workers_needs_a_server() -> None:
    with pytest.raises(InputError, match="PostgreSQL"):
        await load.workers(Settings())
