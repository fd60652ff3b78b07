"""Ends a worker that does not work any more, so that whoever watches processes starts another one."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.core.errors import StorageError

_log = logging.getLogger(__name__)
GIVEN_UP = 70
"""The exit code of a process that ended itself."""
_LOOKS = 12
"""Into how many looks the time that is allowed is divided."""


def end_process(reason: str) -> None:
    """End this process at once; its builds go on elsewhere from their last checkpoints."""
    _log.critical("the worker ends itself: %s", reason)
    faulthandler.dump_traceback(sys.stderr)
    os._exit(GIVEN_UP)


@contextmanager
def loop_watched(silence_s: float, end: Callable[[str], None] = end_process) -> Iterator[None]:
    """End the process when the running event loop stands still for so long.

    Only looks that were really made count: a process that was stopped from outside is not to blame for the time.
    """
    loop, over = asyncio.get_running_loop(), threading.Event()
    answered, missed = threading.Event(), 0

    def watch() -> None:
        nonlocal missed
        while not over.wait(silence_s / _LOOKS):
            missed = 0 if answered.is_set() else missed + 1
            answered.clear()
            if missed > _LOOKS:
                end(f"its event loop has stood still for {silence_s:g} s")
                return
            if not loop.is_closed():
                loop.call_soon_threadsafe(answered.set)

    answered.set()
    thread = threading.Thread(target=watch, name="event loop watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


async def watch_database(
    ask: Callable[[], Awaitable[object]],
    silence_s: float,
    answered: Callable[[], None] = lambda: None,
    end: Callable[[str], None] = end_process,
) -> None:
    """End the process when the database gives no answer for so long; tell `answered` of each that it gives.

    A connection can hang without an error for ever. Asks until cancelled.
    """
    missed = 0
    while missed < _LOOKS:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(silence_s / _LOOKS):
                await ask()
            missed = 0
            answered()
        except (StorageError, TimeoutError):
            missed += 1
        await asyncio.sleep(max(0.0, silence_s / _LOOKS - (time.monotonic() - begun)))
    end(f"the database has not answered for {silence_s:g} s")


def is_beating(beat: Path, silence_s: float) -> bool:
    """Return whether the file was touched lately."""
    try:
        return time.time() - beat.stat().st_mtime <= silence_s
    except FileNotFoundError:
        return False
