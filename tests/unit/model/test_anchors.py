"""The figures of real players, and which column a tier and a level are held against."""

from __future__ import annotations

import pytest

from app.model.anchors import ANCHORS, Column, Quartiles, column_at, column_of
from app.model.names import GearTier


def test_quartiles_are_in_order() -> None:
    for anchors in ANCHORS.values():
        for name in type(anchors).model_fields:
            value = getattr(anchors, name)
            if isinstance(value, Quartiles):
                assert value.lower <= value.median <= value.upper, (anchors.column, name)


def test_every_column_is_there() -> None:
    assert set(ANCHORS) == set(Column)


@pytest.mark.parametrize(
    ("level", "column"),
    [(1, Column.LEVEL_60), (75, Column.LEVEL_60), (76, Column.LEVEL_76), (89, Column.LEVEL_76), (90, Column.LEVEL_90)],
)
def test_a_level_has_the_column_of_its_band(level: int, column: Column) -> None:
    assert column_at(level).column is column


def test_a_better_tier_has_a_better_column() -> None:
    upper = [column_of(tier).dps.upper for tier in GearTier]
    assert upper == sorted(upper)
    assert column_of(GearTier.MID).column is Column.LEVEL_76
    assert column_of(GearTier.ENDGAME).column is Column.LEVEL_90
