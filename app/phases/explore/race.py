"""Explore measures before it decides: ways to build are raced in the engine, the worse half leaves after every rung."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from app.core.errors import UnknownFact
from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.memory import RaceKey
from app.model.moves import Move, Trial
from app.model.names import Effort, Mode, SubProblemName
from app.model.race import Contender, Race
from app.model.state import BuildState
from app.model.sub_problems import AscendancyChoice, DraftFigures, SurvivabilityChoice
from app.phases.base import PhaseContext, PhaseResult, PhaseStep, search_context
from app.phases.memory import digest_of
from app.search.base import Plan
from app.search.drafts import (
    ASCENDANCIES,
    ESTIMATED,
    RUNGS,
    DraftResult,
    DraftWork,
    ascended,
    begun,
    defended,
    figures_of,
    planned,
    settled,
)
from app.search.effort import ON_DRAFTS, for_a_build, for_a_build_anew
from app.search.experiments import SPENT, MoveExperimenter
from app.search.incumbent import Incumbent
from app.search.moves import MoveReader
from app.search.objective import LEFT_TO_GEAR, objective_for
from app.search.sessions import BESIDE_OTHERS, ParallelSession, Sharing, open_parallel, seated

Q = SubProblemName
T = TypeVar("T")
TO_RACE = (Q.DAMAGE_DELIVERY, Q.ASCENDANCY, Q.SURVIVABILITY)
"""Questions that a race answers. Where skill and ascendancy are named, one draft runs it for its defences."""

STARTERS: Mapping[Effort, int] = {Effort.QUICK: 0, Effort.NORMAL: 16, Effort.DEEP: 24}
"""How many ways to build start at most; a draft in seconds has no time for a race."""

FEWEST, LEAST = 12, 25
"""Fewest that start where so many may, and evaluations of the first rung for each beyond these."""

SHARES = (0.3, 0.27, 0.4)
"""How the evaluations of the rungs of drafts are divided among these; what is left is for trials that cannot be cut
short. On Path of Building the first alone is one: the others begin and settle builds, which takes what it takes."""

FIELD = (6, 3)
"""How many go on after each rung but the last at most."""

CLOSE = 0.35
"""How far (e-folds of the objective) behind the best begun build others may be to be begun in other ways, too."""

CLEAR = 0.05
"""What it must be ahead then. Of nine begun builds some are ahead by chance: a Storm Wave that was by 0.013 came to
1.809 finished, the Falling Thunder that it overtook to 1.950."""

ON_OFFER = 3
"""Drafts that are left when the race is over, for a reasoner that tries moves on them."""

BASIC, PER_POINT = 300, 16
"""Evaluations of the rungs, by passive points. The estimator knows less to try, and has 6/20 of it."""

FEWEST_POINTS = 60
"""Passive points from which on defences are compared: before, a tree leads nowhere else, and the drafts would be more
than their part of the build. The estimator does not tell defences apart well enough to choose by it."""


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
        race = ctx.state.race
        if race is None or _is_outdated(ctx, race):
            race = await _begun(ctx)
        if race.over:
            return await self.inner.run(replace(ctx, state=changed(ctx.state, race=race)))
        rungs = len(rungs_of(ctx))
        left = self._after_ascendancies if race.is_ascending else self._after_defences
        ran = await (self._after_rung if race.rungs < rungs else left)(ctx, race)
        made = ran.evaluations - race.evaluations
        notes = changed(ctx.state.construction.notes, evaluations=ctx.state.construction.notes.evaluations + made)
        state = changed(
            ctx.state,
            race=ran,
            construction=changed(ctx.state.construction, notes=notes),
            progress_label=ran.label(rungs),
            done=rungs + 2 if ran.over else ran.rungs + ran.ascended,
            total=rungs + 2,
        )
        return PhaseResult(state)

    async def _after_rung(self, ctx: PhaseContext, race: Race) -> Race:
        running, alone, rungs = race.running, len(race.contenders) == 1, rungs_of(ctx)
        for_drafts = race.allowed - race.for_builds - race.for_ascendancies - race.for_defences
        share = SHARES[race.rungs] if ctx.engine.version.estimate else 1.0
        most = sys.maxsize if rungs[race.rungs] in (begun, settled) else int(for_drafts * share) // len(running)
        works = [partial(_drafted, ctx, one, rungs[race.rungs], most, alone=alone) for one in running]
        found = await seated(works, self.sessions)
        ran, made = [contender for contender, _ in found], sum(trials for _, trials in found)
        return _halved(race, ran, made, len(rungs), _kept(ctx))

    async def _after_ascendancies(self, ctx: PhaseContext, race: Race) -> Race:
        """Return the race once its best are begun with each of their likeliest ascendancies; each has one of them."""
        near = race.near(CLOSE)
        pairs = [(one, hero) for one in near for hero in _others(one)]
        found = await seated([partial(_ascended, ctx, one, hero) for one, hero in pairs], self.sessions)
        best, *others = (_raised(one, few) for one, few in _of_each(near, pairs, found))
        clear = best.figures[-1].score + CLEAR
        made = {best.option.name: best} | {
            one.option.name: now if now.figures[-1].score >= clear else changed(one, by_ascendancy=now.by_ascendancy)
            for one, now in zip(near[1:], others, strict=True)
        }
        ran = changed(_with(race, made, sum(trials for _, trials in found)), ascended=True)
        return _further(ran, _kept(ctx))

    async def _after_defences(self, ctx: PhaseContext, race: Race) -> Race:
        """Return the race once its best are measured with each defence; each is begun with its first one."""
        near = race.near(CLOSE)
        pairs = [(one, defence) for one in near for defence in one.defences[1:]]
        found = await seated([partial(_defended, ctx, one, defence) for one, defence in pairs], self.sessions)
        made = [one.defended(planned(one).survivability, few) for one, few in _of_each(near, pairs, found)]
        first = max(made, key=lambda one: one.most.score)
        if first.most.score >= made[0].most.score + CLEAR:
            made[made.index(first)] = first.ahead_of(made[0])
        return _ended(_with(race, {one.option.name: one for one in made}, sum(few for _, few in found)), _kept(ctx))


def rungs_of(ctx: PhaseContext) -> Sequence[Callable[[DraftWork], Awaitable[DraftResult]]]:
    """Return the rungs of a race on this engine."""
    return ESTIMATED if ctx.engine.version.estimate else RUNGS


def _is_outdated(ctx: PhaseContext, race: Race) -> bool:
    """Say whether an earlier version left drafts where builds are to be settled, which it did not begin."""
    return rungs_of(ctx)[race.rungs : race.rungs + 1] == (settled,) and not any(one.is_whole for one in race.running)


def _kept(ctx: PhaseContext) -> int:
    """Return how many drafts are left when the race is over: what construct goes on with, or a reasoner tries."""
    return ON_OFFER if ctx.reasoner.advises else 0 if ctx.engine.version.estimate else 1


def _is_due(ctx: PhaseContext) -> bool:
    """Say whether there is a race to run: once, before skill, ascendancy or defence of a new build are decided."""
    state, questions = ctx.state, ctx.state.sub_problems
    new = ctx.request.mode is Mode.INITIAL and state.iteration == 0 and bool(questions)
    over = state.race is not None and state.race.over
    if not new or over or not STARTERS[ctx.request.effort]:
        return False
    return any(name in questions and not questions[name].is_decided for name in TO_RACE)


async def _begun(ctx: PhaseContext) -> Race:
    """Return the race before its first rung; it is over where there is nothing to compare."""
    allowed = BASIC + PER_POINT * ctx.demands.floors.passive_points
    allowed = allowed * 6 // 20 if ctx.engine.version.estimate else allowed
    allowed *= 2 if ctx.request.effort is Effort.DEEP else 1
    first = int(allowed * SHARES[0])
    starters = min(STARTERS[ctx.request.effort], max(FEWEST, first // LEAST))
    races = await ctx.memory.races(RaceKey.of(ctx.demands.goal, ctx.engine.version), ctx.owner)
    found = await ctx.reasoner.contenders(replace(ctx.reasoning(), races=races), starters)
    if ctx.engine.version.estimate or ctx.demands.floors.passive_points < FEWEST_POINTS:
        found = [changed(one, defences=[]) for one in found]
    if len(found) < 2 and not any(max(len(one.ascendancies), len(one.defences)) > 1 for one in found):
        return Race(over=True)
    # who runs alone has nothing to learn from drafts: it is begun at once
    is_settled = len(found) == 1 and not ctx.engine.version.estimate
    points, ways = ctx.demands.floors.passive_points, max(len(one.defences) for one in found)
    builds, begin = (0, 0) if ctx.engine.version.estimate else (min(len(found), most) for most in reversed(FIELD))
    heroes = max(len(one.ascendancies[:ASCENDANCIES]) for one in found) if builds else 1
    for_builds, anew = (begin + builds) * for_a_build(points), for_a_build_anew(points)
    for_drafts = 0 if is_settled else first if builds else allowed
    for_ascendancies, for_defences = (max(1, builds) * (max(1, few) - 1) * anew for few in (heroes, ways))
    return Race(
        contenders=found,
        rungs=RUNGS.index(begun) if is_settled else 0,
        allowed=for_drafts + for_builds + for_ascendancies + for_defences,
        for_builds=for_builds,
        for_ascendancies=for_ascendancies,
        for_defences=for_defences,
        learned=digest_of(races),
    )


async def _drafted(
    ctx: PhaseContext,
    contender: Contender,
    rung: Callable[[DraftWork], Awaitable[DraftResult]],
    most: int,
    *,
    alone: bool,
) -> tuple[Contender, int]:
    """Return the contender after the rung and the evaluations that it took."""
    plan = planned(contender)
    hero = plan.ascendancy
    bare = Blueprint(class_name=hero.class_name, ascendancy=hero.ascendancy, level=ctx.demands.level)
    async with open_parallel(ctx.engine, None, BESIDE_OTHERS) as panel:
        search = search_context(ctx, plan, panel, contender.draft or bare)
        ascendancies = contender.ascendancies[: None if alone else ASCENDANCIES]
        draft = await rung(DraftWork(panel, search, most, ascendancies))
    ran = changed(
        contender,
        draft=draft.blueprint,
        out=draft.out,
        is_whole=draft.is_whole,
        promise=draft.promise,
        figures=[*contender.figures, *([] if draft.out else [figures_of(draft, rungs_of(ctx).index(rung) + 1)])],
        by_ascendancy=dict(draft.by_ascendancy) or contender.by_ascendancy,
    )
    return ran, panel.trials


async def _ascended(
    ctx: PhaseContext, contender: Contender, hero: AscendancyChoice
) -> tuple[tuple[AscendancyChoice, Blueprint, DraftFigures], int]:
    """Return the contender's build begun with the ascendancy, its figures, and the evaluations that it took."""
    measured, trials = await _anew(ctx, contender, planned(contender), ascended, [hero])
    return (hero, *measured), trials


