"""What it takes to write on behalf of a claim."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_
from sqlmodel import col

from app.model.names import BuildStatus
from app.storage.tables import BuildRow


def holds(epoch: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Return the fence: the build is still claimed under the epoch, and runs."""
    return and_(col(BuildRow.epoch) == epoch, col(BuildRow.status) == BuildStatus.RUNNING.value)
