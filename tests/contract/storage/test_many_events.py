"""A store with a hundred thousand events: what is asked of one build must not depend on the others."""

from __future__ import annotations

import asyncio
import hashlib
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert

from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.service.recordings import Recordings, ToolFilter
from app.storage.store import Storage
from app.storage.tables import ToolEventRow
from tests.fakes.steps import new_record

pytestmark = pytest.mark.slow
KINDS = ["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.deep])]
BUILDS, EVENTS = 65, 1540
PHASES = ("explore", "construct", "validate")
TOOLS = ("pob.what_if", "pob.apply", "pob.build", "pob.facts.affixes")
START = datetime(2026, 1, 1, tzinfo=UTC)


def row(build: str, number: int) -> dict[str, Any]:
    return {
        "build_id": build,
        "seq": number,
        "schema_version": "1.0",
        "phase": PHASES[number * 3 // (EVENTS + 1)],
        "turn": 0,
        "kind": "pob",
        "tool": TOOLS[number % 4],
        "tool_version": "pob 0.20.0",
        "call_id": f"{build}{number}",
        "attempt": 1,
        "started_at": START + timedelta(milliseconds=100 * number),
        "duration_ms": float(number % 90 + 5),
        "outcome": "ok",
        "args": {"candidates": 40, "build_sha256": "a" * 64},
        "args_sha256": hashlib.sha256(str(number // 3).encode()).hexdigest(),
        "result_sha256": "b" * 64,
        "result_preview": "x" * 2000,
        "bytes_in": 400,
        "bytes_out": 7000,
        "cache": "miss",
        "cost_source": "none",
    }


async def fill(storage: Storage, builds: int) -> list[str]:
    ids = [(await storage.builds.insert(new_record())).id for _ in range(builds)]
    for build in ids:
        rows = [row(build, number) for number in range(1, EVENTS + 1)]
        async with storage.database.write() as session:
            await session.execute(insert(ToolEventRow.metadata.tables["tool_event"]), rows)
    return ids


async def seconds_of(storage: Storage, ids: list[str]) -> list[float]:
    """Return the processor seconds of measuring each build, without what is remembered."""
    took = []
    for build in ids:
        recordings = Recordings(storage.builds, storage.events)
        began = time.process_time()
        assert (await recordings.metrics(build)).run.calls == EVENTS
        took.append(time.process_time() - began)
    return sorted(took)


@pytest.mark.parametrize("url", KINDS, indirect=True)
async def test_metrics_of_one_build_do_not_pay_for_the_others(storage: Storage) -> None:
    few = await seconds_of(storage, (await fill(storage, 3)) * 5)
    ids = await fill(storage, BUILDS - 3)
    many = await seconds_of(storage, ids[:15])
    assert many[len(many) // 2] < 4 * few[len(few) // 2]


@pytest.mark.parametrize("url", KINDS, indirect=True)
async def test_pages_join_without_gap_while_events_arrive(storage: Storage) -> None:
    (build,) = await fill(storage, 1)
    arriving = asyncio.create_task(add(storage, build, 200))
    recordings, seen, after = Recordings(storage.builds, storage.events), [], 0
    while True:
        page = await recordings.attempts(build, ToolFilter(after=after, limit=97))
        seen += [event.seq for event in page.tool_events]
        after = seen[-1] if seen else 0
        if arriving.done() and page.next_cursor is None:
            break
    assert seen == list(range(1, EVENTS + 201))


async def add(storage: Storage, build: str, count: int) -> None:
    for number in range(count):
        event = ToolEvent(
            build_id=build,
            seq=0,
            phase=Phase.VALIDATE,
            kind=ToolKind.POB,
            tool="pob.stats",
            call_id=f"late-{build}-{number}",
            started_at=START,
            outcome=CallOutcome.OK,
            duration_ms=1.0,
        )
        started = await storage.events.start(event)
        await storage.events.finish(started.model_copy(update={"outcome": CallOutcome.OK, "duration_ms": 1.0}))