async def _defended(
    ctx: PhaseContext, contender: Contender, defence: SurvivabilityChoice
) -> tuple[tuple[SurvivabilityChoice, Blueprint, DraftFigures], int]:
    """Return the contender's build begun with the defence, its figures, and the evaluations that it took."""
    measured, trials = await _anew(ctx, contender, planned(contender, defence), defended)
    return (defence, *measured), trials


async def _anew(
    ctx: PhaseContext,
    contender: Contender,
    plan: Plan,
    work: Callable[[DraftWork], Awaitable[DraftResult]],
    ascendancies: Sequence[AscendancyChoice] = (),
) -> tuple[tuple[Blueprint, DraftFigures], int]:
    """Return what the work makes of the contender's begun build, its figures, and the evaluations that it took."""
    assert contender.draft is not None, "it won"
    async with open_parallel(ctx.engine, None, BESIDE_OTHERS) as panel:
        search = search_context(ctx, plan, panel, contender.draft)
        measured = await work(DraftWork(panel, search, ascendancies=ascendancies))
        return (measured.blueprint, figures_of(measured, len(RUNGS) + 1)), panel.trials


def _raised(contender: Contender, others: Sequence[tuple[AscendancyChoice, Blueprint, DraftFigures]]) -> Contender:
    """Return the begun build as it is with the best of its own and other ascendancies, a rung further."""
    own = changed(contender.figures[-1], rung=len(RUNGS) + 1)
    measured = [(planned(contender).ascendancy, contender.draft, own), *others]
    _, draft, best = max(measured, key=lambda one: one[2].score)
    told = {hero.ascendancy: figures for hero, _, figures in measured if hero.ascendancy is not None}
    return changed(contender, draft=draft, figures=[*contender.figures, best], by_ascendancy=told)


