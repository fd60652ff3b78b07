"""A PostgreSQL server for the tests, and throw-away databases on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel

from app.storage.store import upgrade

_GIVEN = os.environ.get("BUILDWRIGHT_TEST_DATABASE_URL")
"""Read before the tests get an environment of their own."""
_LOCAL = "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"
_PREFIX = "buildwright_test"


@cache
def postgres_server() -> str | None:
    """Return the address of a server where databases can be made, None when there is none.

    A server that was named must be there; the local one may be missing.
    """
    try:
        with psycopg.connect(conninfo(_GIVEN or _LOCAL), connect_timeout=3):
            return _GIVEN or _LOCAL
    except psycopg.OperationalError:
        if _GIVEN:
            raise
        return None


@contextmanager
def fresh_database() -> Iterator[str]:
    """Make a database without any tables, and remove it in the end."""
    url = _create()
    try:
        yield url
    finally:
        drop(url)


def emptied_database() -> str:
    """Return the database that the tests of this process share, with nothing in it: much quicker than a fresh one."""
    url = _with_todays_schema()
    with psycopg.connect(conninfo(url), autocommit=True, options="-c search_path=queue,public") as connection:
        queues = [("queue", name) for name in ("procrastinate_jobs", "procrastinate_workers")]
        ours = [("public", table.name) for table in reversed(SQLModel.metadata.sorted_tables)]
        for name in queues + ours:
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(*name)))
    return url


def drop(url: str) -> None:
    """Remove the database, also under somebody who is connected to it."""
    name = sql.Identifier(make_url(url).database or "")
    with _administrator() as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def _create() -> str:
    name = f"{_PREFIX}_{uuid4().hex[:12]}"
    with _administrator() as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        # No test cuts the machine's power, and waiting for a busy disk at each commit takes minutes in all.
        connection.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))
    return make_url(postgres_server() or "").set(database=name).render_as_string(hide_password=False)


@cache
def _with_todays_schema() -> str:
    url = _create()
    made.append(url)
    upgrade(url)
    return url


made: list[str] = []
"""Databases that live as long as this process; who ends it removes them."""


def _administrator() -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(conninfo(postgres_server() or ""), autocommit=True)


def conninfo(url: str) -> str:
    """Return the address as the driver itself takes it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
