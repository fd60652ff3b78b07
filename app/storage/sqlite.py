"""What is SQLite's alone: its file, and how each connection to it is set up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import StorageError

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
