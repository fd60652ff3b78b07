"""What is remembered across builds: what worked, what a user keeps asking for, and what failed."""

from __future__ import annotations

from datetime import datetime

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


class Habit(Model):
    """A constraint that a user put into words, and in how many builds."""

    field: str
    value: InvariantValue
    builds: int
