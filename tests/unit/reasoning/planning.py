"""Asking the rules reasoner everything, in order, without the machine around it."""

from __future__ import annotations

from typing import Any

from app.engine.base import Engine
from app.model.constraints import InvariantSet
from app.model.names import SubProblemName, SubProblemStatus
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.model.sub_problems import Decision
from app.reasoning.base import ReasoningContext
from app.reasoning.rules import RulesReasoner
from tests.fakes.engine import FactsEngine


async def plan(prompt: str, engine: FactsEngine, **fields: Any) -> ReasoningContext:
    """Return the context after every question was answered once."""
    request = BuildRequest(prompt=prompt, **fields)
    return await plan_with(request, engine, await RulesReasoner().extract(request, engine))


async def plan_with(request: BuildRequest, engine: Engine, found: InvariantSet) -> ReasoningContext:
    """Return the context after every question was answered once, under these constraints."""
    reasoner = RulesReasoner()
    setup = await reasoner.decompose(ReasoningContext(request, found, BuildState(), engine))
    ctx = ReasoningContext(request, found, BuildState(sub_problems=setup.sub_problems), engine)
    while (name := _ready(ctx.state)) is not None:
        gathered = await reasoner.gather(ctx, name)
        ctx = with_decision(ctx, name, (await reasoner.explore(ctx, name, gathered)).decision)
    return ctx


async def again(ctx: ReasoningContext, name: SubProblemName, **changes: Any) -> Decision:
    """Return the answer to a question that is asked again, with changes to the question."""
    sub = ctx.state.sub_problems[name].model_copy(update=changes)
    state = ctx.state.model_copy(update={"sub_problems": {**ctx.state.sub_problems, name: sub}})
    asked = ReasoningContext(ctx.request, ctx.invariants, state, ctx.engine)
    return (await RulesReasoner().explore(asked, name, [])).decision


def decision(ctx: ReasoningContext, name: SubProblemName) -> Decision:
    """Return the answer to a question."""
    found = ctx.state.sub_problems[name].decision
    assert found is not None
    return found


def with_decision(ctx: ReasoningContext, name: SubProblemName, found: Decision) -> ReasoningContext:
    """Return the context with a question answered."""
    sub = ctx.state.sub_problems[name]
    new = sub.model_copy(update={"decision": found, "status": SubProblemStatus.DECIDED})
    state = ctx.state.model_copy(update={"sub_problems": {**ctx.state.sub_problems, name: new}})
    return ReasoningContext(ctx.request, ctx.invariants, state, ctx.engine)


def with_invariants(ctx: ReasoningContext, found: InvariantSet) -> ReasoningContext:
    """Return the context with other constraints."""
    return ReasoningContext(ctx.request, found, ctx.state, ctx.engine)


def _ready(state: BuildState) -> SubProblemName | None:
    subs = state.sub_problems
    still = [name for name in SubProblemName if subs[name].decision is None]
    return next((n for n in still if all(subs[d].decision for d in subs[n].depends_on)), None)
