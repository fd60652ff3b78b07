"""The Runner port: who drives builds to their end."""

from __future__ import annotations

from typing import Protocol


class Runner(Protocol):
    """Takes ids of stored builds and drives each to a terminal status."""

    async def start(self) -> None:
        """Begin working; builds left running by an earlier process are taken up again."""
        ...

    async def submit(self, build_id: str) -> None:
        """Ring the doorbell for a stored build; the store is the truth, so ringing twice is harmless."""
        ...

    async def wait(self, build_id: str) -> None:
        """Return when this process no longer works on the build."""
        ...

    async def close(self) -> None:
        """Stop after the current steps; unfinished builds stay runnable."""
        ...
