"""Usage across builds, over HTTP."""

from __future__ import annotations

import httpx
import pytest


async def test_usage_by_day(api: httpx.AsyncClient) -> None:
    answer = await api.get("/v1/usage", params={"by": "day", "since": "2026-01-01"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["since"] == "2026-01-01"
    assert answer.json()["total"]["valid_rate"] is None


@pytest.mark.parametrize("query", [{"by": "mood"}, {"since": "yesterday"}, {"since": "2026-13-01"}])
async def test_what_cannot_be_asked(api: httpx.AsyncClient, query: dict[str, str]) -> None:
    assert (await api.get("/v1/usage", params=query)).status_code == 422


@pytest.mark.parametrize("effort", ["quick", "normal", "deep"])
async def test_what_a_build_would_cost(api: httpx.AsyncClient, effort: str) -> None:
    answer = await api.get("/v1/estimate", params={"effort": effort})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["effort"], answer.json()["basis"], answer.json()["expected"]["usd"]) == (effort, "rules", "0")


async def test_an_estimate_of_a_model_that_is_not_there(api: httpx.AsyncClient) -> None:
    answer = await api.get("/v1/estimate", params={"reasoner": "llm"})
    assert (answer.status_code, answer.json()["code"]) == (422, "reasoner_missing")
    assert (await api.get("/v1/estimate", params={"effort": "much"})).status_code == 422
