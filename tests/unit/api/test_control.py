"""Cancel and resume."""

from __future__ import annotations

import httpx
import pytest

from app.model.names import BuildStatus
from app.model.record import BuildFailure
from tests.fakes.samples import a_complete_record, a_record
from tests.fakes.service import World


async def test_a_queued_build_is_cancelled_at_once(api: httpx.AsyncClient, world: World) -> None:
    record = world.store.put(a_record())
    for _ in range(2):
        answer = await api.post(f"/v1/builds/{record.id}/cancel")
        assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")


async def test_a_running_build_is_asked_to_stop(api: httpx.AsyncClient, world: World) -> None:
    record = world.store.put(a_record(status=BuildStatus.RUNNING, epoch=1))
    answer = await api.post(f"/v1/builds/{record.id}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "running")
    assert world.store.records[record.id].cancel_requested


async def test_a_complete_build_can_be_neither_cancelled_nor_resumed(api: httpx.AsyncClient, world: World) -> None:
    record = world.store.put(a_complete_record())
    cancelled = await api.post(f"/v1/builds/{record.id}/cancel")
    resumed = await api.post(f"/v1/builds/{record.id}/resume")
    assert (cancelled.status_code, cancelled.json()["code"]) == (409, "conflict")
    assert (resumed.status_code, resumed.json()["code"]) == (409, "invalid_transition")
    assert world.runner.rung == []


@pytest.mark.parametrize("status", [BuildStatus.FAILED, BuildStatus.CANCELLED, BuildStatus.RUNNING])
async def test_what_is_not_complete_goes_on(api: httpx.AsyncClient, world: World, status: BuildStatus) -> None:
    failure = BuildFailure(code="engine_crashed", message="gone") if status is BuildStatus.FAILED else None
    record = world.store.put(a_record(status=status, failure=failure))
    answer = await api.post(f"/v1/builds/{record.id}/resume")
    assert answer.status_code == 202
    assert answer.json()["status"] in ("queued", "running")
    assert world.runner.rung == [record.id]


async def test_a_failed_build_says_why(api: httpx.AsyncClient, world: World) -> None:
    failure = BuildFailure(code="engine_crashed", message="The engine ended.")
    record = world.store.put(a_record(status=BuildStatus.FAILED, failure=failure))
    caveats = (await api.get(f"/v1/builds/{record.id}")).json()["caveats"]
    assert caveats == ["The build failed (engine_crashed): The engine ended."]


@pytest.mark.parametrize("action", ["cancel", "resume"])
async def test_an_unknown_build_is_not_found(api: httpx.AsyncClient, action: str) -> None:
    answer = await api.post(f"/v1/builds/nothing/{action}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
