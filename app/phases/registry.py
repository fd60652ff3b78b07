"""Which step runs in which phase."""

from __future__ import annotations

from collections.abc import Mapping

from app.model.names import Phase
from app.phases.accounting import WithAccounts
from app.phases.base import PhaseStep
from app.phases.by_mode import ByMode
from app.phases.construct import ConstructPhase
from app.phases.decompose import DecomposePhase
from app.phases.explore import ExplorePhase
from app.phases.iterate import IteratePhase
from app.phases.refine_construct import RefineConstruct
from app.phases.refine_explore import RefineExplore
from app.phases.refine_validate import RefineValidate
from app.phases.strategic import StrategicExplore
from app.phases.validate import ValidatePhase


def phase_steps(sessions: int = 4) -> Mapping[Phase, PhaseStep]:
    """Return the step of every phase that runs; complete is an end. `sessions`: engine sessions construct may share."""
    return {
        Phase.DECOMPOSE: DecomposePhase(),
        Phase.EXPLORE: ByMode(RefineExplore(sessions), StrategicExplore(ExplorePhase(), sessions)),
        Phase.CONSTRUCT: ByMode(RefineConstruct(sessions), ConstructPhase(sessions)),
        Phase.VALIDATE: WithAccounts(ByMode(RefineValidate(), ValidatePhase())),
        Phase.ITERATE: WithAccounts(IteratePhase()),
    }
