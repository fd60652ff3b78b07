"""Jewels in sockets: what the user named wherever it measures best, others one by one while the whole build gains."""

from __future__ import annotations

from typing import Any

import pytest

from app.model.base import changed
from app.model.blueprint import Blueprint, GearItem, PassiveNode
from app.model.constraints import Invariant, InvariantSet
from app.model.demands import gear_limits
from app.model.facts import AffixFact, BaseFact, UniqueFact
from app.model.names import Effort, GearTier, Provenance
from app.search.effort import LIMITS
from app.search.gear.jewels import JewelChoice, short_list
from app.search.gear.legality import gear_findings, shopping_list
from app.search.gear.pool import GearOption
from app.search.gear.unique_jewels import alike_anywhere, jewels_to_try, named_jewels, seat_named, sensible
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph, near_jewels, reached, with_sockets
from tests.fakes.arithmetic import World, WorldFacts, active, node
from tests.unit.search.conftest import FLOORS, START, Context


def jewel(name: str, *lines: str, base: str = "Diamond", **more: Any) -> UniqueFact:
    """A unique jewel of which one character can use one, unless it is said otherwise."""
    head = ["Rarity: UNIQUE", name, base, *more.pop("head", []), "Implicits: 0"]
    shown = [*more.get("choices", [])[-more.get("chosen", 0) or len(lines) + 99 :], *lines]
    data = {"limit": 1, **more}
    return UniqueFact(name=name, base=base, type="Jewel", level=1, lines=shown, text="\n".join([*head, *shown]), **data)


GOOD, BETTER = jewel("Good", "20 inc"), jewel("Better", "30 inc", source="Drops from somebody")
COSTLY = jewel("Costly", "90 inc", "-10 fire")
FEW = jewel("Few", choices=["5 inc", "40 inc", "10 inc", "0 inc"], chosen=2)
NODES = [
    node(1, 2, kind="start"),
    node(2, 1, 3, 5, mods=["5 inc"], x=3000.0),
    node(3, 2, 4, kind="socket"),
    node(4, 3, kind="socket", x=100.0),
    node(5, 2, kind="socket", x=9000.0),
]
BASES = [BaseFact(name=name, type="Jewel", slots=["Jewel"]) for name in ("Ruby", "Diamond")]
BASES += [BaseFact(name="Time-Lost Ruby", type="Jewel", sub_type="Radius", slots=["Jewel"], tags=["not_for_sale"])]
AROUND = AffixFact(id="around", side="prefix", name="", group="around", level=1, lines=["25 inc"], weight=1)
RARE = {slot: GearItem(slot=slot, base="Ruby") for slot in ("Jewel 3", "Jewel 4")}
BUILD = changed(START, nodes=[PassiveNode(id=2), PassiveNode(id=3), PassiveNode(id=4)], items=RARE)


def wished(field: str, *names: str) -> dict[str, Any]:
    asked = Invariant(field=field, value=list(names), provenance=Provenance.EXPLICIT, reason="said")
    return {"invariants": InvariantSet(invariants=[asked])}


def tier(gear: GearTier, **more: Any) -> dict[str, Any]:
    return {"floors": changed(FLOORS, gear=changed(gear_limits(gear, 90), **more))}


def world(*uniques: UniqueFact, affixes: tuple[AffixFact, ...] = ()) -> World:
    return World(nodes=NODES, bases=BASES, gems=[active("zap")], uniques=list(uniques), affixes=list(affixes))


async def chosen(context: Context, of: World, build: Blueprint = BUILD, **more: Any) -> dict[str, str]:
    """Return per socket what sits in it after the choice: a unique's name, or the base."""
    more = {**tier(GearTier.ENDGAME), **more}
    budget = more.pop("budget", 1000)
    ctx = context(of, build, **more)
    incumbent = await Incumbent.open(ctx)
    before = incumbent.score
    taken = await JewelChoice(ctx, incumbent, budget).run()
    assert incumbent.score > before if taken else incumbent.blueprint == build
    faults = await gear_findings(WorldFacts(of), incumbent.blueprint, ctx.demands.floors.gear)
    assert not faults
    return {slot: item.title or item.base for slot, item in sorted(incumbent.blueprint.items.items())}


