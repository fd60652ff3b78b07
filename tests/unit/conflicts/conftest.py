from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.conflicts.case import Case
from app.model.blueprint import Blueprint, GearItem, Gem, SkillGroup
from app.model.constraints import InvariantSet
from app.model.demands import demands_of, points_by
from app.model.facts import BaseFact
from app.model.record import BuildRequest
from app.model.stats import EngineVersion, Inspection, Stats

MakeCase = Callable[..., Case]
ENGINE = EngineVersion(name="test", version="1", tree_version="0_5")
SOUND_VALUES = {
    "CombinedDPS": 50_000.0,
    "TotalEHP": 20_000.0,
    "FireResist": 75.0,
    "ColdResist": 75.0,
    "LightningResist": 75.0,
    "Spirit": 100.0,
    "SpiritUnreserved": 0.0,
    "Mana": 500.0,
    "ManaUnreserved": 500.0,
    "ManaPerSecondCost": 50.0,
    "ManaRegenRecovery": 50.0,
    "Life": 2000.0,
    "Str": 50.0,
    "Dex": 50.0,
    "Int": 150.0,
}
SOUND_POINTS = {
    "used": 113,
    "used_set1": 0,
    "used_set2": 0,
    "available": 113,
    "ascendancy_used": 8,
    "ascendancy_available": 8,
}


def make_case(
    *,
    level: int = 90,
    values: dict[str, float | None] | None = None,
    points: dict[str, int] | None = None,
    items: list[GearItem] | None = None,
    bases: list[BaseFact] | None = None,
    blueprint: dict[str, Any] | None = None,
    inspection: dict[str, Any] | None = None,
    **case: Any,
) -> Case:
    """A level 90 mid-gear build without a fault, changed as asked; a value of None leaves the stat out."""
    merged = {**SOUND_VALUES, **(values or {})}
    sound = Blueprint(
        class_name="Sorceress",
        ascendancy="Stormweaver",
        level=level,
        groups=[SkillGroup(gems=[Gem(gem_id="spark", name="Spark")])],
        main_group=1,
        items={item.slot: item for item in items or []},
    )
    spent = {**SOUND_POINTS, "used": points_by(level), "available": points_by(level), **(points or {})}
    return Case(
        blueprint=sound.model_copy(update=blueprint or {}),
        stats=Stats(engine=ENGINE, values={key: value for key, value in merged.items() if value is not None}),
        inspection=Inspection(points=spent, **(inspection or {})),
        demands=demands_of(InvariantSet(), BuildRequest(prompt="a sound build", level=level)),
        bases={base.name: base for base in bases or []},
        **case,
    )


@pytest.fixture
def case() -> MakeCase:
    return make_case
