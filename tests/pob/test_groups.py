"""Skill groups for a purpose and both weapon sets, on real Path of Building."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.knowledge.roles import COUNTED
from app.model.base import changed
from app.model.blueprint import Equip, GearItem, PassiveNode, RemoveGroup, SetGroup, SkillGroup
from app.model.constraints import InvariantSet
from app.model.demands import Demands, floors_for, points_by
from app.model.groups import GroupRole
from app.model.names import BuildStatus, Effort, GearTier, Goal
from app.model.record import BuildRequest
from app.model.stats import DPS, EHP
from app.model.sub_problems import (
    AscendancyChoice,
    DeliveryChoice,
    RequirementsChoice,
    ScalingChoice,
    SpiritChoice,
    SurvivabilityChoice,
    SustainChoice,
)
from app.search.base import Plan, SearchContext
from app.search.incumbent import Incumbent
from app.search.objective import objective_for
from app.search.passives.graph import ascendancy_graph, main_graph
from app.search.skills.further import FurtherSkills, group_uses
from app.search.skills.gems import by_id, gem
from app.search.skills.secondary import LEAST_GAIN, SkillSearch
from app.search.skills.supports import SupportRules
from app.search.stages.foundation import blank, found
from app.search.stages.passives import grow_tree
from app.search.stages.skills import further_skills, helper_skills, traits_of
from app.wiring import open_services

pytestmark = [pytest.mark.pob, pytest.mark.asyncio(loop_scope="module")]
LEVEL = 75


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await made.start()
    yield made
    await made.close()


async def context(engine: ProcessEngine, class_name: str, skill: str, weapon: str, goal: Goal) -> SearchContext:
    fact = next(g for g in await engine.facts.gems() if g.name == skill and g.kind == "active")
    plan = Plan(
        ascendancy=AscendancyChoice(class_name=class_name, ascendancy=None),
        delivery=DeliveryChoice(skill_id=fact.id, skill_name=skill, weapon_types=[weapon]),
        scaling=ScalingChoice(),
        survivability=SurvivabilityChoice(),
        sustain=SustainChoice(),
        spirit=SpiritChoice(),
        requirements=RequirementsChoice(),
    )
    floors = floors_for(LEVEL, GearTier.MID, goal)
    demands = Demands(level=LEVEL, gear=GearTier.MID, goal=goal, hardcore=False, floors=floors)
    bare = SearchContext(engine, None, None, plan, demands, InvariantSet(), 0)  # type: ignore[arg-type]
    return replace(bare, blueprint=await blank(bare))


async def started(ctx: SearchContext) -> SearchContext:
    """Return the build with attributes and Spirit for everything, loaded into its session."""
    start = (await found(ctx)).blueprint
    rich = changed(start, config={**start.config, "customMods": "+300 to all Attributes\n+300 to maximum Mana"})
    await ctx.session.build(rich)
    return replace(ctx, blueprint=rich)


async def test_a_bow_gets_what_archers_have_and_no_figure_moves(engine: ProcessEngine) -> None:
    ctx = await context(engine, "Ranger", "Lightning Arrow", "Bow", Goal.BOSSING)
    facts = by_id(await engine.facts.gems())
    async with engine.session() as session:
        ctx = await started(replace(ctx, session=session))
        helped = (await helper_skills(ctx)).blueprint
        before, warned = await session.stats(), (await session.inspect()).warnings
        build = (await further_skills(replace(ctx, blueprint=helped))).blueprint
        after, inspection, xml = await session.stats(), await session.inspect(), await session.export()
    assert len(build.groups) >= 7
    assert after.get(EHP) == before.get(EHP)
    assert after.get(DPS) == pytest.approx(before.get(DPS), rel=LEAST_GAIN)
    assert [line for line in inspection.warnings if line not in warned] == []
    assert inspection.idle_gems == []
    async with engine.session() as session:
        assert (await session.load(xml)).problems == []
        again = (await session.stats()).values
    assert {key: again[key] for key in (DPS, EHP, "Mana")} == {key: after.values[key] for key in (DPS, EHP, "Mana")}
    async with engine.session() as session:
        await session.build(build)
        uses = {use.skill: use for use in await group_uses(session, build, facts, Goal.BOSSING)}
    roles = {use.role for use in uses.values()}
    assert {GroupRole.MAIN, GroupRole.MOVEMENT, GroupRole.CLEAR, GroupRole.EMPOWERMENT} <= roles
    assert uses["Escape Shot"].role is GroupRole.MOVEMENT
    assert uses["Barrage"].counted is False
    clear = next(use for use in uses.values() if use.role is GroupRole.CLEAR)
    assert clear.alone is not None
    assert clear.alone > 0
    assert all(use.purpose and use.line for use in uses.values())
    assert all(use.damage is None for use in uses.values() if use.role not in COUNTED)


async def test_no_helper_is_counted_that_the_build_cannot_bring_about(engine: ProcessEngine) -> None:
    """Freezing Mark is worth a fifth of the damage to Path of Building, also to a build that freezes nothing."""
    for skill in ("Spark", "Ice Nova"):
        ctx = await context(engine, "Sorceress", skill, "Wand", Goal.BOSSING)
        async with engine.session() as session:
            build = (await helper_skills(await started(replace(ctx, session=session)))).blueprint
        led = {group.gems[0].name for group in build.groups}
        assert not led & {"Freezing Mark", "Voltaic Mark", "Infernal Cry", "Soul Offering", "Pain Offering"}, (
            skill,
            led,
        )


async def test_no_group_is_there_that_cannot_be_used_with_what_is_held(engine: ProcessEngine) -> None:
    """Found on an Infernalist with sceptre and shield, who was told to use a Shockwave Totem."""
    ctx = await context(engine, "Witch", "Skeletal Sniper", "Sceptre", Goal.ALL_ROUND)
    totem = next(fact for fact in await engine.facts.gems() if fact.name == "Shockwave Totem")
    async with engine.session() as session:
        ctx = await started(replace(ctx, session=session))
        shield = GearItem(slot="Weapon 2", base="Vaal Tower Shield", text="Rarity: NORMAL\nVaal Tower Shield")
        await session.apply([Equip(item=shield)])
        held = changed(ctx.blueprint, items={**ctx.blueprint.items, "Weapon 2": shield})
        made = (await further_skills(replace(ctx, blueprint=held))).blueprint
        assert (await session.inspect()).unusable == []
        group = SkillGroup(label="Shockwave Totem", gems=[gem(totem, LEVEL)])
        await session.apply([SetGroup(index=len(made.groups) + 1, group=group)])
        (told,) = (await session.inspect()).unusable
        assert (told.name, told.reason) == ("Shockwave Totem", "Main Hand weapon is not usable with this skill")
        incumbent = Incumbent(session, changed(made, groups=[*made.groups, group]), objective_for(ctx))
        await incumbent.measure()
        search = SkillSearch(incumbent, LEVEL, frozenset({"Sceptre", "Shield"}))
        further = FurtherSkills(search, {}, SupportRules(LEVEL, GearTier.MID), GroupRole.CLEAR)
        await further.payable((await session.inspect()).warnings, len(made.groups))
        assert incumbent.blueprint.groups == made.groups


async def test_who_has_more_life_by_each_gem_gets_them(engine: ProcessEngine) -> None:
    """Found on a Gemling Legionnaire with Explosive Grenade: five groups, none for packs, none to move with."""
    ctx = await context(engine, "Mercenary", "Explosive Grenade", "Crossbow", Goal.ALL_ROUND)
    nodes = {node.id: node for node in await engine.facts.nodes() if node.ascendancy == "Gemling Legionnaire"}
    (root,) = [node.id for node in nodes.values() if node.kind == "ascendancy_start"]
    virtue = next(node for node in nodes.values() if node.name == "Essence of Virtue")
    (before,) = [node for node in virtue.neighbours if node in nodes and root in nodes[node].neighbours]
    async with engine.session() as session:
        ctx = await started(replace(ctx, session=session))
        taken = [PassiveNode(id=node) for node in (before, virtue.id)]
        gemling = changed(ctx.blueprint, ascendancy="Gemling Legionnaire", nodes=taken)
        await session.build(gemling)
        less = await session.stats()
        made = (await further_skills(replace(ctx, blueprint=gemling))).blueprint
        more = await session.stats()
        uses = await group_uses(session, made, by_id(await engine.facts.gems()), ctx.demands.goal)
    assert more.get(EHP) > 1.01 * less.get(EHP)
    assert more.get(DPS) == pytest.approx(less.get(DPS), rel=LEAST_GAIN)
    assert GroupRole.CLEAR in {use.role for use in uses}


async def test_what_an_attack_deals_is_calculated_not_read_off_its_tags(engine: ProcessEngine) -> None:
    ctx = await context(engine, "Ranger", "Lightning Arrow", "Bow", Goal.BOSSING)
    async with engine.session() as session:
        ctx = await started(replace(ctx, session=session))
        plain = (await traits_of(ctx)).types
        text = "Rarity: RARE\nHeat\nIron Ring\nImplicits: 0\nAdds 100 to 200 Fire Damage to Attacks"
        await session.apply([Equip(item=GearItem(slot="Ring 1", base="Iron Ring", text=text))])
        heated = (await traits_of(ctx)).types
    assert sum(plain.values()) == pytest.approx(1.0) == sum(heated.values())
    assert plain["lightning"] > plain["physical"] > plain["fire"] == 0
    assert heated["fire"] > 0.5


async def test_set_2_is_measured_with_its_own_passives_and_weapon(engine: ProcessEngine) -> None:
    """What is set 2's own changes its second skill alone; the points of both are paid once."""
    ctx = await context(engine, "Sorceress", "Spark", "Wand", Goal.BOSSING)
    facts = by_id(await engine.facts.gems())
    arc = next(fact for fact in facts.values() if fact.name == "Arc" and fact.kind == "active")
    async with engine.session() as session:
        ctx = replace(ctx, session=session)
        start = (await found(ctx)).blueprint
    one, two = await _two_ways(replace(ctx, blueprint=start))
    wand = start.items["Weapon 1"]
    group = SkillGroup(gems=[gem(arc, LEVEL)])
    nodes = [*(PassiveNode(id=n, weapon_set=1) for n in one), *(PassiveNode(id=n, weapon_set=2) for n in two)]
    items = start.items | {"Weapon 1 Swap": changed(wand, slot="Weapon 1 Swap")}
    build = changed(start, nodes=nodes, items=items, groups=[*start.groups, group])
    async with engine.session() as session:
        await session.build(changed(build, nodes=[PassiveNode(id=n) for n in one], items=start.items))
        alone = await session.stats()
        await session.build(build)
        both, inspection = await session.stats(), await session.inspect()
        uses = await group_uses(session, build, facts, Goal.BOSSING)
    assert [both.get(key) for key in (DPS, EHP, "Life")] == [alone.get(key) for key in (DPS, EHP, "Life")]
    points = inspection.points
    assert (points["used"], points["used_set1"], points["used_set2"]) == (len(one), len(one), len(two))
    assert inspection.dropped_nodes == []
    assert not [line for line in inspection.warnings if "too many" in line]
    assert [use.weapon_set for use in uses] == [0, 2]


