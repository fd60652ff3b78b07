"""What every request passes on its way in and out: counted, its size bounded, its answer marked."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem_response
from app.core.errors import InputError, TooLarge
from app.telemetry.prometheus import RequestCounts

MAX_BODY_BYTES: Final = 128 * 1024
MAX_FILE_BYTES: Final = 2 * 1024 * 1024
"""For the calls that take a file."""

MAX_VALUES: Final = 20_000
"""Texts, numbers, commas and brackets of a body: what it costs to read JSON depends on them, not on its bytes."""

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_WITH_FILE: Final = frozenset({"/v1/imports"})
_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A text of JSON, or one without an end: whatever it is, the pattern reads it once."""

_PAGE: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
_HEADERS: Final = {
    b"content-security-policy": _PAGE.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
}


class BodyLimit:
    """ASGI middleware that answers 413 for a body over the limit, announced or not, and 422 for too many values."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body already read, or refuse it."""
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY:
            await self._app(scope, receive, send)
            return
        limit = MAX_FILE_BYTES if scope["path"] in _WITH_FILE else MAX_BODY_BYTES
        length = _header(scope, b"content-length")
        announced = int(length) if length.isdigit() else 0
        try:
            body = b"" if announced > limit else await self._read(receive, limit)
        except _Gone:
            return
        refusal: InputError | None = None
        if announced > limit or len(body) > limit:
            refusal = TooLarge(f"This request may hold at most {limit} bytes.")
        elif not _is_readable(body):
            refusal = InputError(f"A request may hold at most {MAX_VALUES} values.")
        if refusal is not None:
            await problem_response(refusal, scope["path"])(scope, receive, send)
            return
        unread = True

        async def replay() -> Message:
            nonlocal unread
            if unread:
                unread = False
                return {"type": "http.request", "body": body, "more_body": False}
            return await receive()

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive, limit: int) -> bytes:
        body = bytearray()
        while len(body) <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        return bytes(body)


class _Gone(Exception):
    """The client left before the body was complete."""


class CountRequests:
    """ASGI middleware that counts answers by route template, so that ids never become labels."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = 500, time.monotonic()

        async def send_counted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._counts.add((method, route, status), time.monotonic() - start)


class Marks:
    """ASGI middleware that tells browsers with every answer: take it for what it is called, and frame it nowhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and mark its answer; a policy of the page's own stays."""

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((n, v) for n, v in _HEADERS.items() if n not in present)]
            await send(message)

        await self._app(scope, receive, send_marked if scope["type"] == "http" else send)


class HeadAsGet:
    """ASGI middleware that answers HEAD as GET without the body; a stream ends after its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, as a GET where it is a HEAD."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()

        async def receive_until_begun() -> Message:
            await begun.wait()
            return {"type": "http.disconnect"}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                begun.set()

        as_get = {**scope, "method": "GET"}
        try:
            await self._app(as_get, receive_until_begun, send_head)
        finally:
            scope.update({name: as_get[name] for name in ("route", "path_params") if name in as_get})


def _is_readable(body: bytes) -> bool:
    """Say whether the body has few enough values, if it is JSON at all."""
    rest, texts = _TEXT.subn(b'"', body, count=MAX_VALUES)
    return texts < MAX_VALUES and len(rest.translate(None, b" \t\r\n")) <= MAX_VALUES


def _header(scope: Scope, wanted: bytes) -> bytes:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((content for name, content in headers if name == wanted), b"")
