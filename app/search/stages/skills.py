"""The stages about gems: the main skill's supports, persistent skills, helper skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from app.knowledge.gems import (
    DAMAGE_TYPES,
    calls,
    can_be_cut,
    can_be_main,
    dealt,
    is_minion,
    level_required,
    tags,
)
from app.knowledge.named import named_in
from app.knowledge.roles import (
    COUNTED,
    NARROWING,
    SECOND,
    BuildTraits,
    brought_about,
    clears,
    role_of,
    second_role,
    second_skills,
)
from app.knowledge.styles import OF_FURTHER_SKILLS, ONE_BUTTON, SUPPORTS, style_stat
from app.model.blueprint import RemoveGroup, SetMain
from app.model.damage import AFTER_HIT
from app.model.facts import GemFact
from app.model.groups import GroupRole
from app.model.names import Demand
from app.model.stats import DPS
from app.search.base import SearchContext, StageResult
from app.search.effort import LIMITS
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import LEFT_TO_GEAR, Guard, objective_for
from app.search.skills.further import (
    LEAST_SECOND,
    NOISE,
    FurtherSkills,
    for_purposes,
    left_out,
    uncalled,
    used_skills,
    without_unpaid,
    without_useless,
)
from app.search.skills.gems import (
    by_id,
    group_index,
    support_slots,
    weapon_types,
)
from app.search.skills.secondary import MOST_GROUPS, ONE_AT_A_TIME, SkillSearch, skills_had
from app.search.skills.supports import MOST_LINEAGE, SupportRules, SupportSelection

HELPERS, PERSISTENT, SIDE_SUPPORTS, SECOND_SUPPORTS = 4, 4, 2, 3
SECOND_SHORT_LIST = 12
"""Supports of a second damage skill that go on after screening: its figure is in no sum."""


DRAFTED = 18
"""How many supports go on while there is no gear: a draft, chosen anew later (on five builds the same in the end)."""


async def main_supports(ctx: SearchContext) -> StageResult:
    """Choose the main skill's supports, roughly while gear is not made yet."""
    # The objective while gear is not made yet: gear will see to resistances and attributes.
    whole = objective_for(ctx)
    objective = whole if ctx.notes.gear_made else whole.without(*LEFT_TO_GEAR)
    incumbent = await Incumbent.open(ctx, objective)
    facts = by_id(await ctx.engine.facts.gems())
    main = incumbent.blueprint.main_group
    rules = await support_rules(ctx, incumbent, main, facts)
    if not ctx.notes.gear_made:
        rules = replace(rules, exchanges=False, short_list=min(rules.short_list, DRAFTED))
    search = SupportSelection(incumbent, main, rules, facts)
    team = await search.run(await ctx.engine.facts.supports_for(ctx.plan.delivery.skill_id))
    names = ", ".join(facts[i].name for i in team if i in facts)
    return StageResult(incumbent.blueprint, label=f"supports: {names}" if names else "no support helps")


async def support_rules(
    ctx: SearchContext, incumbent: Incumbent, index: int, facts: Mapping[str, GemFact], slots: int | None = None
) -> SupportRules:
    """Return the rules for one group; what conflicts dropped and lineage supports of other groups are not offered.

    Supports that the user named go to the first group that they can support, and that is the main one.
    """
    others = (g for i, g in enumerate(incumbent.blueprint.groups, start=1) if i != index)
    rare = {gem.gem_id for group in others for gem in group.gems[1:] if gem.gem_id in facts}
    rare = {gem_id for gem_id in rare if facts[gem_id].lineage}
    dropped = {c.values.gem for c in ctx.plan.constraints if c.demand is Demand.DROP_SUPPORT and c.values.gem}
    excluded = frozenset(rare | dropped | set(ctx.plan.scaling.excluded_gems))
    lineage = MOST_LINEAGE - len(rare)
    named = [fact.id for fact in (await named_in(ctx.engine.facts, ctx.invariants)).supports]
    if index == incumbent.blueprint.main_group:
        ids = {fact.name: fact.id for fact in facts.values() if fact.kind == "support"}
        missing = [one for one in ctx.invariants.listed("style") if not incumbent.outputs.get(style_stat(one) or "")]
        named += [ids[name] for style in missing for name in SUPPORTS.get(style, ()) if name in ids]
    level, gear, words = ctx.demands.level, ctx.demands.gear, ctx.plan.scaling.keywords
    limits = LIMITS[ctx.effort]
    # A round for something that was missed is not to end with the first set of supports that is full.
    tried = limits.exchanges or bool(ctx.plan.constraints), limits.short_list
    return SupportRules(level, gear, excluded, words, slots, lineage, tuple(named), *tried)


