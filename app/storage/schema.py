"""Bringing a database to the schema of this version, with the scripts under `migrations/`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import StorageError
from app.core.resources import resource_dir
from app.storage.sqlite import set_pragmas, sqlite_file


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
