"""The passive stage: trees that are better in one way are named, passives that break the plan's pool never bought."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.model.base import changed
from app.model.blueprint import PassiveNode, SkillGroup
from app.model.constraints import Invariant, InvariantSet
from app.model.facts import GemFact
from app.model.names import Provenance
from app.model.sub_problems import ScalingChoice, SurvivabilityChoice
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.passives.tree import TreeSearch
from app.search.skills.gems import gem
from app.search.stages.passives import alternatives, alternatives_now, banned_nodes, trade_passives
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import FLOORS, PLAN, Context

NODES = [
    node(1, 2, 3, 4, kind="start"),
    node(2, mods=["30 inc"], kind="notable"),
    node(3, mods=["280 life"], kind="notable"),
    node(4, mods=["100 life", "12 inc"], kind="notable"),
]


async def search(context: Context, points: int) -> TreeSearch:
    incumbent = await Incumbent.open(context(World(nodes=NODES, gems=[active("zap")])))
    made = TreeSearch(incumbent, PassiveGraph(NODES, [1]))
    await made.spend(points)
    await made.improve()
    return made


async def test_a_tree_that_is_better_in_one_way_is_named_and_not_taken(context: Context) -> None:
    made = await search(context, 1)
    before = made.incumbent.blueprint
    named = {found.aim: found for found in await alternatives(made)}
    assert made.incumbent.blueprint == before
    assert named
    for aim, metric in (("more damage", "dps"), ("more effective hit points", "ehp")):
        if aim in named:
            now = made.incumbent.outputs["DPS" if metric == "dps" else "TotalEHP"]
            assert getattr(named[aim], metric) > now
            assert named[aim].bought != named[aim].given_back


async def test_nothing_is_named_when_all_is_bought(context: Context) -> None:
    assert await alternatives(await search(context, 3)) == []


async def test_a_named_tree_is_measured_again_on_what_became_of_the_build(context: Context) -> None:
    made = await search(context, 1)
    (named,) = await alternatives(made)
    assert (named.aim, named.bought, named.given_back) == ("more effective hit points", ["n3"], ["n2"])
    assert await alternatives_now(made.incumbent, [named]) == [named]
    assert await alternatives_now(made.incumbent, [changed(named, changes=[])]) == [], "no other tree"
    await made.incumbent.commit(named.changes)
    assert await alternatives_now(made.incumbent, [named]) == [], "it has it by now"


@pytest.mark.parametrize(("held", "label"), [(3, "better passives: n2"), (2, "no better passives")])
async def test_passives_are_traded_for_what_is_worn_by_now(context: Context, held: int, label: str) -> None:
    """A passive that was the best before there was gear stays only while it is."""
    nodes = [
        node(1, 2, 3, kind="start"),
        node(2, mods=["30 inc"], kind="notable"),
        node(3, mods=["5 inc"], kind="notable"),
    ]
    ctx = context(World(nodes=nodes, gems=[active("zap")]), floors=changed(FLOORS, passive_points=1))
    blueprint = changed(ctx.blueprint, nodes=[PassiveNode(id=held)])
    await ctx.session.build(blueprint)
    ctx = replace(ctx, blueprint=blueprint, notes=changed(ctx.notes, gear_made=True))
    result = await trade_passives(ctx)
    assert [one.id for one in result.blueprint.nodes] == [2]
    assert result.label == label
    wish = Invariant(field="with", value=[nodes[2].name], provenance=Provenance.EXPLICIT, reason="asked")
    await ctx.session.build(blueprint)
    named = await trade_passives(replace(ctx, invariants=InvariantSet(invariants=[wish])))
    assert [one.id for one in named.blueprint.nodes] == [3]


HEX = active("hex", tags=["curse"])
KEYSTONES = [
    node(1, 2, 3, kind="start"),
    node(2, 1, kind="keystone").model_copy(update={"name": "Chaos Inoculation"}),
    node(3, 1, kind="notable", mods=["8% of Skill Mana Costs Converted to Life Costs"]),
    node(4, 1, kind="notable", mods=["10% increased maximum Life"]),
    node(5, 1, kind="notable", mods=["100% increased Evasion Rating if you haven't been Hit Recently"]),
    node(6, 1, kind="notable", mods=["40% increased Critical Hit Chance if you haven't dealt a Critical Hit Recently"]),
]


@pytest.mark.parametrize(
    ("pool", "banned"), [("life", {2, 4, 5, 6}), ("hybrid", {4, 5, 6}), ("energy_shield", {3, 4, 5, 6})]
)
async def test_the_pool_decides_and_what_helps_at_times_is_never_bought(
    context: Context, pool: str, banned: set[int]
) -> None:
    survival = SurvivabilityChoice.model_validate({"pool": pool})
    plan = replace(PLAN, survivability=survival, scaling=ScalingChoice(excluded_nodes=[4]))
    ctx = context(World(nodes=KEYSTONES, gems=[active("zap")]), plan=plan)
    graph = PassiveGraph(KEYSTONES, [1])
    assert await banned_nodes(ctx, graph) == banned
    wish = Invariant(
        field="with",
        value=[node.name for node in KEYSTONES[1:]],
        provenance=Provenance.EXPLICIT,
        reason="asked",
    )
    named = replace(ctx, invariants=InvariantSet(invariants=[wish]))
    assert await banned_nodes(named, graph) == {4}, "what is excluded stays out, the rest is for who names it"


@pytest.mark.parametrize(
    ("helper", "line", "banned"),
    [
        (HEX, "Skills gain a Base Life Cost equal to Base Mana Cost", True),
        (HEX, "18% of Skill Mana Costs Converted to Life Costs", True),
        (HEX, "30% increased Life Cost of Skills", False),
        (active("guard", spirit=30), "Skills gain a Base Life Cost equal to Base Mana Cost", False),
        (None, "Skills gain a Base Life Cost equal to Base Mana Cost", False),
    ],
)
async def test_nothing_takes_the_life_that_other_skills_are_paid_with(
    context: Context, helper: GemFact | None, line: str, banned: bool
) -> None:
    """Found on a minion build: a Blood Mage's tree was traded for Chaos Inoculation, and her curse was lost."""
    nodes = [*KEYSTONES, node(6, 1, mods=[line], kind="notable")]
    gems = [active("zap"), *([helper] if helper is not None else [])]
    shielded = replace(PLAN, survivability=SurvivabilityChoice(pool="energy_shield"))
    ctx = context(World(nodes=nodes, gems=gems), plan=shielded)
    graph = PassiveGraph(KEYSTONES, [1])
    groups = [*ctx.blueprint.groups, *(SkillGroup(gems=[gem(fact, 90)]) for fact in gems[1:])]
    blueprint = changed(ctx.blueprint, groups=groups, nodes=[*ctx.blueprint.nodes, PassiveNode(id=6)])
    assert 2 not in await banned_nodes(ctx, graph), "its cost is that of mana"
    assert (2 in await banned_nodes(replace(ctx, blueprint=blueprint), graph)) == banned
    off = [changed(group, enabled=group is blueprint.main) for group in groups]
    assert 2 not in await banned_nodes(replace(ctx, blueprint=changed(blueprint, groups=off)), graph)
