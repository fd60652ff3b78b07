"""What an engine child gives up before it sees a build: its parent's death kills it, and it may write nothing."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_MAX_OPEN_FILES = 256


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; end at once when that has already happened."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def limit_session(memory_bytes: int) -> None:
    """Forbid core dumps, writing files and new processes, and bound what this process may add to its memory."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NPROC, 0)
    _lower(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES)
    _lower(resource.RLIMIT_AS, _address_space_bytes() + memory_bytes)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def _address_space_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (bounded, bounded))
