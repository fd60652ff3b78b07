"""Taking secrets out of what is stored or logged: by exact value and by whole key, never by guessing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MASK = "[redacted]"
SECRET_KEYS = frozenset(
    {"api_key", "apikey", "x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"}
    | {"password", "passwd", "secret", "client_secret", "token", "access_token", "refresh_token", "id_token"}
)
_SHORTEST_SECRET = 4


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

    def data(self, value: Any) -> Any:
        """Return JSON-ready data with secrets masked; shapes and other values stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(k)): self._entry(str(k), v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.data(v) for v in value]
        return value

    def _entry(self, key: str, value: Any) -> Any:
        return MASK if key.lower() in SECRET_KEYS and value is not None else self.data(value)
