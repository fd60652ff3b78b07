"""What the user named is built, whatever it is worth: passives, supports, skills, uniques, bases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.knowledge.named import named_in
from app.model.base import changed
from app.model.blueprint import MAIN_HAND, Blueprint
from app.model.constraints import Invariant, InvariantSet
from app.model.demands import demands_of, floors_for
from app.model.facts import BaseFact
from app.model.names import GearTier, Provenance
from app.search.base import SearchContext
from app.search.gear.legality import gear_findings
from app.search.gear.loadout import optimise_gear, starting_gear
from app.search.passives.graph import PassiveGraph, reached
from app.search.stages.passives import ascend, finish, grow_tree, polish_tree
from app.search.stages.skills import helper_skills, main_supports, more_persistent_skills, persistent_skills
from tests.fakes.arithmetic import ArithmeticEngine, World, active, node, support
from tests.unit.search.conftest import FLOORS, PLAN, Context
from tests.unit.search.test_gear_search import AFFIXES, AMULET, HELMET, unique

TREE = [
    node(1, 2, 5, 8, kind="start"),
    node(2, 3),
    node(3, 4, mods=["10 inc"]),
    node(4, mods=["60 inc"], kind="notable"),
    node(5, 6),
    node(6, 7),
    node(7, mods=["-30 inc"], kind="keystone"),
    node(8, mods=["4 inc"]),
]


def wished(**fields: list[str]) -> InvariantSet:
    found = [
        Invariant(field=field.rstrip("_"), value=value, provenance=Provenance.EXPLICIT, reason="you wrote it")
        for field, value in fields.items()
    ]
    return InvariantSet(invariants=found)


def with_points(points: int) -> Any:
    return changed(FLOORS, passive_points=points)


async def tree(context: Context, points: int, *names: str, **more: Any) -> set[int]:
    ctx = context(World(nodes=TREE, gems=[active("zap")]), floors=with_points(points), **more)
    ctx = replace(ctx, invariants=wished(with_=list(names)))
    for stage in (grow_tree, polish_tree, finish):
        result = await stage(ctx)
        ctx = replace(ctx, blueprint=result.blueprint, notes=ctx.notes.joined(result.notes))
    return {n.id for n in ctx.blueprint.nodes}


async def test_a_named_keystone_is_taken_though_it_costs_damage(context: Context) -> None:
    assert await tree(context, 3) == {2, 3, 4}
    assert await tree(context, 3, "N7") == {5, 6, 7}
    assert await tree(context, 6, "n7") == {5, 6, 7, 2, 3, 4}


async def test_a_keystone_out_of_reach_is_left_and_the_points_are_spent(context: Context) -> None:
    assert await tree(context, 2, "n7") == {2, 3}


async def test_a_named_passive_is_bought_into_a_tree_that_is_full(context: Context) -> None:
    full = Blueprint.model_validate({**_start(context).model_dump(), "nodes": [{"id": n} for n in (2, 3, 4)]})
    assert await tree(context, 3, "n7", blueprint=full) == {5, 6, 7}


def _start(context: Context) -> Blueprint:
    return context(World(nodes=TREE, gems=[active("zap")])).blueprint


async def test_a_passive_that_a_conflict_wants_gone_is_not_forced_again(context: Context) -> None:
    plan = replace(PLAN, scaling=changed(PLAN.scaling, excluded_nodes=[4, 7]))
    assert await tree(context, 3, "n7", plan=plan) == {2, 3, 8}


def test_the_nearest_of_several_is_reached_first_and_shares_its_way() -> None:
    graph = PassiveGraph(TREE, [1])
    assert reached(graph, [frozenset({7}), frozenset({4})], 5) == (frozenset({4}), frozenset({2, 3, 4}))
    assert reached(graph, [frozenset({7}), frozenset({3}), frozenset({4})], 3)[0] == {3, 4}
    assert reached(graph, [frozenset({4, 8})], 5) == (frozenset({8}), frozenset({8}))
    assert reached(graph, [], 5) == (frozenset(), frozenset())


async def test_named_ascendancy_passives_come_first(context: Context) -> None:
    nodes = [
        node(100, 101, 103, kind="ascendancy_start", ascendancy="Top"),
        node(101, 102, ascendancy="Top", mods=["1 inc"]),
        node(102, ascendancy="Top", kind="notable", mods=["90 inc"]),
        node(103, 104, ascendancy="Top"),
        node(104, ascendancy="Top", kind="notable"),
    ]
    world = World(nodes=[node(1, kind="start"), *nodes], gems=[active("zap")])
    ctx = context(world, floors=changed(FLOORS, ascendancy_points=2))
    assert {n.id for n in (await ascend(ctx)).blueprint.nodes} == {101, 102}
    plain = (await ascend(ctx)).blueprint
    session = ArithmeticEngine(world).new_session(plain)
    ctx = replace(ctx, invariants=wished(with_=["n104"]), blueprint=plain, session=session)
    assert {n.id for n in (await ascend(ctx)).blueprint.nodes} == {103, 104}


GEMS = [
    active("zap"),
    support("strong", "50 more"),
    support("good", "40 more"),
    support("weak", "-5 more"),
    support("chased", "1 more", lineage=True),
]


async def supports(context: Context, *names: str, level: int = 20) -> set[str]:
    ctx = replace(context(World(gems=GEMS), level=level), invariants=wished(with_=list(names)))
    first = await main_supports(ctx)
    again = await main_supports(replace(ctx, blueprint=first.blueprint))
    assert again.blueprint == first.blueprint
    return {gem.gem_id for gem in again.blueprint.groups[0].gems[1:]}


async def test_named_supports_stay_whatever_they_cost(context: Context) -> None:
    assert await supports(context) == {"strong", "good"}
    assert await supports(context, "Weak") == {"strong", "good", "weak"}
    assert await supports(context, "Weak", level=1) == {"strong", "weak"}
    assert "chased" in await supports(context, "chased")


async def test_a_support_that_a_conflict_dropped_is_not_forced_again(context: Context) -> None:
    plan = replace(PLAN, scaling=changed(PLAN.scaling, excluded_gems=["weak"]))
    ctx = replace(context(World(gems=GEMS), plan=plan), invariants=wished(with_=["weak"]))
    assert "weak" not in {g.gem_id for g in (await main_supports(ctx)).blueprint.groups[0].gems}


SKILLS = [
    active("zap"),
    active("herald", "30 spirit, -1 inc", spirit=30),
    active("aura", "60 inc, 80 spirit", spirit=80),
    active("hex", "", tags=["curse"]),
    active("late", "10 inc", level_requirements=[95]),
]


def led(blueprint: Blueprint) -> list[str]:
    return [group.gems[0].gem_id for group in blueprint.groups]


async def test_named_persistent_skills_get_their_spirit_first(context: Context) -> None:
    world = World(gems=SKILLS, spirit=100)
    plain = context(world)
    assert led((await persistent_skills(plain)).blueprint) == ["zap", "aura"]
    assert led((await persistent_skills(replace(context(world), invariants=wished(with_=["Herald"])))).blueprint) == [
        "zap",
        "herald",
    ]


async def test_named_persistent_skills_displace_others_when_spirit_is_known(context: Context) -> None:
    world = World(gems=SKILLS, spirit=100)
    before = (await persistent_skills(context(world))).blueprint
    session = ArithmeticEngine(world).new_session(before)
    ctx = replace(context(world), blueprint=before, session=session, invariants=wished(with_=["herald"]))
    assert led((await more_persistent_skills(ctx)).blueprint) == ["zap", "herald"]


async def test_a_named_persistent_skill_beyond_the_spirit_is_left(context: Context) -> None:
    ctx = replace(context(World(gems=SKILLS, spirit=20)), invariants=wished(with_=["herald"]))
    assert led((await persistent_skills(ctx)).blueprint) == ["zap"]


async def test_named_curses_and_second_skills_have_groups_of_their_own(context: Context) -> None:
    second = active("nova", "", tags=["spell", "area"], skill_types=["Spell", "Damage"])
    world = World(gems=[*SKILLS, second, support("more", "20 more")])
    ctx = replace(context(world), invariants=wished(with_=["nova", "hex", "late"]))
    built = (await helper_skills(ctx)).blueprint
    assert led(built) == ["zap", "nova", "hex"]
    assert [gem.gem_id for gem in built.groups[1].gems] == ["nova", "more"]
    assert built.main_group == 1


async def test_no_second_curse_beside_a_named_one(context: Context) -> None:
    gems = [active("zap"), active("hex", "1 inc", tags=["Curse"]), active("bane", "50 inc", tags=["Curse"])]
    world = World(gems=gems)
    assert led((await helper_skills(context(world))).blueprint) == ["zap", "bane"]
    ctx = replace(context(world), invariants=wished(with_=["hex"]))
    assert led((await helper_skills(ctx)).blueprint) == ["zap", "hex"]


STARTER = {"floors": floors_for(90, GearTier.STARTER), "gear": GearTier.STARTER}


def dressing(context: Context, world: World, invariants: InvariantSet, **more: Any) -> SearchContext:
    ctx = replace(context(world, **more), invariants=invariants)
    named = changed(ctx.demands.floors.gear, named=invariants.listed("with"))
    return replace(ctx, demands=changed(ctx.demands, floors=changed(ctx.demands.floors, gear=named)))


async def test_a_named_unique_is_worn_at_any_tier_and_is_legal(context: Context) -> None:
    world = World(
        nodes=[node(1, kind="start")],
        gems=[active("zap")],
        bases=[AMULET, HELMET],
        affixes=AFFIXES,
        uniques=[unique("Pebble", "-10 inc", source="Drops from somebody")],
    )
    ctx = dressing(context, world, wished(with_=["pebble"]), **STARTER)
    result = await optimise_gear(ctx)
    worn = result.blueprint.items
    assert (worn["Amulet"].title, worn["Amulet"].rarity) == ("Pebble", "UNIQUE")
    assert worn["Helmet"].rarity == "RARE"
    assert await gear_findings(ctx.engine.facts, result.blueprint, ctx.demands.floors.gear) == []
    unnamed = changed(ctx.demands.floors.gear, named=[])
    assert await gear_findings(ctx.engine.facts, result.blueprint, unnamed) != []


async def test_a_named_unique_above_the_level_is_left(context: Context) -> None:
    world = World(gems=[active("zap")], bases=[AMULET], affixes=AFFIXES, uniques=[unique("Sun", "400 inc", level=91)])
    result = await optimise_gear(dressing(context, world, wished(with_=["Sun"])))
    assert result.blueprint.items["Amulet"].rarity == "RARE"


async def test_a_named_unique_weapon_must_suit_the_skill_and_frees_no_second_hand(context: Context) -> None:
    wand = BaseFact(name="Stick", type="Wand", slots=[MAIN_HAND])
    maul = BaseFact(name="Maul", type="Two Hand Mace", slots=[MAIN_HAND])
    shield = BaseFact(name="Board", type="Shield", sub_type="Armour", slots=["Weapon 2"], defences={"Armour": 1.0})
    hammer = unique("Hammer", "10 inc", base="Maul", kind="Two Hand Mace")
    for needed, worn in (([], "Hammer"), (["Wand"], "")):
        gems = [active("zap", weapon_types=needed)]
        world = World(nodes=[node(1, kind="start")], gems=gems, bases=[wand, maul, shield], uniques=[hammer])
        plan = replace(PLAN, survivability=changed(PLAN.survivability, mitigation=["armour"]))
        ctx = dressing(context, world, wished(with_=["Hammer"]), plan=plan)
        items = {c.item.slot: c.item for c in await starting_gear(ctx) if c.op == "equip"}
        assert items[MAIN_HAND].title == worn
        assert ("Weapon 2" in items) is (worn == "")


async def test_a_named_base_leaves_no_other_in_its_place(context: Context) -> None:
    hats = [HELMET, BaseFact(name="Crown", type="Helmet", sub_type="Evasion", slots=["Helmet"])]
    rings = [BaseFact(name=f"{n} Ring", type="Ring", slots=["Ring 1", "Ring 2"]) for n in ("Gold", "Ruby")]
    world = World(nodes=[node(1, kind="start")], gems=[active("zap")], bases=[*hats, *rings], affixes=AFFIXES)
    items = (await optimise_gear(dressing(context, world, wished(with_=["crown", "Ruby Ring"])))).blueprint.items
    assert items["Helmet"].base == "Crown"
    assert items["Ring 1"].base == "Ruby Ring"


async def test_excluded_kinds_of_items_leave_their_slots_empty(context: Context) -> None:
    bases = [
        AMULET,
        BaseFact(name="Potion", type="Flask", sub_type="Life", slots=["Flask 1"]),
        BaseFact(name="Thawing Charm", type="Charm", slots=["Charm 1"]),
        BaseFact(name="Sash", type="Belt", slots=["Belt"], implicits=["Has (1-3) Charm Slots"]),
    ]
    world = World(nodes=[node(1, kind="start")], gems=[active("zap")], bases=bases)
    plain = {c.item.slot for c in await starting_gear(context(world)) if c.op == "equip"}
    assert {"Flask 1", "Charm 1", "Amulet", "Belt"} <= plain
    ctx = replace(context(world), invariants=wished(exclude=["flasks", "charms"]))
    assert {c.item.slot for c in await starting_gear(ctx) if c.op == "equip"} == {"Amulet", "Belt"}


async def test_names_are_found_whatever_they_name_and_unknown_ones_are_nothing(context: Context) -> None:
    world = World(
        nodes=[
            *TREE,
            node(9, kind="notable"),
            node(10, kind="notable").model_copy(update={"name": "n9"}),
            node(11, kind="notable", mods=["Grants Skill: Rift"]),
        ],
        gems=[*GEMS, active("n4", colour="str"), active("n7"), active("Rift", tier=0), active("Gone", tier=0)],
        bases=[AMULET],
        uniques=[unique("Sun")],
    )
    engine = ArithmeticEngine(world)
    names = ["ZAP", "strong", "n4", "n7", "n9", "sun", "Amber Amulet", "nonsense", "zap", "rift", "gone"]
    found = await named_in(engine.facts, wished(with_=names))
    assert [gem.id for gem in found.skills] == ["zap", "n4"]
    assert [gem.id for gem in found.supports] == ["strong"]
    assert [[n.id for n in nodes] for nodes in found.passives] == [[7], [10, 9], [11]]
    assert [[one.name for one in options] for options in found.uniques] == [["Sun"]]
    assert [base.name for base in found.bases] == ["Amber Amulet"]


@pytest.mark.parametrize("names", [[], ["Sun", "Moon"]])
def test_demands_know_what_was_named(names: list[str]) -> None:
    assert demands_of(wished(with_=names)).floors.gear.named == names


async def test_an_ailment_that_is_wished_for_has_its_support(context: Context) -> None:
    gems = [
        active("zap"),
        support("strong", "50 more"),
        support("Poison I", "-9 more"),
        support("Poison II", "-9 more"),
    ]
    gems[3] = gems[3].model_copy(update={"level_requirements": [95]})
    ctx = replace(context(World(gems=gems), level=1), invariants=wished(style=["poison"]))
    assert {g.gem_id for g in (await main_supports(ctx)).blueprint.groups[0].gems} == {"zap", "strong", "Poison I"}


async def test_a_warcry_that_is_wished_for_is_used_once(context: Context) -> None:
    cries = [active(name, effect, tags=["warcry"], colour="str") for name, effect in (("a", "-9 inc"), ("b", "-1 inc"))]
    world = World(gems=[active("zap"), *cries])
    assert led((await helper_skills(context(world))).blueprint) == ["zap"]
    ctx = replace(context(world), invariants=wished(style=["warcry"]))
    assert led((await helper_skills(ctx)).blueprint) == ["zap", "b"]
