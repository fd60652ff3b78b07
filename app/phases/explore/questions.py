"""Explore: one question per step, in the order in which they wait for each other."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace

from app.model.base import changed
from app.model.memory import MemoryKey
from app.model.names import SubProblemName, SubProblemStatus, Trigger
from app.model.state import BuildState
from app.model.sub_problems import (
    AscendancyChoice,
    Choice,
    Constraint,
    DeliveryChoice,
    Discovery,
    SubProblem,
    SurvivabilityChoice,
)
from app.phases.base import PhaseContext, PhaseResult
from app.phases.decompose import decomposed, extract, is_due
from app.phases.explore.race import RaceDrafts
from app.phases.memory import digest_with
from app.reasoning.base import Conclusion

Questions = dict[SubProblemName, SubProblem]


class ExplorePhase:
    """Gathers facts for the next question that waits for nothing, decides it, and records why."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Answer one question; a refinement without constraints or questions gets those first."""
        if is_due(ctx):
            return await extract(ctx)
        if not ctx.state.sub_problems:
            return PhaseResult(await decomposed(ctx))
        name = next_question(ctx.state.sub_problems)
        if name is None:
            return _result(ctx.state)
        return await self._answer(ctx, name)

    async def _answer(self, ctx: PhaseContext, name: SubProblemName) -> PhaseResult:
        state = await _doubting(changed(ctx.state, sub_problems=moved(ctx.state.sub_problems)), ctx)
        async with AsyncExitStack() as stack:
            drafts = RaceDrafts(ctx, stack)
            asked = replace(ctx, state=state).reasoning()
            if ctx.reasoner.advises and drafts.names:
                asked = replace(asked, drafts=drafts)
            found = await ctx.reasoner.gather(asked, name)
            answer = await ctx.reasoner.explore(asked, name, found)
        return _result(_recorded(drafts.charged(state), name, found, answer))


async def _doubting(state: BuildState, ctx: PhaseContext) -> BuildState:
    """Return the state with what failed in the owner's earlier builds with the main skill, once that is decided on."""
    delivery = ctx.state.sub_problems.get(SubProblemName.DAMAGE_DELIVERY)
    choice = delivery.decision.choice if delivery is not None and delivery.decision is not None else None
    if not isinstance(choice, DeliveryChoice):
        return state
    key = MemoryKey.of(choice.skill_id, ctx.demands.goal, ctx.engine.version)
    memories = await ctx.memory.recall(key, ctx.owner)
    failures = {(f.sub_problem, f.option): f for memory in memories for f in memory.failures}
    return changed(state, doubted=list(failures.values()), memory_digest=digest_with(state, memories))


def next_question(questions: Questions) -> SubProblemName | None:
    """Return the first open question whose dependencies are decided, or None when all are.

    Should every open question wait for another one, the one that waits for the fewest is next, so that it ends.
    """
    still = [name for name in SubProblemName if name in questions and not questions[name].is_decided]
    waits = {name: len(_open_dependencies(questions, name)) for name in still}
    return min(still, key=lambda name: (waits[name] > 0, waits[name] if waits[name] else 0), default=None)


def moved(questions: Questions) -> Questions:
    """Return the questions with open ones exploring, or blocked while they wait."""
    return {name: _moved(questions, name) for name in questions}


def _moved(questions: Questions, name: SubProblemName) -> SubProblem:
    if questions[name].is_decided:
        return questions[name]
    waits = bool(_open_dependencies(questions, name)) and name != next_question(questions)
    if questions[name].status is (SubProblemStatus.BLOCKED if waits else SubProblemStatus.EXPLORING):
        return questions[name]
    pending = questions[name].status is SubProblemStatus.PENDING
    if not waits:
        return questions[name].explore()
    return (questions[name].explore() if pending else questions[name]).block()


def _open_dependencies(questions: Questions, name: SubProblemName) -> list[SubProblemName]:
    return [other for other in questions[name].depends_on if other in questions and not questions[other].is_decided]


def _recorded(state: BuildState, name: SubProblemName, found: list[Discovery], answer: Conclusion) -> BuildState:
    sub = state.sub_problems[name]
    new = sub.decide(answer.decision)
    kept = [d for d in state.discoveries if not (d.sub_problem is name and d.stale)]
    state = changed(
        state,
        sub_problems=moved({**state.sub_problems, name: new}),
        discoveries=[*kept, *(d for d in found if d not in kept)],
        domain_gaps=list(dict.fromkeys([*state.domain_gaps, *answer.domain_gaps])),
        degraded=list(dict.fromkeys([*state.degraded, *answer.degraded])),
        progress_label=f"{name.value.replace('_', ' ')}: {answer.decision.name}",
    )
    return _with_followers(state, new)


def _with_followers(state: BuildState, sub: SubProblem) -> BuildState:
    """Re-open the questions that were answered on the strength of an answer that is another one now."""
    assert sub.decision is not None
    before = sub.prior_attempts[-1].choice if sub.prior_attempts else None
    after = sub.decision.choice
    if before is None or _kernel(before) == _kernel(after):
        return state
    other_skill = isinstance(before, DeliveryChoice) and _skill(before) != _skill(after)
    demand = sub.constraints[-1].demand if sub.constraints else None
    for name, other in state.sub_problems.items():
        only_weapon = name is SubProblemName.ASCENDANCY and not other_skill
        if demand is None or sub.name not in other.depends_on or not other.is_decided or only_weapon:
            continue
        text = f"{sub.name.value} was answered anew"
        follow = Constraint(
            conflict_id=sub.constraints[-1].conflict_id,
            demand=demand,
            text=text,
            iteration=state.iteration,
            follows=sub.name,
        )
        state = state.reopened(name, [follow])
    return changed(state, sub_problems=moved(state.sub_problems))


def _kernel(choice: Choice) -> tuple[object, ...]:
    """Return the part of an answer that other answers rest on."""
    match choice:
        case DeliveryChoice():
            return (choice.skill_id, tuple(choice.weapon_types), choice.off_hand)
        case AscendancyChoice():
            return (choice.class_name, choice.ascendancy)
        case SurvivabilityChoice():
            return (choice.pool, tuple(choice.mitigation))
        case _:
            return ()


def _skill(choice: Choice) -> str:
    return choice.skill_id if isinstance(choice, DeliveryChoice) else ""


def _result(state: BuildState) -> PhaseResult:
    decided = sum(sub.is_decided for sub in state.sub_problems.values())
    total = len(state.sub_problems)
    state = changed(state, done=decided, total=total)
    if decided < total:
        return PhaseResult(state)
    label = state.progress_label if state.construction.notes.reopened else "every question is answered"
    return PhaseResult(changed(state, progress_label=label), Trigger.EXPLORED)
