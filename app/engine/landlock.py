"""Which files an engine process can reach: Linux' Landlock, as much of it as this kernel has."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from app.engine import kernel

_ASK_ABI = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3

_FILES = {1: 0x1FFF, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights over files by the ABI that brought them: the first thirteen; moving elsewhere; cutting; device controls."""

_NETWORK = {4: 0b11}
"""Listening and connecting by TCP."""

_SCOPES = {6: 0b11}
"""Sockets by name, and signals, of processes that are not confined."""


def abi() -> int:
    """Return which Landlock the kernel has.

    Raises:
        OSError: it has none, or does not let us use it.
    """
    return kernel.call("landlock_create_ruleset", None, 0, _ASK_ABI)


def confine_to(readable: Iterable[Path]) -> int:
    """Take from this process, and what it forks, all files but these to read; folders stand for all below them.

    Where the kernel knows more, TCP, and sockets and signals of others go too. Returns the ABI that does it.

    Raises:
        OSError: the kernel has no Landlock, or the process has not given up new privileges.
    """
    version = abi()
    asked = [sum(bits for since, bits in rights.items() if since <= version) for rights in (_FILES, _NETWORK, _SCOPES)]
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", *asked), 24)
    rules = kernel.call("landlock_create_ruleset", attributes, 24, 0)
    try:
        for path in readable:
            _allow(rules, path)
        kernel.call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)
    return version


def _allow(rules: int, path: Path) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rights = _READ_FILE | _READ_DIR if path.is_dir() else _READ_FILE
        beneath = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd), 12)
        kernel.call("landlock_add_rule", rules, _PATH_BENEATH, beneath, 0)
    finally:
        os.close(fd)
