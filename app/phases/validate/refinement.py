"""Validate in refinement mode: judge the child beside its parent; old faults are told, not repaired."""

from __future__ import annotations

from dataclasses import dataclass

from app.conflicts.case import case_of
from app.conflicts.order import caveats
from app.conflicts.table import find_conflicts
from app.model.base import changed
from app.model.conflicts import BuildConflict
from app.model.names import Outcome, Severity, Trigger
from app.model.state import BuildState, Snapshot
from app.phases.base import PhaseContext, PhaseResult


@dataclass(frozen=True)
class RefineValidate:
    """One step: the rule table over the child; what the parent had already is marked so."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Judge the child."""
        state = ctx.state
        assert state.refinement is not None
        conflicts = find_conflicts(await case_of(ctx.engine, ctx.demands, ctx.invariants, state))
        blocking = [conflict for conflict in conflicts if conflict.severity is Severity.BLOCKING]
        judged = changed(
            state,
            conflicts=conflicts,
            best=_snapshot(state, conflicts, len(blocking)),
            outcome=Outcome.CAVEATS if blocking else Outcome.VALIDATED,
            caveats=_told(state, conflicts),
            done=1,
            total=1,
        )
        return PhaseResult(judged, Trigger.VALIDATED)


def _snapshot(state: BuildState, conflicts: list[BuildConflict], blocking: int) -> Snapshot:
    assert state.blueprint is not None
    assert state.stats is not None
    return Snapshot(
        iteration=state.iteration, blueprint=state.blueprint, stats=state.stats, blocking=blocking, conflicts=conflicts
    )


def _told(state: BuildState, conflicts: list[BuildConflict]) -> list[str]:
    """Return the verdict of no change, new faults, then old ones."""
    assert state.refinement is not None
    known = {conflict.id for conflict in state.conflicts}
    new = caveats([conflict for conflict in conflicts if conflict.id not in known])
    old = [f"As in the parent: {line}" for line in caveats([c for c in conflicts if c.id in known])]
    verdict = [] if state.refinement.reached else [state.refinement.verdict]
    return [*verdict, *new, *old]
