"""What Python has no name for: calls to the Linux kernel by number, and one control of the own process."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from typing import Final

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

X86_64: Final = "x86_64"
ARM64: Final = "aarch64"
_COLUMNS = {X86_64: 0, ARM64: 1}

_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "lseek": (8, 62),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "stat": (4, None),
    "lstat": (6, None),
    "open": (2, None),
    "openat": (257, 56),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "fstatfs": (138, 44),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "brk": (12, 214),
    "futex": (202, 98),
    "rseq": (334, 293),
    "set_robust_list": (273, 99),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "getrandom": (318, 278),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "poll": (7, None),
    "ppoll": (271, 73),
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "dup": (32, 23),
    "clone": (56, 220),
    "fork": (57, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "pidfd_open": (434, 434),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "getsockname": (51, 204),
    "getsockopt": (55, 209),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "getrlimit": (97, 163),
    "setrlimit": (160, 164),
    "close_range": (436, 436),
    "seccomp": (317, 277),
    "capset": (126, 91),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
"""Numbers on x86-64 and on arm64, from the kernel's `asm/unistd_64.h` and `asm-generic/unistd.h`; they never change."""


def number(name: str) -> int | None:
    """Return the number of a call on this machine, None when it has no such call or we do not know the machine."""
    column = _COLUMNS.get(platform.machine())
    return None if column is None else _NUMBERS[name][column]


def call(name: str, *arguments: object) -> int:
    """Make a call to the kernel; numbers are passed as they fit a register.

    Raises:
        OSError: the kernel refuses, or the call is not known for this machine.
    """
    found = number(name)
    if found is None:
        raise OSError(errno.ENOSYS, f"{name} is not known for {platform.machine()}")
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return _checked(_LIBC.syscall(ctypes.c_long(found), *words))


def prctl(option: int, value: int) -> None:
    """Set a property of this process.

    Raises:
        OSError: the kernel does not know it, or refuses.
    """
    _checked(_LIBC.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
