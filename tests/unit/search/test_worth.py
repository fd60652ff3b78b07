"""What lines of items are worth, in a toy world where lines add up."""

from __future__ import annotations

import pytest

from app.model.base import changed
from app.model.blueprint import AffixRoll, Blueprint, GearItem
from app.model.demands import Demands, gear_limits
from app.model.facts import AffixFact, BaseFact
from app.model.guide import Loss
from app.model.names import GearTier
from app.search.gear.worth import at_limits, worth_of_items
from tests.fakes.arithmetic import ArithmeticEngine, World, active, node
from tests.unit.search.conftest import DEMANDS, FLOORS, START


def affix(name: str, side: str, line: str, level: int = 1) -> AffixFact:
    made = {"id": name, "side": side, "name": name, "group": name, "level": level, "lines": [line], "weight": 1}
    return AffixFact.model_validate(made)


AFFIXES = [
    affix("bulk1", "prefix", "100 life"),
    affix("bulk2", "prefix", "500 life", level=55),
    affix("edge1", "suffix", "20 inc"),
    affix("edge2", "suffix", "100 inc", level=55),
    affix("fire", "suffix", "30 fire"),
    affix("idle", "suffix", "1 nothing"),
]
RING = GearItem(
    slot="Ring 1",
    base="Loop",
    prefixes=[AffixRoll(id="bulk2")],
    suffixes=[AffixRoll(id="edge2"), AffixRoll(id="fire"), AffixRoll(id="idle")],
)
SUN = GearItem(slot="Amulet", base="Chain", rarity="UNIQUE", title="Sun", text="Sun")
BUILD: Blueprint = changed(START, items={"Ring 1": RING, "Amulet": SUN})
MADE: Demands = changed(DEMANDS, gear=GearTier.MID, floors=FLOORS)


def engine() -> ArithmeticEngine:
    bases = [
        BaseFact(name="Loop", type="Ring", slots=["Ring 1"]),
        BaseFact(name="Chain", type="Amulet", slots=["Amulet"]),
    ]
    return ArithmeticEngine(
        World(nodes=[node(1, kind="start")], gems=[active("zap")], bases=bases, affixes=AFFIXES, resistance=45.0)
    )


async def test_each_line_is_worth_what_the_build_loses_without_it() -> None:
    calculator = engine()
    found = await worth_of_items(calculator.facts, calculator.new_session(BUILD), BUILD, MADE)
    assert list(found.lines) == ["Ring 1"]
    lost = found.lines["Ring 1"]
    assert lost["edge2"] == Loss(damage=0.5)
    assert lost["bulk2"].ehp == pytest.approx(500 / 1500, abs=1e-3)
    assert (lost["fire"].damage, lost["fire"].ehp, lost["fire"].needed) == (0.0, 0.0, True)
    assert lost["idle"] == Loss()
    assert [lost[name].carries for name in ("edge2", "bulk2", "fire", "idle")] == [True, True, True, False]


async def test_one_tier_lower_keeps_the_lines_and_lowers_their_numbers() -> None:
    calculator = engine()
    found = await worth_of_items(calculator.facts, calculator.new_session(BUILD), BUILD, MADE)
    lower = found.one_tier_lower["Ring 1"]
    assert lower.damage == pytest.approx(1 - 120 / 200)
    assert lower.ehp == pytest.approx(1 - 1100 / 1500, abs=1e-3)


async def test_the_build_is_shown_at_each_tier() -> None:
    calculator = engine()
    found = await worth_of_items(calculator.facts, calculator.new_session(BUILD), BUILD, MADE)
    figures = {one.gear: (one.dps, one.ehp) for one in found.at_tiers}
    assert figures[GearTier.STARTER] == (120.0, 1100.0)
    assert figures[GearTier.MID] == figures[GearTier.ENDGAME] == (200.0, 1500.0)
    mirror = changed(MADE, gear=GearTier.MIRROR)
    found = await worth_of_items(calculator.facts, calculator.new_session(BUILD), BUILD, mirror)
    assert [one.gear for one in found.at_tiers] == list(GearTier), "its own tier is among them"


async def test_a_build_in_uniques_and_plain_items_has_no_lines_to_measure() -> None:
    calculator = engine()
    plain = changed(BUILD, items={"Amulet": SUN, "Ring 1": GearItem(slot="Ring 1", base="Loop")})
    found = await worth_of_items(calculator.facts, calculator.new_session(plain), plain, MADE)
    assert (found.lines, found.one_tier_lower, found.at_tiers) == ({}, {}, ())
    assert calculator.trials == 0


def test_of_too_many_lines_the_least_important_go() -> None:
    known = {fact.id: fact for fact in AFFIXES}
    losses = {"bulk2": Loss(ehp=0.3), "edge2": Loss(damage=0.5), "fire": Loss(needed=True), "idle": Loss()}
    limits = changed(gear_limits(GearTier.MIRROR, 90), max_affixes=2)
    kept = at_limits(RING, known, limits, losses, {})
    assert {roll.id for roll in (*kept.prefixes, *kept.suffixes)} == {"fire", "edge2"}


async def test_at_a_level_where_all_tiers_are_alike_they_are_not_compared() -> None:
    calculator, young = engine(), changed(BUILD, level=24)
    found = await worth_of_items(calculator.facts, calculator.new_session(young), young, changed(MADE, level=24))
    assert found.at_tiers == ()
