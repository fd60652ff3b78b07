"""Explore measures before it decides: ways to build are raced in the engine, the best drafts are begun as builds."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.memory import RaceKey
from app.model.names import Effort, Mode, SubProblemName
from app.model.race import CompletedBuild, Contender, Race
from app.model.sub_problems import AscendancyChoice
from app.phases.base import PhaseContext, PhaseResult, PhaseStep, search_context
from app.phases.memory import digest_of
from app.search.base import planned
from app.search.drafts import (
    ASCENDANCIES,
    ESTIMATED,
    RUNGS,
    DraftResult,
    DraftWork,
    ascended,
    begun,
    completed,
    defended,
    figures_of,
    settled,
    traded,
)
from app.search.effort import for_a_build, for_a_build_anew, for_a_build_completed, for_a_build_traded
from app.search.sessions import BESIDE_OTHERS, open_parallel, seated

Q = SubProblemName
Begin = Callable[[], Awaitable[tuple[Contender, int]]]
TO_RACE = (Q.DAMAGE_DELIVERY, Q.ASCENDANCY, Q.SURVIVABILITY)
"""Questions that a race answers. Where skill and ascendancy are named, one draft runs it for its defences."""

STARTERS: Mapping[Effort, int] = {Effort.QUICK: 0, Effort.NORMAL: 24, Effort.DEEP: 24}
"""How many ways to build start at most; a draft in seconds has no time for a race."""

FEWEST, LEAST = 12, 25
"""Fewest that start where so many may, and evaluations of the first rung for each beyond these."""

SHARES, ARMED = (0.3, 0.27, 0.4), 0.45
"""How the evaluations of the rungs of drafts are divided among these; what is left is for trials that cannot be cut
short. On Path of Building the first alone is one, and has that share: some 40 for each that starts at level 90. The
others begin and settle builds, which takes what it takes."""

FIELD = (6, 3)
"""How many go on after each rung of drafts but the last: so many builds are begun and settled at most, and so many are
begun in other ways, too. A Firestorm that began as the fourth of six is the best with traded passives, and finished."""

CLOSE, CLOSER = 0.4, 0.2
"""How far (e-folds of the objective) behind the best begun build others may be to be begun with other ascendancies, and
with other defences: High Velocity Rounds gained 0.6 by the one, Fangs of Frost 0.1 by the other."""

TO_COMPLETE = 2
"""So many of the best begun builds are completed, if they are as close as those that are begun with other defences: of
eight prompts at level 90 the second came to more in two, by 0.07 and 0.11, and a third in none of four."""

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
        ran = await self._next(ctx, race)
        made = ran.evaluations - race.evaluations
        notes = changed(ctx.state.construction.notes, evaluations=ctx.state.construction.notes.evaluations + made)
        state = changed(
            ctx.state,
            race=ran,
            construction=changed(ctx.state.construction, notes=notes),
            progress_label=ran.label(rungs),
            done=rungs + 3 if ran.over else ran.rungs + ran.ascended + ran.guarded,
            total=rungs + 3,
        )
        return PhaseResult(state)

    async def _next(self, ctx: PhaseContext, race: Race) -> Race:
        """Return the race after its next rung or comparison."""
        if race.rungs < len(rungs_of(ctx)):
            return await self._after_rung(ctx, race)
        if race.is_ascending:
            return await self._after_ascendancies(ctx, race)
        return await (self._after_defences if _is_guarding(race) else self._after_completion)(ctx, race)

    async def _after_rung(self, ctx: PhaseContext, race: Race) -> Race:
        running, alone, rungs = race.running, len(race.contenders) == 1, rungs_of(ctx)
        later = race.for_builds + race.for_ascendancies + race.for_defences + race.for_completed
        for_drafts = race.allowed - later
        share = SHARES[race.rungs] if ctx.engine.version.estimate else 1.0
        most = sys.maxsize if rungs[race.rungs] in (begun, settled) else int(for_drafts * share) // len(running)
        works = [partial(_drafted, ctx, one, rungs[race.rungs], most, alone=alone) for one in running]
        found = await seated(works, self.sessions)
        ran, made = [contender for contender, _ in found], sum(trials for _, trials in found)
        return _halved(race, ran, made, len(rungs), _kept(ctx))

    async def _after_ascendancies(self, ctx: PhaseContext, race: Race) -> Race:
        """Return the race once its best are begun with each of their likeliest ascendancies; each has one of them."""
        near = race.near(CLOSE, FIELD[-1])
        others = [(one, partial(_anew, ctx, one, ascended, [hero])) for one in near for hero in _others(one)]
        measured, evaluations = await self._measured(ctx, near, others)
        heroes = [{planned(one).ascendancy.ascendancy: one.figures[-1] for one in few} for few in measured]
        told = [{hero: found for hero, found in few.items() if hero is not None} for few in heroes]
        made = [changed(_best(few), by_ascendancy=found) for few, found in zip(measured, told, strict=True)]
        return _further(changed(_with(race, made, evaluations), ascended=True), _kept(ctx))

    async def _after_defences(self, ctx: PhaseContext, race: Race) -> Race:
        """Return the race once its best are measured with each defence; each is begun with its first one."""
        near = [changed(one, defence=next(iter(one.defences), one.defence)) for one in race.near(CLOSER, FIELD[-1])]
        pairs = [(one, changed(one, defence=defence)) for one in near for defence in one.defences[1:]]
        others = [(one, partial(_anew, ctx, other, defended)) for one, other in pairs]
        measured, evaluations = await self._measured(ctx, near, others)
        told = [{planned(one).survivability.title: one.figures[-1] for one in few} for few in measured]
        made = [changed(_best(few), by_defence=found) for few, found in zip(measured, told, strict=True)]
        return _further(changed(_with(race, made, evaluations), guarded=True), _kept(ctx))

    async def _after_completion(self, ctx: PhaseContext, race: Race) -> Race:
        """Return the race once the best builds are completed: then the better is known, and not only foreseen."""
        near = _to_complete(race)
        found = await seated([partial(_anew, ctx, one, completed) for one in near], self.sessions)
        whole = [one for one, _ in found]
        return _ended(_with(race, whole, sum(trials for _, trials in found)), _kept(ctx))

    async def _measured(
        self, ctx: PhaseContext, near: Sequence[Contender], others: Sequence[tuple[Contender, Begin]]
    ) -> tuple[list[list[Contender]], int]:
        """Return each begun build as it is and as begun in other ways, all a rung further, and what that took.

        They are compared as they are begun; passives of the best other one are traded where it is ahead then.
        """
        anew = await seated([begin for _, begin in others], self.sessions)
        of_each = [[few for (who, _), (few, _) in zip(others, anew, strict=True) if who is one] for one in near]
        ahead = [_ahead(few, one) for one, few in zip(near, of_each, strict=True)]
        works = [partial(_anew, ctx, changed(one, figures=one.figures[:-1]), traded) for one in ahead if one]
        better = await seated(works, self.sessions)
        improved = {one.option.name: one for one, _ in better}
        measured = [
            [_unchanged(one), *(improved[one.option.name] if other is best else other for other in few)]
            for one, few, best in zip(near, of_each, ahead, strict=True)
        ]
        return measured, sum(few for _, few in (*anew, *better))


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
    first = int(allowed * (SHARES[0] if ctx.engine.version.estimate else ARMED))
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
    begin, best = (0, 0) if ctx.engine.version.estimate else (min(len(found), most) for most in FIELD)
    heroes = max(len(one.ascendancies[:ASCENDANCIES]) for one in found) if begin else 1
    anew, trades = for_a_build_anew(points), for_a_build_traded(points)
    for_builds = begin * (2 * for_a_build(points) + trades)
    for_drafts = 0 if is_settled else first if begin else allowed
    for_ascendancies, for_defences = (
        max(1, best) * ((few - 1) * anew + trades) if few > 1 else 0 for few in (heroes, ways)
    )
    for_completed = min(begin, TO_COMPLETE) * for_a_build_completed(points) if begin > 1 else 0
    return Race(
        contenders=found,
        rungs=RUNGS.index(begun) if is_settled else 0,
        allowed=for_drafts + for_builds + for_ascendancies + for_defences + for_completed,
        for_builds=for_builds,
        for_ascendancies=for_ascendancies,
        for_defences=for_defences,
        for_completed=for_completed,
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
        untraded=draft.untraded,
    )
    return ran, panel.trials


async def _anew(
    ctx: PhaseContext,
    contender: Contender,
    work: Callable[[DraftWork], Awaitable[DraftResult]],
    ascendancies: Sequence[AscendancyChoice] = (),
) -> tuple[Contender, int]:
    """Return the contender with what the work makes of its begun build, a rung further, and what that took.

    Traded passives are measured, and not kept; a completed build is kept beside the one that was begun.
    """
    assert contender.draft is not None, "it is near the best"
    async with open_parallel(ctx.engine, None, BESIDE_OTHERS) as panel:
        search = search_context(ctx, planned(contender), panel, contender.draft)
        made = await work(DraftWork(panel, search, ascendancies=ascendancies))
    found = figures_of(made, contender.rung + 1)
    ran = changed(contender, figures=[*contender.figures, found])
    if work is completed:
        ran = changed(ran, completed=CompletedBuild(blueprint=made.blueprint, notes=made.notes))
    elif work is not traded:
        ran = changed(ran, draft=made.blueprint, untraded=found)
    return ran, panel.trials


def _unchanged(contender: Contender) -> Contender:
    """Return the contender a rung further with the same figures."""
    return changed(contender, figures=[*contender.figures, changed(contender.figures[-1], rung=contender.rung + 1)])


def _score(contender: Contender) -> float:
    return contender.figures[-1].score


def _best(measured: Sequence[Contender]) -> Contender:
    return max(measured, key=_score)


def _ahead(others: Sequence[Contender], own: Contender) -> Contender | None:
    """Return the best of the others where it is better than its own was before passives were traded."""
    before, best = own.untraded or own.figures[-1], max(others, key=_score, default=None)
    return best if best is not None and _score(best) > before.score else None


def _others(contender: Contender) -> list[AscendancyChoice]:
    """Return the likeliest ascendancies beside the one of its draft."""
    own = planned(contender).ascendancy.ascendancy
    return [one for one in contender.ascendancies[:ASCENDANCIES] if one.ascendancy != own]


def _halved(race: Race, ran: Sequence[Contender], evaluations: int, rungs: int, kept: int) -> Race:
    """Return the race after one of its rungs; those that do not go on keep their figures and lose their draft.

    `kept`: how many drafts are left when the race is over.
    """
    rung = race.rungs + 1
    fine = sum(not one.out for one in ran)
    found = changed(_with(race, ran, evaluations), rungs=rung)
    if not fine:
        return _ended(found, kept)
    if rung == rungs:
        return _further(found, kept)
    if any(one.is_whole for one in ran):  # who is behind here may come to more than others in the end
        return found
    return _left_with(found, _going_on(found, max(2, min(FIELD[race.rungs], -(-fine // 2)))))


def _to_complete(race: Race) -> list[Contender]:
    """Return the begun builds that are compared as they are when they are completed; one alone is for construct."""
    near = race.near(CLOSER, TO_COMPLETE)
    return near if len(near) > 1 else []


def _with(race: Race, ran: Sequence[Contender], evaluations: int) -> Race:
    """Return the race with those contenders as they are now, and what that took."""
    now = {one.option.name: one for one in ran}
    contenders = [now.get(one.option.name, one) for one in race.contenders]
    return changed(race, contenders=contenders, evaluations=race.evaluations + evaluations)


def _further(race: Race, kept: int) -> Race:
    """Return the race after its last rung: over, unless something of its best is still to be compared."""
    return race if race.is_ascending or _is_guarding(race) or _to_complete(race) else _ended(race, kept)


def _is_guarding(race: Race) -> bool:
    """Say whether begun builds near the best are still to be compared with other defences."""
    return not race.guarded and any(len(one.defences) > 1 for one in race.near(CLOSER, FIELD[-1]))


def _ended(race: Race, kept: int) -> Race:
    """Return the race when it is over: the best so many drafts are left, and nobody's defences wait for their turn.

    Of completed builds the winner's is.
    """
    first = race.standing[0]
    left = _left_with(race, [one for one in race.standing if not one.out][:kept])
    made = [changed(one, defences=[], completed=one.completed if one is first else None) for one in left.contenders]
    return changed(left, contenders=made, over=True)


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
