"""What construct is made of: stages that turn a blueprint into a better one, each a resumable step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from app.core.errors import InvalidTransition
from app.engine.base import Engine, Session
from app.model.blueprint import Blueprint
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet
from app.model.construction import StageNotes
from app.model.demands import Demands
from app.model.names import Effort, SubProblemName
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Constraint,
    Decision,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SubProblem,
    SurvivabilityChoice,
    SustainChoice,
)

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
    demands: Demands
    invariants: InvariantSet
    seed: int
    notes: StageNotes = field(default_factory=StageNotes)
    effort: Effort = Effort.NORMAL


@dataclass(frozen=True)
class StageResult:
    """The better blueprint (or the same: "no change" is an answer), notes for later stages, conflicts seen."""

    blueprint: Blueprint
    notes: StageNotes = field(default_factory=StageNotes)
    conflicts: tuple[BuildConflict, ...] = ()
    label: str = ""


def plan_of(sub_problems: Mapping[SubProblemName, SubProblem]) -> Plan:
    """Return the plan that the seven decisions make.

    Raises:
        InvalidTransition: a question is not decided yet, or answered with the wrong kind of choice.
    """
    constraints = [c for name in SubProblemName if name in sub_problems for c in sub_problems[name].constraints]
    return Plan(
        ascendancy=_decided(sub_problems, SubProblemName.ASCENDANCY, AscendancyChoice),
        delivery=_decided(sub_problems, SubProblemName.DAMAGE_DELIVERY, DeliveryChoice),
        scaling=_decided(sub_problems, SubProblemName.DAMAGE_SCALING, ScalingChoice),
        survivability=_decided(sub_problems, SubProblemName.SURVIVABILITY, SurvivabilityChoice),
        sustain=_decided(sub_problems, SubProblemName.RESOURCE_SUSTAIN, SustainChoice),
        spirit=_decided(sub_problems, SubProblemName.SPIRIT_ALLOCATION, SpiritChoice),
        requirements=_decided(sub_problems, SubProblemName.STAT_REQUIREMENTS, RequirementsChoice),
        constraints=tuple(constraints),
        alternatives=_alternatives(sub_problems),
    )


def plan_from(answers: Mapping[SubProblemName, Choice]) -> Plan:
    """Return the plan that seven answers make which nobody has decided on.

    Raises:
        InvalidTransition: one is missing, or is of the wrong kind.
    """
    made = {name: Decision(name=name.value, choice=choice, reason="") for name, choice in answers.items()}
    return plan_of({name: SubProblem(name=name, decision=decision) for name, decision in made.items()})


def _alternatives(sub_problems: Mapping[SubProblemName, SubProblem]) -> tuple[DeliveryChoice, ...]:
    decision = sub_problems[SubProblemName.DAMAGE_DELIVERY].decision
    others = decision.alternatives if decision is not None else []
    return tuple(option.choice for option in others if isinstance(option.choice, DeliveryChoice))


def _decided(sub_problems: Mapping[SubProblemName, SubProblem], name: SubProblemName, kind: type[C]) -> C:
    decision = sub_problems[name].decision if name in sub_problems else None
    if decision is None or not isinstance(decision.choice, kind):
        raise InvalidTransition(f"{name.value} is not decided, so nothing can be constructed", sub_problem=name.value)
    return decision.choice
