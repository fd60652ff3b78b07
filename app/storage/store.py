"""The store as a whole: opening and closing it, its schema, and what is wrong with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, ScalarSelect, create_engine, event, func, or_, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from app.core.clock import Clock
from app.core.config import resource_dir
from app.core.errors import StorageError, StorageLocked
from app.storage.builds import SqlBuildStore
from app.storage.database import Database
from app.storage.evaluations import SqlEvaluationStore
from app.storage.events import SqlEventStore, unchanged
from app.storage.memory import SqlMemoryStore
from app.storage.postgres import connection_options, migrate_alone, server
from app.storage.queue import prepare
from app.storage.results import SqlResultStore
from app.storage.retention import SqlRetentionStore
from app.storage.sqlite import FileLock, keep_private, set_pragmas, sqlite_file
from app.storage.tables import BuildRow, ProgressRow, ToolEventRow
from app.storage.tokens import SqlTokenStore
from app.storage.usage import SqlUsageHistory


@dataclass(frozen=True)
class Storage:
    """An open store."""

    database: Database
    builds: SqlBuildStore
    events: SqlEventStore
    results: SqlResultStore
    evaluations: SqlEvaluationStore
    memory: SqlMemoryStore
    tokens: SqlTokenStore
    retention: SqlRetentionStore
    usage: SqlUsageHistory


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
                SqlTokenStore(database),
                SqlRetentionStore(database),
                SqlUsageHistory(database),
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


def upgrade(url: str, revision: str = "head") -> None:
    """Create or upgrade the schema (blocking: call it in a thread from async code).

    Raises:
        StorageError: the database cannot be opened, or a newer version wrote it.
    """
    config = _config()
    with connected(url) as connection:
        config.attributes["connection"] = connection
        if connection.dialect.name == "postgresql":
            migrate_alone(connection)
            prepare(connection)
        try:
            command.upgrade(config, revision)
        except CommandError as exc:
            msg = f"the database has a schema that this version does not know: {exc}"
            raise StorageError(msg) from exc


_MIGRATION_LIMITS = {"statement_timeout": "1h", "idle_in_transaction_session_timeout": "1h"}


def is_current(url: str) -> bool:
    """Return whether the database exists and has exactly the schema of this version (blocking)."""
    path = sqlite_file(url)
    if path is not None and not path.is_file():
        return False
    head = ScriptDirectory.from_config(_config()).get_current_head()
    with connected(url) as connection:
        return MigrationContext.configure(connection).get_current_revision() == head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(resource_dir("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """Open one transaction on the database, which need not have tables yet (blocking).

    Raises:
        StorageError: it cannot be opened, or fails.
    """
    path = sqlite_file(url)
    if path is None:
        engine = create_engine(
            server(url),
            connect_args=connection_options(**_MIGRATION_LIMITS),
        )
    else:
        engine = create_engine(make_url(url).set(drivername="sqlite"))
        event.listen(engine, "connect", lambda connection, _record: set_pragmas(connection))
    try:
        if path is not None:
            keep_private(path)
        with engine.begin() as connection:
            yield connection
    except (SQLAlchemyError, OSError) as exc:
        told = exc.strerror if isinstance(exc, OSError) else getattr(exc, "orig", None) or exc.args[0]
        msg = f"the database cannot be opened or upgraded: {told}"
        raise StorageError(msg) from exc
    finally:
        engine.dispose()


async def check_database(database: Database) -> list[str]:
    """Return a sentence for everything that is wrong; nothing when the database is sound.

    Raises:
        StorageError: it cannot be read at all.
    """
    # Numbers are unique and start at 1, so there is no gap where the last one equals the count.
    progress_gap = _last(ProgressRow) != _count(ProgressRow)
    rules = {
        "progress events": or_(progress_gap, _last(ProgressRow) != col(BuildRow.progress_seq)),
        "tool events": _last(ToolEventRow) != _count(ToolEventRow),
    }
    found = []
    async with database.read() as session:
        for what, broken in rules.items():
            wrong = await session.scalars(select(col(BuildRow.id)).where(broken).order_by(col(BuildRow.id)))
            found += [f"build {build_id}: its {what} are not numbered 1 to N" for build_id in wrong]
        if sqlite_file(database.url) is not None:
            damage = await session.scalars(text("PRAGMA integrity_check"))
            found += [f"the file is damaged: {word}" for word in map(str, damage) if word != "ok"]
            orphans = await session.execute(text("PRAGMA foreign_key_check"))
            found += [f"a row of {row[0]} belongs to no {row[2]}" for row in orphans]
    return found


def _count(table: type[ProgressRow | ToolEventRow]) -> ScalarSelect[int]:
    return select(func.count(col(table.seq))).where(col(table.build_id) == col(BuildRow.id)).scalar_subquery()


def _last(table: type[ProgressRow | ToolEventRow]) -> ScalarSelect[int]:
    highest = func.coalesce(func.max(col(table.seq)), 0)
    return select(highest).where(col(table.build_id) == col(BuildRow.id)).scalar_subquery()
