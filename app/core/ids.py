"""Identifiers: ULIDs, sortable by creation time."""

from __future__ import annotations

from typing import NewType

from ulid import ULID

BuildId = NewType("BuildId", str)


def new_build_id() -> BuildId:
    """Return a new build id of 26 characters (Crockford base 32)."""
    return BuildId(str(ULID()))


def new_call_id() -> str:
    """Return a new id for a tool call."""
    return str(ULID())
