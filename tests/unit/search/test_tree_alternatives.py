from __future__ import annotations

from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.passives.tree import TreeSearch
from app.search.stages.passives import alternatives
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context

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
