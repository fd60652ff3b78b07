"""Access tokens: making and revoking them, who comes with one, and how much they may ask for."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.core.clock import Clock
from app.core.errors import InputError, QuotaUsed, RateLimited
from app.model.access import EVERYONE, Access, Permission, Token
from app.storage.base import TokenStore

KNOWN_MS = 2000.0
"""How long a token that was let in is not looked up again, so also until a revoked one is refused everywhere."""
_KEPT = 1024
_PREFIX = "bw_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MINUTE_MS = 60_000.0
SETTING_PERMISSIONS = frozenset({Permission.READ, Permission.WRITE, Permission.USAGE, Permission.METRICS})
"""What tokens of the setting permit: everything but the builds of others."""


@dataclass(frozen=True)
class TokenLimits:
    """Limits of each token that has none of its own; None = unbounded."""

    builds_per_day: int | None = None
    requests_per_minute: int | None = None


def parse_tokens(text: str | None) -> tuple[str, ...]:
    """Return the tokens of a comma-separated setting."""
    return tuple(token for part in (text or "").split(",") if (token := part.strip()))


def owner_of(token: str) -> str:
    """Return whose builds those of a token of the setting are: a part of a hash of it, which does not tell the token
    unless that is weak."""
    return hashlib.sha256(b"memory of " + token.encode()).hexdigest()[:16]


def _hash(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


class Tokens:
    """Knows the tokens of the setting and those in the store. As soon as there has been one, one is asked for.

    Secrets are random and long, so a plain hash of them is safe to keep: there is nothing to guess.
    """

    def __init__(
        self, store: TokenStore, clock: Clock, given: Sequence[str] = (), limits: TokenLimits | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits or TokenLimits()
        self._given = {_hash(token.encode()): self._of_setting(owner_of(token)) for token in given}
        self._known: OrderedDict[str, tuple[Access | None, float]] = OrderedDict()
        self._next_ms: dict[str, float] = {}

    async def access(self, secret: bytes) -> Access | None:
        """Return who comes with the secret; everyone while there is no token at all; None = nobody we know.

        Raises:
            StorageError: the store cannot be asked.
        """
        digest, now = _hash(secret), self._clock.monotonic_ms()
        # All of them are compared, each in constant time, so that answers tell nothing about how close a guess was.
        matches = [access for known, access in self._given.items() if hmac.compare_digest(known, digest)]
        if matches:
            return matches[0]
        if (known := self._known.get(digest)) is not None and now < known[1]:
            return known[0]
        found = await self._find(digest)
        if found is not None:
            self._known[digest] = (found, now + KNOWN_MS)
            self._known.move_to_end(digest)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def admit(self, access: Access) -> None:
        """Count a request; requests beyond the limit are let in evenly, as the minute goes by.

        Raises:
            RateLimited: this one came too early; counted in this process alone.
        """
        if access.requests_per_minute is None:
            return
        gap_ms = _MINUTE_MS / max(access.requests_per_minute, 1)
        now = self._clock.monotonic_ms()
        due_ms = max(self._next_ms.get(access.token, now), now)
        wait_ms = due_ms + gap_ms - _MINUTE_MS - now
        if wait_ms > 0.5:  # less is the error of adding fractions
            raise RateLimited(
                f"This token may make {access.requests_per_minute} requests a minute.", retry_after_s=wait_ms / 1000
            )
        self._next_ms[access.token] = due_ms + gap_ms

    async def take_build(self, access: Access) -> None:
        """Count a build of today (UTC).

        Raises:
            QuotaUsed: the token has started as many as it may.
        """
        limit, now = access.builds_per_day, self._clock.now()
        if limit is not None and not await self._store.take_build(access.token, now.date(), limit):
            midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
            seconds = (midnight - now).total_seconds()
            raise QuotaUsed(f"This token may start {limit} builds a day (UTC).", retry_after_s=seconds)

    async def give_back(self, access: Access) -> None:
        """Count a build less: what was asked for did not make a new one."""
        if access.builds_per_day is not None:
            await self._store.give_back(access.token, self._clock.now().date())

    async def add(
        self,
        name: str,
        permissions: Sequence[Permission],
        owner: str | None = None,
        builds_per_day: int | None = None,
        requests_per_minute: int | None = None,
    ) -> tuple[Token, str]:
        """Make a token and return it with its secret, which nobody can be told again. `owner`: by default the name.

        Raises:
            InputError: a name that cannot be used, or nothing is permitted.
            Conflict: there is, or was, a token of that name.
        """
        for word in (name, owner or name):
            if not _NAME.fullmatch(word):
                raise InputError("A name has 1 to 64 letters, digits, dots, dashes and underscores.")
        if not permissions:
            raise InputError("Give the token at least one scope.")
        secret = _PREFIX + secrets.token_urlsafe(32)
        token = Token(
            name=name,
            owner=owner or name,
            permissions=frozenset(permissions),
            builds_per_day=builds_per_day,
            requests_per_minute=requests_per_minute,
            created_at=self._clock.now(),
        )
        await self._store.add(token, _hash(secret.encode()))
        return token, secret

    async def all(self) -> list[Token]:
        """Return every token that was made, revoked ones too."""
        return await self._store.all()

    async def revoke(self, name: str) -> None:
        """Let nobody in with the token any more, everywhere within `KNOWN_MS`.

        Raises:
            NotFound: no such token.
        """
        await self._store.revoke(name, self._clock.now())
        self._known.clear()

    async def _find(self, digest: str) -> Access | None:
        token = await self._store.find(digest)
        if token is not None:
            own = (token.builds_per_day, token.requests_per_minute)
            common = (self._limits.builds_per_day, self._limits.requests_per_minute)
            builds, requests = (mine if mine is not None else theirs for mine, theirs in zip(own, common, strict=True))
            return Access(
                token=token.name,
                owner=token.owner,
                permissions=token.permissions,
                builds_per_day=builds,
                requests_per_minute=requests,
            )
        return None if self._given or await self._store.any() else EVERYONE

    def _of_setting(self, owner: str) -> Access:
        return Access(
            token=f"setting:{owner}",
            owner=owner,
            permissions=SETTING_PERMISSIONS,
            builds_per_day=self._limits.builds_per_day,
            requests_per_minute=self._limits.requests_per_minute,
        )
