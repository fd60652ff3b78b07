"""Every SQL statement on kept results."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import Clock, SystemClock
from app.storage.base import KeptResult
from app.storage.database import Database
from app.storage.tables import KeptResultRow

_TABLE = KeptResultRow.metadata.tables["kept_result"]
_LEVEL = 1
"""zlib's fastest: JSON shrinks to a fifth already."""

_USED_AGAIN = timedelta(hours=6)
"""A use is noted when the last note is older: reading must not become writing."""

_CHUNK = 500
_READ_AHEAD = 48
_AHEAD = (
    select(_TABLE.c.key, _TABLE.c.tool, _TABLE.c.data, _TABLE.c.took_ms, _TABLE.c.born_at, _TABLE.c.used_at)
    .where(_TABLE.c.seq >= select(_TABLE.c.seq).where(_TABLE.c.key == bindparam("wanted")).scalar_subquery())
    .order_by(_TABLE.c.seq)
    .limit(_READ_AHEAD)
)
"""Nothing is greater than or equal to the number of a key that is not there."""


class SqlResultStore:
    """The ResultStore port on SQL; values are compressed."""

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self._used: set[str] = set()

    async def find(self, key: str, since: datetime | None = None) -> list[KeptResult]:
        """Return the answer and some that were stored after it: whoever asks again, asks in the same order.

        Nothing when there is none, or only one older than `since`.

        Raises:
            StorageError: the database failed.
        """
        async with self._database.read() as session:
            rows = (await session.execute(_AHEAD, {"wanted": key})).all()
        if not rows or (since is not None and rows[0].born_at < since):
            return []
        if self._clock.now() - rows[0].used_at > _USED_AGAIN:
            self._used.update(row.key for row in rows)
        fresh = [row for row in rows if since is None or row.born_at >= since]
        data = await asyncio.to_thread(lambda: [zlib.decompress(row.data) for row in fresh])
        return [
            KeptResult(row.key, row.tool, one, row.born_at, row.took_ms) for row, one in zip(fresh, data, strict=True)
        ]

    async def keep(self, results: Sequence[KeptResult], most_bytes: int) -> None:
        """Store the answers; then, above `most_bytes` in all, the least recently used go.

        Raises:
            StorageError: the database failed.
        """
        rows = await asyncio.to_thread(_rows, results)
        used, self._used = self._used, set()
        async with self._database.write() as session:
            for part in _chunks([row["key"] for row in rows]):
                await session.execute(delete(_TABLE).where(_TABLE.c.key.in_(part)))
            if rows:
                await session.execute(insert(_TABLE), rows)
            for part in _chunks(sorted(used)):
                await session.execute(update(_TABLE).where(_TABLE.c.key.in_(part)).values(used_at=self._clock.now()))
            await _trim(session, most_bytes)


async def _trim(session: AsyncSession, most_bytes: int) -> None:
    """Remove what was used longest ago, down to nine tenths of the bound, so that it is not done each time."""
    total = await session.scalar(select(func.coalesce(func.sum(_TABLE.c.size), 0))) or 0
    if total <= most_bytes:
        return
    oldest = await session.execute(select(_TABLE.c.key, _TABLE.c.size).order_by(_TABLE.c.used_at, _TABLE.c.key))
    surplus, gone = total - most_bytes * 9 // 10, []
    for row in oldest:
        if surplus <= 0:
            break
        gone.append(row.key)
        surplus -= row.size
    for part in _chunks(gone):
        await session.execute(delete(_TABLE).where(_TABLE.c.key.in_(part)))


def _rows(results: Sequence[KeptResult]) -> list[dict[str, Any]]:
    rows = []
    for result in results:
        data = zlib.compress(result.data, _LEVEL)
        when = {"born_at": result.born, "used_at": result.born}
        known = {"key": result.key, "tool": result.tool, "took_ms": result.took_ms}
        rows.append({**known, "size": len(data), "data": data, **when})
    return rows


def _chunks(keys: Sequence[str]) -> list[Sequence[str]]:
    return [keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK)]
