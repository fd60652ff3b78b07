"""Expectations over HTTP, against recorded calls."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.model.events import CallOutcome
from tests.fakes.samples import a_record, an_event
from tests.fakes.service import World


@pytest.fixture
def recorded(world: World) -> str:
    record = world.store.put(a_record())
    world.events.kept[record.id] = [
        an_event(1, tool="pob.build", args={"blueprint": {"sha256": "ab", "bytes": 7}}),
        an_event(2, tool="pob.what_if", call_id="w", outcome=CallOutcome.TIMEOUT, args={"candidates": 40}),
        an_event(3, tool="pob.what_if", call_id="w", attempt=2, args={"candidates": 40}),
        an_event(4, tool="pob.stats", outcome=CallOutcome.ERROR, error_message="no"),
    ]
    return record.id


async def post(api: httpx.AsyncClient, build_id: str, body: Any) -> httpx.Response:
    return await api.post(f"/v1/builds/{build_id}/expectations", json=body)


async def test_a_retried_call_is_one_call_that_succeeded(api: httpx.AsyncClient, recorded: str) -> None:
    many = {"tool": "pob.what_if", "args": {"candidates": {"range": {"gte": 40}}}, "times": {"min": 1, "max": 1}}
    answer = await post(api, recorded, {"expect": [many], "max_calls": 3, "required_tools": ["pob.build"]})
    verdict = answer.json()
    assert (answer.status_code, verdict["passed"], verdict["score"]) == (200, True, 1.0)
    assert verdict["checks"][0]["matched"] == [2]


async def test_a_pointer_reaches_into_the_arguments(api: httpx.AsyncClient, recorded: str) -> None:
    nested = {"tool": "pob.build", "args": {"/blueprint/bytes": {"equals": 7}}}
    assert (await post(api, recorded, {"expect": [nested]})).json()["passed"]


async def test_what_fails_says_why(api: httpx.AsyncClient, recorded: str) -> None:
    wanted = {"expect": [{"tool": "pob.stats"}], "forbidden_tools": ["/pob\\..*/"], "min_calls": 1}
    verdict = (await post(api, recorded, wanted)).json()
    assert (verdict["passed"], verdict["score"]) == (False, 1 / 3)
    assert "call 3: the call failed" in verdict["checks"][0]["reason"]
    assert verdict["checks"][1]["matched"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_input"),
        ([], "invalid_input"),
        ({"expect": []}, "invalid_input"),
        ({"wat": 1}, "invalid_input"),
        ({"min_calls": -1}, "invalid_input"),
        ({"min_calls": 3, "max_calls": 1}, "invalid_input"),
        ({"required_tools": [""]}, "invalid_input"),
        ({"expect": [{"tool": " "}]}, "invalid_input"),
        ({"expect": [{"tool": "/(/"}]}, "invalid_matcher"),
        ({"expect": [{"tool": "a", "args": {"x": {"wat": 1}}}]}, "invalid_matcher"),
        ({"expect": [{"tool": "a", "args": {"x": {"range": {"gte": 5, "lte": 1}}}}]}, "invalid_matcher"),
        ({"forbidden_tools": [{"tool": "a", "args": {"x": {"regex": "["}}}]}, "invalid_matcher"),
    ],
)
async def test_what_cannot_be_evaluated_is_refused_before_the_build_is_looked_at(
    api: httpx.AsyncClient, recorded: str, body: Any, code: str
) -> None:
    for build_id in (recorded, "nothing"):
        answer = await post(api, build_id, body)
        assert (answer.status_code, answer.json()["code"]) == (422, code)


async def test_an_unknown_build_is_not_found(api: httpx.AsyncClient) -> None:
    assert (await post(api, "nothing", {"min_calls": 1})).status_code == 404
