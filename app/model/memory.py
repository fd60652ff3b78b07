"""What is remembered across builds: what worked, what a user keeps asking for, and what failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

from pydantic import Field

from app.model.base import Model
from app.model.blueprint import Blueprint
from app.model.constraints import InvariantValue
from app.model.names import LOCAL_OWNER, Effort, GearTier, Goal
from app.model.state import Elimination
from app.model.stats import EngineVersion


class MemoryKey(Model):
    """What a memory is about. Figures of one engine version say nothing about another's."""

    skill_id: str
    goal: Goal
    engine: str

    @classmethod
    def of(cls, skill_id: str, goal: Goal, engine: EngineVersion) -> MemoryKey:
        """Return the key of a main skill, a goal and an engine version."""
        return cls(skill_id=skill_id, goal=goal, engine=f"{engine.name} {engine.version}")


class RaceKey(Model):
    """What a race is about. Drafts of one engine version say nothing about another's."""

    goal: Goal
    engine: str

    @classmethod
    def of(cls, goal: Goal, engine: EngineVersion) -> RaceKey:
        """Return the key of a goal and an engine version."""
        return cls(goal=goal, engine=f"{engine.name} {engine.version}")


class Situation(Model):
    """What must be the same for a whole build to fit again."""

    class_name: str
    ascendancy: str | None
    level: int
    gear: GearTier
    hardcore: bool
    weapon_types: list[str]
    off_hand: str | None
    pool: str
    mitigation: list[str]
    excluded: list[str]
    named: list[str] = Field(default_factory=list)
    effort: Effort = Effort.NORMAL


class Memory(Model):
    """What a build taught; only one that was validated is begun with, one with caveats teaches its failures alone.

    `score`: the objective that the search raised (`app.search.objective`), relative to what is demanded of level and
    gear tier; higher is better.

    `evaluations`: candidates that the engine tried for it. `notables`: names of its notables and keystones. `wishes`:
    the constraints in the user's own words. `failures`: options that made it worse.
    """

    build_id: str
    owner: str = LOCAL_OWNER
    key: MemoryKey
    skill: str
    situation: Situation
    score: float
    evaluations: int
    blueprint: Blueprint
    notables: list[str] = Field(default_factory=list)
    wishes: dict[str, InvariantValue] = Field(default_factory=dict)
    failures: list[Elimination] = Field(default_factory=list)
    validated: bool = True
    learned_at: datetime


class RaceResult(Model):
    """How far a way to build came in one race: a main skill, what is held for it, and the class that has it.

    `place`: among those that raced, by the points of the tables of tastes, from 0. `behind`: e-folds of score behind
    the best at the last rung (from 1) that it ran.
    """

    class_name: str
    skill_id: str
    skill: str
    hands: str
    place: int
    behind: float
    rung: int


class RaceMemory(Model):
    """What the race of a build taught, whatever became of the build; results in the order of their places."""

    build_id: str
    owner: str = LOCAL_OWNER
    key: RaceKey
    results: list[RaceResult]
    learned_at: datetime


def agreement(races: Sequence[Sequence[RaceResult]]) -> float:
    """Return how well the table's places agreed with the races, from 0 (no better than chance) to 1.

    Twice the share of pairs of ways in one race that both order alike, less 1; no pair, or fewer than half: 0. Pairs
    that ended level are left out.
    """
    pairs = [(one, other) for race in races for one, other in combinations(race, 2) if one.behind != other.behind]
    alike = sum((one.place < other.place) == (one.behind < other.behind) for one, other in pairs)
    return max(0.0, 2 * alike / len(pairs) - 1) if pairs else 0.0


class Habit(Model):
    """A constraint that a user put into words, and in how many builds."""

    field: str
    value: InvariantValue
    builds: int
