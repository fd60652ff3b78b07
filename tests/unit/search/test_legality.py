"""Which items can be crafted within a gear tier."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model.blueprint import AffixRoll, Blueprint, GearItem, PassiveNode
from app.model.demands import GearLimits
from app.model.facts import AffixFact, BaseFact, NodeFact, RuneFact, UniqueFact
from app.search.gear.legality import BaseKnowledge, gear_findings, item_problems, slot_fits, text_problems, unobtainable
from tests.fakes.engine import FakeFacts

MID = GearLimits(max_affixes=5, max_affix_level=65, max_uniques=2)
TOO_HARD = "is too hard to come by for the gear tier"
RING = BaseFact(name="Gold Ring", type="Ring", slots=["Ring 1", "Ring 2"], requirements={"level": 40})
HELMET = BaseFact(name="Cap", type="Helmet", slots=["Helmet"], socket_limit=2)
JEWEL = BaseFact(name="Ruby", type="Jewel", slots=["Jewel "])
CHARM = BaseFact(name="Ruby Charm", type="Charm", slots=["Charm 1"])


def affix(number: int, side: str, level: int = 1, group: str | None = None, weight: int = 1) -> AffixFact:
    return AffixFact.model_validate(
        {
            "id": f"{side}{number}",
            "side": side,
            "name": "",
            "group": group or f"{side}{number}",
            "level": level,
            "lines": ["+(1-2) to x"],
            "weight": weight,
        }
    )


AFFIXES = {
    fact.id: fact
    for fact in [
        *(affix(n, side) for side in ("prefix", "suffix") for n in range(1, 6)),
        affix(60, "prefix", level=60),
        affix(70, "prefix", level=70),
        affix(9, "suffix", group="suffix1"),
        affix(0, "suffix", weight=0),
    ]
}


def known(base: BaseFact) -> BaseKnowledge:
    return BaseKnowledge(base, AFFIXES, {"Iron Rune": RuneFact(name="Iron Rune", lines=["x"])})


def item(base: BaseFact = RING, prefixes: str = "", suffixes: str = "", **changes: Any) -> GearItem:
    plain = {"slot": base.slots[0], "base": base.name, "item_level": 65, "rarity": "RARE"}
    rolls = {
        "prefixes": [AffixRoll(id=f"prefix{n}") for n in prefixes.split()],
        "suffixes": [AffixRoll(id=f"suffix{n}") for n in suffixes.split()],
    }
    return GearItem.model_validate({**plain, **rolls, **changes})


def problems(thing: GearItem, base: BaseFact = RING, limits: GearLimits = MID, level: int = 90) -> list[str]:
    return item_problems(thing, known(base), limits, level)


@pytest.mark.parametrize(
    ("thing", "base"),
    [
        (item(prefixes="1 2 3", suffixes="1 2"), RING),
        (item(prefixes="60"), RING),
        (item(HELMET, "1", quality=20, sockets=2, runes=["Iron Rune", "None"]), HELMET),
        (item(JEWEL, "1 2", "1 2", slot="Jewel 123"), JEWEL),
        (item(CHARM, "1", "1", rarity="MAGIC"), CHARM),
        (item(rarity="NORMAL"), RING),
    ],
)
def test_legal_items(thing: GearItem, base: BaseFact) -> None:
    assert problems(thing, base) == []


@pytest.mark.parametrize(
    ("thing", "base", "reason"),
    [
        (item(prefixes="1 2 3", suffixes="1 2 3"), RING, "6 affixes, the gear tier allows 5"),
        (item(prefixes="1 2 3 4"), RING, "4 prefixes, 3 are possible"),
        (item(suffixes="1 2 3 4"), RING, "4 suffixes, 3 are possible"),
        (item(suffixes="1 9"), RING, "2 affixes of the group suffix1"),
        (item(suffixes="0"), RING, "suffix0 cannot be on Gold Ring"),
        (item(prefixes="99"), RING, "prefix99 cannot be on Gold Ring"),
        (item(prefixes="70", item_level=70), RING, "prefix70 has level 70, the gear tier allows 65"),
        (item(prefixes="60", item_level=59), RING, "prefix60 needs item level 60, the item has 59"),
        (item().model_copy(update={"prefixes": [AffixRoll(id="suffix1")]}), RING, "suffix1 is a suffix, not a prefix"),
        (
            item().model_copy(update={"prefixes": [AffixRoll(id="prefix1", roll=1.01)]}),
            RING,
            "prefix1 is rolled outside its range",
        ),
        (item(quality=21), RING, "quality 21 is not 0 to 20"),
        (item(slot="Belt"), RING, "Gold Ring does not fit Belt"),
        (item(HELMET, sockets=3), HELMET, "3 sockets, 2 are possible"),
        (item(HELMET, sockets=1, runes=["Iron Rune"] * 2), HELMET, "2 runes in 1 sockets"),
        (item(HELMET, sockets=1, runes=["Soul"]), HELMET, "Soul cannot be put into Cap"),
        (item(JEWEL, "1 2 3", slot="Jewel 1"), JEWEL, "3 prefixes, 2 are possible"),
        (item(CHARM, "1"), CHARM, "a charm cannot be rare"),
        (item(CHARM, "1 2", rarity="MAGIC"), CHARM, "2 prefixes, 1 are possible"),
        (item(prefixes="1", rarity="NORMAL"), RING, "1 prefixes, 0 are possible"),
    ],
)
def test_illegal_items(thing: GearItem, base: BaseFact, reason: str) -> None:
    assert problems(thing, base) == [reason]


@pytest.mark.parametrize(("level", "allowed"), [(39, False), (40, True), (41, True)])
def test_level_requirement_of_the_base(level: int, allowed: bool) -> None:
    assert (problems(item(), level=level) == []) is allowed


def test_an_unknown_base_is_the_only_thing_said() -> None:
    assert item_problems(item(), BaseKnowledge(None), MID, 90) == ["no base is called Gold Ring"]


@given(
    prefixes=st.lists(st.integers(1, 5), max_size=6),
    suffixes=st.lists(st.integers(1, 5), max_size=6),
    limit=st.integers(1, 6),
)
def test_an_item_is_legal_exactly_when_it_counts_and_groups_right(
    prefixes: list[int], suffixes: list[int], limit: int
) -> None:
    thing = item(prefixes=" ".join(map(str, prefixes)), suffixes=" ".join(map(str, suffixes)))
    legal = (
        len(prefixes) <= 3
        and len(suffixes) <= 3
        and len(prefixes) + len(suffixes) <= limit
        and len(set(prefixes)) == len(prefixes)
        and len(set(suffixes)) == len(suffixes)
    )
    limits = GearLimits(max_affixes=limit, max_affix_level=65, max_uniques=0)
    assert (problems(thing, limits=limits) == []) is legal


@given(level=st.integers(1, 100), cap=st.integers(1, 100), item_level=st.integers(1, 100))
def test_an_affix_level_is_within_item_and_tier(level: int, cap: int, item_level: int) -> None:
    facts = BaseKnowledge(RING, {"prefix1": affix(1, "prefix", level=level)})
    limits = GearLimits(max_affixes=6, max_affix_level=cap, max_uniques=0)
    found = item_problems(item(prefixes="1", item_level=item_level), facts, limits, 100)
    assert (found == []) is (level <= min(cap, item_level))


@pytest.mark.parametrize(
    ("slots", "slot", "fits"),
    [
        (["Jewel "], "Jewel 99", True),
        (["Jewel"], "Jewel 99", True),
        (["Ring 1"], "Jewel 99", False),
        (["Weapon 1"], "Weapon 1 Swap", True),
        (["Weapon 1"], "Weapon 2", False),
        (["Charm 1"], "Charm 1", True),
        ([], "anything", True),
    ],
)
def test_slots(slots: list[str], slot: str, fits: bool) -> None:
    assert slot_fits(BaseFact(name="x", type="X", slots=slots), slot) is fits


def test_a_keystone_lets_the_other_hand_hold_a_weapon_for_two() -> None:
    """Found on "giants blood dual two handed maces": every such build had a mace that did not fit."""
    maul = BaseFact(name="Maul", type="Two Hand Mace", slots=["Weapon 1"])
    assert not slot_fits(maul, "Weapon 2")
    assert slot_fits(maul, "Weapon 2", {"Giant's Blood", "Avatar of Fire"})
    assert not slot_fits(maul, "Ring 1", {"Giant's Blood"})
    assert not slot_fits(BaseFact(name="Bow", type="Bow", slots=["Weapon 1"]), "Weapon 2", {"Giant's Blood"})


UNIQUE = UniqueFact(name="Dream", base="Gold Ring", type="Ring", level=50, text="...")


@pytest.mark.parametrize(
    ("title", "rarity", "uniques", "level", "reasons"),
    [
        ("Dream", "UNIQUE", 2, 50, []),
        ("Dream", "UNIQUE", 2, 49, ["needs level 50, the character is 49"]),
        ("Dream", "UNIQUE", 0, 50, ["the gear tier allows no uniques"]),
        ("Nightmare", "UNIQUE", 2, 50, ["no unique is called Nightmare on Gold Ring"]),
        ("Anything", "RARE", 0, 1, []),
    ],
)
def test_items_given_as_text(title: str, rarity: str, uniques: int, level: int, reasons: list[str]) -> None:
    limits = GearLimits(max_affixes=5, max_affix_level=65, max_uniques=uniques)
    worn = item(title=title, rarity=rarity, text="...")
    assert text_problems(worn, [UNIQUE], limits, level) == reasons


@pytest.mark.parametrize(
    ("name", "source", "allowed", "reason"),
    [
        ("Dream", "", {}, None),
        ("Dream", "Drops from The Sleeper", {}, f"{TOO_HARD} (rare: drops from The Sleeper)"),
        ("Dream", "Drops from The Sleeper", {"rarest_unique": "rare"}, None),
        ("Mageblood", "", {}, f"{TOO_HARD} (chase: hardly anybody finds one)"),
        ("Mageblood", "", {"rarest_unique": "rare"}, f"{TOO_HARD} (chase: hardly anybody finds one)"),
        ("Mageblood", "", {"rarest_unique": "chase"}, None),
        ("Dream", "No longer obtainable", {"rarest_unique": "chase"}, "can no longer be obtained"),
        ("Dream", "No longer obtainable", {"gone_uniques": True}, None),
    ],
)
def test_uniques_that_nobody_gets(name: str, source: str, allowed: dict[str, Any], reason: str | None) -> None:
    fact = UNIQUE.model_copy(update={"name": name, "source": source})
    limits = GearLimits.model_validate(MID.model_dump() | allowed)
    assert unobtainable(fact, limits) == reason
    problems = text_problems(item(title=name, rarity="UNIQUE", text="..."), [fact], limits, 90)
    assert problems == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("rarity", "owned", "fault"),
    [("RARE", [7], True), ("NORMAL", [7], False), ("RARE", [8], False)],
)
async def test_a_passive_may_allow_only_a_normal_body_armour(rarity: str, owned: list[int], fault: bool) -> None:
    """Found on a Smith of Kitava, who wore a unique one beside Smith's Masterwork: the engine lets it count."""
    bases = [BaseFact(name="Plate", type="Body Armour", slots=["Body Armour"])]
    nodes = [NodeFact(id=7, name="Smith's Masterwork", kind="notable", mods=["Can only use a Normal Body Armour"])]
    armour = GearItem.model_validate({"slot": "Body Armour", "base": "Plate", "rarity": rarity})
    build = Blueprint(
        class_name="X", level=90, nodes=[PassiveNode(id=one) for one in owned], items={armour.slot: armour}
    )
    found = await gear_findings(FakeFacts(node_facts=nodes, base_facts=bases), build, MID)
    assert [one.reason.startswith("Smith's Masterwork allows only") for one in found] == [True] * fault
