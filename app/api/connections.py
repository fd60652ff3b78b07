"""Connections that end: each has so long to send a request and to take its answer, and there are so many at most."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS: Final = 600
HEAD_S: Final = 10.0
"""From the first byte of a request, or from the connection, to the end of the headers."""

BODY_S: Final = 30.0
TAKE_S: Final = 30.0
"""How long a client may leave what it was sent lying in our memory."""

READ_BYTES: Final = 8192
"""What is read at once: a body of many small parts costs as much per part, and others wait meanwhile."""

_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedConnection(H11Protocol):
    """An HTTP/1.1 connection of uvicorn with deadlines."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._arrival: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or say that there are too many."""
        super().connection_made(transport)
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
            return
        self._expect(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines."""
        for timer in (self._arrival, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Go on with the request; its deadline is that of the part that is awaited now."""
        before = self.conn.their_state
        if before is h11.IDLE and self._arrival is None:
            self._expect(HEAD_S)
        super().data_received(data)
        after = self.conn.their_state
        if after is not before:
            self._expect(BODY_S if after is h11.SEND_BODY else None)

    def pause_writing(self) -> None:
        """Wait for the client to take what it was sent, but not for ever."""
        super().pause_writing()
        self._taking = self.loop.call_later(TAKE_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on sending."""
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, also one whose client has left its last answer lying."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(TAKE_S, self.transport.abort)

    def _expect(self, seconds: float | None) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
        self._arrival = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
