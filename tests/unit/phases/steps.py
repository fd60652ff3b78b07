"""Running phases by hand, as the driver would, with its checks on the moves that questions make."""

from __future__ import annotations

from dataclasses import replace

from app.core.ids import BuildId
from app.engine.base import Engine
from app.model.constraints import InvariantSet
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import check_moves
from app.phases.base import PhaseContext, PhaseResult, PhaseStep
from app.reasoning.base import Reasoner
from app.reasoning.rules import RulesReasoner


def context(
    engine: Engine,
    prompt: str = "lightning sorceress for mapping",
    state: BuildState | None = None,
    invariants: InvariantSet | None = None,
    reasoner: Reasoner | None = None,
) -> PhaseContext:
    """Return a context of a build."""
    return PhaseContext(
        build_id=BuildId("build"),
        request=BuildRequest(prompt=prompt),
        invariants=invariants or InvariantSet(),
        state=state or BuildState(),
        engine=engine,
        reasoner=reasoner or RulesReasoner(),
    )


async def step(phase: PhaseStep, ctx: PhaseContext) -> tuple[PhaseContext, PhaseResult]:
    """Run one step; return the context that follows, as it would be after a restart, and the result."""
    result = await phase.run(ctx)
    check_moves(ctx.state.sub_problems, result.state.sub_problems)
    state = BuildState.from_yaml(result.state.to_yaml())
    return replace(ctx, state=state, invariants=result.invariants or ctx.invariants), result


async def finish(phase: PhaseStep, ctx: PhaseContext, most: int = 20) -> tuple[PhaseContext, list[PhaseResult]]:
    """Run a phase to its trigger; return the context that follows and the results of every step."""
    results: list[PhaseResult] = []
    while len(results) < most:
        ctx, result = await step(phase, ctx)
        results.append(result)
        if result.trigger is not None:
            return ctx, results
    raise AssertionError(f"no trigger after {most} steps")
