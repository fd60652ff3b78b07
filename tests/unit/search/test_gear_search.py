"""The joint choice of gear in a toy world where lines add up: floors first, then damage, uniques where they gain."""

from __future__ import annotations

from typing import Any

import pytest

from app.model.blueprint import Equip, GearItem, Unequip
from app.model.constraints import Invariant, InvariantSet
from app.model.demands import floors_for
from app.model.facts import AffixFact, BaseFact, RuneFact, UniqueFact
from app.model.names import GearTier, Provenance
from app.search.gear.legality import shopping_list
from app.search.gear.loadout import charm_changes, optimise_gear
from app.search.gear.pool import slot_pool
from app.search.gear.search import wearable
from tests.fakes.arithmetic import World, active, node
from tests.unit.search.conftest import Context

HELMET = BaseFact(name="Cap", type="Helmet", sub_type="Armour", slots=["Helmet"], defences={"Armour": 10.0})
AMULET = BaseFact(name="Amber Amulet", type="Amulet", slots=["Amulet"])
BOOTS = BaseFact(name="Greaves", type="Boots", sub_type="Armour", slots=["Boots"], defences={"Armour": 10.0})
BELT = BaseFact(name="Sash", type="Belt", slots=["Belt"], implicits=["Has (1-3) Charm Slots"])
CHARMS = [BaseFact(name=f"{n} Charm", type="Charm", slots=["Charm 1", "Charm 2"]) for n in ("Thawing", "Stone")]


def affix(name: str, side: str, line: str, **more: Any) -> AffixFact:
    made = {"id": name, "side": side, "name": name, "group": name, "level": 1, "lines": [line], "weight": 1, **more}
    return AffixFact.model_validate(made)


AFFIXES = [
    affix("pain", "prefix", "40 inc"),
    affix("bulk", "prefix", "300 life"),
    affix("fireproof", "suffix", "30 fire"),
    affix("speed", "suffix", "25 inc pace"),
    affix("edge", "suffix", "60 inc"),
]


def world(**more: Any) -> World:
    made: dict[str, Any] = {
        "nodes": [node(1, kind="start")],
        "gems": [active("zap")],
        "bases": [AMULET],
        "affixes": AFFIXES,
        **more,
    }
    return World(**made)


def unique(name: str, *lines: str, base: str = "Amber Amulet", kind: str = "Amulet", **more: Any) -> UniqueFact:
    made = {"name": name, "base": base, "type": kind, "level": 1, "text": name, "lines": list(lines), **more}
    return UniqueFact.model_validate(made)


async def worn(context: Context, made: World, **more: Any) -> dict[str, GearItem]:
    result = await optimise_gear(context(made, **more))
    return result.blueprint.items


def affixes_of(item: GearItem) -> set[str]:
    return {roll.id for roll in (*item.prefixes, *item.suffixes)}


async def test_what_adds_damage_or_life_is_chosen(context: Context) -> None:
    items = await worn(context, world())
    assert affixes_of(items["Amulet"]) == {"pain", "bulk", "edge"}


async def test_resistances_come_before_damage(context: Context) -> None:
    rivals = [affix(f"rival{n}", "suffix", line) for n, line in enumerate(("60 inc", "20 more", "300 life"))]
    fireproof = next(a for a in AFFIXES if a.id == "fireproof")
    items = await worn(context, world(resistance=50.0, affixes=[fireproof, *rivals]))
    assert "fireproof" in affixes_of(items["Amulet"])
    assert len(items["Amulet"].suffixes) == 3


async def test_a_unique_is_worn_for_its_measured_gain(context: Context) -> None:
    made = world(uniques=[unique("Sun", "400 inc", "500 life"), unique("Pebble", "1 inc")])
    items = await worn(context, made)
    assert (items["Amulet"].title, items["Amulet"].rarity, items["Amulet"].text) == ("Sun", "UNIQUE", "Sun")


async def test_other_slots_make_up_for_what_a_unique_lacks(context: Context) -> None:
    made = world(bases=[AMULET, HELMET], resistance=45.0, uniques=[unique("Sun", "400 inc", "500 life")])
    items = await worn(context, made)
    assert items["Amulet"].title == "Sun"
    assert "fireproof" in affixes_of(items["Helmet"])


async def test_other_slots_make_up_for_what_a_unique_asks_for(context: Context) -> None:
    brain = affix("brain", "suffix", "60 int")
    rivals = [affix(f"rival{n}", "suffix", line) for n, line in enumerate(("60 inc", "50 inc", "300 life"))]
    sun = unique("Sun", "400 inc", "500 life", "60 need_int")
    plain = await worn(context, world(bases=[AMULET, HELMET], affixes=[brain, *rivals]))
    assert "brain" not in affixes_of(plain["Helmet"])
    items = await worn(context, world(bases=[AMULET, HELMET], affixes=[brain, *rivals], uniques=[sun]))
    assert items["Amulet"].title == "Sun"
    assert "brain" in affixes_of(items["Helmet"])


async def test_a_unique_that_breaks_a_floor_stays_in_the_chest(context: Context) -> None:
    made = world(resistance=45.0, uniques=[unique("Sun", "400 inc")])
    assert (await worn(context, made))["Amulet"].rarity == "RARE"


@pytest.mark.parametrize(
    "fact",
    [
        unique("Sun", "400 inc", level=91),
        unique("Sun", "400 inc", unparsed=1),
        unique("Sun", "400 inc", "100% of Lightning Damage Converted to Cold Damage"),
        unique("Sun", "400 inc", "Evasion Rating is doubled if you have not been Hit Recently"),
        unique("Sun", "400 inc", base="Unheard of"),
    ],
)
async def test_uniques_out_of_reach_or_half_understood_are_left_out(context: Context, fact: UniqueFact) -> None:
    sound = fact.model_copy(update={"lines": ["400 inc"], "base": "Amber Amulet", "level": 1, "unparsed": 0})
    assert (await worn(context, world(uniques=[sound])))["Amulet"].rarity == "UNIQUE"
    assert (await worn(context, world(uniques=[fact])))["Amulet"].rarity == "RARE"


