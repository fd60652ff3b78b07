"""Identifiers: ULIDs, sortable by creation time."""

from __future__ import annotations

from typing import NewType

from ulid import ULID

BuildId = NewType("BuildId", str)


def new_build_id() -> BuildId:
    """Return a new build id of 26 characters (Crockford base 32)."""
    return BuildId(str(ULID()))


def number_of(build_id: str) -> int:
    """Return the 128 bits of a build id as a number.

    Raises:
        ValueError: it is not a ULID.
    """
    return int(ULID.from_str(build_id))


def new_call_id() -> str:
    """Return a new id for a tool call."""
    return str(ULID())
