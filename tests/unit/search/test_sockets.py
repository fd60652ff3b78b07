from __future__ import annotations

from app.model.blueprint import GearItem
from app.search.gear.jewels import JewelSockets
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph
from app.search.passives.tree import TreeSearch
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context

NODES = [
    node(1, 2, 4, kind="start"),
    node(2, 3),
    node(3, kind="socket", mods=["90 inc"]),
    node(4, mods=["10 inc"], kind="notable"),
]
JEWEL = GearItem(slot="Jewel 99", base="Ruby")


async def grown(context: Context, jewel: GearItem | None) -> TreeSearch:
    incumbent = await Incumbent.open(context(World(nodes=NODES, gems=[active("zap")])))
    search = TreeSearch(incumbent, PassiveGraph(NODES, [1]), sockets=JewelSockets(incumbent, jewel))
    await search.spend(2)
    return search


async def test_sockets_are_bought_with_the_jewel_in_them(context: Context) -> None:
    search = await grown(context, JEWEL)
    assert search.owned == {2, 3}
    assert search.incumbent.blueprint.items == {"Jewel 3": JEWEL.model_copy(update={"slot": "Jewel 3"})}


async def test_sockets_without_a_jewel_are_left_alone(context: Context) -> None:
    search = await grown(context, None)
    assert 3 not in search.owned


async def test_giving_a_socket_back_takes_the_jewel_out(context: Context) -> None:
    search = await grown(context, JEWEL)
    await search.shrink(1)
    assert search.owned == {2}
    assert search.incumbent.blueprint.items == {}
