"""Bringing a database to the schema of this version, with the scripts under `migrations/`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, ScalarSelect, create_engine, event, func, or_, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from app.core.config import resource_dir
from app.core.errors import StorageError
from app.storage.database import Database
from app.storage.sqlite import set_pragmas, sqlite_file
from app.storage.tables import BuildRow, ProgressRow, ToolEventRow


def upgrade(url: str, revision: str = "head") -> None:
    """Create or upgrade the schema (blocking: call it in a thread from async code).

    Raises:
        StorageError: the database cannot be opened, or a newer version wrote it.
    """
    config = _config()
    with _connection(url) as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, revision)
        except CommandError as exc:
            msg = f"the database has a schema that this version does not know: {exc}"
            raise StorageError(msg) from exc


def is_current(url: str) -> bool:
    """Return whether the database exists and has exactly the schema of this version (blocking)."""
    path = sqlite_file(url)
    if path is not None and not path.is_file():
        return False
    head = ScriptDirectory.from_config(_config()).get_current_head()
    with _connection(url) as connection:
        return MigrationContext.configure(connection).get_current_revision() == head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(resource_dir("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def _connection(url: str) -> Iterator[Connection]:
    path = sqlite_file(url)
    engine = create_engine(make_url(url).set(drivername="sqlite") if path else url)
    if path is not None:
        event.listen(engine, "connect", lambda connection, _record: set_pragmas(connection))
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        with engine.begin() as connection:
            yield connection
    except (SQLAlchemyError, OSError) as exc:
        msg = f"the database cannot be opened or upgraded: {exc}"
        raise StorageError(msg) from exc
    finally:
        engine.dispose()


async def check_database(database: Database) -> list[str]:
    """Return a sentence for everything that is wrong; nothing when the database is sound.

    Raises:
        StorageError: it cannot be read at all.
    """
    async with database.read() as session:
        found = await _counters(session)
        if sqlite_file(database.url) is not None:
            found += await _file(session)
    return found


async def _file(session: AsyncSession) -> list[str]:
    damage = [str(word) for word in await session.scalars(text("PRAGMA integrity_check")) if word != "ok"]
    orphans = (await session.execute(text("PRAGMA foreign_key_check"))).all()
    return [f"the file is damaged: {word}" for word in damage] + [
        f"a row of {row[0]} belongs to no {row[2]}" for row in orphans
    ]


async def _counters(session: AsyncSession) -> list[str]:
    """Numbers are unique and start at 1, so there is no gap where the last one equals the count."""
    rules = {
        "progress events": or_(
            _last(ProgressRow) != _count(ProgressRow), _last(ProgressRow) != col(BuildRow.progress_seq)
        ),
        "tool events": _last(ToolEventRow) != _count(ToolEventRow),
    }
    found = []
    for what, broken in rules.items():
        wrong = await session.scalars(select(col(BuildRow.id)).where(broken).order_by(col(BuildRow.id)))
        found += [f"build {build_id}: its {what} are not numbered 1 to N" for build_id in wrong]
    return found


def _count(table: type[ProgressRow | ToolEventRow]) -> ScalarSelect[int]:
    return select(func.count(col(table.seq))).where(col(table.build_id) == col(BuildRow.id)).scalar_subquery()


def _last(table: type[ProgressRow | ToolEventRow]) -> ScalarSelect[int]:
    highest = func.coalesce(func.max(col(table.seq)), 0)
    return select(highest).where(col(table.build_id) == col(BuildRow.id)).scalar_subquery()
