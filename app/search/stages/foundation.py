"""The stage that a build begins with: class, level, the bare main skill and plain gear."""

from __future__ import annotations

from dataclasses import replace

from app.knowledge.gems import is_minion
from app.model.base import changed
from app.model.blueprint import Allocate, Blueprint, Change, SkillGroup, apply_changes
from app.model.construction import StageNotes
from app.model.facts import GemFact
from app.model.stats import DPS
from app.search.base import Plan, SearchContext, StageResult, config_for
from app.search.gear.loadout import starting_gear
from app.search.incumbent import Incumbent
from app.search.objective import LEFT_TO_GEAR, objective_for
from app.search.passives.graph import main_graph, passive, way_for_hands
from app.search.skills.gems import ModeSearch, by_id, gem, monster_of, offering, variants
from app.search.skills.secondary import SkillSearch


async def blank(ctx: SearchContext) -> Blueprint:
    """Return the build with nothing but class, ascendancy, level, configuration and the bare main skill."""
    facts = by_id(await ctx.engine.facts.gems())
    main = facts[ctx.plan.delivery.skill_id]
    group = SkillGroup(
        label=main.name, gems=[gem(main, ctx.demands.level, ctx.demands.gear)], in_full_dps=ctx.plan.delivery.minion
    )
    return Blueprint(
        class_name=ctx.plan.ascendancy.class_name,
        ascendancy=ctx.plan.ascendancy.ascendancy,
        level=ctx.demands.level,
        groups=[group],
        main_group=1,
        config=config_for(ctx.demands.goal, ctx.demands.level, main),
    )


def is_founded(blueprint: Blueprint | None, plan: Plan, level: int) -> bool:
    """Return whether the blueprint already stands on the plan's class, ascendancy, level and main skill."""
    if blueprint is None or not 0 < blueprint.main_group <= len(blueprint.groups):
        return False
    main = blueprint.groups[blueprint.main_group - 1].gems[0].gem_id
    here = (blueprint.class_name, blueprint.ascendancy, blueprint.level, main)
    return here == (plan.ascendancy.class_name, plan.ascendancy.ascendancy, level, plan.delivery.skill_id)


async def found(ctx: SearchContext) -> StageResult:
    """Start anew: class, level, bare main skill, configuration and plain gear."""
    blueprint = await founded(ctx)
    rated = (await ctx.session.what_if([[]], [DPS]))[0].get(DPS, 0.0) > 0
    notes = StageNotes() if rated else StageNotes(nearest_modelled=await _nearest(ctx))
    if not rated:
        await ctx.session.build(blueprint)
    return StageResult(blueprint, notes, label=f"{ctx.plan.delivery.skill_name} at level {ctx.demands.level}")


async def founded(ctx: SearchContext) -> Blueprint:
    """Return the build to start from, loaded into the session, its main skill calculated where it deals damage.

    Minions are as many from the start as Spirit feeds: with one of them a build looks as if it lacked damage above all,
    and of two kinds the one that reserves more leads.
    """
    return await _recruited(ctx, await _calculable(ctx))


async def _recruited(ctx: SearchContext, blueprint: Blueprint) -> Blueprint:
    fact = by_id(await ctx.engine.facts.gems())[ctx.plan.delivery.skill_id]
    if not is_minion(fact):
        return blueprint
    there = replace(ctx, blueprint=blueprint)
    incumbent = await Incumbent.open(there, objective_for(there).without(*LEFT_TO_GEAR))
    search = SkillSearch(incumbent, ctx.demands.level, frozenset(), ctx.plan.spirit.reserve_free)
    await search.recruit(blueprint.main_group, fact)
    return incumbent.blueprint


async def _calculable(ctx: SearchContext) -> Blueprint:
    fact = by_id(await ctx.engine.facts.gems())[ctx.plan.delivery.skill_id]
    blueprint = offering(await blank(ctx), fact, fact.monsters)
    await ctx.session.build(blueprint)
    blueprint = await _armed(ctx, blueprint)
    group = blueprint.groups[blueprint.main_group - 1]
    found = await _calculated(ctx, group, blueprint.main_group, fact)
    if found == group and not fact.monsters:
        return blueprint
    monster = monster_of(found.gems[0])
    groups = [found if other is group else other for other in blueprint.groups]
    blueprint = offering(changed(blueprint, groups=groups), fact, [monster] if monster else [])
    await ctx.session.build(blueprint)
    return await _armed(ctx, blueprint)


async def _armed(ctx: SearchContext, blueprint: Blueprint) -> Blueprint:
    changes: list[Change] = await starting_gear(replace(ctx, blueprint=blueprint))
    if way := await way_for_hands(replace(ctx, blueprint=blueprint)):  # without it a hand is empty, or nothing happens
        graph = await main_graph(ctx)
        changes.insert(0, Allocate(nodes=[passive(blueprint, graph, node) for node in graph.in_order(way)]))
    await ctx.session.apply(changes)
    return apply_changes(blueprint, changes)


async def _calculated(ctx: SearchContext, group: SkillGroup, index: int, fact: GemFact) -> SkillGroup:
    """Return the group so that its damage is seen; as it is when it deals damage, or never does."""
    search = ModeSearch(ctx.session, index)
    if fact.monsters:
        return await search.monster(group, fact.monsters) or group
    return await search.best([group]) or await search.best(variants(group, fact)) or group


async def _nearest(ctx: SearchContext) -> str | None:
    """Return the name of the alternative that is most like the main skill and has a calculated rate."""
    facts = by_id(await ctx.engine.facts.gems())
    tags = set(facts[ctx.plan.delivery.skill_id].tags)
    others = [way for way in ctx.plan.alternatives if way.skill_id != ctx.plan.delivery.skill_id]
    for way in sorted(others, key=lambda way: -len(tags & set(facts[way.skill_id].tags))):
        await founded(replace(ctx, plan=replace(ctx.plan, delivery=way)))
        if (await ctx.session.what_if([[]], [DPS]))[0].get(DPS, 0.0) > 0:
            return way.skill_name
    return None