async def persistent_skills(ctx: SearchContext) -> StageResult:
    """Reserve Spirit for the persistent skills that help most, the plan's and any other; earlier ones make room."""
    wanted = await _persistent(ctx)
    return await _add_skills(ctx, wanted, PERSISTENT, "Spirit", anew=wanted)


async def more_persistent_skills(ctx: SearchContext) -> StageResult:
    """Reserve the Spirit that is left, now that gear is known; the plan's skills even where no gain is measured.

    The calculator credits many of them only under conditions that it does not assume.
    """
    wanted = await _persistent(ctx)
    result = await _add_skills(ctx, wanted, PERSISTENT, "more Spirit")
    incumbent = await Incumbent.open(replace(ctx, blueprint=result.blueprint))
    await incumbent.learn_requirements()
    known = by_id(wanted)
    filled = await (await _search(ctx, incumbent)).fill([known[i] for i in ctx.plan.spirit.skill_ids if i in known])
    names = ", ".join(fact.name for fact in filled)
    label = f"{result.label}; unmeasured: {names}" if names else result.label
    return StageResult(incumbent.blueprint, label=label)


async def _persistent(ctx: SearchContext) -> list[GemFact]:
    """Return the skills that reserve Spirit, and the plan's: what the build can bring about, and what was named."""
    planned, named = set(ctx.plan.spirit.skill_ids), {fact.id for fact in await named_skills(ctx)}
    is_had = await _can_bring_about(ctx)
    there = [fact for fact in await skills_had(ctx) if fact.id in named or is_had(fact)]
    return [fact for fact in there if fact.spirit > 0 or fact.id in planned]


async def helper_skills(ctx: SearchContext) -> StageResult:
    """Choose curses, marks, warcries, exposure and the plan's helper skills that measurably help, all of them anew.

    What helped before and cannot be brought about now goes: a mark for bleeding stood beside one for critical hits. So
    does what was only planned: a mark for critical hits with 5 % of these, which a passive counted as one more gem.
    """
    gems = await skills_had(ctx)
    alone = ONE_BUTTON in ctx.invariants.listed("style")
    planned = set() if alone else set(ctx.plan.delivery.helper_skills)
    named, styles = {fact.id for fact in await named_skills(ctx)}, _further_styles(ctx)
    is_had = await _can_bring_about(ctx)
    asked = [fact for fact in gems if fact.id in named or styles & tags(fact)]
    expected = [fact for fact in gems if {fact.id, fact.name} & planned]
    helpers = [fact for fact in gems if not fact.spirit and (fact in (*asked, *expected) or role_of(fact) in COUNTED)]
    wanted = [fact for fact in helpers if fact in asked or (not alone and is_had(fact))]
    result = await _add_skills(ctx, wanted, HELPERS, "helpers", anew=helpers)
    if not (inspection := await ctx.session.inspect()).unpaid:
        return result
    incumbent = await Incumbent.open(replace(ctx, blueprint=result.blueprint))
    unpaid = await without_unpaid(incumbent, inspection, {fact.id for fact in asked})
    return replace(result, blueprint=incumbent.blueprint, label=", ".join([result.label, *left_out(unpaid)]))


