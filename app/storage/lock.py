"""One process per SQLite file: two runners on one machine would fight over the same builds."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from app.core.errors import StorageError, StorageLocked


class FileLock:
    """An advisory lock on `<db>.lock`, held until `release` or the end of the process (also by kill -9)."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + ".lock")
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock without waiting.

        Raises:
            StorageLocked: another process, or another opening in this one, has it.
            StorageError: the directory cannot be written.
        """
        fd = self._open()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            owner = self._path.read_text().strip() or "unknown"
            os.close(fd)
            msg = (
                f"another process (pid {owner}) runs builds on this database: stop it, "
                "or choose another file with BUILDWRIGHT_DATABASE_URL"
            )
            raise StorageLocked(msg) from exc
        os.ftruncate(fd, 0)
        os.write(fd, str(os.getpid()).encode())
        self._fd = fd

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as exc:
            msg = f"the database directory cannot be used: {exc.strerror}"
            raise StorageError(msg) from exc
