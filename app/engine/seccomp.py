"""Which calls an engine process may make to the kernel: those on a list, held by a filter that nothing takes off.

What is not on the list does not exist for the process: the kernel answers ENOSYS, as an older kernel would, and
libraries fall back to what they did before. So sockets, programs, signals, tracing, mounts and whatever kernels to come
will offer need no line here. Filters add up: a session has the zygote's and its own.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
import termios
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.engine import kernel

_AUDIT = {kernel.X86_64: 0xC000003E, kernel.ARM64: 0xC00000B7}
_X32_BIT = 0x40000000
"""On x86-64 a second set of calls begins at this number."""

_SET_MODE_FILTER = 1
_WITHOUT_SLOW_MITIGATION = 1 << 2
"""Older kernels slow a filtered process down against reading its own memory by speculation; all of it is its own."""

_LOAD, _JUMP_EQUAL, _JUMP_FROM, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_REFUSE = 0x00050000 | errno.ENOSYS
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16


@dataclass(frozen=True)
class _Without:
    """A call that is allowed when an argument has none of the bits."""

    name: str
    argument: int
    bits: int


@dataclass(frozen=True)
class _OneOf:
    """A call that is allowed when an argument is one of the values."""

    name: str
    argument: int
    values: tuple[int, ...]


_Rule = str | _Without | _OneOf

_TO_WRITE = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | 0o20000000
"""Flags of `open` that could change something; the last makes a file without a name."""

_NEW_NAMESPACES = 0x7E020000
"""Flags of `clone` that give the new process a world of its own."""

_DESCRIPTOR = (fcntl.F_DUPFD, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL, fcntl.F_DUPFD_CLOEXEC)
"""No owner of a descriptor can be set, which would have the kernel send that process signals."""

SESSION: tuple[_Rule, ...] = (
    *("recvfrom", "sendto", "mmap", "munmap", "mprotect", "madvise", "brk", "mremap", "futex", "read", "write"),
    *(
        "readv",
        "writev",
        "pread64",
        "lseek",
        "close",
        "dup",
        "fstat",
        "newfstatat",
        "statx",
        "stat",
        "lstat",
        "fstatfs",
    ),
    *("access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd"),
    _Without("openat", 2, _TO_WRITE),
    _Without("open", 1, _TO_WRITE),
    _OneOf("fcntl", 1, _DESCRIPTOR),
    _OneOf("ioctl", 1, (termios.TCGETS, termios.FIONBIO, termios.FIOCLEX, termios.FIONREAD)),
    *("rseq", "set_robust_list", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "clock_gettime"),
    *("clock_getres", "gettimeofday", "time", "getrandom", "poll", "ppoll"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall"),
    *("getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "uname", "sysinfo", "getrusage"),
    *("exit", "exit_group"),
)
"""What calculating needs: memory, its one socket, files to read, the time."""

ZYGOTE: tuple[_Rule, ...] = (
    *SESSION,
    *("fork", "wait4", "waitid", "pidfd_open", "sendmsg", "recvmsg", "getsockname", "getsockopt"),
    _Without("clone", 0, _NEW_NAMESPACES),
    *("prctl", "prlimit64", "getrlimit", "setrlimit", "close_range", "seccomp"),
)
"""And what forking a session needs, and confining it further."""


def install(rules: Sequence[_Rule]) -> None:
    """Let this process, and what it forks, make these calls alone from now on.

    Raises:
        OSError: the kernel has no filters, or the machine is one whose calls we do not know.
    """
    machine = platform.machine()
    if machine not in _AUDIT:
        raise OSError(errno.ENOSYS, f"the calls of {machine} are not known")
    steps = [step for rule in rules for step in _allow(rule)]
    program = [*_preamble(machine), *steps, _step(_RETURN, _REFUSE)]
    code = ctypes.create_string_buffer(b"".join(program))
    # struct sock_fprog: a count and, aligned, a pointer
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code)))
    kernel.call("seccomp", _SET_MODE_FILTER, _WITHOUT_SLOW_MITIGATION, filter_)


def _preamble(machine: str) -> Iterator[bytes]:
    """End a process that calls as another machine does, whose numbers mean other things; then load the number."""
    yield _step(_LOAD, _MACHINE_AT)
    yield _step(_JUMP_EQUAL, _AUDIT[machine], 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER_AT)
    if machine == kernel.X86_64:
        yield _step(_JUMP_FROM, _X32_BIT, 0, 1)
        yield _step(_RETURN, _REFUSE)


def _allow(rule: _Rule) -> list[bytes]:
    """Return the steps that end with a verdict when the call is the rule's, and pass on otherwise."""
    number = kernel.number(rule if isinstance(rule, str) else rule.name)
    verdict = [_step(_RETURN, _ALLOW)] if isinstance(rule, str) else _judge(rule)
    return [] if number is None else [_step(_JUMP_EQUAL, number, 0, len(verdict)), *verdict]


def _judge(rule: _Without | _OneOf) -> list[bytes]:
    # the lower half of the argument: these arguments are 32 bits wide, and the kernel looks at no more
    load = _step(_LOAD, _ARGUMENTS_AT + 8 * rule.argument)
    if isinstance(rule, _Without):
        tests = [_step(_AND, rule.bits), _step(_JUMP_EQUAL, 0, 0, 1), _step(_RETURN, _ALLOW)]
    else:
        tests = [step for value in rule.values for step in (_step(_JUMP_EQUAL, value, 0, 1), _step(_RETURN, _ALLOW))]
    return [load, *tests, _step(_RETURN, _REFUSE)]


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, operand)
