"""What construct is made of: stages that turn a blueprint into a better one, each a resumable step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from app.engine.base import Engine, Session
from app.model.blueprint import Blueprint
from app.model.choices import (
    AscendancyChoice,
    Choice,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.model.conflicts import BuildConflict
from app.model.floors import Floors
from app.model.invariants import InvariantSet
from app.model.names import GearTier, Goal, SubProblemName
from app.model.subproblems import Constraint

C = TypeVar("C", bound=Choice)


@dataclass(frozen=True)
class Plan:
    """All decided choices in one place, with the constraints that conflicts put on them.

    `alternatives` are the ways to deal damage that were not chosen, the next best first.
    """

    ascendancy: AscendancyChoice
    delivery: DeliveryChoice
    scaling: ScalingChoice
    survivability: SurvivabilityChoice
    sustain: SustainChoice
    spirit: SpiritChoice
    requirements: RequirementsChoice
    constraints: tuple[Constraint, ...] = ()
    alternatives: tuple[DeliveryChoice, ...] = ()


@dataclass(frozen=True)
class SearchContext:
    """What a stage works with: a session already loaded with `blueprint`, the plan and the demands.

    A stage may commit changes to `session`; afterwards session and returned blueprint must agree.
    """

    engine: Engine
    session: Session
    blueprint: Blueprint
    plan: Plan
    floors: Floors
    invariants: InvariantSet
    level: int
    gear: GearTier
    goal: Goal
    hardcore: bool
    seed: int
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StageResult:
    """The better blueprint (or the same: "no change" is an answer), notes for later stages, conflicts seen."""

    blueprint: Blueprint
    notes: dict[str, Any] = field(default_factory=dict)
    conflicts: tuple[BuildConflict, ...] = ()
    label: str = ""


class Stage(Protocol):
    """One step of construct; `reads` are the questions whose new answer makes the stage run again."""

    name: str
    reads: frozenset[SubProblemName]

    async def run(self, ctx: SearchContext) -> StageResult:
        """Improve the blueprint."""
        ...
