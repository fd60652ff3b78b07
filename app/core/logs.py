"""Logging to stderr, plain or as JSON lines, with secrets taken out of everything that is written."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

MASK = "[redacted]"
SECRET_KEYS = frozenset(
    {"api_key", "apikey", "x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"}
    | {"password", "passwd", "secret", "client_secret", "token", "access_token", "refresh_token", "id_token"}
)
_SHORTEST_SECRET = 4
_TEXTS = frozenset({str})
_LEAVES = frozenset({int, float, bool, type(None), list, tuple})


class Redactor:
    """Replaces known secret values inside strings, and every value under a key that names a secret.

    Keys are compared whole and without case: `keyword` and `max_tokens` stay. Values shorter than four characters
    are not searched for: they would wipe ordinary text.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        usable = {s.strip() for s in secrets if len(s.strip()) >= _SHORTEST_SECRET}
        self._secrets = sorted(usable, key=lambda s: (-len(s), s))

    def text(self, value: str) -> str:
        """Return the text with every known secret masked."""
        for secret in self._secrets:
            value = value.replace(secret, MASK)
        return value

    def _clean(self, value: str) -> bool:
        return not any(secret in value for secret in self._secrets)

    def data(self, value: Any) -> Any:
        """Return JSON-ready data with secrets masked; shapes and other values stay."""
        if isinstance(value, str):
            return self.text(value)
        if type(value) is list and _TEXTS.issuperset(map(type, value)):
            if not self._secrets or self._clean("\0".join(value)):
                return list(value)
            return [self.text(entry) for entry in value]
        # A dict is asked for by itself: whether something is another kind of Mapping takes long to find out.
        if isinstance(value, dict) or (type(value) not in _LEAVES and isinstance(value, Mapping)):
            named = {str(key): entry for key, entry in value.items()}
            return {
                self.text(key): MASK if key.lower() in SECRET_KEYS and entry is not None else self.data(entry)
                for key, entry in named.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.data(v) for v in value]
        return value


_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PLAIN = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_QUIET = ("httpx", "httpcore", "aiosqlite", "alembic", "asyncio", "urllib3", "procrastinate")
"""Libraries whose debug output would drown ours, or print requests with their headers."""


class PlainFormatter(logging.Formatter):
    """One line per record, extra fields at the end as key=value."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(_PLAIN)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the line (and the traceback, if any) without secrets."""
        fields = " ".join(f"{key}={value}" for key, value in self._redactor.data(_extra(record)).items())
        line = super().format(record)
        return self._redactor.text(f"{line} [{fields}]" if fields else line)


class JsonFormatter(logging.Formatter):
    """One JSON object per record: at, level, logger, message, error, and the extra fields."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the object as one line without secrets."""
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        line = json.dumps(self._redactor.data(entry), ensure_ascii=False, default=str)
        return self._redactor.text(line)


def set_up_logging(
    level: str = "INFO",
    redactor: Redactor | None = None,
    *,
    as_json: bool = False,
    stream: TextIO | None = None,
) -> None:
    """Send all logs of this process to `stream` (stderr), replacing earlier set-ups."""
    formatter = JsonFormatter if as_json else PlainFormatter
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter(redactor or Redactor()))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # It warns about every method that our models define themselves, which is how we use it.
    logging.getLogger("transitions").setLevel(logging.ERROR)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}
