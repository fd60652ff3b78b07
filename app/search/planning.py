"""From the state's decisions to a plan, and from the plan to the demands of a build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from app.core.errors import InvalidTransition
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
from app.model.names import SubProblemName
from app.model.subproblems import SubProblem
from app.search.base import Plan

C = TypeVar("C", bound=Choice)


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


def _alternatives(sub_problems: Mapping[SubProblemName, SubProblem]) -> tuple[DeliveryChoice, ...]:
    decision = sub_problems[SubProblemName.DAMAGE_DELIVERY].decision
    others = decision.alternatives if decision is not None else []
    return tuple(option.choice for option in others if isinstance(option.choice, DeliveryChoice))


def _decided(sub_problems: Mapping[SubProblemName, SubProblem], name: SubProblemName, kind: type[C]) -> C:
    decision = sub_problems[name].decision if name in sub_problems else None
    if decision is None or not isinstance(decision.choice, kind):
        raise InvalidTransition(f"{name.value} is not decided, so nothing can be constructed", sub_problem=name.value)
    return decision.choice
