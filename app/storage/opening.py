"""Opening a store: lock, upgrade, connections, repositories, and closing all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from app.core.clock import Clock
from app.core.errors import StorageLocked
from app.storage.builds import SqlBuildStore
from app.storage.database import Database
from app.storage.evaluations import SqlEvaluationStore
from app.storage.events import SqlEventStore, unchanged
from app.storage.memory import SqlMemoryStore
from app.storage.results import SqlResultStore
from app.storage.schema import is_current, upgrade
from app.storage.sqlite import FileLock, sqlite_file


@dataclass(frozen=True)
class Storage:
    """An open store."""

    database: Database
    builds: SqlBuildStore
    events: SqlEventStore
    results: SqlResultStore
    evaluations: SqlEvaluationStore
    memory: SqlMemoryStore


@asynccontextmanager
async def open_storage(
    url: str,
    *,
    exclusive: bool = True,
    clock: Clock | None = None,
    redact: Callable[[Any], Any] = unchanged,
) -> AsyncIterator[Storage]:
    """Open the store at an SQLAlchemy URL, bringing its schema up to date first.

    `exclusive` is for whoever runs builds: it owns an SQLite file until the end. Without it (commands that only
    look) nothing stays locked, and the schema is upgraded only when nobody owns the file.

    Raises:
        StorageLocked: `exclusive`, and another process owns the file.
        StorageError: the database cannot be opened or upgraded.
    """
    with owned(url) if exclusive else nullcontext():
        await asyncio.to_thread(upgrade if exclusive else _upgrade_if_free, url)
        database = Database(url)
        try:
            yield Storage(
                database,
                SqlBuildStore(database, clock),
                SqlEventStore(database, redact),
                SqlResultStore(database, clock),
                SqlEvaluationStore(database),
                SqlMemoryStore(database),
            )
        finally:
            await database.close()


@contextmanager
def owned(url: str) -> Iterator[None]:
    """Own the SQLite file of the URL for a while; another database needs no such lock.

    Raises:
        StorageLocked: another process owns it.
    """
    path = sqlite_file(url)
    if path is None:
        yield
        return
    lock = FileLock(path)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _upgrade_if_free(url: str) -> None:
    if not is_current(url):
        with suppress(StorageLocked), owned(url):
            upgrade(url)
