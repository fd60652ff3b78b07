"""The stages of construct, in order, and which of them a change of plan runs again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.model.names import Demand, Effort, SubProblemName
from app.search.base import SearchContext, StageResult
from app.search.gear.loadout import draft_gear, optimise_gear
from app.search.stages.foundation import found
from app.search.stages.memory import keep_better, recollect
from app.search.stages.passives import ascend, finish, grow_tree, polish_tree, settle_attributes, trade_passives
from app.search.stages.repair import mend_gear, mend_tree
from app.search.stages.skills import (
    asked_skills,
    further_skills,
    helper_skills,
    main_supports,
    more_persistent_skills,
    persistent_skills,
)

Q = SubProblemName
Work = Callable[[SearchContext], Awaitable[StageResult]]


def roughly(work: Work) -> Work:
    """Return the work with the bounds of a quick build on an engine that calculates.

    A tree that is searched thoroughly while the build wears plain items suits plain items, and later trades hardly
    lead from there: on builds of level 90 the thorough way ended lower, for more evaluations. With the little that an
    estimate knows it is no gain (docs/explore.md).
    """

    async def rough(ctx: SearchContext) -> StageResult:
        return await work(ctx if ctx.engine.version.estimate else replace(ctx, effort=Effort.QUICK))

    return rough


async def in_turn(ctx: SearchContext, works: Sequence[Work], label: str = "") -> StageResult:
    """Do the works one after another in the context's session; the label is told of them all."""
    notes, blueprint = ctx.notes, ctx.blueprint
    for work in works:
        result = await work(replace(ctx, blueprint=blueprint, notes=notes))
        blueprint, notes = result.blueprint, notes.joined(result.notes)
    return StageResult(blueprint, notes, label=label)


SUPPORTING, ASCENDING, HELPING = roughly(main_supports), roughly(ascend), roughly(helper_skills)
FIRST: tuple[Work, ...] = (found, SUPPORTING, ASCENDING, roughly(grow_tree), roughly(draft_gear))
"""What a build begins with, in order: plain gear, supports, ascendancy, passives, then gear chosen together."""

AGAIN: tuple[Work, ...] = FIRST[-2:]
"""What of it depends on how the build is kept alive."""


@dataclass(frozen=True)
class SearchStage:
    """A stage: what it reads, and which stages it must follow whenever they ran.

    `founds`: it loads a build of its own making, whatever there was.
    """

    name: str
    label: str
    reads: frozenset[SubProblemName]
    follows: frozenset[str]
    work: Work
    founds: bool = False

    async def run(self, ctx: SearchContext) -> StageResult:
        """Improve the blueprint."""
        return await self.work(ctx)


def _stage(
    name: str,
    label: str,
    work: Work,
    reads: Iterable[SubProblemName] = (),
    follows: Iterable[str] = (),
    founds: bool = False,
) -> SearchStage:
    return SearchStage(name, label, frozenset(reads), frozenset(follows), work, founds)


FOUNDATION = "foundation"

BEGUN: tuple[SearchStage, ...] = (
    _stage(FOUNDATION, "laying the foundation", found, founds=True),
    _stage(
        "supports", "choosing supports", roughly(main_supports), [Q.DAMAGE_DELIVERY, Q.DAMAGE_SCALING], [FOUNDATION]
    ),
    _stage("ascendancy", "spending ascendancy points", roughly(ascend), [Q.ASCENDANCY], [FOUNDATION]),
    _stage("tree", "growing the passive tree", roughly(grow_tree), [Q.DAMAGE_SCALING, Q.SURVIVABILITY], [FOUNDATION]),
    _stage(
        "gear",
        "crafting gear",
        roughly(draft_gear),
        [Q.DAMAGE_DELIVERY, Q.DAMAGE_SCALING, Q.SURVIVABILITY, Q.STAT_REQUIREMENTS, Q.RESOURCE_SUSTAIN],
        [FOUNDATION],
    ),
)
"""How a build begins, a stage for each work of `FIRST`. What the race's winner has of it is taken."""

STAGES: tuple[SearchStage, ...] = (
    *BEGUN,
    _stage("spirit", "reserving Spirit", persistent_skills, [Q.SPIRIT_ALLOCATION], [FOUNDATION]),
    _stage("helpers", "adding helper skills", helper_skills, [Q.DAMAGE_DELIVERY], [FOUNDATION]),
    _stage("recheck_supports", "checking supports again", main_supports, [Q.RESOURCE_SUSTAIN], ["gear", "tree"]),
    _stage("recheck_ascendancy", "checking ascendancy points again", ascend, [], ["gear", "tree"]),
    _stage("polish_tree", "polishing the passive tree", polish_tree, [Q.RESOURCE_SUSTAIN], ["gear", "supports"]),
    _stage("refit_gear", "fitting gear again", optimise_gear, [], ["polish_tree"]),
    _stage("attributes", "settling attributes", settle_attributes, [Q.STAT_REQUIREMENTS], ["gear", "supports"]),
    _stage("refill_spirit", "reserving Spirit that is left", more_persistent_skills, [], ["spirit", "refit_gear"]),
    _stage("trade_passives", "trading passives for the gear", trade_passives, [], ["refit_gear"]),
    _stage("groups", "skills for a purpose", further_skills, [], ["spirit", "helpers", "refit_gear"]),
    _stage("finish", "finishing touches", finish, Q),
)

