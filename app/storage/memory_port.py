"""The port of what builds taught, and the port where memory is switched off."""

from __future__ import annotations

from typing import Protocol

from app.model.memory import Habit, Memory, MemoryKey, RaceKey, RaceMemory


class MemoryStore(Protocol):
    """What builds taught, for the builds to come. Losing it costs time, nothing else."""

    async def remember(self, memory: Memory) -> None:
        """Store what a build taught; the same build again changes nothing but its own memory."""
        ...

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        """Return what the owner's builds taught of the skill, goal and engine version: validated ones, best first."""
        ...

    async def all(self) -> list[Memory]:
        """Return every memory: by skill, goal and engine version, best first."""
        ...

    async def remember_race(self, race: RaceMemory) -> None:
        """Store what the race of a build taught; the same build again changes nothing but its own race."""
        ...

    async def races(self, key: RaceKey, owner: str) -> list[RaceMemory]:
        """Return the owner's races of the goal and engine version, the oldest first."""
        ...

    async def all_races(self) -> list[RaceMemory]:
        """Return every race, the oldest first."""
        ...

    async def wishes(self, owner: str) -> list[Habit]:
        """Return what the owner asked for in words, the most frequent first."""
        ...

    async def forget(self, skill: str | None = None) -> int:
        """Remove what is remembered of a skill (None = all), races too, and return how many builds had taught it."""
        ...


class NoMemory:
    """The port when memory is switched off: nothing is kept, nothing comes back."""

    async def remember(self, memory: Memory) -> None:
        """Forget it at once."""

    async def recall(self, key: MemoryKey, owner: str) -> list[Memory]:
        """Return nothing."""
        return []

    async def all(self) -> list[Memory]:
        """Return nothing."""
        return []

    async def remember_race(self, race: RaceMemory) -> None:
        """Forget it at once."""

    async def races(self, key: RaceKey, owner: str) -> list[RaceMemory]:
        """Return nothing."""
        return []

    async def all_races(self) -> list[RaceMemory]:
        """Return nothing."""
        return []

    async def wishes(self, owner: str) -> list[Habit]:
        """Return nothing."""
        return []

    async def forget(self, skill: str | None = None) -> int:
        """Return 0."""
        return 0
