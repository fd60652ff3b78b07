"""Work that mostly ends at once, done to its end whatever happens to whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


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
