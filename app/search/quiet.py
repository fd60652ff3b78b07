"""Keeps what a native library writes to standard output away from it: that belongs to the command's own result."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Let file descriptor 1 be standard error while the block runs (in one thread at a time; others wait).

    HiGHS prints a debugging line now and then whatever its options say, and it would end up in front of `--json`.
    """
    with _ONE_AT_A_TIME:
        flush = ctypes.CDLL(None).fflush
        flush(None)
        kept = os.dup(1)
        try:
            os.dup2(2, 1)
            yield
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