COMPLETED: tuple[SearchStage, ...] = STAGES[len(BEGUN) : [stage.name for stage in STAGES].index("groups")]
"""What makes a begun build whole: all but skills for a purpose and finishing touches, which fill places that are left.
The best builds of the race have it done, and it is taken over from the winner's."""


async def quickly(ctx: SearchContext) -> StageResult:
    """Make a whole build in one session: what a stage of its own costs is mostly a session loaded anew.

    In a round for what a draft missed, supports are looked at again once there is gear.
    """
    again = (main_supports,) if ctx.plan.constraints else ()
    works = (found, main_supports, ascend, grow_tree, asked_skills, draft_gear, *again, finish)
    return await in_turn(ctx, works, f"{ctx.plan.delivery.skill_name}: a first draft of everything")


QUICK: tuple[SearchStage, ...] = (_stage("draft", "drafting a whole build", quickly, Q, founds=True),)
_AGAIN: tuple[SearchStage, ...] = (
    _stage("polish_again", "polishing the passive tree again", polish_tree, [], ["refit_gear"]),
    _stage("refit_again", "fitting gear once more", optimise_gear, [], ["polish_again"]),
)
_at = [stage.name for stage in STAGES].index("attributes")
BY_EFFORT: Mapping[Effort, tuple[SearchStage, ...]] = {
    Effort.QUICK: QUICK,
    Effort.NORMAL: STAGES,
    Effort.DEEP: (*STAGES[:_at], *_AGAIN, *STAGES[_at:]),
}
"""A quick build is drafted once; a deep one goes over tree and gear a second time, each knowing the other."""

MENDING: tuple[SearchStage, ...] = (
    _stage("mend_tree", "connecting passives again", mend_tree),
    _stage("mend_gear", "mending gear", mend_gear),
)
"""Stages that only repair: a new build has nothing to mend."""

RECOLLECT = "recollect"
REMEMBERING: tuple[SearchStage, ...] = (
    _stage(RECOLLECT, "beginning with what worked before", recollect),
    _stage("keep_better", "comparing with what was remembered", keep_better),
)
"""Stages of builds for which something is remembered."""

_WARM = (FOUNDATION, RECOLLECT, "recheck_supports", "polish_tree", "groups", "finish", "keep_better")


def warm_stages(stages: Sequence[SearchStage], whole: bool) -> list[str]:
    """Return the stages of a build that begins with memory: only improvements when a whole build fits, else all."""
    if whole:
        known = {stage.name for stage in (*REMEMBERING, *stages)}
        return [name for name in _WARM if name in known]
    first, *rest = [stage.name for stage in stages]
    return [first, RECOLLECT, *rest]


_REPAIRS: Mapping[Demand, str] = {
    Demand.FEWER_POINTS: "mend_tree",
    Demand.DROP_SUPPORT: "supports",
    Demand.LESS_SPIRIT: "spirit",
    Demand.REPLACE_ITEM: "mend_gear",
    Demand.MORE_ATTRIBUTES: "mend_gear",
    Demand.MORE_RESISTANCE: "mend_gear",
    Demand.MORE_EFFECTIVE_LIFE: "mend_gear",
    Demand.MORE_RECOVERY: "mend_gear",
}
"""What meets a demand that names what is to change. Points that are left over are spent by the last stage anyway."""


def repairs_for(stages: Sequence[SearchStage], demands: Iterable[Demand]) -> list[str]:
    """Return the names of the stages that meet local demands, in order; the last stage puts all in order."""
    wanted = {_REPAIRS[demand] for demand in demands if demand in _REPAIRS}
    return [stage.name for stage in (*MENDING, *stages) if stage.name in wanted | {stages[-1].name}]


def stages_for(stages: Sequence[SearchStage], reopened: Iterable[SubProblemName] | None) -> list[str]:
    """Return the names of the stages to run, in order.

    `reopened` None = all of them. Otherwise those that read a reopened question, and those that follow one of these.
    """
    if reopened is None:
        return [stage.name for stage in stages]
    asked = frozenset(reopened)
    chosen: list[str] = []
    for stage in stages:
        if stage.reads & asked or stage.follows & set(chosen):
            chosen.append(stage.name)
    return chosen
