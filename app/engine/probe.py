"""Whether the sandbox holds on this machine: an engine whose one operation tries what no engine may do."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from app.model.base import Model

_VERSION = {"name": "probe", "version": "1", "tree_version": "0_0", "estimate": True}
BACKEND = "app.engine.probe:Probe"


class Confinement(Model):
    """What an engine process was refused when it tried, and the guards that this kernel lacks, with its words."""

    refused: dict[str, bool]
    missing: dict[str, str]


class Probe:
    """Implements `Backend`; what it tries would do no harm where it succeeded."""

    def warm(self) -> dict[str, Any]:
        """Return the version; there is nothing to load."""
        return _VERSION

    def handle(self, op: str, args: dict[str, Any]) -> dict[str, bool]:
        """Return for each attempt whether it was refused; `args["service"]` is the pid of who asks."""
        attempts: dict[str, Callable[[], object]] = {
            "read files outside": lambda: os.close(os.open("/etc/passwd", os.O_RDONLY)),
            "write files": lambda: os.close(os.open("/dev/null", os.O_WRONLY)),
            "reach the network": lambda: socket.socket().close(),
            "start processes": _fork,
            "run programs": _run,
            "signal the service": lambda: os.kill(args["service"], 0),
        }
        return {name: _is_refused(attempt) for name, attempt in attempts.items()}


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _run() -> None:
    try:
        os.execv("/nowhere", ["nowhere"])  # noqa: S606 - there is no such program
    except FileNotFoundError:
        return  # it was looked for, so another would have been run
