"""Every SQL statement on memories, and the port for builds that begin alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlmodel import col

from app.model.base import changed
from app.model.memory import Habit, Memory, MemoryKey, RaceKey, RaceMemory, RaceResult
from app.model.names import Goal
from app.storage.database import Database
from app.storage.memory_port import MemoryStore, NoMemory
from app.storage.tables import MemoryFailureRow, MemoryRaceRow, MemoryRow, MemoryWishRow

KEPT_PER_KEY = 20
"""Builds remembered per owner, skill, goal and engine version: the best, a tie keeps the older one."""
KEPT_RACES = 60
"""Races remembered per owner, goal and engine version: the newest."""
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

    async def remember_race(self, race: RaceMemory) -> None:
        """Store what the race of a build taught; the same build again changes nothing but its own race.

        Raises:
            StorageError: the database failed.
        """
        about = {"build_id": race.build_id, "owner": race.owner, "learned_at": race.learned_at}
        about |= {"goal": race.key.goal.value, "engine": race.key.engine}
        newest = (
            select(col(MemoryRaceRow.build_id))
            .where(*_raced(race.key, race.owner))
            .group_by(col(MemoryRaceRow.build_id))
            .order_by(func.max(col(MemoryRaceRow.learned_at)).desc(), col(MemoryRaceRow.build_id).desc())
        )
        async with self._database.write() as session:
            await session.execute(delete(MemoryRaceRow).where(col(MemoryRaceRow.build_id) == race.build_id))
            await session.execute(insert(MemoryRaceRow), [about | one.model_dump() for one in race.results])
            gone = list((await session.scalars(newest.offset(KEPT_RACES))).all())
            await session.execute(delete(MemoryRaceRow).where(col(MemoryRaceRow.build_id).in_(gone)))

    async def races(self, key: RaceKey, owner: str) -> list[RaceMemory]:
        """Return the owner's races of the goal and engine version, the oldest first.

        Raises:
            StorageError: the database failed.
        """
        return await self._races(_raced(key, owner))

    async def all_races(self) -> list[RaceMemory]:
        """Return every race, the oldest first.

        Raises:
            StorageError: the database failed.
        """
        return await self._races(())

    async def _races(self, which: tuple[Any, ...]) -> list[RaceMemory]:
        row = MemoryRaceRow
        query = select(row).where(*which).order_by(col(row.learned_at), col(row.build_id), col(row.place))
        async with self._database.read() as session:
            rows = list(await session.scalars(query))
        found = [list(few) for _, few in groupby(rows, key=lambda one: one.build_id)]
        return [_race(few) for few in found]

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
        """Remove what is remembered of a skill (None = all), races too, and return how many builds had taught it.

        Raises:
            StorageError: the database failed.
        """
        builds: set[str] = set()
        async with self._database.write() as session:
            for row in (MemoryRow, MemoryRaceRow):
                which = () if skill is None else (func.lower(col(row.skill)) == skill.strip().lower(),)
                builds |= set((await session.scalars(select(col(row.build_id)).where(*which))).all())
                await session.execute(delete(row).where(*which))
        return len(builds)


_BEST_FIRST = (col(MemoryRow.score).desc(), col(MemoryRow.learned_at), col(MemoryRow.build_id))


def _about(key: MemoryKey, owner: str) -> tuple[Any, ...]:
    row = MemoryRow
    about = (col(row.skill_id) == key.skill_id, col(row.goal) == key.goal.value, col(row.engine) == key.engine)
    return (col(row.owner) == owner, *about)


def _raced(key: RaceKey, owner: str) -> tuple[Any, ...]:
    row = MemoryRaceRow
    return (col(row.owner) == owner, col(row.goal) == key.goal.value, col(row.engine) == key.engine)


def _race(rows: Sequence[MemoryRaceRow]) -> RaceMemory:
    """Return the race that the rows of one build hold."""
    first, fields = rows[0], set(RaceResult.model_fields)
    return RaceMemory(
        build_id=first.build_id,
        owner=first.owner,
        key=RaceKey(goal=Goal(first.goal), engine=first.engine),
        results=[RaceResult.model_validate(row.model_dump(include=fields)) for row in rows],
        learned_at=first.learned_at,
    )


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

    async def remember_race(self, race: RaceMemory) -> None:
        """Keep it for builds that use memories.

        Raises:
            StorageError: it cannot be kept.
        """
        await self._inner.remember_race(race)

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        """Return the owner's memories as builds that are not begun with, so that only their failures count.

        Raises:
            StorageError: they cannot be read.
        """
        found = await self._inner.recall(key, owner)
        return [changed(memory, validated=False) for memory in found if memory.failures]
