"""Advice: a reasoner looks at the build that was searched; each idea is kept only if the engine finds it better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.phases.base import PhaseContext
from app.search.base import SearchContext, StageResult
from app.search.stages import SearchStage
from app.search.workshop import Workshop

ADVICE = "advice"
"""The stage, and the note in which it says which ideas were kept and why others were not."""

_BEFORE = "finish"


def with_advice(stages: Sequence[str]) -> list[str]:
    """Return the stages with advice before the finishing touches."""
    at = stages.index(_BEFORE) if _BEFORE in stages else len(stages)
    return [*stages[:at], ADVICE, *stages[at:]]


def advice_stage(ctx: PhaseContext) -> SearchStage:
    """Return the stage for the reasoner of this step."""

    async def advise(search: SearchContext) -> StageResult:
        return await _advised(ctx, search)

    return SearchStage(ADVICE, "taking advice", frozenset(), frozenset(), advise)


async def _advised(ctx: PhaseContext, search: SearchContext) -> StageResult:
    workshop = await Workshop.open(search)
    state = ctx.state.model_copy(update={"blueprint": search.blueprint, "stats": None})
    ideas = await ctx.reasoner.advise(replace(ctx, state=state).reasoning(), workshop)
    notes: list[dict[str, str]] = []
    for idea in ideas:
        problem = await workshop.keep(idea.moves)
        notes.append({"idea": idea.name, "reason": idea.reason, "refused_because": problem})
    kept = [note["idea"] for note in notes if not note["refused_because"]]
    label = f"advice: {', '.join(kept)}" if kept else f"advice: none of {len(ideas)} ideas helps" if ideas else ""
    return StageResult(workshop.bench.blueprint, notes={ADVICE: notes}, label=label or "no advice")
