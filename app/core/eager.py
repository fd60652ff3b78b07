"""Work that mostly ends at once, done to its end whatever happens to whoever waits for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class Backlog:
    """Work that nobody waits for: begun when the loop is next free, over when `settled` returns."""

    def __init__(self) -> None:
        self._waiting: deque[Coroutine[Any, Any, None]] = deque()
        self._under_way: set[asyncio.Future[None]] = set()

    def add(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work soon; as for `begun`, it does not ask which task it runs in. It must raise nothing."""
        self._waiting.append(work)
        asyncio.get_running_loop().call_soon(self._begin)

    async def settled(self) -> None:
        """Do all work that was added before now to its end, whatever happens to whoever waits for it."""
        self._begin()
        if self._under_way:
            await asyncio.wait(set(self._under_way))

    def _begin(self) -> None:
        while self._waiting:
            rest = begun(self._waiting.popleft())
            if rest is not None:
                self._under_way.add(rest)
                rest.add_done_callback(self._under_way.discard)


def begun(work: Coroutine[Any, Any, T]) -> asyncio.Future[T] | T:
    """Do the work up to where it first waits: return its result, or a task that does the rest.

    Only for work that does not ask which task it runs in. A result is never a future itself.
    """
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    return asyncio.ensure_future(_rest(work, waits_for))


async def _rest(work: Coroutine[Any, Any, T], waits_for: Any) -> T:
    result: T = await _Rest(work, waits_for)
    return result


class _Rest:
    """What is left of work that has begun; `waits_for` is what it waits for first."""

    def __init__(self, work: Coroutine[Any, Any, Any], waits_for: Any) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, Any]:
        waits_for = self._waits_for
        while True:
            try:
                try:
                    answer = yield waits_for
                except BaseException as error:
                    waits_for = self._work.throw(error)
                else:
                    waits_for = self._work.send(answer)
            except StopIteration as done:
                return done.value
