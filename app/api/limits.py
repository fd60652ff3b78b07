"""How much a request may send: bodies are read whole up to a limit before anything looks at them."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem_response
from app.core.errors import TooLarge

MAX_BODY_BYTES = 2 * 1024 * 1024
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})


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
        try:
            body = b"" if self._announced(scope) > self._limit else await self._read(receive)
        except _Gone:
            return
        if self._announced(scope) > self._limit or len(body) > self._limit:
            refusal = TooLarge(f"A request may hold at most {self._limit} bytes.")
            await problem_response(refusal, scope["path"])(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    def _announced(self, scope: Scope) -> int:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        value = next((content for name, content in headers if name == b"content-length"), b"0")
        return int(value) if value.isdigit() else 0

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


def _replay(body: bytes, receive: Receive) -> Receive:
    first = True

    async def again() -> Message:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again