async def _two_ways(ctx: SearchContext) -> tuple[list[int], list[int]]:
    """Return two ways of four passives each from the start of the class that share none."""
    graph = await main_graph(ctx)
    ways: list[list[int]] = []
    for route in sorted(graph.routes(frozenset(), 4).values(), key=lambda route: route.target):
        plain = all(graph.nodes[n].kind == "normal" for n in route.nodes)
        if plain and route.points == 4 and all(not set(route.nodes) & set(way) for way in ways):
            ways.append(list(route.nodes))
    return ways[0], ways[1]


async def test_points_that_an_ascendancy_grants_are_spent(engine: ProcessEngine) -> None:
    """Path of Building takes a character whose granted points are left over to be of a lower level."""
    ctx = await context(engine, "Ranger", "Lightning Arrow", "Bow", Goal.BOSSING)
    plan = replace(ctx.plan, ascendancy=AscendancyChoice(class_name="Ranger", ascendancy="Pathfinder"))
    ctx = replace(ctx, plan=plan, effort=Effort.QUICK)
    graph = await ascendancy_graph(ctx)
    assert graph is not None
    granting = [node.id for node in graph.nodes.values() if node.granted_points == 1]
    way = graph.routes(frozenset(), 8)[granting[0]].nodes
    async with engine.session() as session:
        ctx = replace(ctx, session=session)
        taken = [PassiveNode(id=n) for n in graph.in_order(frozenset(way))]
        start = changed((await found(ctx)).blueprint, nodes=taken)
        await session.build(start)
        build = (await grow_tree(replace(ctx, blueprint=start))).blueprint
        points = (await session.inspect()).points
    assert points["granted"] == 1
    assert points["used"] == points_by(LEVEL) + 1 == points["available"]
    assert set(way) <= build.passives


