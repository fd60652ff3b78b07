"""Where construction starts: class, level, the main skill, configuration and plain gear."""

from __future__ import annotations

from app.model.blueprint import Blueprint, ConfigValue, SkillGroup
from app.model.names import Goal
from app.search.base import Plan, SearchContext
from app.search.gems import by_id, gem

_ENEMY = {Goal.BOSSING: "Pinnacle", Goal.LEVELING: "None"}

_PENALTIES = ((65, -60), (55, -50), (45, -40), (35, -30), (25, -20), (15, -10), (1, 0))
"""From this level on a character has usually left the act that lowers resistances to this value."""


def config_for(goal: Goal, level: int) -> dict[str, ConfigValue]:
    """Return the configuration: a Pinnacle boss for bossing, a normal boss for mapping, penalties of the level."""
    penalty = next(value for start, value in _PENALTIES if level >= start)
    return {"enemyIsBoss": _ENEMY.get(goal, "Boss"), "resistancePenalty": penalty}


async def blank(ctx: SearchContext) -> Blueprint:
    """Return the build with nothing but class, ascendancy, level, configuration and the bare main skill."""
    facts = by_id(await ctx.engine.facts.gems())
    main = facts[ctx.plan.delivery.skill_id]
    group = SkillGroup(label=main.name, gems=[gem(main, ctx.level, ctx.gear)], in_full_dps=ctx.plan.delivery.minion)
    return Blueprint(
        class_name=ctx.plan.ascendancy.class_name,
        ascendancy=ctx.plan.ascendancy.ascendancy,
        level=ctx.level,
        groups=[group],
        main_group=1,
        config=config_for(ctx.goal, ctx.level),
    )


def is_founded(blueprint: Blueprint | None, plan: Plan, level: int) -> bool:
    """Return whether the blueprint already stands on the plan's class, ascendancy, level and main skill."""
    if blueprint is None or not 0 < blueprint.main_group <= len(blueprint.groups):
        return False
    main = blueprint.groups[blueprint.main_group - 1].gems[0].gem_id
    here = (blueprint.class_name, blueprint.ascendancy, blueprint.level, main)
    return here == (plan.ascendancy.class_name, plan.ascendancy.ascendancy, level, plan.delivery.skill_id)
