"""Items: rolls, local numbers, requirements, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.protocol import Refused
from app.engine.sketch.gear import ItemEffects, gem_attribute, granted_level, rune_kinds
from app.engine.sketch.lines import Wording, mean, rolled
from app.engine.sketch.pack import Affix, Pack
from app.model.blueprint import AffixRoll, GearItem


@pytest.fixture
def effects(pack: Pack) -> ItemEffects:
    return ItemEffects(pack, Wording(pack))


def plate(**fields: object) -> GearItem:
    return GearItem.model_validate({"slot": "Body Armour", "base": "Fur Plate", "item_level": 80} | fields)


def highest(affix: Affix) -> float:
    return mean(rolled(affix.spans[0], 1.0))


@pytest.mark.parametrize(
    ("spans", "roll", "expected"),
    [
        ((10, 19), 0.5, 15),
        ((16, 20), 0.25, 17),
        ((10, 19), 0.0, 10),
        ((10, 19), 1.0, 19),
        ((6.1, 9), 0.5, 7.6),
        ((1.51, 2.1), 0.5, 1.81),
        (((6, 8), (10, 13)), 0.5, (7, 12)),
        (5, 0.9, 5),
    ],
)
def test_rolls_round_as_path_of_building_does(spans: object, roll: float, expected: object) -> None:
    assert rolled(spans, roll) == expected  # type: ignore[arg-type]


@given(low=st.integers(0, 500), width=st.integers(0, 500), roll=st.floats(0, 1))
def test_a_roll_stays_in_its_range(low: int, width: int, roll: float) -> None:
    amount = rolled((low, low + width), roll)

    assert isinstance(amount, int)
    assert low <= amount <= low + width


def test_local_defences_multiply_base_flat_and_quality(effects: ItemEffects, pack: Pack) -> None:
    flat = pack.affixes["", "LocalIncreasedPhysicalDamageReductionRating5"]
    increased = pack.affixes["", "LocalIncreasedPhysicalDamageReductionRatingPercent3"]
    item = plate(quality=20, prefixes=[{"id": flat.id, "roll": 1}, {"id": increased.id, "roll": 1}])

    expected = (66 + highest(flat)) * (1 + highest(increased) / 100) * 1.2
    stats = effects.worn(item).stats
    assert stats["armour"] == pytest.approx(expected)
    assert "armour_inc" not in stats, "a local increase does not act on other items"


def test_a_weapon_keeps_its_local_numbers_to_itself(effects: ItemEffects, pack: Pack) -> None:
    base = pack.bases["Crude Bow"].weapon
    increased = pack.affixes["", "LocalIncreasedPhysicalDamagePercent3"]
    speed = pack.affixes["", "LocalIncreasedAttackSpeed3"]
    item = GearItem(
        slot="Weapon 1",
        base="Crude Bow",
        prefixes=[AffixRoll(id=increased.id, roll=1)],
        suffixes=[AffixRoll(id=speed.id, roll=1)],
    )
    worn = effects.worn(item)

    assert base is not None
    assert worn.weapon is not None
    assert worn.weapon.damage["physical"] == pytest.approx(7.5 * (1 + highest(increased) / 100))
    assert worn.weapon.rate == pytest.approx(base.rate * (1 + highest(speed) / 100))
    assert worn.weapon.flags == {"bow", "two_handed"}
    assert worn.stats == {}


def test_runes_act_by_kind_of_item(effects: ItemEffects, pack: Pack) -> None:
    armour = effects.worn(plate(runes=["Desert Rune", "None"])).stats
    wand = effects.worn(GearItem(slot="Weapon 1", base="Attuned Wand", runes=["Desert Rune"])).stats
    bow = effects.worn(GearItem(slot="Weapon 1", base="Crude Bow", runes=["Desert Rune"])).weapon

    assert armour["fire_resistance"] > 0
    assert wand["extra_fire"] > 0
    assert bow is not None
    assert bow.damage["fire"] > 0
    assert rune_kinds(pack.bases["Attuned Wand"]) == {"wand", "caster"}


def test_a_wand_asks_for_what_its_skill_asks_for(effects: ItemEffects, pack: Pack) -> None:
    item = GearItem(slot="Weapon 1", base="Attuned Wand", item_level=65)

    assert granted_level(pack, item) == 15
    assert effects.worn(item).requires == {"level": 64, "int": gem_attribute(64, 100)}


@pytest.mark.parametrize(("level", "share", "expected"), [(78, 100, 137), (1, 100, 0), (90, 50, 86), (90, 0, 0)])
def test_attribute_requirements_of_gems_follow_the_games_formula(level: int, share: float, expected: int) -> None:
    assert gem_attribute(level, share) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"base": "No Such Hat"},
        {"prefixes": [{"id": "NoSuchAffix"}]},
        {"suffixes": [{"id": "IncreasedLife1"}]},
        {"runes": ["No Such Rune"]},
        {"text": "not an item"},
        {"text": "Rarity: RARE\n" + "x" * 10_000},
    ],
)
def test_what_the_pack_does_not_know_is_refused(effects: ItemEffects, fields: dict[str, object]) -> None:
    with pytest.raises(Refused):
        effects.worn(plate(**fields))


def test_text_is_read_and_lines_it_does_not_know_are_told(effects: ItemEffects) -> None:
    text = "Rarity: RARE\nOld Coat\nFur Plate\nItem Level: 70\nImplicits: 0\n+50 to maximum Life\nSings softly"
    worn = effects.worn(plate(text=text))

    assert worn.stats["life"] == 50
    assert worn.unread == ("Sings softly",)
