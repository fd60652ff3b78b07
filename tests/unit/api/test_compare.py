"""Builds next to each other, over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.model.base import changed
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


async def test_builds_asked_for_different_things_are_not_held_against_each_other(
    api: httpx.AsyncClient, world: World
) -> None:
    one, other = a_complete_record(1), a_complete_record(2)
    world.store.put(one)
    world.store.put(changed(other, request=changed(other.request, prompt="something else", level=70)))
    found = await fetch(api, f"{one.id},{other.id}")
    assert any("something else, level 70" in note for note in found["notes"])
    assert len(found["unmatched"]) == 2
    assert {delta["difference"] for delta in found["deltas"][0]["metrics"]} == {None}


async def test_a_refinement_is_held_against_what_it_was_made_from(api: httpx.AsyncClient, world: World) -> None:
    one, other = a_complete_record(1), a_complete_record(2)
    world.store.put(one)
    world.store.put(changed(other, request=changed(other.request, prompt="tankier", parent_id=one.id)))
    found = await fetch(api, f"{one.id},{other.id}")
    assert (found["notes"], found["unmatched"]) == ([], [])
    assert next(d for d in found["deltas"][0]["metrics"] if d["metric"] == "dps")["difference"] == 0.0
