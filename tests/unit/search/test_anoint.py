"""The anointed amulet: the best notable out of reach that the gear tier can pay, and what the user named before it."""

from __future__ import annotations

from typing import Any

import pytest

from app.model.base import changed
from app.model.blueprint import Blueprint, GearItem, PassiveNode
from app.model.constraints import Invariant, InvariantSet
from app.model.demands import gear_limits
from app.model.facts import BaseFact
from app.model.names import GearTier, Provenance
from app.search.gear.anoint import anoint, offers
from app.search.gear.legality import gear_findings, shopping_list
from app.search.incumbent import Incumbent
from tests.fakes.arithmetic import World, WorldFacts, active, node
from tests.unit.search.conftest import DEMANDS, FLOORS, START, Context

COMMON, RARE = ["Ire", "Guilt", "Fear"], ["Ire", "Ire", "Isolation"]
NODES = [
    node(1, 2, kind="start"),
    node(2, 1, 3, mods=["5 inc"]),
    node(3, 2, mods=["40 inc"], kind="notable", recipe=COMMON),
    node(4, mods=["30 inc"], kind="notable", recipe=COMMON),
    node(5, mods=["60 inc"], kind="notable", recipe=RARE),
    node(6, mods=["90 inc"], kind="notable"),
    node(7, mods=["80 inc"], kind="notable", recipe=COMMON, name="twin"),
    node(8, mods=["80 inc"], kind="notable", recipe=COMMON, name="twin"),
    node(9, mods=["1 need_str"], kind="notable", recipe=COMMON),
]
BASES = [
    BaseFact(name="Gold Amulet", type="Amulet", slots=["Amulet"]),
    BaseFact(name="Ring", type="Ring", slots=["Ring 1"]),
]
WORLD = World(nodes=NODES, bases=BASES, gems=[active("zap")])
AMULET = GearItem(slot="Amulet", base="Gold Amulet")
BUILD = changed(START, items={"Amulet": AMULET}, nodes=[PassiveNode(id=2), PassiveNode(id=3)])


async def anointed(
    context: Context, build: Blueprint = BUILD, banned: frozenset[int] = frozenset(), **more: Any
) -> str:
    ctx = context(WORLD, build, **more)
    incumbent = await Incumbent.open(ctx)
    before = incumbent.score
    name = await anoint(ctx, incumbent, banned)
    worn = incumbent.blueprint.items.get("Amulet")
    assert (worn.anoint if worn else "") == name
    assert incumbent.score >= before or "invariants" in more
    return name


def tier(gear: GearTier, level: int = 90) -> dict[str, Any]:
    return {"floors": changed(FLOORS, gear=gear_limits(gear, level))}


async def test_the_best_that_is_not_allocated_and_can_be_paid_is_chosen(context: Context) -> None:
    """Not 3 (allocated), nor 5 (too rare for mid), 6 (no recipe), or 7 and 8 (one name: who knows which)."""
    assert await anointed(context) == "n4"
    assert await anointed(context, **tier(GearTier.ENDGAME)) == "n5"


async def test_what_is_banned_is_not_chosen_and_what_gains_nothing_neither(context: Context) -> None:
    assert await anointed(context, banned=frozenset({4})) == ""


async def test_an_allocated_notable_is_worth_nothing_on_the_amulet(context: Context) -> None:
    held = changed(BUILD, items={"Amulet": changed(AMULET, anoint="n3")})
    assert await anointed(context, held) == "n4"


@pytest.mark.parametrize(
    "build",
    [
        changed(BUILD, items={}),
        changed(BUILD, items={"Amulet": changed(AMULET, text="Rarity: RARE\n{enchant}Allocates n3")}),
    ],
    ids=["no amulet", "anointed by its owner"],
)
async def test_there_is_nothing_to_anoint(context: Context, build: Blueprint) -> None:
    ctx = context(WORLD, build)
    incumbent = await Incumbent.open(ctx)
    assert await anoint(ctx, incumbent, frozenset()) == ""
    assert incumbent.blueprint == build
    assert await offers(ctx, incumbent, frozenset()) == []


async def test_before_maps_nobody_has_emotions(context: Context) -> None:
    assert await anointed(context, **tier(GearTier.MIRROR, 64)) == ""


async def test_a_named_notable_out_of_reach_goes_first_whatever_it_gains(context: Context) -> None:
    said = Invariant(field="with", value=["n9"], provenance=Provenance.EXPLICIT, reason="said")
    asked = InvariantSet(invariants=[said])
    assert await anointed(context, invariants=asked) == "n9"


async def test_offers_are_for_an_amulet_that_is_bare(context: Context) -> None:
    ctx = context(WORLD, BUILD)
    found = await offers(ctx, await Incumbent.open(ctx), frozenset())
    assert [(name, way.item.anoint) for name, way in found] == [("n4", "n4")]


def test_what_an_item_is_anointed_with_is_read_from_its_text_as_well() -> None:
    assert changed(AMULET, anoint="n4").allocated == ["n4"]
    text = "Rarity: RARE\nImplicits: 1\n{enchant}Allocates Storm Swell\n+1 life"
    assert changed(AMULET, text=text).allocated == ["Storm Swell"]
    assert AMULET.allocated == []


async def test_what_no_emotions_do_is_listed_without_any() -> None:
    build = changed(START, items={"Amulet": changed(AMULET, anoint="n6")})
    (entry,) = await shopping_list(WorldFacts(WORLD), build)
    assert entry["lines"][0]["text"] == "Allocates n6"


@pytest.mark.parametrize(
    ("item", "gear", "reason"),
    [
        (changed(AMULET, anoint="n5"), GearTier.MID, "the gear tier does not have Ire, Ire, Isolation for n5"),
        (changed(AMULET, anoint="n6"), GearTier.MIRROR, "nothing anoints with n6"),
        (changed(AMULET, anoint="twin"), GearTier.MIRROR, "nothing anoints with twin"),
        (GearItem(slot="Ring 1", base="Ring", anoint="n4"), GearTier.MIRROR, "Ring cannot be anointed"),
    ],
)
async def test_what_cannot_be_is_found(item: GearItem, gear: GearTier, reason: str) -> None:
    build = changed(START, items={item.slot: item})
    found = await gear_findings(WorldFacts(WORLD), build, gear_limits(gear, 90))
    assert reason in [finding.reason for finding in found]


async def test_the_shopping_list_says_which_emotions() -> None:
    build = changed(START, items={"Amulet": changed(AMULET, anoint="n4")})
    (entry,) = await shopping_list(WorldFacts(WORLD), build)
    assert entry["lines"][0]["text"] == "Allocates n4 (Ire, Guilt, Fear)"
    assert await gear_findings(WorldFacts(WORLD), build, gear_limits(GearTier.MID, DEMANDS.level)) == []
