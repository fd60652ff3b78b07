"""What is remembered, as scored lists for people, and forgetting it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from pydantic import Field

from app.core.errors import NotFound
from app.model.base import Model
from app.model.memory import Habit, Memory, RaceMemory, agreement
from app.model.names import LOCAL_OWNER
from app.model.state import Elimination
from app.storage.memory_port import MemoryStore

MOST_LISTED = 8


class Scored(Model):
    """Something that worked: the best score of the builds that had it, and how many had it."""

    name: str
    score: float
    builds: int


class MemoryView(Model):
    """What is remembered of a main skill for a goal with one engine version.

    `score`: what the search raised, relative to the demands of level and gear tier. `build_ids`: the best first.
    """

    skill: str
    goal: str
    engine: str
    builds: int
    score: float
    build_ids: list[str]
    supports: list[Scored] = Field(default_factory=list)
    notables: list[Scored] = Field(default_factory=list)
    bases: list[Scored] = Field(default_factory=list)
    failures: list[Elimination] = Field(default_factory=list)

    @classmethod
    def of(cls, memories: Sequence[Memory]) -> MemoryView:
        """Return the scored lists of builds that are about the same, the best of them first."""
        best, supports = memories[0], []
        for memory in memories:
            main = memory.blueprint.groups[memory.blueprint.main_group - 1]
            supports.append((memory.score, ", ".join(gem.name for gem in main.gems[1:]) or "no supports"))
        bases = ((m.score, f"{slot}: {item.base}") for m in memories for slot, item in m.blueprint.items.items())
        return cls(
            skill=best.skill,
            goal=best.key.goal.value,
            engine=best.key.engine,
            builds=len(memories),
            score=best.score,
            build_ids=[memory.build_id for memory in memories],
            supports=_ranked(supports),
            notables=_ranked((m.score, name) for m in memories for name in dict.fromkeys(m.notables)),
            bases=_ranked(bases),
            failures=list({(f.sub_problem, f.option): f for m in memories for f in m.failures}.values()),
        )


class RacedWay(Model):
    """A way to build as races found it: `behind` the best, in e-folds of score, as the mean of so many races."""

    skill: str
    hands: str
    behind: float
    races: int


class ClassRaces(Model):
    """What is remembered of a class's races for a goal with one engine version; ways that came farthest first.

    `agreement`: how well the tables of tastes agreed with them, from 0 (no better than chance) to 1.
    """

    class_name: str
    goal: str
    engine: str
    races: int
    agreement: float
    ways: list[RacedWay]

    @classmethod
    def of(cls, class_name: str, races: Sequence[RaceMemory]) -> ClassRaces:
        """Return what races of one goal and engine version say of the class."""
        known = [[one for one in race.results if one.class_name == class_name] for race in races]
        behind: dict[tuple[str, str], list[float]] = {}
        for one in (one for few in known for one in few):
            behind.setdefault((one.skill, one.hands), []).append(one.behind)
        ways = [
            RacedWay(skill=skill, hands=hands, behind=sum(found) / len(found), races=len(found))
            for (skill, hands), found in behind.items()
        ]
        return cls(
            class_name=class_name,
            goal=races[0].key.goal.value,
            engine=races[0].key.engine,
            races=sum(bool(few) for few in known),
            agreement=agreement(known),
            ways=sorted(ways, key=lambda way: (way.behind, way.skill, way.hands)),
        )


class MemoryPage(Model):
    """Everything that is remembered; `wishes` are what this owner keeps asking for, the most frequent first."""

    items: list[MemoryView]
    wishes: list[Habit]
    races: list[ClassRaces] = Field(default_factory=list)


class Memories:
    """Reads and forgets."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def page(self, owner: str = LOCAL_OWNER) -> MemoryPage:
        """Return what is remembered, by skill, goal and engine version."""
        found = await self._store.all()
        grouped = groupby(found, key=lambda memory: (memory.skill, memory.key))
        return MemoryPage(
            items=[MemoryView.of(list(group)) for _, group in grouped],
            wishes=await self._store.wishes(owner),
            races=_raced(await self._store.all_races()),
        )

    async def forget(self, skill: str | None = None) -> int:
        """Forget the builds of a skill (None = everything) and return how many there were.

        Raises:
            NotFound: nothing is remembered of the skill.
        """
        many = await self._store.forget(skill)
        if skill is not None and many == 0:
            raise NotFound(f"Nothing is remembered of a skill called {skill!r}.")
        return many


def _raced(races: Sequence[RaceMemory]) -> list[ClassRaces]:
    """Return what races say by class, goal and engine version."""
    alike: dict[tuple[str, str, str], list[RaceMemory]] = {}
    for race in races:
        for name in sorted({one.class_name for one in race.results}):
            alike.setdefault((name, race.key.goal.value, race.key.engine), []).append(race)
    return [ClassRaces.of(name, found) for (name, _, _), found in sorted(alike.items(), key=lambda one: one[0])]


def _ranked(found: Iterable[tuple[float, str]]) -> list[Scored]:
    """Return the names with their best score and count: the most frequent first, then by score, then by name."""
    scores: dict[str, list[float]] = {}
    for score, name in found:
        scores.setdefault(name, []).append(score)
    listed = [Scored(name=name, score=max(values), builds=len(values)) for name, values in scores.items()]
    return sorted(listed, key=lambda one: (-one.builds, -one.score, one.name))[:MOST_LISTED]
