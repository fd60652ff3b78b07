"""Explore measures before it decides: ways to build are raced in the engine, the worse half leaves after every rung."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from app.core.errors import UnknownFact
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.moves import Move, Trial
from app.model.names import Effort, Mode, SubProblemName
from app.model.race import Contender, Race
from app.model.state import BuildState
from app.phases.base import PhaseContext, PhaseResult, PhaseStep, search_context
from app.search.base import plan_from
from app.search.drafts import ASCENDANCIES, RUNGS, DraftWork, figures_of
from app.search.effort import ON_DRAFTS
from app.search.experiments import SPENT, MoveExperimenter
from app.search.incumbent import Incumbent
from app.search.moves import MoveReader
from app.search.objective import Guard, objective_for
from app.search.sessions import ParallelSession, Sharing, open_parallel

Q = SubProblemName
STARTERS: Mapping[Effort, int] = {Effort.QUICK: 0, Effort.NORMAL: 16, Effort.DEEP: 24}
"""How many ways to build start at most; a draft in seconds has no time for a race."""

FEWEST, LEAST = 12, 25
"""Fewest that start where so many may, and evaluations of the first rung for each beyond these."""

SHARES = (0.33, 0.29, 0.33)
"""How a race's evaluations are divided among its rungs; what is left is for trials that cannot be cut short."""

FIELD = (6, 3, 1)
"""How many go on after each rung at most; two or three reach the last one."""

ON_OFFER = 3
"""Drafts that are left when the race is over, for a reasoner that tries moves on them."""

BASIC, PER_POINT = 400, 20
"""Evaluations of a race: a fifth of what a build of that many passive points takes, or less (measured: 7,538 at 53
points, 13,755 at 113, on Path of Building). The estimator knows less to try, and has 7/20 of it."""


@dataclass(frozen=True)
class RaceExplore:
    """Explores as `inner` does, once the ways that the user's words leave open were measured against each other.

    A rung per step. Every contender is drafted in a session of its own, so nothing depends on how many there are.
    """

    inner: PhaseStep
    sessions: int = 4

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Run the next rung, or a step of `inner` when nothing is to be raced."""
        if not _is_due(ctx):
            return await self.inner.run(ctx)
        race = ctx.state.race or await _begun(ctx)
        if race.over:
            return await self.inner.run(replace(ctx, state=changed(ctx.state, race=race)))
        return PhaseResult(await self._after_rung(ctx, race))

    async def _after_rung(self, ctx: PhaseContext, race: Race) -> BuildState:
        most = int(race.allowed * SHARES[race.rungs] / len(race.running))
        seats = asyncio.Semaphore(max(1, self.sessions))
        alone = len(race.contenders) == 1

        async def drafted(contender: Contender) -> tuple[Contender, int]:
            async with seats:
                return await _drafted(ctx, contender, race.rungs, most, alone=alone)

        found = await asyncio.gather(*(drafted(one) for one in race.running))
        made = sum(trials for _, trials in found)
        race = _halved(race, [contender for contender, _ in found], made, ON_OFFER if ctx.reasoner.advises else 0)
        notes = changed(ctx.state.construction.notes, evaluations=ctx.state.construction.notes.evaluations + made)
        return changed(
            ctx.state,
            race=race,
            construction=changed(ctx.state.construction, notes=notes),
            progress_label=race.label(len(RUNGS)),
            done=race.rungs,
            total=len(RUNGS),
        )


def _is_due(ctx: PhaseContext) -> bool:
    """Say whether there is a race to run: once, before skill and ascendancy of a new build are decided."""
    state, questions = ctx.state, ctx.state.sub_problems
    new = ctx.request.mode is Mode.INITIAL and state.iteration == 0 and bool(questions)
    over = state.race is not None and state.race.over
    if not new or over or not STARTERS[ctx.request.effort]:
        return False
    return any(name in questions and not questions[name].is_decided for name in (Q.DAMAGE_DELIVERY, Q.ASCENDANCY))


async def _begun(ctx: PhaseContext) -> Race:
    """Return the race before its first rung; it is over where there is nothing to compare."""
    allowed = BASIC + PER_POINT * ctx.demands.floors.passive_points
    allowed = allowed * 7 // 20 if ctx.engine.version.estimate else allowed
    allowed *= 2 if ctx.request.effort is Effort.DEEP else 1
    starters = min(STARTERS[ctx.request.effort], max(FEWEST, int(allowed * SHARES[0]) // LEAST))
    found = await ctx.reasoner.contenders(ctx.reasoning(), starters)
    if len(found) < 2 and not any(len(one.ascendancies) > 1 for one in found):
        return Race(over=True)
    return Race(contenders=found, allowed=allowed)


async def _drafted(
    ctx: PhaseContext, contender: Contender, rung: int, most: int, *, alone: bool
) -> tuple[Contender, int]:
    """Return the contender after the rung and the evaluations that it took."""
    plan = plan_from(contender.answers)
    hero = plan.ascendancy
    bare = Blueprint(class_name=hero.class_name, ascendancy=hero.ascendancy, level=ctx.demands.level)
    async with open_parallel(ctx.engine, None, Sharing(1)) as panel:
        search = search_context(ctx, plan, panel, contender.draft or bare)
        ascendancies = contender.ascendancies[: None if alone else ASCENDANCIES]
        draft = await RUNGS[rung](DraftWork(panel, search, most, ascendancies))
    ran = changed(
        contender,
        draft=draft.blueprint,
        out=draft.out,
        figures=[*contender.figures, *([] if draft.out else [figures_of(draft, rung + 1)])],
        by_ascendancy=dict(draft.by_ascendancy),
    )
    return ran, panel.trials


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
        """Return the draft in the session; resistances are left to gear, as they were in the race."""
        assert contender.draft is not None
        if self._panel is None:
            self._panel = await self._stack.enter_async_context(open_parallel(self._ctx.engine, None, Sharing(1)))
        await self._panel.build(contender.draft)
        plan = plan_from(contender.answers)
        hero = next((one for one in contender.ascendancies if one.ascendancy == contender.draft.ascendancy), None)
        search = search_context(
            self._ctx, replace(plan, ascendancy=hero or plan.ascendancy), self._panel, contender.draft
        )
        incumbent = await Incumbent.open(search, objective_for(search).without(Guard.RESISTANCE))
        await incumbent.learn_requirements()
        return MoveExperimenter(search, incumbent, await MoveReader.of(search, incumbent))

    def charged(self, state: BuildState) -> BuildState:
        """Return the state with what was tried counted, and taken from what may be tried later."""
        if not self._trials:
            return state
        notes = state.construction.notes
        notes = changed(notes, evaluations=notes.evaluations + self._trials, for_ideas=notes.for_ideas + self._trials)
        return changed(state, construction=changed(state.construction, notes=notes))


def _halved(race: Race, ran: Sequence[Contender], evaluations: int, kept: int) -> Race:
    """Return the race after a rung; those that do not go on keep their figures and lose their draft.

    `kept`: how many drafts are left when the race is over.
    """
    rung = race.rungs + 1
    fine = sorted((one for one in ran if not one.out), key=lambda one: one.place)
    over = rung == len(RUNGS) or not fine
    most = kept if over else max(2, min(FIELD[race.rungs], -(-len(fine) // 2)))
    on = {one.option.name for one in fine[:most]}
    now = {one.option.name: one if one.option.name in on else changed(one, draft=None) for one in ran}
    return changed(
        race,
        contenders=[now.get(one.option.name, one) for one in race.contenders],
        rungs=rung,
        evaluations=race.evaluations + evaluations,
        over=over,
    )