PROMPTS = (
    ("lightning sorceress for bossing", 90),
    ("slam warrior for mapping", 90),
    ("bow ranger for bossing, no uniques", 90),
)


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("prompt", "level"), PROMPTS)
async def test_a_build_has_groups_as_players_have_them(
    pob_path: Path, tmp_path: Path, engine: ProcessEngine, prompt: str, level: int
) -> None:
    """Seven groups at least (eight where attributes and Spirit allow it), each with its purpose, no warning, all points
    spent, the same figures in a fresh process, and no group without which damage or effective hit points are higher.
    """
    settings = Settings(data_dir=tmp_path, pob_path=pob_path, memory="off")
    async with open_services(settings) as services:
        accepted = await services.builds.create(BuildRequest(prompt=prompt, level=level))
        await services.builds.wait(accepted.id)
        shown = await services.library.present(accepted.id)
        view, xml = await services.library.get(accepted.id), await services.library.export(accepted.id, "xml")
    assert view.status is BuildStatus.COMPLETE
    assert shown.guide is not None
    uses = shown.guide.groups
    assert len(uses) >= 7, [use.line for use in uses]
    assert all(use.purpose for use in uses)
    assert shown.weapon_sets
    assert b"Skill groups" in xml
    async with engine.session() as session:
        assert (await session.load(xml)).problems == []
        again, inspection, blueprint = await session.stats(), await session.inspect(), await session.blueprint()
        others = [index for index in range(1, len(blueprint.groups) + 1) if index != blueprint.main_group]
        without = await session.what_if([[RemoveGroup(index=index)] for index in others], (DPS, EHP))
    assert all(one[key] <= again.get(key) * 1.0001 for one in without for key in (DPS, EHP))
    assert inspection.warnings == []
    assert view.stats is not None
    assert [again.get(key) for key in (DPS, EHP)] == pytest.approx([view.stats.values[key] for key in (DPS, EHP)])
    assert inspection.points["used_set1"] == inspection.points["used_set2"]
    assert inspection.points["used"] == level - 1 + 24 + inspection.points["granted"]
