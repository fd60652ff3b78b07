"""The entry: open a refinement on a file, screen the levers, pull one, and check what was promised."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from app.engine.base import Engine, Outputs
from app.model.blueprint import Blueprint, Change
from app.model.demands import QUEST_PASSIVE_POINTS
from app.model.experiments import Wish
from app.model.moves import Locks, Part
from app.model.stats import Inspection, Stats
from app.search.base import SearchContext
from app.search.incumbent import flask_mana, required_attributes, strongest_group, trial_prefix
from app.search.objective import METRICS
from app.search.passives.graph import PassiveGraph
from app.search.refine.items import ItemLever
from app.search.refine.objective import refine_objective
from app.search.refine.passives import AscendancyLever, AttributeLever, PointLever, TreeLever, loaded_graph, owned_of
from app.search.refine.session import LoadedSession
from app.search.refine.skills import SpiritLever, SupportLever
from app.search.refine.work import Candidate, Commit, Lever, RecordedIncumbent, Work
from app.search.sessions import open_parallel

LEVERS: tuple[Lever, ...] = (
    PointLever(),
    AscendancyLever(),
    SpiritLever(),
    AttributeLever(),
    SupportLever(),
    ItemLever("jewels", (Part.JEWELS,)),
    ItemLever("items", (Part.GEAR,)),
    TreeLever(),
)
"""From what costs nothing to what changes most."""

FREE = frozenset({"unspent passive points", "unspent ascendancy points", "free Spirit"})
"""What is only left lying about is used first, whatever else would bring more."""

CAMPAIGN_LEVEL = 65
"""About the level at which the campaign, and with it the last quest point, is done."""

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
    """Measure the file in a fresh session, with the skill as the main one that its damage comes from."""
    async with engine.session() as session:
        await session.load(xml)
        strongest = await strongest_group(session, blueprint)
        found = inspection or await session.inspect()
        (outputs,) = await session.what_if([trial_prefix(strongest, blueprint)], METRICS)
    return Parent(xml, blueprint, strongest, outputs, found)


@asynccontextmanager
async def open_work(
    ctx: SearchContext, parent: Parent, wish: Wish, locks: Locks, made: Sequence[Change], sessions: int
) -> AsyncIterator[Work]:
    """Open sessions on the file with the changes made so far.

    `ctx.session` is not used; `ctx.blueprint` is the parent's with the changes made.
    """
    facts = ctx.engine.facts
    nodes = await facts.nodes()
    inside = [node.id for node in nodes if node.ascendancy is not None]
    async with open_parallel(ctx.engine, None, sessions) as parallel:
        seen = trial_prefix(parent.strongest, parent.blueprint)
        loaded = LoadedSession(parallel, parent.xml, parent.blueprint, locks, frozenset(inside), seen)
        await loaded.open(made)
        ctx = replace(ctx, session=loaded, blueprint=await loaded.blueprint())
        work = await _work(ctx, loaded, parent, wish, locks)
        yield work
        work.asides = list(dict.fromkeys(work.asides))


async def _work(ctx: SearchContext, loaded: LoadedSession, parent: Parent, wish: Wish, locks: Locks) -> Work:
    facts = ctx.engine.facts
    objective = refine_objective(wish, parent.outputs, ctx.demands.floors)
    objective = replace(objective, flask_mana=await flask_mana(ctx), required=required_attributes(parent.inspection))
    objective = replace(objective, gaps=objective.shortfalls(parent.outputs))
    incumbent = RecordedIncumbent(loaded, ctx.blueprint, objective)
    await incumbent.measure()
    inspection = await incumbent.learn_requirements()
    graph = await _graph(ctx)
    points = inspection.points
    return Work(
        ctx=ctx,
        incumbent=incumbent,
        locks=locks,
        graph=graph or PassiveGraph([], []),
        gems={gem.id: gem for gem in await facts.gems()},
        bases={base.name: base for base in await facts.bases()},
        nodes={node.id: node for node in await facts.nodes()},
        strongest=parent.strongest,
        points=_earned(ctx.demands.level, points.get("available", 0)) - points.get("used", 0)
        if graph is not None
        else 0,
        ascendancy_points=ctx.demands.floors.ascendancy_points - points.get("ascendancy_used", 0),
        asides=[] if graph is not None else [NO_TREE],
    )


def _earned(level: int, available: int) -> int:
    """Return the passive points a character of the level has: those of quests come along the way, not at once."""
    quests = QUEST_PASSIVE_POINTS * min(level, CAMPAIGN_LEVEL) // CAMPAIGN_LEVEL
    return min(available, level - 1 + quests)


async def _graph(ctx: SearchContext) -> PassiveGraph | None:
    start = next(c.start_node for c in await ctx.engine.facts.classes() if c.name == ctx.blueprint.class_name)
    return loaded_graph(await ctx.engine.facts.nodes(), start, owned_of(ctx.blueprint))


def available(work: Work) -> list[Lever]:
    """Return the levers that may be pulled: not locked, and with something to pull."""
    return [
        lever for lever in LEVERS if not all(work.locks.holds(part) for part in lever.parts) and _useful(work, lever)
    ]


def _useful(work: Work, lever: Lever) -> bool:
    if isinstance(lever, (TreeLever, PointLever, AttributeLever)) and not work.graph.nodes:
        return False
    if isinstance(lever, PointLever):
        return work.points > 0
    return work.ascendancy_points > 0 if isinstance(lever, AscendancyLever) else True


async def screen(work: Work) -> dict[str, list[Candidate]]:
    """Return per lever what it would do first, tried but not committed."""
    return {lever.name: await lever.propose(work) for lever in available(work)}


def order(screened: Mapping[str, Sequence[Candidate]], damage: bool) -> list[str]:
    """Return the levers in the order in which to pull them: what is free, then what promised most.

    Supports, which cannot be screened, come early when damage is wished and late otherwise.
    """
    first = [name for name in screened if name in FREE]
    blind = [lever.name for lever in LEVERS if isinstance(lever, (AttributeLever, SupportLever))]
    seen = [name for name in screened if name not in FREE and name not in blind and screened[name]]
    best = sorted(seen, key=lambda name: (-sum(p.gain for p in screened[name]), name))
    early = [name for name in blind if name in screened]
    return [*first, *early, *best] if damage else [*first, *best, *early]


async def pull(work: Work, name: str, hints: Sequence[Candidate]) -> list[Commit]:
    """Pull one lever and return what it committed; one that ends worse than it began is taken back."""
    lever = next(lever for lever in LEVERS if lever.name == name)
    before, score, count = work.incumbent.blueprint, work.incumbent.score, len(work.incumbent.commits)
    work.incumbent.reason = name
    await lever.pull(work, hints)
    if work.incumbent.score <= score and work.incumbent.blueprint != before:
        await work.incumbent.rewind(before)
    return work.incumbent.commits[count:]


@dataclass(frozen=True)
class Checked:
    """A fresh session's word on a file with changes: figures of the strongest skill, the build's own, its findings."""

    outputs: Outputs
    stats: Stats
    inspection: Inspection
    xml: bytes


async def check(engine: Engine, parent: Parent, changes: Sequence[Change]) -> Checked:
    """Make the changes in a session that has held nothing else and measure."""
    async with engine.session() as session:
        await session.load(parent.xml)
        if changes:
            await session.apply(changes)
        stats, inspection = await session.stats(), await session.inspect()
        (outputs,) = await session.what_if([trial_prefix(parent.strongest, parent.blueprint)], METRICS)
        return Checked(outputs, stats, inspection, await session.export() if changes else parent.xml)
