"""Recorded tool calls: attempts, calls, filters, pages."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.model.events import CallOutcome
from app.model.names import Phase
from tests.fakes.samples import a_record, an_event
from tests.fakes.service import World

CALL_FIELDS = ["args", "duration_ms", "error", "result", "sequence", "success", "tool_call_id", "tool_name", "turn"]


@pytest.fixture
def recorded(world: World) -> str:
    record = world.store.put(a_record())
    timeout = {"outcome": CallOutcome.TIMEOUT, "error_type": "EngineHung", "error_message": "too slow"}
    world.events.kept[record.id] = [
        an_event(1),
        an_event(2, call_id="retried", **timeout),
        an_event(3, call_id="retried", attempt=2),
        an_event(4, tool="pob.what_if", phase=Phase.VALIDATE),
        an_event(5, outcome=CallOutcome.INCOMPLETE, duration_ms=None, result_preview=None),
    ]
    return record.id


async def fetch(api: httpx.AsyncClient, build_id: str, **query: Any) -> dict[str, Any]:
    answer = await api.get(f"/v1/builds/{build_id}/tool-events", params=query)
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return body


async def test_attempts_are_all_there_in_order(api: httpx.AsyncClient, recorded: str) -> None:
    page = await fetch(api, recorded)
    assert [event["seq"] for event in page["tool_events"]] == [1, 2, 3, 4, 5]
    assert page["next_cursor"] is None


async def test_calls_fold_attempts(api: httpx.AsyncClient, recorded: str) -> None:
    calls = (await fetch(api, recorded, view="calls"))["tool_events"]
    assert [call["sequence"] for call in calls] == [1, 2, 3, 4]
    assert sorted(calls[0]) == CALL_FIELDS
    retried, open_call = calls[1], calls[3]
    assert (retried["success"], retried["duration_ms"], retried["error"]) == (True, 20.8, None)
    assert (open_call["success"], open_call["duration_ms"], open_call["error"]) == (False, None, "incomplete")


@pytest.mark.parametrize(
    ("query", "attempts", "calls"),
    [
        ({"phase": "validate"}, [4], [3]),
        ({"tool": "pob.stats"}, [1, 2, 3, 5], [1, 2, 4]),
        ({"outcome": "timeout"}, [2], []),
        ({"outcome": "ok", "phase": "construct"}, [1, 3], [1, 2]),
        ({"tool": "nothing"}, [], []),
    ],
)
async def test_filters(
    api: httpx.AsyncClient, recorded: str, query: dict[str, str], attempts: list[int], calls: list[int]
) -> None:
    page = await fetch(api, recorded, **query)
    assert [event["seq"] for event in page["tool_events"]] == attempts
    folded = await fetch(api, recorded, view="calls", **query)
    assert [call["sequence"] for call in folded["tool_events"]] == calls


@pytest.mark.parametrize(("view", "key", "total"), [("attempts", "seq", 5), ("calls", "sequence", 4)])
async def test_pages_join_without_gap(api: httpx.AsyncClient, recorded: str, view: str, key: str, total: int) -> None:
    seen: list[int] = []
    cursor: str | None = "0"
    while cursor is not None:
        page = await fetch(api, recorded, view=view, limit=2, cursor=cursor)
        seen += [entry[key] for entry in page["tool_events"]]
        cursor = page["next_cursor"]
    assert seen == list(range(1, total + 1))


@pytest.mark.parametrize("query", ["phase=x", "outcome=x", "view=x", "cursor=x", "limit=0", f"tool={'x' * 101}"])
async def test_refuses_a_senseless_query(api: httpx.AsyncClient, recorded: str, query: str) -> None:
    answer = await api.get(f"/v1/builds/{recorded}/tool-events?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
