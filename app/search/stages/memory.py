"""Beginning with what worked before: a remembered build, or its parts, as the build to improve.

What is remembered is a starting point and nothing more: it is loaded, calculated, checked for legality, improved by the
same searches, and validated like any other build.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.model.blueprint import Blueprint
from app.search.base import SearchContext, StageResult
from app.search.gear.legality import gear_findings
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.graph import main_graph
from app.search.stages.passives import banned_nodes

REMEMBERED = "remembered"
"""The note with what is to be tried: {"whole": [...], "parts": [...]}, each a build id and a blueprint."""

RECOLLECTED = "recollected"
"""The note that names the build whose memory was taken, and what of it: "whole", "parts" or nothing."""

INCUMBENT = "incumbent"
"""The note with the remembered build as it was loaded, for the last comparison."""

Found = tuple[dict[str, Any], Blueprint]
"""Build id and score, and the blueprint."""


async def recollect(ctx: SearchContext) -> StageResult:
    """Load the best remembered build that is legal and better than the plain one; else its supports and passives."""
    start = await Incumbent.open(ctx)
    await start.learn_requirements()
    plain = start.score
    whole = [(key, _anew(ctx, blueprint)) for key, blueprint in remembered(ctx.notes, "whole")]
    parts = [(key, await _parts(ctx, blueprint)) for key, blueprint in remembered(ctx.notes, "parts")]
    for kind, candidates in (("whole", whole), ("parts", parts)):
        if (taken := await _best(ctx, start, candidates, plain)) is not None:
            key, blueprint = taken
            await start.rewind(blueprint)
            notes = {REMEMBERED: None, RECOLLECTED: {**key, "part": kind}}
            kept = {INCUMBENT: blueprint.model_dump(mode="json"), "gear_made": True} if kind == "whole" else {}
            return StageResult(blueprint, notes | kept, label=f"remembered {_WORDS[kind]}")
    await start.rewind(ctx.blueprint)
    return StageResult(ctx.blueprint, {REMEMBERED: None, RECOLLECTED: None}, label="nothing remembered fits")


_WORDS = {"whole": "the whole build", "parts": "supports and passives"}


def remembered(notes: Mapping[str, Any], kind: str) -> list[Found]:
    """Return what the notes hold of a kind, the best first."""
    found = (notes.get(REMEMBERED) or {}).get(kind, [])
    return [
        ({"build_id": one["build_id"], "score": one["score"]}, Blueprint.model_validate(one["blueprint"]))
        for one in found
    ]


def _anew(ctx: SearchContext, blueprint: Blueprint) -> Blueprint:
    return blueprint.model_copy(update={"config": ctx.blueprint.config, "level": ctx.demands.level})


async def _parts(ctx: SearchContext, blueprint: Blueprint) -> Blueprint:
    """Return the plain build with the remembered supports, and with as many passives as the level has points.

    The order of passives is the order of levelling, so its beginning is a connected tree.
    """
    graph = await main_graph(ctx)
    own = [node for node in blueprint.nodes if node.id in graph.nodes]
    paid = [node for node in own if node.id in graph.bought][: ctx.demands.floors.passive_points]
    ids = frozenset(node.id for node in paid)
    kept = graph.connected(ids - banned_nodes(ctx, graph))
    groups = list(ctx.blueprint.groups)
    main = blueprint.groups[blueprint.main_group - 1]
    here = groups[ctx.blueprint.main_group - 1]
    excluded = set(ctx.plan.scaling.excluded_gems)
    supports = (
        [gem for gem in main.gems[1:] if gem.gem_id not in excluded] if blueprint.level == ctx.demands.level else []
    )
    groups[ctx.blueprint.main_group - 1] = here.model_copy(update={"gems": [here.gems[0], *supports]})
    nodes = [node for node in paid if node.id in kept]
    return ctx.blueprint.model_copy(update={"nodes": nodes, "groups": groups})


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
    banned = banned_nodes(ctx, await main_graph(ctx))
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
    found = ctx.notes.get(INCUMBENT)
    if not found:
        return StageResult(ctx.blueprint, label="nothing was remembered")
    remembered = Blueprint.model_validate(found)
    incumbent = await Incumbent.open(ctx)
    await incumbent.learn_requirements()
    reached, score = incumbent.blueprint, incumbent.score
    await incumbent.rewind(remembered)
    await incumbent.learn_requirements()
    if incumbent.score <= score + EPSILON:
        await incumbent.rewind(reached)
    label = "as remembered" if incumbent.blueprint == remembered else "better than remembered"
    return StageResult(incumbent.blueprint, {INCUMBENT: None}, label=label)
