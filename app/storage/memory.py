"""Every SQL statement on memories, and the port for builds that begin alone."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlmodel import col

from app.model.base import changed
from app.model.memory import Habit, Memory, MemoryKey
from app.storage.base import MemoryStore, NoMemory
from app.storage.database import Database
from app.storage.tables import MemoryFailureRow, MemoryRow, MemoryWishRow

KEPT_PER_KEY = 20
"""Builds remembered per owner, skill, goal and engine version: the best, a tie keeps the older one."""
_NOT_VALIDATED = 1e6
"""What a build with caveats ranks behind, so that it never takes the place of one to begin with."""


class SqlMemoryStore:
    """The MemoryStore port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, memory: Memory) -> None:
        """Store what a build taught; the same build again changes nothing but its own memory.

        Raises:
            StorageError: the database failed.
        """
        async with self._database.write() as session:
            await session.execute(delete(MemoryRow).where(col(MemoryRow.build_id) == memory.build_id))
            row = {
                "build_id": memory.build_id,
                "owner": memory.owner,
                "skill_id": memory.key.skill_id,
                "skill": memory.skill,
                "goal": memory.key.goal.value,
                "engine": memory.key.engine,
                "score": memory.score if memory.validated else memory.score - _NOT_VALIDATED,
                "data": memory.model_dump(mode="json"),
                "learned_at": memory.learned_at,
            }
            await session.execute(insert(MemoryRow), [row])
            if wishes := [
                {"build_id": memory.build_id, "field": field, "value": value} for field, value in memory.wishes.items()
            ]:
                await session.execute(insert(MemoryWishRow), wishes)
            if failures := [
                {"build_id": memory.build_id, "number": number, **failure.model_dump(mode="json")}
                for number, failure in enumerate(memory.failures, start=1)
            ]:
                await session.execute(insert(MemoryFailureRow), failures)
            ranked = select(col(MemoryRow.build_id)).where(*_about(memory.key, memory.owner)).order_by(*_BEST_FIRST)
            gone = list((await session.scalars(ranked.offset(KEPT_PER_KEY))).all())
            await session.execute(delete(MemoryRow).where(col(MemoryRow.build_id).in_(gone)))

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        """Return what the owner's builds taught of the skill, goal and engine version: validated ones, best first.

        Raises:
            StorageError: the database failed.
        """
        query = select(MemoryRow).where(*_about(key, owner)).order_by(*_BEST_FIRST)
        async with self._database.read() as session:
            return [Memory.model_validate(row.data) for row in await session.scalars(query)]

    async def all(self) -> list[Memory]:
        """Return every memory: by skill, goal and engine version, best first.

        Raises:
            StorageError: the database failed.
        """
        order = (col(MemoryRow.skill), col(MemoryRow.goal), col(MemoryRow.engine), *_BEST_FIRST)
        async with self._database.read() as session:
            rows = await session.scalars(select(MemoryRow).order_by(*order))
            return [Memory.model_validate(row.data) for row in rows]

    async def wishes(self, owner: str) -> list[Habit]:
        """Return what the owner asked for in words, the most frequent first.

        Raises:
            StorageError: the database failed.
        """
        query = (
            select(col(MemoryWishRow.field), col(MemoryWishRow.value))
            .join(MemoryRow, col(MemoryRow.build_id) == col(MemoryWishRow.build_id))
            .where(col(MemoryRow.owner) == owner)
            .order_by(col(MemoryWishRow.field), col(MemoryWishRow.build_id))
        )
        async with self._database.read() as session:
            found = [(row.field, row.value) for row in await session.execute(query)]
        distinct = [pair for number, pair in enumerate(found) if pair not in found[:number]]
        habits = [Habit(field=field, value=value, builds=found.count((field, value))) for field, value in distinct]
        return sorted(habits, key=lambda habit: (-habit.builds, habit.field, str(habit.value)))

    async def forget(self, skill: str | None = None) -> int:
        """Remove the memories of a skill (None = all) and return how many there were.

        Raises:
            StorageError: the database failed.
        """
        which = () if skill is None else (func.lower(col(MemoryRow.skill)) == skill.strip().lower(),)
        async with self._database.write() as session:
            many = await session.scalar(select(func.count()).select_from(MemoryRow).where(*which)) or 0
            await session.execute(delete(MemoryRow).where(*which))
        return many


_BEST_FIRST = (col(MemoryRow.score).desc(), col(MemoryRow.learned_at), col(MemoryRow.build_id))


def _about(key: MemoryKey, owner: str) -> tuple[Any, ...]:
    row = MemoryRow
    about = (col(row.skill_id) == key.skill_id, col(row.goal) == key.goal.value, col(row.engine) == key.engine)
    return (col(row.owner) == owner, *about)


class LearningMemory(NoMemory):
    """The port when builds begin alone: memories are kept, and of them only what failed comes back."""

    def __init__(self, inner: MemoryStore) -> None:
        self._inner = inner

    async def remember(self, memory: Memory) -> None:
        """Keep it for builds that use memories.

        Raises:
            StorageError: it cannot be kept.
        """
        await self._inner.remember(memory)

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        """Return the owner's memories as builds that are not begun with, so that only their failures count.

        Raises:
            StorageError: they cannot be read.
        """
        found = await self._inner.recall(key, owner)
        return [changed(memory, validated=False) for memory in found if memory.failures]
