"""Beginning with what worked before: a remembered build, or its parts, as the build to improve.

What is remembered is a starting point and nothing more: it is loaded, calculated, checked for legality, improved by the
same searches, and validated like any other build.
"""

from __future__ import annotations

from app.model.base import changed
from app.model.blueprint import Blueprint
from app.model.construction import MemoryPart, Recollection, RememberedBuild, StageNotes
from app.search.base import SearchContext, StageResult
from app.search.gear.legality import gear_findings
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.graph import main_graph
from app.search.passives.weapon_sets import in_one_set
from app.search.stages.passives import banned_nodes

Found = tuple[RememberedBuild, Blueprint]
"""What is remembered, and the blueprint that it would make of this build."""

_WORDS: dict[MemoryPart, str] = {"whole": "the whole build", "parts": "supports and passives"}


async def recollect(ctx: SearchContext) -> StageResult:
    """Load the best remembered build that is legal and better than the plain one; else its supports and passives."""
    start = await Incumbent.open(ctx)
    await start.learn_requirements()
    plain = start.score
    memory = ctx.notes.remembered
    whole: list[Found] = []
    parts: list[Found] = []
    if memory is not None:
        whole = [
            (one, changed(in_one_set(one.blueprint), config=ctx.blueprint.config, level=ctx.demands.level))
            for one in memory.whole
        ]
        parts = [(one, await _parts(ctx, in_one_set(one.blueprint))) for one in memory.parts]
    candidates: list[tuple[MemoryPart, list[Found]]] = [("whole", whole), ("parts", parts)]
    for part, tried in candidates:
        if (taken := await _best(ctx, start, tried, plain)) is not None:
            one, blueprint = taken
            await start.rewind(blueprint)
            recollected = Recollection(build_id=one.build_id, score=one.score, part=part)
            notes = StageNotes(remembered=None, recollected=recollected)
            if part == "whole":
                notes = changed(notes, incumbent=blueprint, gear_made=True)
            return StageResult(blueprint, notes, label=f"remembered {_WORDS[part]}")
    await start.rewind(ctx.blueprint)
    return StageResult(ctx.blueprint, StageNotes(remembered=None, recollected=None), label="nothing remembered fits")


async def _parts(ctx: SearchContext, blueprint: Blueprint) -> Blueprint:
    """Return the plain build with the remembered supports, and with as many passives as the level has points.

    The order of passives is the order of levelling, so its beginning is a connected tree.
    """
    graph = await main_graph(ctx)
    own = [node for node in blueprint.nodes if node.id in graph.nodes]
    paid = [node for node in own if node.id in graph.bought][: ctx.demands.floors.passive_points]
    ids = frozenset(node.id for node in paid)
    kept = graph.connected(ids - await banned_nodes(ctx, graph))
    groups = list(ctx.blueprint.groups)
    main = blueprint.groups[blueprint.main_group - 1]
    here = groups[ctx.blueprint.main_group - 1]
    excluded = set(ctx.plan.scaling.excluded_gems)
    same_level = blueprint.level == ctx.demands.level
    supports = [gem for gem in main.gems[1:] if gem.gem_id not in excluded] if same_level else []
    groups[ctx.blueprint.main_group - 1] = changed(here, gems=[here.gems[0], *supports])
    nodes = [node for node in paid if node.id in kept]
    return changed(ctx.blueprint, nodes=nodes, groups=groups)


async def _best(ctx: SearchContext, incumbent: Incumbent, candidates: list[Found], plain: float) -> Found | None:
    """Return the candidate with the best score, if it is legal and better than the plain build."""
    scores: list[tuple[float, int]] = []
    for index, (_, blueprint) in enumerate(candidates):
        score = await _score(ctx, incumbent, blueprint)
        if score is not None and score > plain + EPSILON:
            scores.append((-score, index))
    return candidates[min(scores)[1]] if scores else None


async def _score(ctx: SearchContext, incumbent: Incumbent, blueprint: Blueprint) -> float | None:
    """Return the score of the build as the engine calculates it now; None when it is not legal any more."""
    excluded = set(ctx.plan.scaling.excluded_gems)
    banned = await banned_nodes(ctx, await main_graph(ctx))
    used = {gem.gem_id for group in blueprint.groups for gem in group.gems}
    if used & excluded or banned & {node.id for node in blueprint.nodes}:
        return None
    if await gear_findings(ctx.engine.facts, blueprint, ctx.demands.floors.gear):
        return None
    await incumbent.rewind(blueprint)
    inspection = await incumbent.learn_requirements()
    faulty = inspection.dropped_nodes or inspection.disabled_reason or inspection.idle_gems
    return None if faulty else incumbent.score


async def keep_better(ctx: SearchContext) -> StageResult:
    """Return to the remembered build when improving it ended worse."""
    remembered = ctx.notes.incumbent
    if remembered is None:
        return StageResult(ctx.blueprint, label="nothing was remembered")
    incumbent = await Incumbent.open(ctx)
    await incumbent.learn_requirements()
    reached, score = incumbent.blueprint, incumbent.score
    await incumbent.rewind(remembered)
    await incumbent.learn_requirements()
    if incumbent.score <= score + EPSILON:
        await incumbent.rewind(reached)
    label = "as remembered" if incumbent.blueprint == remembered else "better than remembered"
    return StageResult(incumbent.blueprint, StageNotes(incumbent=None), label=label)
