"""Decompose: the constraints become seven questions, some of them answered by the prompt already."""

from __future__ import annotations

from app.model.names import SubProblemName, SubProblemStatus, Trigger
from app.model.state import BuildState
from app.model.subproblems import SubProblem
from app.phases.base import PhaseContext, PhaseResult
from app.phases.extract import extract, is_due
from app.phases.modes import with_budget
from app.reasoning.base import Decomposition
from app.reasoning.rules.dependencies import without_cycles


class DecomposePhase:
    """Two steps: understand the prompt, then set up the questions."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do the step that is due."""
        if is_due(ctx):
            return await extract(ctx)
        state = await decomposed(ctx)
        answered = sum(sub.status is SubProblemStatus.DECIDED for sub in state.sub_problems.values())
        label = f"seven questions, {answered} of them answered by the prompt"
        return PhaseResult(
            state.model_copy(update={"progress_label": label, "done": 2, "total": 2}), Trigger.DECOMPOSED
        )


async def decomposed(ctx: PhaseContext) -> BuildState:
    """Return the state with its questions set up, whoever proposed them: all seven, and no waiting in circles."""
    proposed = await ctx.reasoner.decompose(ctx.reasoning())
    questions, broken = _sound(proposed)
    state = ctx.state
    update = {
        "sub_problems": questions,
        "assumptions": _joined(state.assumptions, [*proposed.assumptions, *broken]),
        "domain_gaps": _joined(state.domain_gaps, proposed.domain_gaps),
        "degraded": _joined(state.degraded, proposed.degraded),
    }
    return with_budget(state.model_copy(update=update), ctx.request.mode)


def _sound(proposed: Decomposition) -> tuple[dict[SubProblemName, SubProblem], list[str]]:
    questions = {name: proposed.sub_problems.get(name) or SubProblem(name=name) for name in SubProblemName}
    waits, broken = without_cycles({name: sub.depends_on for name, sub in questions.items()})
    return {name: sub.model_copy(update={"depends_on": waits[name]}) for name, sub in questions.items()}, broken


def _joined(old: list[str], new: list[str] | tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))
