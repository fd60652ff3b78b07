"""Builds next to each other, over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.fakes.samples import a_complete_record, a_record, an_event
from tests.fakes.service import World


async def fetch(api: httpx.AsyncClient, ids: str) -> dict[str, Any]:
    answer = await api.get("/v1/compare", params={"ids": ids})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_two_builds(api: httpx.AsyncClient, world: World) -> None:
    one, two = world.store.put(a_complete_record(1)), world.store.put(a_complete_record(2))
    world.events.kept[one.id] = [an_event(n) for n in (1, 2, 3)]
    world.events.kept[two.id] = [an_event(1)]
    found = await fetch(api, f"{one.id},{two.id}")
    assert found["subjects"] == [one.id, two.id]
    assert [row["total_calls"] for row in found["tool_use"]["rows"]] == [3, 1]
    assert [row["dps"] for row in found["outcomes"]["rows"]] == [54321.0, 54321.0]
    calls = next(m for m in found["deltas"][0]["metrics"] if m["metric"] == "calls")
    assert (calls["difference"], calls["interval"]) == (-2.0, None)
    assert found["unmatched"] == []


async def test_without_data_the_section_says_so(api: httpx.AsyncClient, world: World) -> None:
    for number in (1, 2):
        world.store.put(a_record(number))
    found = await fetch(api, f"{a_record(1).id},{a_record(2).id}")
    assert found["tool_use"]["rows"] == []
    assert found["tool_use"]["reason"]
    assert len(found["notes"]) == 2


@pytest.mark.parametrize(
    ("ids", "status"), [("", 422), ("a", 422), ("a,a", 422), (",".join("abcdefghijk"), 422), ("a,b", 404)]
)
async def test_refuses_what_cannot_be_compared(api: httpx.AsyncClient, ids: str, status: int) -> None:
    assert (await api.get("/v1/compare", params={"ids": ids})).status_code == status
