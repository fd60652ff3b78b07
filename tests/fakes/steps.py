"""A small product: real phases in shape (steps, loops, engine calls), trivial in content, the same every time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.core.ids import new_build_id
from app.model.blueprint import Blueprint, PassiveNode
from app.model.constraints import Invariant, InvariantSet, Question
from app.model.names import Outcome, Phase, Provenance, SubProblemName, SubProblemStatus, Trigger
from app.model.record import BuildRecord, BuildRequest
from app.model.state import Snapshot
from app.model.sub_problems import Decision, SpiritChoice, SubProblem, SustainChoice
from app.phases.base import PhaseContext, PhaseResult, PhaseStep

QUESTIONS = (SubProblemName.RESOURCE_SUSTAIN, SubProblemName.SPIRIT_ALLOCATION)
_CHOICES = {
    SubProblemName.RESOURCE_SUSTAIN: SustainChoice(),
    SubProblemName.SPIRIT_ALLOCATION: SpiritChoice(),
}
STAGES = 3


def new_record(prompt: str = "a cold witch", **fields: Any) -> BuildRecord:
    """Return a build as the service would store it."""
    now = datetime.now(UTC)
    record = BuildRecord(id=new_build_id(), request=BuildRequest(prompt=prompt), created_at=now, updated_at=now)
    return record.model_copy(update=fields)


class Decompose:
    """Sets up two questions and asks one back."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        question = Question(field="class", text="Which class?", options=["Witch"], assumed="Witch")
        known = Invariant(field="class", value="Witch", provenance=Provenance.DEFAULT, reason="assumed")
        subs = {name: SubProblem(name=name) for name in QUESTIONS}
        state = ctx.state.model_copy(update={"sub_problems": subs, "progress_label": "two questions"})
        return PhaseResult(state, Trigger.DECOMPOSED, InvariantSet(invariants=[known], question=question))


class Explore:
    """Decides one open question per step."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        subs = dict(ctx.state.sub_problems)
        name = next(n for n in QUESTIONS if subs[n].status is not SubProblemStatus.DECIDED)
        found = await ctx.reasoner.gather(ctx.reasoning(), name)
        decision = Decision(name=f"{name.value} {ctx.state.iteration}", choice=_CHOICES[name], reason=found[0].fact)
        subs[name] = subs[name].model_copy(update={"status": SubProblemStatus.DECIDED, "decision": decision})
        state = ctx.state.model_copy(
            update={
                "sub_problems": subs,
                "discoveries": [*ctx.state.discoveries, *found],
                "progress_label": f"decided {name.value}",
            }
        )
        ready = all(sub.status is SubProblemStatus.DECIDED for sub in subs.values())
        return PhaseResult(state, Trigger.EXPLORED if ready else None)


class Construct:
    """Adds one passive per step, measured by the engine."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        step = ctx.state.done + 1
        base = ctx.state.blueprint or Blueprint(class_name="Witch", ascendancy=None, level=90)
        node = PassiveNode(id=100 * (ctx.state.iteration + 1) + step)
        blueprint = base.model_copy(update={"nodes": [*base.nodes, node]})
        async with ctx.engine.session() as session:
            await session.build(blueprint)
            stats = await session.stats()
        state = ctx.state.model_copy(
            update={
                "blueprint": blueprint,
                "stats": stats,
                "done": step,
                "total": STAGES,
                "progress_label": f"stage {step}",
            }
        )
        return PhaseResult(state, Trigger.CONSTRUCTED if step == STAGES else None)


class Validate:
    """Is never content with the first build."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        blueprint, stats = ctx.state.blueprint, ctx.state.stats
        assert blueprint is not None
        assert stats is not None
        blocking = 1 if ctx.state.iteration == 0 else 0
        best = Snapshot(iteration=ctx.state.iteration, blueprint=blueprint, stats=stats, blocking=blocking)
        async with ctx.engine.session() as session:
            await session.build(blueprint)
            xml = await session.export()
        state = ctx.state.model_copy(
            update={"best": best, "outcome": None if blocking else Outcome.VALIDATED, "progress_label": "checked"}
        )
        return PhaseResult(state, Trigger.CONFLICTS_FOUND if blocking else Trigger.VALIDATED, xml=xml)


class Iterate:
    """Opens one question again."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        subs = dict(ctx.state.sub_problems)
        subs[QUESTIONS[0]] = subs[QUESTIONS[0]].model_copy(update={"status": SubProblemStatus.EXPLORING})
        update = {"sub_problems": subs, "iteration": ctx.state.iteration + 1, "progress_label": "once more"}
        return PhaseResult(ctx.state.model_copy(update=update), Trigger.REOPENED)


class Endless:
    """A step that never ends by itself; `begun` says that it has started, `ended` how it ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended: str | None = None

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        self.begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        return PhaseResult(ctx.state)


class Raising:
    """A step that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        raise self._error


def steps(**replaced: PhaseStep) -> Mapping[Phase, PhaseStep]:
    """Return all phases, some replaced by keyword (`construct=...`)."""
    usual: dict[Phase, PhaseStep] = {
        Phase.DECOMPOSE: Decompose(),
        Phase.EXPLORE: Explore(),
        Phase.CONSTRUCT: Construct(),
        Phase.VALIDATE: Validate(),
        Phase.ITERATE: Iterate(),
    }
    return usual | {Phase(name): step for name, step in replaced.items()}
