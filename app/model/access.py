"""Who asks: what an access token permits, and whose builds are seen with it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from app.model.base import Model
from app.model.names import LOCAL_OWNER


class Permission(StrEnum):
    """What a token can be given; `--scope` on the command line.

    read: look at the owner's builds. write: make, change and delete them. usage: what was used, across builds.
    metrics: `/metrics`. admin: all of it, and the builds of every owner.
    """

    READ = "read"
    WRITE = "write"
    USAGE = "usage"
    METRICS = "metrics"
    ADMIN = "admin"


class Access(Model):
    """Somebody who asks, by the token they came with. Limits: null = none."""

    token: str
    owner: str
    permissions: frozenset[Permission]
    builds_per_day: int | None = None
    requests_per_minute: int | None = None

    def may(self, permission: Permission) -> bool:
        """Return whether they may do that."""
        return bool(self.permissions & {permission, Permission.ADMIN})

    def sees(self, owner: str) -> bool:
        """Return whether builds of that owner are there for them."""
        return self.owner == owner or Permission.ADMIN in self.permissions

    @property
    def only(self) -> str | None:
        """The one owner whose builds they see, None = those of all."""
        return None if Permission.ADMIN in self.permissions else self.owner


EVERYONE = Access(token="", owner=LOCAL_OWNER, permissions=frozenset({Permission.ADMIN}))
"""Whoever asks where no token is asked for, and whoever sits at the machine itself."""


class Token(Model):
    """An access token as it is kept: without the secret. Limits: null = those of the settings."""

    name: str
    owner: str
    permissions: frozenset[Permission]
    builds_per_day: int | None = None
    requests_per_minute: int | None = None
    created_at: datetime
    revoked_at: datetime | None = None
