"""Optional access tokens: when any are configured, every call under /v1 needs one of them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import Unauthorized, problem_response

GUARDED = ("/v1", "/metrics")

OWNER = "buildwright.owner"
"""Where in the scope it stands whose memory counts."""


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
        if scope["type"] != "http" or self._allows(scope):
            if scope["type"] == "http" and self._hashes:
                scope[OWNER] = owner_of(_bearer(scope))
            await self._app(scope, receive, send)
            return
        refusal = problem_response(Unauthorized("A valid access token is needed."), scope["path"])
        await refusal(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        path = str(scope["path"])
        if not self._hashes or not any(path == start or path.startswith(f"{start}/") for start in GUARDED):
            return True
        given = _hash(_bearer(scope))
        return sum(hmac.compare_digest(given, known) for known in self._hashes) > 0


def owner_of(token: bytes) -> str:
    """Return who holds the token: a part of a hash of it, from which it cannot be guessed back unless it is weak."""
    return hashlib.sha256(b"memory of " + token).hexdigest()[:16]


def _bearer(scope: Scope) -> bytes:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    value = next((content for name, content in headers if name == b"authorization"), b"")
    scheme, _, token = value.partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _hash(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
