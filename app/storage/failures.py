"""What a database error means to us."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.errors import StorageBusy, StorageError, StorageFull

NO_ROOM = "the disk with the database is full"
_PASSING = ("08", "40", "55", "57")
"""PostgreSQL's classes of errors that pass by themselves: connections, conflicts, locks, what an operator does."""


@contextmanager
def typed_errors() -> Iterator[None]:
    """Turn what a database library raises into our errors; what a constraint forbids is left to the caller."""
    try:
        yield
    except IntegrityError:
        raise
    except PoolTimeout as exc:
        msg = "no database connection became free"
        raise StorageBusy(msg) from exc
    except OperationalError as exc:
        if "database is locked" in str(exc.orig):
            msg = "the database is locked by another writer"
            raise StorageBusy(msg) from exc
        if "disk is full" in str(exc.orig):
            raise StorageFull(NO_ROOM) from exc
        msg = f"the database failed: {exc.orig}"
        raise (StorageBusy(msg) if passes(exc.orig) else StorageError(msg)) from exc
    except DBAPIError as exc:
        msg = f"the database failed: {type(exc.orig).__name__}"
        raise (StorageBusy(msg) if exc.connection_invalidated else StorageError(msg)) from exc
    except SQLAlchemyError as exc:
        msg = f"the database failed: {type(exc).__name__}"
        raise StorageError(msg) from exc


def passes(error: BaseException | None) -> bool:
    """Return whether a PostgreSQL driver's error is gone after a while; one without a state is a lost connection."""
    state = getattr(error, "sqlstate", "")
    return state is None or state.startswith(_PASSING)
