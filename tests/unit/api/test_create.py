"""POST /v1/builds: what is accepted, what is refused and how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.core.config import Settings
from app.wiring.reasoners import terms_of
from tests.fakes.service import World
from tests.unit.api.conftest import client_of
from tests.unit.api.test_refine import PARENT, a_parent

PROMPT = "lightning sorceress for mapping"


async def test_accepts_a_prompt_and_says_where_to_look(api: httpx.AsyncClient, world: World) -> None:
    answer = await api.post("/v1/builds", json={"prompt": f"  {PROMPT} ", "level": 80, "gear": "starter"})
    assert answer.status_code == 202
    body = answer.json()
    assert answer.headers["location"] == f"/v1/builds/{body['id']}"
    assert (body["prompt"], body["status"], body["phase"], body["outcome"]) == (PROMPT, "queued", "decompose", None)
    assert world.runner.rung == [body["id"]]
    assert world.store.records[body["id"]].request.level == 80


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "body.prompt"),
        ({"prompt": ""}, "body.prompt"),
        ({"prompt": "ab"}, "body.prompt"),
        ({"prompt": "x" * 5000}, "body.prompt"),
        ({"prompt": "      "}, "prompt"),
        ({"prompt": "\ufdfa" * 4000}, "prompt"),
        ({"prompt": "a\x00b sorceress"}, "prompt"),
        ({"prompt": "\x1b[31msorceress"}, "prompt"),
        ({"prompt": 7}, "body.prompt"),
        ({"prompt": PROMPT, "level": 0}, "body.level"),
        ({"prompt": PROMPT, "level": 200}, "body.level"),
        ({"prompt": PROMPT, "level": "high"}, "body.level"),
        ({"prompt": PROMPT, "gear": "best"}, "body.gear"),
        ({"prompt": PROMPT, "effort": "lazy"}, "body.effort"),
        ({"prompt": PROMPT, "engine": "abacus"}, "body.engine"),
        ({"prompt": PROMPT, "mode": "refinement"}, "parent_id"),
        ({"prompt": PROMPT, "colour": "blue"}, "body.colour"),
        ({"prompt": PROMPT, "overrides": {"colour": "blue"}}, "overrides.colour"),
        ({"prompt": PROMPT, "overrides": {"level": True}}, "overrides.level"),
        ({"prompt": PROMPT, "overrides": {"hardcore": "yes"}}, "overrides.hardcore"),
        ({"prompt": PROMPT, "overrides": {"exclude": ["a", ""]}}, "overrides.exclude"),
        ({"prompt": PROMPT, "overrides": {"skill": "\x07"}}, "overrides.skill"),
        ({"prompt": PROMPT, "overrides": {"goal": "winning"}}, "overrides.goal"),
        ({"prompt": PROMPT, "overrides": {"life": 10**400}}, "overrides.life"),
        ({"prompt": PROMPT, "overrides": {"level": -(10**400)}}, "overrides.level"),
        ({"prompt": PROMPT, "overrides": {"exclude": ["fire"] * 21}}, "overrides.exclude"),
    ],
)
async def test_refuses_what_cannot_be_used(
    api: httpx.AsyncClient, world: World, body: dict[str, Any], place: str
) -> None:
    answer = await api.post("/v1/builds", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == "invalid_input"
    assert place in [found["place"] for found in problem["errors"]]
    assert not world.store.records


async def test_effort_is_kept_with_the_request_and_belongs_to_its_key(api: httpx.AsyncClient, world: World) -> None:
    key = {"Idempotency-Key": "one"}
    made = await api.post("/v1/builds", json={"prompt": PROMPT, "effort": "quick"}, headers=key)
    assert made.json()["effort"] == "quick"
    assert world.store.records[made.json()["id"]].request.effort == "quick"
    assert (await api.post("/v1/builds", json={"prompt": PROMPT}, headers=key)).status_code == 409
    assert (await api.post("/v1/builds", json={"prompt": PROMPT})).json()["effort"] == "normal"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"sorceress"', b"\xff\xfe\x00", b"\x89PNG\r\n\x1a\n"])
async def test_refuses_a_body_that_is_not_an_object(api: httpx.AsyncClient, body: bytes) -> None:
    answer = await api.post("/v1/builds", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] in ("bad_request", "invalid_input")


async def test_refuses_half_a_surrogate(api: httpx.AsyncClient) -> None:
    body = b'{"prompt": "sorceress \\ud800 mapping"}'
    answer = await api.post("/v1/builds", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


async def test_unknown_engine_is_a_missing_engine(api: httpx.AsyncClient) -> None:
    answer = await api.post("/v1/builds", json={"prompt": PROMPT, "engine": "pob"})
    assert (answer.status_code, answer.json()["code"]) == (503, "engine_missing")


@pytest.mark.parametrize("mode", [{}, {"mode": "refinement"}, {"mode": "strategic"}])
async def test_a_parent_that_does_not_exist_is_not_found(api: httpx.AsyncClient, mode: dict[str, str]) -> None:
    body = {"prompt": PROMPT, "parent_id": "01HXXXXXXXXXXXXXXXXXXXXXXX", **mode}
    answer = await api.post("/v1/builds", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_a_language_model_that_is_not_set_up_is_the_callers_fault(api: httpx.AsyncClient) -> None:
    answer = await api.post("/v1/builds", json={"prompt": PROMPT, "reasoner": "llm"})
    assert (answer.status_code, answer.json()["code"]) == (422, "reasoner_missing")


async def test_fifty_duplicates_make_one_build(api: httpx.AsyncClient, world: World) -> None:
    calls = [api.post("/v1/builds", json={"prompt": PROMPT}, headers={"Idempotency-Key": "k-1"}) for _ in range(50)]
    answers = await asyncio.gather(*calls)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(world.store.records) == 1


async def test_a_key_belongs_to_one_request(api: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k-2"}
    await api.post("/v1/builds", json={"prompt": PROMPT}, headers=key)
    answer = await api.post("/v1/builds", json={"prompt": "witch with minions"}, headers=key)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_mismatch")


@pytest.mark.parametrize("key", ["", "a b", "x" * 201])
async def test_refuses_an_unusable_key(api: httpx.AsyncClient, key: str) -> None:
    answer = await api.post("/v1/builds", json={"prompt": PROMPT}, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


async def test_refuses_a_body_over_the_limit(api: httpx.AsyncClient) -> None:
    async def stream() -> Any:
        for _ in range(40):
            yield b"x" * 65536

    for content in (b"x" * 2_200_000, stream()):
        answer = await api.post("/v1/builds", content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_whose_memory_counts_follows_the_token() -> None:
    world = World(given=("one-token", "another-token"))
    async with client_of(world) as client:
        owners = [await _owner(world, client, token) for token in ("one-token", "another-token", "one-token")]
    assert owners[0] == owners[2] != owners[1]
    assert not any("token" in owner for owner in owners)


async def test_without_tokens_everybody_is_local(world: World, api: httpx.AsyncClient) -> None:
    assert await _owner(world, api, "whatever") == "local"


async def _owner(world: World, client: httpx.AsyncClient, token: str) -> str:
    answer = await client.post("/v1/builds", json={"prompt": "witch"}, headers={"Authorization": f"Bearer {token}"})
    return (await world.store.get(answer.json()["id"])).owner


@pytest.fixture
def with_model() -> World:
    """A service with a language model."""
    prices = {"m1": {"input": Decimal(1), "output": Decimal(2)}}
    return World(terms=terms_of(Settings(llm_model="m1", llm_api_key=SecretStr("k"), llm_prices=prices)))


@pytest.fixture
async def priced(with_model: World) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(with_model) as client:
        yield client


@pytest.mark.parametrize("effort", ["quick", "normal", "deep"])
async def test_the_answer_says_what_the_model_will_cost(priced: httpx.AsyncClient, effort: str) -> None:
    answer = await priced.post("/v1/builds", json={"prompt": PROMPT, "effort": effort})
    assert answer.status_code == 202, answer.text
    body = answer.json()
    assert body["cost_estimate"] == (await priced.get("/v1/estimate", params={"effort": effort})).json()
    assert (body["cost_estimate"]["basis"], body["cost_estimate"]["models"]) == ("bounds", ["m1"])
    assert "cost_estimate" not in (await priced.get(f"/v1/builds/{body['id']}")).json()


async def test_rules_cost_nothing(api: httpx.AsyncClient, priced: httpx.AsyncClient) -> None:
    by_rules = await priced.post("/v1/builds", json={"prompt": PROMPT, "reasoner": "rules"})
    without_model = await api.post("/v1/builds", json={"prompt": PROMPT})
    assert [one.json()["cost_estimate"] for one in (by_rules, without_model)] == [None, None]


async def test_children_say_it_too_and_a_finished_one_asks_nothing(
    priced: httpx.AsyncClient, with_model: World
) -> None:
    await a_parent(with_model)
    refined = await priced.post(f"/v1/builds/{PARENT}/refine", json={"prompt": "more damage"})
    answered = await priced.post(f"/v1/builds/{PARENT}/answer", json={"answer": "Arc"})
    assert [one.json()["cost_estimate"]["models"] for one in (refined, answered)] == [["m1"], ["m1"]]
    confirmed = await priced.post(f"/v1/builds/{PARENT}/answer", json={"answer": "Spark"})
    assert (confirmed.json()["status"], confirmed.json()["cost_estimate"]) == ("complete", None)
