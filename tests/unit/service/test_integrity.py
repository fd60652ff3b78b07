"""The check of the store finds each kind of damage, and nothing in a sound store."""

from __future__ import annotations

from typing import Any

import pytest

from app.model.names import BuildStatus
from app.service.health import check_store
from tests.fakes.samples import a_complete_record, a_record, an_event, an_iterating_record
from tests.fakes.stores import MemoryBuildStore, MemoryEventStore


async def test_a_sound_store_has_no_findings() -> None:
    builds, events = MemoryBuildStore(), MemoryEventStore()
    for number in range(1, 251):
        builds.put(a_record(number), created_at=a_record().created_at)
    builds.put(a_complete_record(300))
    builds.put(an_iterating_record())
    for _ in range(1200):
        builds.tell(a_record(1).id, "step")
    events.kept[a_record(1).id] = [an_event(1), an_event(2)]
    report = await check_store(builds, events)
    assert (report.builds, report.findings) == (251, [])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": BuildStatus.COMPLETE}, "without an outcome"),
        ({"status": BuildStatus.FAILED}, "nothing says why"),
        ({"status": BuildStatus.RUNNING}, "never claimed"),
        ({"state": a_complete_record().state}, "without a file"),
    ],
)
async def test_finds_contradictions(changes: dict[str, Any], sentence: str) -> None:
    builds = MemoryBuildStore()
    builds.put(a_record(), **changes)
    report = await check_store(builds, MemoryEventStore())
    assert any(sentence in found.broken for found in report.findings)


async def test_finds_gaps() -> None:
    builds, events = MemoryBuildStore(), MemoryEventStore()
    record = builds.put(a_record())
    for _ in range(3):
        builds.tell(record.id, "step")
    del builds.events[record.id][1]
    events.kept[record.id] = [an_event(1), an_event(3)]
    broken = [found.broken for found in (await check_store(builds, events)).findings]
    assert broken == ["progress events are not numbered 1 to N", "tool events are not numbered 1 to N"]
