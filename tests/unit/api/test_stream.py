"""The event stream: every event once, in order, resumable, and it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from app.api.recordings import watch
from app.model.names import BuildStatus, Outcome, Phase
from app.model.record import ProgressData
from tests.fakes.samples import a_record
from tests.fakes.service import World


def parse(text: str) -> list[dict[str, Any]]:
    """Return the events of a stream as the browser would see them."""
    frames = [frame for frame in text.replace("\r\n", "\n").split("\n\n") if "data:" in frame]
    found = []
    for frame in frames:
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line and not line.startswith(":"))
        found.append({"id": int(fields["id"]), "event": fields["event"], **json.loads(fields["data"])})
    return found


def finished_build(world: World, events: int) -> str:
    record = world.store.put(a_record(status=BuildStatus.COMPLETE))
    for number in range(events - 1):
        world.store.tell(record.id, "step", ProgressData(label=f"step {number}"))
    world.store.tell(record.id, "finished", ProgressData(outcome=Outcome.VALIDATED))
    return record.id


async def test_streams_all_and_ends(api: httpx.AsyncClient, world: World) -> None:
    build_id = finished_build(world, 5)
    answer = await api.get(f"/v1/builds/{build_id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = parse(answer.text)
    assert [event["id"] for event in events] == [1, 2, 3, 4, 5]
    assert events[-1]["event"] == "finished"
    assert events[0]["label"] == "step 0"


@pytest.mark.parametrize("last", range(7))
async def test_resumes_without_gap_or_duplicate(api: httpx.AsyncClient, world: World, last: int) -> None:
    build_id = finished_build(world, 5)
    answer = await api.get(f"/v1/builds/{build_id}/events", headers={"Last-Event-ID": str(last)})
    assert [event["id"] for event in parse(answer.text)] == list(range(last + 1, 6))


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30, "²"])
async def test_refuses_a_position_that_is_none(api: httpx.AsyncClient, world: World, last: str) -> None:
    build_id = finished_build(world, 2)
    answer = await api.get(f"/v1/builds/{build_id}/events", headers=[(b"Last-Event-ID", last.encode())])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


async def test_follows_a_build_to_its_end_across_a_reconnect(world: World) -> None:
    record = world.store.put(a_record(status=BuildStatus.RUNNING, epoch=1))
    world.store.tell(record.id, "phase", ProgressData(phase=Phase.EXPLORE))

    async def work() -> None:
        for number in range(20):
            await asyncio.sleep(0.01)
            world.store.tell(record.id, "step", ProgressData(label=str(number)))
        world.store.tell(record.id, "finished")
        world.store.put(world.store.records[record.id], status=BuildStatus.COMPLETE)

    working = asyncio.create_task(work())
    seen: list[int] = []
    async for frame in watch(world.services, record.id, 0):
        seen.append(int(frame.id or 0))
        if len(seen) == 7:
            break
    seen += [int(frame.id or 0) async for frame in watch(world.services, record.id, seen[-1])]
    await working
    assert seen == list(range(1, 23))