async def test_tier_and_user_can_rule_uniques_out(context: Context) -> None:
    made = world(uniques=[unique("Sun", "400 inc")])
    starter = await worn(context, made, floors=floors_for(90, GearTier.STARTER), gear=GearTier.STARTER)
    assert starter["Amulet"].rarity == "RARE"
    said = Invariant(field="exclude", value=["uniques"], provenance=Provenance.EXPLICIT, reason="you wrote no uniques")
    assert (await worn(context, made, invariants=InvariantSet(invariants=[said])))["Amulet"].rarity == "RARE"


async def test_what_says_something_ruled_out_is_not_worn(context: Context) -> None:
    """Neither as an affix or a rune nor as a unique, however much it helps; what is against the wearer is another's."""
    said, mine, theirs = "no crit", "5 Critical Hit Chance", "-5 Critical Hit Chance against you"
    affixes = [
        affix("deadly", "prefix", "80 inc", lines=["80 inc", mine]),
        affix("thick", "prefix", "50 inc", lines=["50 inc", theirs]),
    ]
    runes = [
        RuneFact(name=name, lines=["20 inc", line]) for name, line in (("Sharp Rune", mine), ("Dull Rune", theirs))
    ]
    made = world(bases=[AMULET, HELMET.model_copy(update={"socket_limit": 1})], affixes=affixes, runes=runes)
    free = await worn(context, made)
    assert affixes_of(free["Amulet"]) == {"deadly", "thick"}
    asked = Invariant(field="exclude", value=["crit"], provenance=Provenance.EXPLICIT, reason=said)
    wished = {"invariants": InvariantSet(invariants=[asked])}
    items = await worn(context, made, **wished)
    assert (affixes_of(items["Amulet"]), items["Helmet"].runes) == ({"thick"}, ["Dull Rune"])
    sun = world(uniques=[unique("Sun", "400 inc", mine), unique("Moon", "200 inc", theirs)])
    assert (await worn(context, sun))["Amulet"].title == "Sun"
    assert (await worn(context, sun, **wished))["Amulet"].title == "Moon"


async def test_no_more_uniques_than_the_tier_allows(context: Context) -> None:
    bases = [AMULET, HELMET, BELT]
    uniques = [unique(b.type, "400 inc", base=b.name, kind=b.type) for b in bases]
    items = await worn(context, world(bases=bases, uniques=uniques))
    assert sum(item.rarity == "UNIQUE" for item in items.values()) == 2


async def test_unique_boots_need_speed(context: Context) -> None:
    slow = unique("Sloth", "400 inc", base="Greaves", kind="Boots")
    ctx = context(world(bases=[BOOTS], uniques=[slow]))
    pools = [await slot_pool(ctx, "Boots", [BOOTS])]
    assert await wearable(ctx, pools) == []
    swift = slow.model_copy(update={"name": "Hare", "lines": ["30% increased Movement Speed"]})
    ctx = context(world(bases=[BOOTS], uniques=[slow, swift]))
    assert [item.title for item in await wearable(ctx, pools)] == ["Hare"]


async def test_charms_fill_the_slots_of_the_belt(context: Context) -> None:
    items = await worn(context, world(bases=[BELT, *CHARMS], affixes=[]))
    assert {slot: item.base for slot, item in items.items() if slot.startswith("Charm")} == {
        "Charm 1": "Thawing Charm",
        "Charm 2": "Stone Charm",
    }
    assert not any(item.active for slot, item in items.items() if slot.startswith("Charm"))


async def test_charms_are_magic_where_the_tier_knows_a_line(context: Context) -> None:
    longer = [affix(f"longer{n}", "prefix", f"({n}0-{n}9)% increased Duration", level=n * 20) for n in (1, 2, 3)]
    ctx = context(world(affixes=longer))
    changes = await charm_changes(ctx, [BELT, *CHARMS], {"Belt": GearItem(slot="Belt", base="Sash")})
    made = [change.item for change in changes if isinstance(change, Equip)]
    assert [(item.rarity, [roll.id for roll in item.prefixes]) for item in made] == [("MAGIC", ["longer2"])] * 2


async def test_charms_that_the_belt_has_no_slot_for_are_taken_off(context: Context) -> None:
    worn_charm = GearItem(slot="Charm 3", base="Thawing Charm")
    [*_, first, second] = changes = await charm_changes(
        context(world(affixes=[])), [BELT, *CHARMS], {"Belt": GearItem(slot="Belt", base="Sash"), "Charm 3": worn_charm}
    )
    assert changes[0] == Unequip(slot="Charm 3")
    assert {first.op, second.op} == {"equip"}


async def test_runes_fill_sockets(context: Context) -> None:
    socketed = HELMET.model_copy(update={"socket_limit": 2})
    made = world(bases=[socketed], runes=[RuneFact(name="Iron Rune", lines=["10 inc"])])
    assert (await worn(context, made))["Helmet"].runes == ["Iron Rune"]


async def test_the_shopping_list_has_a_uniques_lines(context: Context) -> None:
    made = world(uniques=[unique("Sun", "400 inc", "500 life")])
    ctx = context(made)
    items = await worn(context, made)
    [entry] = await shopping_list(ctx.engine.facts, ctx.blueprint.model_copy(update={"items": items}))
    assert [(line["side"], line["text"]) for line in entry["lines"]] == [("unique", "400 inc"), ("unique", "500 life")]
