"""What only SQL can tell about a store: a sound file, no orphans, counters that agree with what they count."""

from __future__ import annotations

from sqlalchemy import ScalarSelect, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from app.storage.database import Database
from app.storage.sqlite import sqlite_file
from app.storage.tables import BuildRow, ProgressRow, ToolEventRow


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