async def asked_skills(ctx: SearchContext) -> StageResult:
    """Add the skills that the user named beside the main one and one of each style that a further skill brings.

    Nothing else, whatever it might gain: for builds that look no further.
    """
    gems, styles = await ctx.engine.facts.gems(), _further_styles(ctx)
    named = {fact.id for fact in await named_skills(ctx)}
    wanted = [fact for fact in gems if fact.id in named or (fact.kind == "active" and styles & tags(fact))]
    if not wanted:
        return StageResult(ctx.blueprint, label="no further skill was asked for")
    return await _add_skills(ctx, wanted, 0, "asked for")


async def traits_of(ctx: SearchContext) -> BuildTraits:
    """Return what further skills depend on; the main skill's types by tags where no hits are calculated."""
    stats = await ctx.session.stats()  # a trial does not know what the hits of an attack deal
    found = stats.values
    hits = {kind: found.get(f"{kind.capitalize()}HitAverage", 0.0) for kind in DAMAGE_TYPES}
    main = by_id(await ctx.engine.facts.gems()).get(ctx.plan.delivery.skill_id)
    if not any(hits.values()) and main is not None:
        hits = dict.fromkeys(dealt(main), 1.0)
    critical = found.get("Minion.CritChance", found.get("CritChance", 0.0)) / 100
    types = {kind: hit / max(sum(hits.values()), 1.0) for kind, hit in hits.items()}
    life, shield, armour, evasion = (found.get(key, 0.0) for key in ("Life", "EnergyShield", "Armour", "Evasion"))
    defences = {
        "energy_shield": shield / max(life + shield, 1.0),
        "armour": armour / max(armour + evasion, 1.0),
        "evasion": evasion / max(armour + evasion, 1.0),
    }
    on_life = stats.get("LifePerSecondCost") > 0 >= stats.get("ManaPerSecondCost")
    return BuildTraits(types, critical, 1.0 - stats.damage.share(*AFTER_HIT), on_life, defences)


async def _can_bring_about(ctx: SearchContext) -> Callable[[GemFact], bool]:
    """Return what says of a skill whether the build as it is brings about what it needs."""
    used = used_skills(ctx.blueprint, by_id(await ctx.engine.facts.gems()))  # the main one may be a passive's
    return partial(brought_about, used=used, traits=await traits_of(ctx))


_R = GroupRole
_LEFT_FOR_PURPOSES = (
    _R.MOVEMENT, _R.CLEAR, _R.SINGLE_TARGET, _R.GUARD, _R.CURSE, _R.MARK, _R.WARCRY, _R.EXPOSURE, _R.EMPOWERMENT,
    _R.OFFERING, _R.HERALD, _R.TOTEM, _R.LASTING,
)  # fmt: skip
"""Roles of which a build has one at least, those that a player misses first at the front."""


async def further_skills(ctx: SearchContext) -> StageResult:
    """Fill the places that are left with skills for a purpose: movement, packs or bosses, guard, and so on.

    They change no figure; what the engine would count as always up is switched off in them.
    """
    incumbent = await Incumbent.open(ctx)
    facts = by_id(await ctx.engine.facts.gems())
    styles = _further_styles(ctx)
    asked = {fact.id for fact in await named_skills(ctx)} | {i for i, fact in facts.items() if styles & tags(fact)}
    await without_useless(incumbent, facts, asked)
    before, kept = (await incumbent.learn_requirements()).warnings, len(incumbent.blueprint.groups)
    main = facts[ctx.plan.delivery.skill_id]
    rules = replace(await support_rules(ctx, incumbent, 0, facts), required=(), lineage=0)
    second = second_role(ctx.demands.goal, main)
    further = FurtherSkills(await _search(ctx, incumbent), facts, rules, second)
    obtainable, added = await _obtainable(ctx, facts), list[GemFact]()
    for called in uncalled(incumbent.blueprint, facts):
        found = await further.add_second([fact for fact in obtainable if calls(fact, called)])
        added += [found] if found is not None else []
    for role in _LEFT_FOR_PURPOSES:
        if len(incumbent.blueprint.groups) >= MOST_GROUPS or role in further.roles:
            continue
        if role not in SECOND:
            found = await further.add(role, [fact for fact in obtainable if role_of(fact) is role])
        elif role is second and not is_minion(main):
            found = await further.add_second(second_skills(obtainable, main, role))
        else:
            found = None
        if found is not None:
            added.append(found)
            await _supported(ctx, further, found, role)
    await further.payable(before, kept)
    left = [fact.name for fact in added if group_index(incumbent.blueprint, fact.id)]
    return StageResult(incumbent.blueprint, label=f"for purposes: {', '.join(left) or 'no room, or nothing that fits'}")


