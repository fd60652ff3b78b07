"""Levelling loadouts for tests: made on a quick build, and each looked at in a process that made none of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.conflicts.case import Case
from app.conflicts.resources import main_skill_sustained
from app.core.config import Settings
from app.core.ids import BuildId
from app.engine.base import Engine
from app.engine.files.loadouts import loadout_of
from app.model.blueprint import Allocate, Blueprint, Deallocate, PassiveNode
from app.model.constraints import InvariantSet
from app.model.demands import demands_of, earned_points, level_demands
from app.model.guide import FINAL, LEVELLING, Loadout
from app.model.names import Effort, Trigger
from app.model.record import BuildRecord, BuildRequest
from app.model.state import BuildState
from app.model.stats import DPS, EHP, Inspection, Stats
from app.phases.base import PhaseContext, PhaseResult
from app.phases.validate.levels import WithLoadouts
from app.reasoning.rules import RulesReasoner
from app.search.base import SearchContext, plan_of
from app.search.gear.jewels import JewelSockets
from app.search.incumbent import Incumbent
from app.search.levels import level_objective
from app.search.passives.graph import main_graph
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.sessions import Sharing
from app.search.stages.passives import banned_nodes
from app.wiring import open_services
from app.wiring.stores import storage


@dataclass(frozen=True)
class Ended:
    """A step that ends a build as it is."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Return the state, validated."""
        return PhaseResult(ctx.state, Trigger.VALIDATED)


async def finished(settings: Settings, prompt: str, level: int, effort: Effort = Effort.QUICK) -> BuildRecord:
    """Return the stored build of the prompt."""
    async with open_services(settings) as services:
        view = await services.builds.create(BuildRequest(prompt=prompt, level=level, effort=effort))
        await services.builds.wait(view.id)
    async with storage(settings, exclusive=False) as opened:
        return await opened.builds.get(view.id)


async def added(engine: Engine, record: BuildRecord, sessions: int = 1) -> tuple[BuildState, bytes]:
    """Return state and file of the build with its loadouts, as if its effort had been normal."""
    request = record.request.model_copy(update={"effort": Effort.NORMAL})
    ctx = PhaseContext(
        BuildId(record.id), request, record.invariants, record.state, engine, RulesReasoner(), xml=record.xml
    )
    result = await WithLoadouts(Ended(), Sharing(sessions)).run(ctx)
    assert result.xml is not None
    return result.state, result.xml


@dataclass(frozen=True)
class Seen:
    """A loadout of a file as a fresh process of the engine sees it."""

    told: Loadout
    blueprint: Blueprint
    stats: Stats
    inspection: Inspection
    problems: list[str]
    unpaid: list[str]

    @property
    def faults(self) -> list[str]:
        """What is wrong with it: what the engine says, what is not met, points too many or too few, other figures."""
        found = [*self.problems, *self.inspection.warnings]
        found += [f"{one.name}: {one.reason}" for one in (*self.inspection.idle_gems, *self.inspection.unusable)]
        found += [f"dropped {node}" for node in self.inspection.dropped_nodes]
        lacking = [one for one in self.inspection.requirements if one.required > one.available]
        found += [f"{one.source} {one.attribute} {one.required} > {one.available}" for one in lacking]
        if self.told.title.startswith(LEVELLING):
            found += [f"not told: {one}" for one in self.unpaid if one not in self.told.caveats]
        if self.inspection.disabled_reason:
            found.append(self.inspection.disabled_reason)
        points, there = self.inspection.points, earned_points(self.told.level, self.inspection.points)
        if self.told.title.startswith(LEVELLING) and points["used"] != there:
            found.append(f"{points['used']} points, {there} there are")
        for name, told, is_so in (
            ("DPS", self.told.dps or 0.0, self.stats.dps or 0.0),
            ("EHP", self.told.ehp, self.stats.get(EHP)),
            ("life", self.told.life, self.stats.get("Life")),
        ):
            if not math.isclose(told, is_so, rel_tol=1e-9):
                found.append(f"{name} is {is_so}, told {told}")
        return [f"{self.told.title}: {one}" for one in found]