async def test_the_best_uniques_go_in_one_of_each(context: Context) -> None:
    assert await chosen(context, world(GOOD, BETTER)) == {"Jewel 3": "Better", "Jewel 4": "Good"}
    assert await chosen(context, world(GOOD)) == {"Jewel 3": "Good", "Jewel 4": "Ruby"}
    both = await chosen(context, world(changed(GOOD, limit=3)))
    assert both == {"Jewel 3": "Good", "Jewel 4": "Good"}


async def test_the_tier_decides_which_and_how_many(context: Context) -> None:
    known = world(GOOD, BETTER, affixes=(AROUND,))
    assert await chosen(context, known, **tier(GearTier.MID)) == {"Jewel 3": "Good", "Jewel 4": "Ruby"}
    assert await chosen(context, known, **tier(GearTier.STARTER)) == {"Jewel 3": "Ruby", "Jewel 4": "Ruby"}
    one = tier(GearTier.ENDGAME, max_uniques=1)
    assert await chosen(context, known, **one) == {"Jewel 3": "Better", "Jewel 4": "Time-Lost Ruby"}


async def test_what_is_too_little_costs_a_resistance_or_is_excluded_stays_out(context: Context) -> None:
    left = {"Jewel 3": "Ruby", "Jewel 4": "Ruby"}
    assert await chosen(context, world(jewel("Small", "0.1 inc"))) == left
    assert await chosen(context, world(COSTLY)) == left
    assert await chosen(context, world(GOOD), **wished("exclude", "uniques")) == left
    assert await chosen(context, world(affixes=(AROUND,)), **wished("exclude", "jewels")) == left
    assert await chosen(context, world(GOOD, affixes=(AROUND,)), budget=0) == left
    bare = changed(BUILD, nodes=[PassiveNode(id=2)], items={})
    assert await chosen(context, world(GOOD), bare) == {}


async def test_jewels_that_say_something_ruled_out_stay_out(context: Context) -> None:
    critical = "10 Critical Damage Bonus"
    sharp = changed(AROUND, lines=[*AROUND.lines, critical])
    known = world(jewel("Sharp", "60 inc", critical), GOOD, affixes=(sharp,))
    no_crit = wished("exclude", "crit")
    assert await chosen(context, known) == {"Jewel 3": "Sharp", "Jewel 4": "Time-Lost Ruby"}
    assert await chosen(context, known, **no_crit) == {"Jewel 3": "Good", "Jewel 4": "Ruby"}


async def test_the_lines_of_choice_that_are_worth_most_are_taken_together(context: Context) -> None:
    ctx = context(world(FEW), BUILD, **tier(GearTier.ENDGAME))
    incumbent = await Incumbent.open(ctx)
    [put_in] = await JewelChoice(ctx, incumbent, 100).run()
    assert put_in.text is not None
    assert FEW.lines_in(put_in.text) == ["40 inc", "10 inc"]
    listed = await shopping_list(WorldFacts(world(FEW)), incumbent.blueprint)
    assert [line["text"] for line in listed[0]["lines"]] == ["40 inc", "10 inc"]


async def test_what_serves_only_another_tree_or_is_luck_is_not_tried(context: Context) -> None:
    known = world(
        GOOD,
        jewel("Unread", "20 inc", unparsed=1),
        jewel("Reach", "Passives in Radius can be Allocated without being connected to your tree"),
        jewel("Hidden", "20 inc", base="Timeless Jewel"),
        jewel("Untouched", "20 inc", "100% increased Evasion Rating if you haven't been Hit Recently"),
        jewel("Flesh Crucible", choices=["1 inc", "2 inc", "3 inc"], chosen=2),
        jewel("Luck", choices=["1 inc", "2 inc", "3 inc", "4 inc"], chosen=3),
    )
    ctx = context(known, BUILD, **tier(GearTier.ENDGAME))
    assert [fact.name for fact in await jewels_to_try(ctx)] == ["Good"]


def test_levels_of_skills_that_the_build_has_not_are_no_choice() -> None:
    levels = [f"+(1-3) to Level of all {name} Skills" for name in ("Zap", "Boom")]
    assert sensible(jewel("Prism", choices=levels, chosen=1), BUILD) == levels[:1]
    assert sensible(jewel("Prism", choices=levels[1:], chosen=1), BUILD) == levels[1:]


