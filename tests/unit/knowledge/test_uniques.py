"""How hard uniques are to come by, by the table and by what the engine says of them."""

from __future__ import annotations

import pytest

from app.knowledge.uniques import GONE, UniqueTable, origin_of, unique_table
from app.model.facts import UniqueFact
from app.model.names import UniqueTier


def fact(name: str = "Dream", level: int = 10, source: str = "") -> UniqueFact:
    return UniqueFact(name=name, base="Ring", type="Ring", level=level, text="", source=source)


@pytest.mark.parametrize(
    ("unique", "tier", "words"),
    [
        (fact(), UniqueTier.COMMON, "common"),
        (fact(level=64), UniqueTier.COMMON, "common"),
        (fact(level=65), UniqueTier.RARE, "rare: drops in maps only"),
        (fact(source="Drops from The Sleeper"), UniqueTier.RARE, "rare: drops from The Sleeper"),
        (fact(level=80, source="Drops from The Sleeper"), UniqueTier.RARE, "rare: drops from The Sleeper"),
        (fact("Dream Fragments", 12), UniqueTier.RARE, "rare: seldom drops"),
        (fact("Mageblood"), UniqueTier.CHASE, "chase: hardly anybody finds one"),
        (fact("Temporalis", source="Drops from Zarokh"), UniqueTier.CHASE, "chase: drops from Zarokh"),
        (fact(source=GONE), UniqueTier.CHASE, "chase: can no longer be obtained"),
    ],
)
def test_a_unique_has_the_tier_of_table_then_source_then_level(
    unique: UniqueFact, tier: UniqueTier, words: str
) -> None:
    assert (origin_of(unique).tier, origin_of(unique).words) == (tier, words)


def test_no_name_has_two_tiers() -> None:
    assert not set(unique_table().chase) & set(unique_table().rare)


def test_names_that_no_engine_has_are_found() -> None:
    table = UniqueTable(
        pob_version="1", late_from=65, chase={"Mageblod": "general", "Headhunter": "drops"}, rare={"Alpha": "drops"}
    )
    assert table.unknown([fact("Headhunter"), fact("Alpha's Howl")]) == ["Alpha", "Mageblod"]


def test_where_a_name_is_known_from_has_to_be_said() -> None:
    with pytest.raises(ValueError, match="chase"):
        UniqueTable.model_validate({"pob_version": "1", "late_from": 65, "chase": {"Mageblood": ""}, "rare": {}})


def test_tiers_are_in_order() -> None:
    assert [tier.rank for tier in (UniqueTier.COMMON, UniqueTier.RARE, UniqueTier.CHASE)] == [0, 1, 2]
