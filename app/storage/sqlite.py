"""What is SQLite's alone: its file, and how each connection to it is set up."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

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
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as exc:
            msg = f"the database directory cannot be used: {exc.strerror}"
            raise StorageError(msg) from exc
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


BUSY_TIMEOUT_MS = 5000


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite URL, None for another database.

    Raises:
        StorageError: the URL is not one, or names an SQLite database without a file.
    """
    try:
        parsed = make_url(url)
    except SQLAlchemyError as exc:
        msg = "the database URL cannot be read"
        raise StorageError(msg) from exc
    if parsed.get_backend_name() != "sqlite":
        return None
    if not parsed.database or parsed.database == ":memory:":
        msg = "an SQLite database needs a file"
        raise StorageError(msg)
    return Path(parsed.database)


def keep_private(path: Path) -> None:
    """Make the database file, if there is none, and let nobody but its owner read it; its log inherits that.

    Raises:
        OSError: the folder or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
    try:
        if os.fstat(fd).st_uid == os.geteuid():
            os.fchmod(fd, _PRIVATE)
    finally:
        os.close(fd)


_PRIVATE = 0o600


def set_pragmas(connection: Any, synchronous: str = "FULL") -> None:
    """Set what every SQLite connection of ours needs: concurrent readers (WAL), patience, foreign keys.

    `synchronous` FULL waits for the disk at each commit, NORMAL leaves that to the next FULL one.
    """
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute(f"PRAGMA synchronous = {synchronous}")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()
