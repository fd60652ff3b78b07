from __future__ import annotations

from app.model.blueprint import PassiveNode
from app.model.names import Attribute
from app.search.incumbent import Incumbent
from app.search.passives.attributes import AttributeSearch
from app.search.passives.graph import PassiveGraph
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import START, Context

NODES = [node(1, 2, kind="start"), *(node(i, i + 1, kind="attribute") for i in range(2, 8))]


async def settle(context: Context, needs: str, have: dict[str, float] | None = None) -> tuple[bool, dict[str, int]]:
    world = World(nodes=NODES, gems=[active("zap", needs)], attributes=have or {})
    passives = [PassiveNode(id=i, attribute=Attribute.STRENGTH) for i in range(2, 8)]
    incumbent = await Incumbent.open(context(world, START.model_copy(update={"nodes": passives})))
    met = await AttributeSearch(incumbent, PassiveGraph(NODES, [1])).run()
    given = [n.attribute for n in incumbent.blueprint.nodes]
    return met, {a.value: given.count(a) for a in Attribute}


async def test_switches_as_many_as_are_needed(context: Context) -> None:
    met, given = await settle(context, "10 need_dex, 15 need_int")
    assert met
    assert given["dex"] >= 2
    assert given["int"] >= 3


async def test_does_not_rob_one_requirement_for_another(context: Context) -> None:
    met, given = await settle(context, "15 need_str, 15 need_dex")
    assert met
    assert (given["str"], given["dex"]) == (3, 3)


async def test_says_when_it_cannot_be_done(context: Context) -> None:
    met, _ = await settle(context, "30 need_str, 10 need_int")
    assert not met


async def test_what_one_has_already_counts(context: Context) -> None:
    met, given = await settle(context, "10 need_dex", {"dex": 10})
    assert met
    assert given["str"] == 6