async def seen(engine: Engine, xml: bytes, told: Loadout) -> Seen:
    """Return the loadout as it is in the file."""
    async with engine.session() as session:
        report = await session.load(loadout_of(xml, told.title, told.level))
        stats, inspection = await session.stats(), await session.inspect()
        problems = [*report.problems, *(f"dropped {node}" for node in report.dropped_nodes)]
        made = await session.blueprint()
    bases = {base.name: base for base in await engine.facts.bases()}
    demands = demands_of(InvariantSet(), BuildRequest(prompt="whoever", level=told.level))
    unpaid = [one.message for one in main_skill_sustained(Case(made, stats, inspection, demands, bases=bases))]
    return Seen(told, made, stats, inspection, problems, unpaid)


def passives(one: Seen, state: BuildState) -> list[int]:
    """Return the passives that the guide's order gives the loadout, which are to be those in the file.

    The finished build has all of them, with those of its other weapon set, whose points are the same.
    """
    assert state.guide is not None
    points = len(state.guide.passives) if one.told.title.startswith(FINAL) else one.told.points
    order = [step.id for step in state.guide.passives[:points]]
    return order + [step.id for step in state.guide.ascendancy[: one.told.ascendancy_points]]


@dataclass(frozen=True)
class Trees:
    """Damage and effective hit points of two trees of the same size on the same character.

    `worth`: how good the first is by all that counts at the level, in e-folds more than the other.
    """

    own: tuple[float, float]
    other: tuple[float, float]
    worth: float

    @property
    def share(self) -> float:
        """How good the first is by all that counts at the level, the other being 1."""
        return math.exp(self.worth)

    @property
    def ratio(self) -> float:
        """How good the first is, the other being 1: the geometric mean of both ratios."""
        return math.sqrt(math.prod(a / max(b, 1e-9) for a, b in zip(self.own, self.other, strict=True)))

    def __str__(self) -> str:
        own, other = (f"{one[0]:,.0f} DPS / {one[1]:,.0f} EHP" for one in (self.own, self.other))
        return f"{self.ratio:.3f} ({own} against {other}), {self.share:.3f} by what counts"


def context_of(record: BuildRecord, state: BuildState, engine: Engine) -> SearchContext:
    """Return the search context of the finished build, without a session."""
    assert state.blueprint is not None
    demands = demands_of(record.invariants, record.request)
    plan = plan_of(state.sub_problems)
    return SearchContext(engine, None, state.blueprint, plan, demands, record.invariants, 0)  # type: ignore[arg-type]


async def compared(
    ctx: SearchContext,
    one: Seen,
    points: int,
    other: Sequence[PassiveNode] | None = None,
    among: Collection[int] | None = None,
) -> Trees:
    """Compare the first `points` of the finished build's order, on the character of the loadout, with another tree.

    `other`: its passives; None is a tree grown from nothing for the same ends, the best gain per point first, of what
    builds may buy, or only of `among`.
    """
    finished, ctx = ctx.blueprint, replace(ctx, demands=level_demands(ctx.demands, one.told.level))
    graph = await main_graph(ctx)
    held = {node.id: node for node in one.blueprint.nodes}
    order = [held.get(node.id, node) for node in finished.nodes if node.id in graph.nodes][:points]
    async with ctx.engine.session() as session:
        await session.build(one.blueprint)
        incumbent = await Incumbent.open(replace(ctx, session=session, blueprint=one.blueprint), level_objective(ctx))
        await incumbent.commit([Deallocate(nodes=[node for node in held if node in graph.nodes])])
        bare = incumbent.blueprint
        await incumbent.commit([Allocate(nodes=order)])
        await incumbent.learn_requirements()
        own, score = incumbent.outputs, incumbent.score
        await incumbent.rewind(bare)
        if other is not None:
            await incumbent.commit([Allocate(nodes=list(other))])
        else:
            limits, sockets = TreeLimits(reach=10, trials=0), JewelSockets(incumbent, None)
            banned, words = await banned_nodes(ctx, graph), ctx.plan.scaling.keywords
            allowed = graph if among is None else graph.only(among)
            search = TreeSearch(incumbent, allowed, words, banned, limits=limits, sockets=sockets)
            await search.spend(points)
        found = incumbent.outputs
    return Trees((own[DPS], own[EHP]), (found[DPS], found[EHP]), score - incumbent.score)