async def _obtainable(ctx: SearchContext, facts: Mapping[str, GemFact]) -> list[GemFact]:
    """Return the skills that can be had at the level, work in this build and were not ruled out, in order of their ids.

    Of who wants to press one button only those that act by themselves.
    """
    excluded, is_had = set(ctx.plan.scaling.excluded_gems), await _can_bring_about(ctx)
    found = [
        fact
        for fact in sorted(facts.values(), key=lambda fact: fact.id)
        if fact.kind == "active" and can_be_cut(fact) and fact.id not in excluded
        if level_required(fact) <= ctx.demands.level and is_had(fact)
    ]
    alone = ONE_BUTTON in ctx.invariants.listed("style")
    return [fact for fact in found if fact.spirit > 0] if alone else found


async def _supported(ctx: SearchContext, further: FurtherSkills, fact: GemFact, role: GroupRole) -> None:
    """Support a new group: a damage skill by its own damage, all others by what serves their role.

    What deals less to a single target than the main one, and does not reach packs either, is taken back.
    """
    incumbent = further.search.incumbent
    index = group_index(incumbent.blueprint, fact.id)
    ids = await ctx.engine.facts.supports_for(fact.id)
    if role not in SECOND:
        await further.support(index, role, ids)
        return
    bare, least, outputs = incumbent.blueprint, incumbent.score, dict(incumbent.outputs)
    slots = min(SECOND_SUPPORTS, further.rules.room)
    narrow = {i for i, one in further.facts.items() if role is GroupRole.CLEAR and one.family in NARROWING}
    excluded = further.rules.excluded | narrow
    rules = replace(further.rules, excluded=excluded, slots=slots, exchanges=False, short_list=SECOND_SHORT_LIST)
    await further.search.support_alone(index, rules, dict(further.facts), ids)
    await incumbent.learn_requirements()
    if incumbent.score < least - EPSILON or incumbent.outputs.get(DPS, 0.0) > outputs.get(DPS, 0.0) * (1 + NOISE):
        await incumbent.rewind(bare)
        await incumbent.learn_requirements()
    (alone,) = await incumbent.session.what_if([[SetMain(index=index)]], [DPS])
    if not clears(fact) and alone.get(DPS, 0.0) < LEAST_SECOND * outputs.get(DPS, 0.0):
        await incumbent.commit([RemoveGroup(index=index)])


