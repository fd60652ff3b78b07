"""The entry: open a refinement on a file, screen the improvements, make one, and check what was promised."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from app.engine.base import Engine, Outputs
from app.model.blueprint import Blueprint, Change
from app.model.constraints import asked_figures
from app.model.demands import earned_points
from app.model.experiments import Wish
from app.model.moves import Locks
from app.model.stats import Inspection, Stats
from app.search.base import SearchContext
from app.search.incumbent import flask_mana, required_attributes, strongest_group, trial_prefix
from app.search.objective import METRICS
from app.search.passives.graph import PassiveGraph, loaded_graph
from app.search.refine.faults import IdleGems, SpiritRelease
from app.search.refine.improvements import (
    IMPROVEMENTS,
    AscendancySpending,
    AttributeSwitch,
    PointSpending,
    SupportExchange,
    TreeExchange,
)
from app.search.refine.objective import refine_objective
from app.search.refine.work import SAME, Candidate, Commit, RecordedIncumbent, Work
from app.search.sessions import LoadedSession, Sharing, open_parallel

FAULTS = (SpiritRelease.name, IdleGems.name)
"""What mends a fault and brings nothing else; made only where that is the wish."""

FREE = frozenset({"unspent passive points", "unspent ascendancy points", "free Spirit"})
"""What is only left lying about is used first, whatever else would bring more."""

NO_TREE = "the passive tree stays: the file's tree is another one than the engine's facts describe"


@dataclass(frozen=True)
class Parent:
    """What is refined: its file, blueprint and figures, and the group whose damage counts."""

    xml: bytes
    blueprint: Blueprint
    strongest: int
    outputs: Outputs
    inspection: Inspection


async def read_parent(engine: Engine, xml: bytes, blueprint: Blueprint, inspection: Inspection | None) -> Parent:
    """Measure the file in a fresh session, with the skill as its main one that deals the damage."""
    async with engine.session() as session:
        await session.load(xml)
        strongest = await strongest_group(session, blueprint)
        found = inspection or await session.inspect()
        (outputs,) = await session.what_if([trial_prefix(strongest, blueprint)], METRICS)
    return Parent(xml, blueprint, strongest, outputs, found)


@asynccontextmanager
async def open_work(
    ctx: SearchContext, parent: Parent, wish: Wish, locks: Locks, made: Sequence[Change], sharing: Sharing
) -> AsyncIterator[Work]:
    """Open sessions on the file with the changes made so far.

    `ctx.session` is not used; `ctx.blueprint` is the parent's with the changes made.
    """
    facts = ctx.engine.facts
    inside = frozenset(node.id for node in await facts.nodes() if node.ascendancy is not None)
    async with open_parallel(ctx.engine, None, sharing) as parallel:
        prefix = trial_prefix(parent.strongest, parent.blueprint)
        loaded = LoadedSession(parallel, parent.xml, parent.blueprint, locks, inside, prefix)
        await loaded.open(made)
        ctx = replace(ctx, session=loaded, blueprint=await loaded.blueprint())
        figures = asked_figures(ctx.invariants)
        objective = refine_objective(wish, parent.outputs, ctx.demands.floors, figures)
        needs = required_attributes(parent.inspection)
        objective = replace(objective, flask_mana=await flask_mana(ctx), required=needs)
        objective = replace(objective, gaps=objective.shortfalls(parent.outputs))
        incumbent = RecordedIncumbent(loaded, ctx.blueprint, objective)
        await incumbent.measure()
        points = (await incumbent.learn_requirements()).points
        graph = await loaded_graph(facts, ctx.blueprint)
        earned = min(points.get("available", 0), earned_points(ctx.demands.level, points))
        work = Work(
            ctx=ctx,
            incumbent=incumbent,
            locks=locks,
            graph=graph or PassiveGraph([], []),
            gems={gem.id: gem for gem in await facts.gems()},
            bases={base.name: base for base in await facts.bases()},
            nodes={node.id: node for node in await facts.nodes()},
            strongest=parent.strongest,
            points=earned - points.get("used", 0) if graph is not None else 0,
            ascendancy_points=ctx.demands.floors.ascendancy_points - points.get("ascendancy_used", 0),
            asides=[] if graph is not None else [NO_TREE],
        )
        yield work
        work.asides = list(dict.fromkeys(work.asides))


async def screen(work: Work) -> dict[str, list[Candidate]]:
    """Return what each improvement would do first, tried but not committed; none for what is locked or has no means."""
    has_tree = bool(work.graph.nodes)
    possible = {
        PointSpending: has_tree and work.points > 0,
        TreeExchange: has_tree,
        AttributeSwitch: has_tree,
        AscendancySpending: work.ascendancy_points > 0,
    }
    return {
        improvement.name: await improvement.candidates(work)
        for improvement in IMPROVEMENTS
        if not all(work.locks.holds(part) for part in improvement.parts) and possible.get(type(improvement), True)
        if improvement.name not in FAULTS or work.objective.wish.direction == "repair"
    }


def order(screened: Mapping[str, Sequence[Candidate]], damage: bool) -> list[str]:
    """Return the improvements in the order in which to make them: what is free, then what promised most.

    Supports, which cannot be screened, come early when damage is wished and late otherwise.
    """
    first = [name for name in screened if (name in FAULTS and screened[name]) or name in FREE]
    blind = [one.name for one in IMPROVEMENTS if isinstance(one, (AttributeSwitch, SupportExchange))]
    seen = [name for name in screened if name not in (*FREE, *FAULTS) and name not in blind and screened[name]]
    best = sorted(seen, key=lambda name: (-sum(p.gain for p in screened[name]), name))
    early = [name for name in blind if name in screened]
    return [*first, *early, *best] if damage else [*first, *best, *early]


async def improve(work: Work, name: str, known: Sequence[Candidate]) -> list[Commit]:
    """Make one improvement and return what it committed; one that ends worse than it began is taken back.

    Where something is to be mended, one that mends nothing is, too, unless it uses what only lies about: nobody who
    wants the mana fixed wants other supports because they deal more damage.
    """
    incumbent = work.incumbent
    before, score, count = incumbent.blueprint, incumbent.score, len(incumbent.commits)
    mended = work.objective.mended(incumbent.outputs)
    incumbent.reason = name
    await next(one for one in IMPROVEMENTS if one.name == name).make(work, known)
    worse = incumbent.score < score - SAME if name in FAULTS else incumbent.score <= score
    if work.objective.wish.mends and name not in (*FAULTS, *FREE):
        worse = worse or work.objective.mended(incumbent.outputs) <= mended + SAME
    if worse and incumbent.blueprint != before:
        await incumbent.rewind(before)
    return incumbent.commits[count:]


@dataclass(frozen=True)
class Checked:
    """A fresh session's word on a file with changes: figures of the strongest skill, the build's own, its findings."""

    outputs: Outputs
    stats: Stats
    inspection: Inspection
    xml: bytes


async def check(engine: Engine, parent: Parent, changes: Sequence[Change], metrics: Sequence[str] = METRICS) -> Checked:
    """Make the changes in a session that has held nothing else and measure; `metrics`: what an objective scores by."""
    async with engine.session() as session:
        await session.load(parent.xml)
        if changes:
            await session.apply(changes)
        stats, inspection = await session.stats(), await session.inspect()
        (outputs,) = await session.what_if([trial_prefix(parent.strongest, parent.blueprint)], metrics)
        return Checked(outputs, stats, inspection, await session.export() if changes else parent.xml)
