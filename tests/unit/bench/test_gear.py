"""Our rares instead of an owner's: what is kept, what is chosen anew, and how ratios are summed up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.bench.gear import TIERS, OwnersBuild, alike, damage_group, dressed, endgame_holds, medians, owners_build, table
from app.model.blueprint import AffixRoll, Blueprint, GearItem, Gem, SkillGroup
from app.model.facts import AffixFact, BaseFact, UniqueFact
from app.model.names import GearTier
from tests.fakes.arithmetic import ArithmeticEngine, World, active, node

CAP = BaseFact(name="Cap", type="Helmet", sub_type="Armour", slots=["Helmet"])
HOOD = BaseFact(name="Hood", type="Helmet", sub_type="Evasion", slots=["Helmet"])
HELM = BaseFact(name="Helm", type="Helmet", sub_type="Armour", slots=["Helmet"], requirements={"level": 50})
AMULET = BaseFact(name="Amber Amulet", type="Amulet", slots=["Amulet"])
RUBY = BaseFact(name="Ruby", type="Jewel", slots=["Jewel"])
TIME_LOST = BaseFact(name="Time-Lost Ruby", type="Jewel", slots=["Jewel"])


def affix(name: str, side: str, line: str, level: int) -> AffixFact:
    return AffixFact(id=name, side=side, name=name, group=name, level=level, lines=[line], weight=1)


AFFIXES = [
    affix("p0", "prefix", "10 life", 1),
    affix("low", "suffix", "20 inc", 1),
    affix("top", "suffix", "90 inc", 80),
]
OWNED = Blueprint(
    class_name="Toy",
    level=90,
    groups=[SkillGroup(gems=[Gem(gem_id="herald", name="Herald")]), SkillGroup(gems=[Gem(gem_id="zap", name="Zap")])],
    main_group=1,
    items={
        "Helmet": GearItem(slot="Helmet", base="Cap", rarity="RARE", prefixes=[AffixRoll(id="p0")]),
        "Amulet": GearItem(slot="Amulet", base="Amber Amulet", rarity="UNIQUE", title="Sun", text="Sun"),
        "Weapon 1 Swap": GearItem(slot="Weapon 1 Swap", base="Cap", rarity="RARE"),
    },
)
WORLD = World(
    nodes=[node(1, kind="start")],
    gems=[active("herald"), active("zap")],
    bases=[CAP, HOOD, AMULET],
    affixes=AFFIXES,
    uniques=[UniqueFact(name="Sun", base="Amber Amulet", type="Amulet", level=1, text="Sun", lines=["50 inc"])],
)


async def read(tmp_path: Path, blueprint: Blueprint = OWNED) -> tuple[ArithmeticEngine, OwnersBuild]:
    file = tmp_path / "pathfinder_99.xml"
    file.write_text(blueprint.model_dump_json())
    engine = ArithmeticEngine(WORLD)
    return engine, await owners_build(engine, file)


async def test_rares_are_replaced_and_uniques_and_the_second_weapon_set_stay(tmp_path: Path) -> None:
    engine, owner = await read(tmp_path)
    assert owner.rares == ["Helmet"]
    assert owner.outputs["DPS"] == pytest.approx(150.0)
    tiers = {tier: await dressed(engine, owner, tier, 1) for tier in GearTier}
    ratios = [tiers[tier]["dps"] for tier in (GearTier.STARTER, GearTier.MID, GearTier.ENDGAME, GearTier.MIRROR)]
    assert all(ratio is not None and ratio > 1 for ratio in ratios)
    assert ratios == sorted(ratios, key=lambda ratio: ratio or 0.0)
    # the unique's 50 stay; the best affix is out of reach of those who have not everything
    assert tiers[GearTier.STARTER]["dps"] == pytest.approx((100 + 50 + 20) / 150, abs=1e-3)
    assert tiers[GearTier.MIRROR]["dps"] == pytest.approx((100 + 50 + 90) / 150, abs=1e-3)


async def test_a_named_skill_is_the_one_that_damage_is_measured_with() -> None:
    assert damage_group(OWNED, "Zap") == 2
    assert damage_group(OWNED, "Nothing like it") == damage_group(OWNED, None) == 1


def test_a_rare_is_replaced_by_one_of_its_kind() -> None:
    ordinary = [AMULET, CAP, HELM, HOOD, RUBY]
    assert alike(ordinary, OWNED.items["Helmet"], CAP) == [HELM, CAP]
    assert alike(ordinary, OWNED.items["Amulet"], AMULET) == [AMULET]
    jewel = GearItem(slot="Jewel 7", base="Ruby", rarity="RARE")
    assert alike(ordinary, jewel, RUBY) == [RUBY]
    assert alike(ordinary, jewel, TIME_LOST) == []
    assert alike(ordinary, jewel, None) == []


def row(level: int, dps: float | None, ehp: float) -> dict[str, Any]:
    figures = {tier.value: {"dps": dps, "ehp": ehp} for tier in TIERS}
    return {"build": f"b{level}", "level": level, "skill": "Zap", "rares": 9, "tiers": figures}


def test_medians_go_by_the_level_of_the_owner() -> None:
    found = medians([row(70, 1.0, 1.0), row(85, 2.0, 1.0), row(92, 0.8, 1.0), row(95, 1.0, 1.2), row(99, None, 1.4)])
    assert list(found) == ["level 60-75", "level 76-89", "level 90+"]
    assert found["level 90+"]["endgame"] == {"n": 3, "dps": 0.9, "ehp": 1.2}


@pytest.mark.parametrize(("dps", "ehp", "holds"), [(0.7, 1.3, True), (0.69, 1.0, False), (1.0, 1.31, False)])
def test_endgame_is_bound_to_thirty_percent(dps: float, ehp: float, holds: bool) -> None:
    assert endgame_holds(medians([row(92, dps, ehp)])) is holds


def test_without_an_owner_from_level_90_on_nothing_is_bound() -> None:
    assert endgame_holds(medians([row(85, 1.0, 1.0)])) is None


def test_the_table_has_a_line_per_build_and_per_column_of_players() -> None:
    lines = table([row(85, 1.0, 2.0), row(92, None, 0.5)])
    assert len(lines) == 6
    assert "1.00 / 2.00" in lines[1]
    assert "- / 0.50" in lines[2]
    assert lines[4].startswith("median, level 90+ (n=1)")
