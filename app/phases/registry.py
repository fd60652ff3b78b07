"""Which step runs in which phase."""

from __future__ import annotations

from collections.abc import Mapping

from app.model.names import Phase
from app.phases.base import ByMode, PhaseStep
from app.phases.construct.refinement import RefineConstruct
from app.phases.construct.stages import ConstructPhase
from app.phases.decompose import DecomposePhase
from app.phases.explore.questions import ExplorePhase
from app.phases.explore.refinement import RefineExplore
from app.phases.explore.strategic import StrategicExplore
from app.phases.iterate.loop import IteratePhase
from app.phases.validate.accounts import WithAccounts
from app.phases.validate.judgement import ValidatePhase
from app.phases.validate.refinement import RefineValidate


def phase_steps(sessions: int = 4) -> Mapping[Phase, PhaseStep]:
    """Return the step of every phase that runs; complete is an end. `sessions`: engine sessions construct may share."""
    return {
        Phase.DECOMPOSE: DecomposePhase(),
        Phase.EXPLORE: ByMode(RefineExplore(sessions), StrategicExplore(ExplorePhase(), sessions)),
        Phase.CONSTRUCT: ByMode(RefineConstruct(sessions), ConstructPhase(sessions)),
        Phase.VALIDATE: WithAccounts(ByMode(RefineValidate(), ValidatePhase())),
        Phase.ITERATE: WithAccounts(IteratePhase()),
    }
