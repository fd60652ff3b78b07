"""The line protocol between the service and an engine child: one JSON object per line, UTF-8, in both directions.

Request  {"id": n, "op": name, "args": {...}}
Answer   {"id": n, "ok": true, "result": ...}
     or  {"id": n, "ok": false, "error": {"code": ..., "message": ...}}
The operations are those of `Session` and `Facts` in `app.engine.base`, plus "version".
"""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import Field

from app.model.base import Model

MAX_LINE_BYTES = 64 * 1024 * 1024
"""An answer longer than this is garbage."""

INTERNAL = "internal"
"""Error code of an answer after which the child ends, because its state cannot be trusted any more."""


class Call(Model):
    """A request line."""

    id: int
    op: str
    args: dict[str, Any] = Field(default_factory=dict)


class Failure(Model):
    """Why a call was refused."""

    code: str
    message: str


class Answer(Model):
    """An answer line: `result` when ok, else `error`."""

    id: int
    ok: bool
    result: Any = None
    error: Failure | None = None


class Refused(Exception):
    """Raised by a backend when the request is wrong; the session stays usable.

    `code` "unknown_fact" means that a name in the request is not known to the engine.
    """

    def __init__(self, message: str, code: str = "refused") -> None:
        super().__init__(message)
        self.code = code


class Backend(Protocol):
    """What runs inside an engine child."""

    def warm(self) -> dict[str, Any]:
        """Load everything that all sessions share, before the fork; return an EngineVersion as dict."""
        ...

    def handle(self, op: str, args: dict[str, Any]) -> Any:
        """Answer one operation with JSON-ready data.

        Raises:
            Refused: the request is wrong.
        """
        ...
