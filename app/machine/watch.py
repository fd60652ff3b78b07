"""Doing a step while watching for a reason to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum, auto
from typing import Any, TypeVar

T = TypeVar("T")
_GRACE_S = 30.0
"""How long a cancelled step may take to end its child processes and events before it is left behind."""


class Reason(Enum):
    """Why a step is stopped before its end."""

    CANCELLED = auto()
    OUT_OF_TIME = auto()


class Interrupted(Exception):
    """The step was stopped; nothing of it counts."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason


async def watched(
    work: Coroutine[Any, Any, T],
    look: Callable[[], Awaitable[Reason | None]],
    every_s: float,
) -> T:
    """Return what the work returns, unless `look`, asked again and again, gives a reason to stop it.

    However this ends, the work has ended before (or its grace of 30 s has).

    Raises:
        Interrupted: there was a reason.
        LeaseLost, StorageError: whatever `look` raises.
    """
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({task}, timeout=every_s))[0]:
            if (reason := await look()) is not None:
                raise Interrupted(reason)
        if task.cancelled():
            raise RuntimeError("the step cancelled itself")
        return task.result()
    finally:
        await _ended(task)


async def _ended(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=_GRACE_S)
    if task.done() and not task.cancelled():
        task.exception()  # looked at, so that nobody complains that it never was
