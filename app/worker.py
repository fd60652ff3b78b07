"""The queue worker of the many-machines mode; this version has the one-process mode only."""

from __future__ import annotations

from app.core.config import Settings
from app.core.errors import NotAvailable


def work(settings: Settings) -> None:
    """Take builds from the queue until a signal.

    Raises:
        NotAvailable: always, in this version.
    """
    kind = "SQLite" if settings.database.startswith("sqlite") else "a database server"
    raise NotAvailable(
        f"A separate queue worker is not available in this version (the store is {kind}); "
        "`buildwright serve` runs the builds itself."
    )
