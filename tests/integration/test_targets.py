"""Targets in whole builds on the sketch engine: what can be reached is, what cannot spoils nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.engine.process import ProcessEngine
from app.model.constraints import InvariantValue
from app.model.stats import DPS, RESISTANCES
from tests.fakes.construction import constructed

pytestmark = [pytest.mark.slow, pytest.mark.deep]


@pytest.fixture
async def engine() -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("sketch", {}, workers=1)
    await made.start()
    yield made
    await made.close()


async def figures(engine: ProcessEngine, **asked: InvariantValue) -> dict[str, float]:
    stats = (await constructed(engine, "lightning sorceress life based", 24, **asked)).stats
    assert stats is not None
    return stats.values


async def test_targets_within_reach_are_met_and_impossible_ones_spoil_nothing(engine: ProcessEngine) -> None:
    plain = await figures(engine)
    life, mana = round(plain["Life"] * 1.2), round(plain["Mana"] * 1.05)
    met = await figures(engine, life=life, mana=mana)
    assert met["Life"] >= life
    assert met["Mana"] >= mana
    far = await figures(engine, dps=2e7, ehp=9e4, life=1e5)
    assert all(far[key] >= min(75.0, plain[key]) for key in RESISTANCES)
    assert far["SpiritUnreserved"] >= 0
    assert far["Life"] >= plain["Life"]
    assert far[DPS] >= 0.9 * plain[DPS]
    assert far["TotalEHP"] >= 0.9 * plain["TotalEHP"]
