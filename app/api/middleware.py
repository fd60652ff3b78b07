"""What every request passes on its way in: counted, its token checked, its size bounded."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Sequence
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import Unauthorized, problem_response
from app.core.errors import TooLarge
from app.telemetry.prometheus import RequestCounts

GUARDED: Final = ("/v1", "/metrics")
OWNER: Final = "buildwright.owner"
"""Where in the scope it stands whose memory counts."""

MAX_BODY_BYTES: Final = 2 * 1024 * 1024
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def parse_tokens(text: str | None) -> tuple[str, ...]:
    """Return the tokens of a comma-separated setting; empty = no tokens are asked for."""
    return tuple(token for part in (text or "").split(",") if (token := part.strip()))


class TokenGate:
    """ASGI middleware that lets guarded paths through with a valid `Authorization: Bearer` header only.

    Hashes of all tokens are compared in constant time, so answers tell nothing about how close a guess was.
    """

    def __init__(self, app: ASGIApp, tokens: Sequence[str]) -> None:
        self._app = app
        self._hashes = [_hash(token.encode()) for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or pass the request on."""
        if scope["type"] == "http" and self._hashes:
            path, token = str(scope["path"]), _bearer(scope)
            given = _hash(token)
            known = sum(hmac.compare_digest(given, one) for one in self._hashes) > 0
            if not known and any(path == start or path.startswith(f"{start}/") for start in GUARDED):
                refusal = problem_response(Unauthorized("A valid access token is needed."), path)
                await refusal(scope, receive, send)
                return
            scope[OWNER] = owner_of(token)
        await self._app(scope, receive, send)


class BodyLimit:
    """ASGI middleware that answers 413 for a body over the limit, whether announced or not."""

    def __init__(self, app: ASGIApp, limit: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body already read, or refuse it."""
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY:
            await self._app(scope, receive, send)
            return
        length = _header(scope, b"content-length")
        announced = int(length) if length.isdigit() else 0
        try:
            body = b"" if announced > self._limit else await self._read(receive)
        except _Gone:
            return
        if announced > self._limit or len(body) > self._limit:
            refusal = TooLarge(f"A request may hold at most {self._limit} bytes.")
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

    async def _read(self, receive: Receive) -> bytes:
        body = bytearray()
        while len(body) <= self._limit:
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
            self._counts.add((scope["method"], route, status), time.monotonic() - start)


def owner_of(token: bytes) -> str:
    """Return who holds the token: a part of a hash of it, from which it cannot be guessed back unless it is weak."""
    return hashlib.sha256(b"memory of " + token).hexdigest()[:16]


def _bearer(scope: Scope) -> bytes:
    scheme, _, token = _header(scope, b"authorization").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _hash(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _header(scope: Scope, wanted: bytes) -> bytes:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return next((content for name, content in headers if name == wanted), b"")
