"""Which store the settings name, and what checks it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from app.core.clock import SystemClock
from app.core.config import Settings
from app.core.errors import NotAvailable
from app.core.logs import Redactor
from app.service.health import Integrity, check_store
from app.storage.base import LearningMemory, MemoryStore, NoMemory
from app.storage.store import Storage, check_database, is_current, open_storage, upgrade


def storage(settings: Settings, *, exclusive: bool) -> AbstractAsyncContextManager[Storage]:
    """Open the store of these settings; `exclusive` is for the one process that runs builds."""
    return open_storage(
        database_url(settings), exclusive=exclusive, clock=SystemClock(), redact=redactor(settings).data
    )


def memory_store(settings: Settings, opened: Storage) -> MemoryStore:
    """Return where builds learn from and for each other.

    By default they only leave memories, for what a build recalls would make it depend on the builds before it.
    """
    if settings.memory == "use":
        return opened.memory
    return LearningMemory(opened.memory) if settings.memory == "learn" else NoMemory()


def database_url(settings: Settings) -> str:
    """Return the address of the store.

    Raises:
        NotAvailable: it is not an SQLite file.
    """
    if "://" in settings.database and not settings.database.startswith("sqlite"):
        raise NotAvailable("A database server as the store is not available in this version; use an SQLite file.")
    return settings.database


def redactor(settings: Settings) -> Redactor:
    """Return what takes the secrets of these settings out of anything stored or logged."""
    tokens = settings.api_tokens.get_secret_value().split(",") if settings.api_tokens else []
    key = [settings.llm_api_key.get_secret_value()] if settings.llm_api_key else []
    return Redactor([*key, *tokens])


async def store_report(settings: Settings) -> Integrity:
    """Return which invariants of the store are broken."""
    async with storage(settings, exclusive=False) as opened:
        report = await check_store(opened.builds, opened.events)
        return report.model_copy(update={"database": await check_database(opened.database)})


def upgrade_store(settings: Settings) -> None:
    """Bring the store to the schema of this version.

    Raises:
        StorageError: it cannot be opened, or a newer version wrote it.
    """
    upgrade(database_url(settings))


def store_is_current(settings: Settings) -> bool:
    """Return whether the store exists with the schema of this version."""
    return is_current(database_url(settings))
