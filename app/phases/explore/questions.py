"""Explore: one question per step, in the order in which they wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from app.core.errors import UnknownFact
from app.model.base import changed
from app.model.memory import MemoryKey
from app.model.moves import Move, Trial
from app.model.names import SubProblemName, SubProblemStatus, Trigger
from app.model.race import Contender
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
from app.phases.base import PhaseContext, PhaseResult, search_context
from app.phases.decompose import decomposed, extract, is_due
from app.phases.memory import digest_with
from app.reasoning.base import Conclusion
from app.search.base import planned
from app.search.effort import ON_DRAFTS
from app.search.experiments import SPENT, MoveExperimenter
from app.search.incumbent import Incumbent
from app.search.moves import MoveReader
from app.search.objective import LEFT_TO_GEAR, objective_for
from app.search.sessions import ParallelSession, Sharing, open_parallel

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


class RaceDrafts:
    """The drafts that are left of the race of a new build, for trying moves on before anything is decided.

    They share one session, opened when the first is asked for and closed with `stack`.
    """

    def __init__(self, ctx: PhaseContext, stack: AsyncExitStack) -> None:
        self._ctx, self._stack = ctx, stack
        race = ctx.state.race if ctx.state.iteration == 0 else None
        standing = race.standing if race is not None and race.over else []
        self._drafted = {one.option.name: one for one in standing if one.draft is not None and not one.out}
        self._panel: ParallelSession | None = None
        self._held: tuple[str, MoveExperimenter] | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of the drafts, the best first."""
        return list(self._drafted)

    @property
    def left(self) -> int:
        """Return how many evaluations may still be made for all questions together."""
        taken = self._ctx.state.construction.notes.for_ideas + self._trials
        return max(0, ON_DRAFTS[self._ctx.request.effort] - taken)

    @property
    def _trials(self) -> int:
        return self._panel.trials if self._panel is not None else 0

    async def experiment(self, draft: str, variants: Sequence[Sequence[Move]], metrics: Sequence[str]) -> list[Trial]:
        """Try each variant on the draft by itself, in order.

        Raises:
            UnknownFact: there is no such draft.
        """
        if draft not in self._drafted:
            raise UnknownFact(f"there is no draft called {draft!r}; there are {', '.join(self._drafted)}")
        found: list[Trial] = []
        for moves in variants:
            if not self.left:
                found.append(Trial(problem=SPENT))
                continue
            if self._held is None or self._held[0] != draft:
                self._held = draft, await self._opened(self._drafted[draft])
            found += await self._held[1].experiment([moves], metrics)
        return found

    async def _opened(self, contender: Contender) -> MoveExperimenter:
        """Return the draft in the session; what gear will see to is not judged, as in the race."""
        assert contender.draft is not None
        if self._panel is None:
            self._panel = await self._stack.enter_async_context(open_parallel(self._ctx.engine, None, Sharing(1)))
        await self._panel.build(contender.draft)
        search = search_context(self._ctx, planned(contender), self._panel, contender.draft)
        incumbent = await Incumbent.open(search, objective_for(search).without(*LEFT_TO_GEAR))
        return MoveExperimenter(search, incumbent, await MoveReader.of(search, incumbent))

    def charged(self, state: BuildState) -> BuildState:
        """Return the state with what was tried counted, and taken from what may be tried later."""
        if not self._trials:
            return state
        notes = state.construction.notes
        notes = changed(notes, evaluations=notes.evaluations + self._trials, for_ideas=notes.for_ideas + self._trials)
        return changed(state, construction=changed(state.construction, notes=notes))


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
