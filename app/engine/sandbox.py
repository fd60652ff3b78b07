"""What an engine process gives up before it sees a build: its parent's death kills it, the rest the kernel keeps in.

Each guard is the kernel's, set by the process on itself, passed on to what it forks and never taken off again. One that
this kernel does not have is reported, and the others hold all the same.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import site
import struct
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

import app
from app.engine import kernel, landlock, seccomp

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CAPABILITY_VERSION = 0x20080522
_MAX_OPEN_FILES = 256
_SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")

CALL_FILTER = "seccomp"
"""The guard that is narrower in a session than in the zygote."""


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; end at once when that has already happened."""
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def confine_zygote(files: Iterable[Path], memory_bytes: int) -> dict[str, str]:
    """Keep this process, and what it forks, to reading these files and the interpreter's, and to calculating.

    It may add so many bytes to its memory, write no file and dump no core. Returns the guards that this kernel does
    not offer, with what it said instead.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _lower(resource.RLIMIT_AS, used + memory_bytes)
    readable = [*files, *_interpreter_files()]
    guards: dict[str, Callable[[], object]] = {
        "no new privileges": lambda: kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1),
        "no capabilities": _drop_capabilities,
        "landlock": lambda: landlock.confine_to(readable),
        CALL_FILTER: lambda: seccomp.install(seccomp.ZYGOTE),
    }
    missing = {}
    for name, guard in guards.items():
        try:
            guard()
        except OSError as exc:
            missing[name] = str(exc.strerror)
    return missing


def confine_session(descriptor: int, missing: Iterable[str]) -> None:
    """Take from a forked session what the zygote still had: other descriptors, forking, and changes of its own bounds.

    Raises:
        OSError: the kernel refuses what it granted the zygote, which had all guards but the missing ones.
    """
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, _MAX_OPEN_FILES)
    _lower(resource.RLIMIT_NPROC, 0)
    if CALL_FILTER not in missing:
        seccomp.install(seccomp.SESSION)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def is_runnable(pid: int) -> bool:
    """Say whether a process calculates or waits for a processor to do so, not for anything else (proc_pid_stat(5))."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"
    except (OSError, IndexError):
        return False


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (bounded, bounded))


def _interpreter_files() -> set[Path]:
    """Return where Python, its packages, the system's libraries, our own code and the facts beside it are."""
    paths = sysconfig.get_paths()
    packages = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    found = [paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"], *packages, *_SYSTEM_LIBRARIES]
    own = Path(app.__file__).resolve().parent
    return {*map(Path, found), own, own.parent / "domain"}


def _drop_capabilities() -> None:
    # a header (version, this process) and three words twice: nothing effective, permitted or inheritable
    kernel.call("capset", ctypes.create_string_buffer(struct.pack("Ii", _CAPABILITY_VERSION, 0)), bytes(24))