def _of_each(
    near: Sequence[Contender], pairs: Sequence[tuple[Contender, object]], found: Sequence[tuple[T, int]]
) -> list[tuple[Contender, list[T]]]:
    """Return each contender with what was measured of it: `found` holds that of the pairs, in their order."""
    return [(one, [few for (who, _), (few, _) in zip(pairs, found, strict=True) if who is one]) for one in near]


def _others(contender: Contender) -> list[AscendancyChoice]:
    """Return the likeliest ascendancies beside the one of its draft."""
    own = planned(contender).ascendancy.ascendancy
    return [one for one in contender.ascendancies[:ASCENDANCIES] if one.ascendancy != own]


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


def _halved(race: Race, ran: Sequence[Contender], evaluations: int, rungs: int, kept: int) -> Race:
    """Return the race after one of its rungs; those that do not go on keep their figures and lose their draft.

    `kept`: how many drafts are left when the race is over.
    """
    rung = race.rungs + 1
    fine = sum(not one.out for one in ran)
    found = changed(_with(race, {one.option.name: one for one in ran}, evaluations), rungs=rung)
    if not fine:
        return _ended(found, kept)
    if rung == rungs:
        return _further(found, kept)
    return _left_with(found, _going_on(found, max(2, min(FIELD[race.rungs], -(-fine // 2)))))


def _with(race: Race, ran: Mapping[str, Contender], evaluations: int) -> Race:
    """Return the race with contenders, by name, as they are now, and what that took."""
    contenders = [ran.get(one.option.name, one) for one in race.contenders]
    return changed(race, contenders=contenders, evaluations=race.evaluations + evaluations)


def _further(race: Race, kept: int) -> Race:
    """Return the race after its last rung: over, unless something of its best is still to be compared."""
    is_guarded = any(len(one.defences) > 1 for one in race.near(CLOSE))
    return race if race.is_ascending or is_guarded else _ended(race, kept)


def _ended(race: Race, kept: int) -> Race:
    """Return the race when it is over: the best so many drafts are left, and nobody's defences wait for their turn."""
    left = _left_with(race, [one for one in race.standing if not one.out][:kept])
    return changed(left, contenders=[changed(one, defences=[]) for one in left.contenders], over=True)


def _going_on(race: Race, most: int) -> list[Contender]:
    """Return the best so many; of drafts, attacks by what they promise, which is more than they have."""

    def order(one: Contender) -> tuple[float, str]:
        return -(one.figures[-1].score if one.promise is None else one.promise), one.option.name

    return sorted(race.running, key=order)[:most]


def _left_with(race: Race, left: Sequence[Contender]) -> Race:
    """Return the race in which all others have lost their draft."""
    names = {one.option.name for one in left}
    on = [one if one.option.name in names else changed(one, draft=None) for one in race.contenders]
    return changed(race, contenders=on)
