"""Children forked ahead of need, so that a session opens at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from app.core.errors import EngineError
from app.engine.zygote import Child

RESTOCK_S = 0.1
"""Seconds between taking a spare and forking another, so that those who ask together do not wait for it."""


class Spares:
    """Up to `count` forks, under way or done, that nobody uses yet.

    A spare shares its memory with the zygote until it is used, and dies with it.
    """

    def __init__(self, fork: Callable[[], Coroutine[Any, Any, Child]], count: int) -> None:
        self._fork = fork
        self._count = count
        self._ordered: deque[asyncio.Task[Child]] = deque()
        self._restocking: asyncio.TimerHandle | None = None

    def stock(self) -> None:
        """Order as many forks as are missing."""
        while len(self._ordered) < self._count:
            self._ordered.append(asyncio.create_task(self._fork()))

    async def take(self) -> Child | None:
        """Return a living child and have it replaced in the background; None when there is none to be had."""
        self._restock_later()
        if not self._ordered:
            return None
        task = self._ordered.popleft()
        try:
            child = await asyncio.shield(task)
        except EngineError:
            return None
        except asyncio.CancelledError:
            self._ordered.appendleft(task)
            raise
        if child.is_alive:
            return child
        child.close()
        return None

    def discard(self) -> None:
        """End the spares that are ready, because their zygote is gone and they with it; forks under way go on."""
        ready = [task for task in self._ordered if task.done()]
        self._ordered = deque(task for task in self._ordered if not task.done())
        for task in ready:
            _end(task)

    async def close(self) -> None:
        """End the spares; none are made any more."""
        self._count = 0
        if self._restocking is not None:
            self._restocking.cancel()
        while self._ordered:
            task = self._ordered.popleft()
            task.cancel()
            await asyncio.wait([task])
            _end(task)

    def _restock_later(self) -> None:
        if self._restocking is not None:
            self._restocking.cancel()
        self._restocking = asyncio.get_running_loop().call_later(RESTOCK_S, self.stock)


def _end(order: asyncio.Task[Child]) -> None:
    """End the child of an order that is done, if it brought one."""
    if not order.cancelled() and order.exception() is None:
        order.result().close()
