"""The Runner port: who drives builds to their end."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Pace:
    """How often workers look and how long they wait, in seconds.

    `stall`: a worker without a sign of life for so long has lost its builds. `grace`: what a step in flight gets when
    the worker is to end. `silence`: a worker that has not reached the database for so long ends itself.
    """

    heartbeat: float = 5.0
    stall: float = 20.0
    sweep: float = 5.0
    poll: float = 1.0
    grace: float = 30.0
    silence: float = 60.0
