"""Which step runs in a phase depends on the mode: a refinement has its own."""

from __future__ import annotations

from dataclasses import dataclass

from app.model.names import Mode
from app.phases.base import PhaseContext, PhaseResult, PhaseStep


@dataclass(frozen=True)
class ByMode:
    """Runs `refining` for a refinement that is one, and `otherwise` for everything else.

    A refinement whose wish turned out to be another build has handed its questions over to a full decomposition; it
    goes on like a new build.
    """

    refining: PhaseStep
    otherwise: PhaseStep

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do one step."""
        step = self.refining if is_refinement(ctx) else self.otherwise
        return await step.run(ctx)


def is_refinement(ctx: PhaseContext) -> bool:
    """Return whether the build refines its parent's file."""
    handed_over = ctx.state.exploration is not None and ctx.state.exploration.mode is not Mode.REFINEMENT
    return ctx.request.mode is Mode.REFINEMENT and ctx.state.inherited is not None and not handed_over
