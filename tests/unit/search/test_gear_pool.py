"""What the pool of a slot offers, and what it takes back when the engine does not understand it."""

from __future__ import annotations

from app.model.facts import AffixFact, BaseFact, RuneFact
from app.search.gear.pool import SlotPool, best_runes

GLOVES = BaseFact(name="Mitts", type="Gloves", slots=["Gloves"], socket_limit=1)
LIFE = AffixFact(
    id="Life8", side="prefix", name="Stout", group="Life", level=40, lines=["+(80-99) to maximum Life"], weight=1
)
BONDED_WARD = "Bonded: 15% increased Global Armour, Evasion and Energy Shield"


def pool() -> SlotPool:
    return SlotPool(
        slot="Gloves",
        bases={"Mitts": GLOVES},
        affixes={"Life8": LIFE},
        hosts={"Life8": frozenset({"Mitts"})},
        runes={"Ward Rune": frozenset({"Mitts"}), "Iron Rune": frozenset({"Mitts"})},
        item_level=65,
        per_side=3,
        total=5,
        rune_lines={
            "Ward Rune": frozenset({"+20 to maximum Runic Ward", BONDED_WARD}),
            "Iron Rune": frozenset({"20% increased Armour", BONDED_WARD}),
        },
    )


def test_a_line_is_found_in_affixes_and_runes_whatever_its_numbers() -> None:
    assert pool().saying(["+91 to maximum Life"]) == {"Life8"}
    assert pool().saying(["+40 to maximum Runic Ward"]) == {"Ward Rune"}


def test_a_bonded_line_takes_no_rune_out() -> None:
    assert pool().saying([BONDED_WARD]) == set()


def test_what_is_banned_is_offered_no_more() -> None:
    left = pool().without({"Ward Rune", "Life8"})
    assert [option.id for option in left.options()] == ["Mitts", "Iron Rune"]


def test_of_runes_that_say_the_same_only_the_highest_tier_that_the_gear_has_is_offered() -> None:
    tiers = [("Lesser Iron Rune", 1, 14), ("Iron Rune", 15, 16), ("Greater Iron Rune", 30, 18)]
    runes = [RuneFact(name=name, level=level, lines=[f"{n}% increased Armour"]) for name, level, n in tiers]
    other = [
        RuneFact(name="Body Rune", level=15, lines=["+45 to maximum Life"]),
        RuneFact(name="Talisman of Thruldana", level=1, lines=["+1 to Level of all Skills"]),
    ]
    assert [rune.name for rune in best_runes([*runes, *other], 20)] == ["Body Rune", "Iron Rune"]