async def _add_skills(
    ctx: SearchContext, wanted: Sequence[GemFact], most: int, what: str, anew: Sequence[GemFact] | None = None
) -> StageResult:
    """Add what is named, what asked styles need and `most` others that help; groups of `anew` go first."""
    incumbent = await Incumbent.open(ctx, objective_for(ctx).without(Guard.RESISTANCE))
    asked = await named_skills(ctx)
    kept = {fact.id for fact in asked}
    if anew is not None:
        # Remove the groups of these skills, but never the main group.
        gems = by_id(await ctx.engine.facts.gems())
        removable = for_purposes(incumbent.blueprint, gems, {*ctx.plan.delivery.helper_skills, *kept})
        unplanned = {incumbent.blueprint.groups[i - 1].gems[0].gem_id for i in removable}
        ids = {fact.id for fact in anew} | unplanned
        groups, main = incumbent.blueprint.groups, incumbent.blueprint.main_group
        gone = [i for i, group in enumerate(groups, start=1) if i != main and group.gems[0].gem_id in ids]
        if gone:
            await incumbent.commit([RemoveGroup(index=index) for index in reversed(gone)])
    await incumbent.learn_requirements()
    facts = by_id(await ctx.engine.facts.gems())
    search = await _search(ctx, incumbent)
    await search.recruit(incumbent.blueprint.main_group, facts[ctx.plan.delivery.skill_id])
    offered = [fact for fact in wanted if fact.id not in set(ctx.plan.scaling.excluded_gems)]
    named = [fact for fact in asked if fact in offered]
    missing = [fact for fact in named if not group_index(incumbent.blueprint, fact.id)]
    before = {group.gems[0].gem_id for group in incumbent.blueprint.groups}
    await search.require([[fact] for fact in missing], kept, facts)
    await search.require(_of_styles(ctx, offered, [facts[i] for i in sorted(before | kept) if i in facts]), kept, facts)
    required = [facts[i] for group in incumbent.blueprint.groups if (i := group.gems[0].gem_id) not in before]
    borne = {tag for fact in (*named, *required) for tag in tags(fact)} & ONE_AT_A_TIME
    others = [fact for fact in offered if fact not in (*named, *required) and borne.isdisjoint(tags(fact))]
    added = [*required, *await search.add(others, most)]
    for fact in added:
        index = group_index(incumbent.blueprint, fact.id)
        offered_supports = await ctx.engine.facts.supports_for(fact.id)
        if fact in required and can_be_main(fact):
            rules = await support_rules(
                ctx, incumbent, index, facts, min(SECOND_SUPPORTS, support_slots(ctx.demands.level))
            )
            await search.support_alone(index, rules, facts, offered_supports)
        else:
            await search.support(
                index, await support_rules(ctx, incumbent, index, facts, SIDE_SUPPORTS), facts, offered_supports
            )
    names = ", ".join(fact.name for fact in added)
    return StageResult(incumbent.blueprint, label=f"{what}: {names or 'nothing that helps'}")


def _further_styles(ctx: SearchContext) -> frozenset[str]:
    """Return the styles asked for that a skill beside the main one brings."""
    return OF_FURTHER_SKILLS & set(ctx.invariants.listed("style"))


def _of_styles(ctx: SearchContext, offered: Sequence[GemFact], used: Sequence[GemFact]) -> list[list[GemFact]]:
    """Return per style that a further skill brings, and none that is used does, the skills that would."""
    styles = sorted(_further_styles(ctx))
    real = [fact for fact in offered if fact.colour is not None and level_required(fact) <= ctx.demands.level]
    found = [
        [fact for fact in real if style in tags(fact)] for style in styles if not any(style in tags(f) for f in used)
    ]
    return [wish for wish in found if wish]


async def named_skills(ctx: SearchContext) -> list[GemFact]:
    """Return the skills that the user named beside the main one and the character can have."""
    named, main = await named_in(ctx.engine.facts, ctx.invariants), ctx.plan.delivery.skill_id
    return [fact for fact in named.skills if fact.id != main and level_required(fact) <= ctx.demands.level]


async def _search(ctx: SearchContext, incumbent: Incumbent) -> SkillSearch:
    main, free = incumbent.blueprint.groups[incumbent.blueprint.main_group - 1], ctx.plan.spirit.reserve_free
    # Whether the main group counts into FullDPS, so that other groups may as well.
    counted, level, gear = main.in_full_dps, ctx.demands.level, ctx.demands.gear
    return SkillSearch(incumbent, level, await weapon_types(ctx), free, counted, gear)