@pytest.mark.parametrize("gear", [GearTier.STARTER, GearTier.ENDGAME])
async def test_what_the_user_named_is_put_in_whatever_it_costs_and_stays(context: Context, gear: GearTier) -> None:
    bad = jewel("Bad", "-20 inc", source="Drops from somebody")
    named = tier(gear, named=["Bad"])
    ctx = context(world(GOOD, bad), BUILD, **named, **wished("with", "Bad"))
    incumbent = await Incumbent.open(ctx)
    assert await seat_named(ctx, incumbent) == ["Bad"]
    assert await seat_named(ctx, incumbent) == []
    await JewelChoice(ctx, incumbent, 1000).run()
    worn = sorted(item.title for item in incumbent.blueprint.items.values())
    assert worn == (["", "Bad"] if gear is GearTier.STARTER else ["Bad", "Good"])
    assert not await gear_findings(WorldFacts(world(GOOD, bad)), incumbent.blueprint, ctx.demands.floors.gear)


async def test_without_a_socket_nothing_is_put_in(context: Context) -> None:
    ctx = context(world(GOOD), changed(BUILD, nodes=[PassiveNode(id=2)], items={}), **wished("with", "Good"))
    incumbent = await Incumbent.open(ctx)
    assert await seat_named(ctx, incumbent) == []
    assert incumbent.blueprint.items == {}


async def test_a_jewel_that_is_not_calculated_or_above_the_level_is_none(context: Context) -> None:
    hidden, late = jewel("Hidden", base="Timeless Jewel"), changed(GOOD, level=91)
    ctx = context(world(hidden, late), BUILD, **wished("with", "Hidden", "Good"))
    assert await named_jewels(ctx) == []


def test_each_named_jewel_has_a_socket_of_its_own() -> None:
    graph = PassiveGraph(NODES, [1])
    assert with_sockets(graph, [], [], 0, 10) == []
    assert reached(graph, with_sockets(graph, [], [], 1, 10), 10)[0] >= {3}
    assert reached(graph, with_sockets(graph, [], [], 2, 10), 10)[1] == {2, 3, 4}
    assert reached(graph, with_sockets(graph, [], [5], 1, 10), 10)[0] == {5}
    assert len(with_sockets(graph, [frozenset({4})], [5], 2, 10)) == 3


def test_only_jewels_with_a_radius_make_passives_differ() -> None:
    assert near_jewels(PassiveGraph(NODES, [1]), BUILD) == frozenset()
    radius = changed(BUILD, items={"Jewel 3": GearItem(slot="Jewel 3", base="Time-Lost Ruby")})
    assert near_jewels(PassiveGraph(NODES, [1]), radius) == {1, 3, 4}


async def test_two_of_a_jewel_that_is_limited_to_one_are_a_fault(context: Context) -> None:
    two = {slot: GearItem(slot=slot, base="Diamond", rarity="UNIQUE", title="Good", text=GOOD.text) for slot in RARE}
    limits = gear_limits(GearTier.ENDGAME, 90)
    [fault] = await gear_findings(WorldFacts(world(GOOD)), changed(BUILD, items=two), limits)
    assert (fault.slot, fault.reason) == ("Jewel 4", "2 are worn, 1 can be used")


def test_the_short_list_has_the_best_of_both_sides() -> None:
    options = [GearOption("Jewel", side, f"{side}{i:02}") for side in ("prefix", "suffix") for i in range(20)]
    worth = {option.id: float(option.id[-2:]) for option in options if option.kind == "prefix"}
    found = short_list(options, worth)
    assert [option.id for option in found][:2] == ["prefix19", "prefix18"]
    assert {option.kind for option in found} == {"prefix"}


def test_quick_effort_leaves_jewels_as_they_are() -> None:
    assert LIMITS[Effort.QUICK].jewels == 0 < LIMITS[Effort.NORMAL].jewels < LIMITS[Effort.DEEP].jewels


async def test_jewels_without_a_radius_are_chosen_with_all_other_gear(context: Context) -> None:
    """In one socket, because they do the same in any; those with a radius wait until the tree is final."""
    around = jewel("Around", "50 inc", head=["Radius: Small"])
    ctx = context(world(GOOD, FEW, around), BUILD, **tier(GearTier.ENDGAME))
    incumbent = await Incumbent.open(ctx)
    found = await alike_anywhere(ctx, incumbent, ["Jewel 4", "Jewel 3"])
    assert [(item.title, item.slot) for item in found] == [("Few", "Jewel 3"), ("Good", "Jewel 3")]
    assert await alike_anywhere(ctx, incumbent, []) == []
    none = context(world(GOOD), BUILD, **tier(GearTier.STARTER))
    assert await alike_anywhere(none, await Incumbent.open(none), ["Jewel 3"]) == []
