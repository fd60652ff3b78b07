"""What a mode allows: where a build enters and how much it may explore before it builds."""

from __future__ import annotations

from app.model.experiments import Exploration
from app.model.names import Mode, Phase
from app.model.state import BuildState

BUDGETS = {
    Mode.INITIAL: Exploration(
        mode=Mode.INITIAL, entry=Phase.DECOMPOSE, experiments_allowed=0, variants_allowed=0, trials_allowed=None
    ),
    Mode.REFINEMENT: Exploration(
        mode=Mode.REFINEMENT, entry=Phase.EXPLORE, experiments_allowed=8, variants_allowed=4, trials_allowed=12_000
    ),
    Mode.STRATEGIC: Exploration(
        mode=Mode.STRATEGIC, entry=Phase.DECOMPOSE, experiments_allowed=2, variants_allowed=4, trials_allowed=None
    ),
}
"""Initial decides by rules and lets construction search; refinement compares two to four ways to a wish; strategic
compares whole ways of dealing damage and may rebuild everything. Construction's own trials are counted, not bounded."""


def with_budget(state: BuildState, mode: Mode) -> BuildState:
    """Return the state with the mode's exploration budget, unless it has one."""
    if state.exploration is not None:
        return state
    return state.model_copy(update={"exploration": BUDGETS[mode]})


def spent(exploration: Exploration | None, trials: int, variants: int) -> Exploration | None:
    """Return the budget with one more experiment paid from it."""
    if exploration is None:
        return None
    return exploration.model_copy(
        update={
            "experiments": exploration.experiments + 1,
            "variants": exploration.variants + variants,
            "trials": exploration.trials + trials,
        }
    )


def exhausted(exploration: Exploration | None) -> bool:
    """Return whether the exploration budget is used up."""
    if exploration is None:
        return False
    return exploration.experiments >= exploration.experiments_allowed or (
        exploration.trials_allowed is not None and exploration.trials >= exploration.trials_allowed
    )
