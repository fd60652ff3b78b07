"""The parts of `bench service` that need no build."""

from __future__ import annotations

import pytest

from app.bench import service
from app.core.config import Settings
from app.core.errors import InputError


async def test_metrics_are_timed_over_all_events_of_a_build() -> None:
    report = await service.metrics_cost(Settings(), builds=2, events=24)
    assert (report["events_in_store"], report["events_of_build"]) == (48, 24)
    assert 0 < report["p50_ms"] <= report["p95_ms"]
    assert 0 < report["processor_p50_ms"] <= report["processor_p95_ms"]


async def test_an_unknown_part_is_named() -> None:
    with pytest.raises(InputError, match="no part 'recordng'"):
        await service.measure(Settings(), ["recordng"])
