"""The seven questions, each in a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.model.names import SubProblemName
from app.model.sub_problems import Dependencies
from app.reasoning.questions.ascendancy import AscendancyQuestion
from app.reasoning.questions.base import QuestionKind
from app.reasoning.questions.damage_delivery import DeliveryQuestion
from app.reasoning.questions.damage_scaling import ScalingQuestion
from app.reasoning.questions.resource_sustain import SustainQuestion
from app.reasoning.questions.spirit_allocation import SpiritQuestion
from app.reasoning.questions.stat_requirements import RequirementsQuestion
from app.reasoning.questions.survivability import SurvivabilityQuestion

QUESTIONS: Final[Mapping[SubProblemName, QuestionKind[Any]]] = {
    SubProblemName.ASCENDANCY: AscendancyQuestion(),
    SubProblemName.DAMAGE_DELIVERY: DeliveryQuestion(),
    SubProblemName.DAMAGE_SCALING: ScalingQuestion(),
    SubProblemName.SURVIVABILITY: SurvivabilityQuestion(),
    SubProblemName.RESOURCE_SUSTAIN: SustainQuestion(),
    SubProblemName.SPIRIT_ALLOCATION: SpiritQuestion(),
    SubProblemName.STAT_REQUIREMENTS: RequirementsQuestion(),
}


def dependencies_for(*, ascendancy_named: bool, skill_named: bool) -> Dependencies:
    """Return what each question depends on.

    An ascendancy is chosen for the skill; only when the user named the ascendancy and no skill is it the other way.
    """
    return {
        name: kind.waits_for(ascendancy_named=ascendancy_named, skill_named=skill_named)
        for name, kind in QUESTIONS.items()
    }
