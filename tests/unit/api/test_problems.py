"""Errors: always a problem document, always documented, never telling what is inside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.api.application import create_api
from app.core.errors import StorageBusy
from app.model.record import BuildRecord
from app.service import Services
from tests.fakes.service import World
from tests.fakes.stores import MemoryBuildStore

PROBLEM_FIELDS = ["code", "detail", "errors", "instance", "retryable", "status", "title", "type"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("DELETE", "/v1/builds", 405, "method_not_allowed"),
        ("PUT", "/v1/builds/x/cancel", 405, "method_not_allowed"),
        ("GET", "/v1/builds/x/cancel", 405, "method_not_allowed"),
    ],
)
async def test_wrong_addresses_and_methods(
    api: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await api.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert sorted(answer.json()) == PROBLEM_FIELDS


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/builds/{build_id}/tree.svg")])
async def test_what_is_not_there_yet_says_so(api: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await api.request(method, path.replace("{build_id}", "x"), json={} if method == "POST" else None)
    assert (answer.status_code, answer.json()["code"]) == (501, "not_available")


class BrokenStore(MemoryBuildStore):
    """A store that fails in a way nobody foresaw, or is busy."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def get(self, build_id: str) -> BuildRecord:
        raise self._error

    async def page(self, status: Any = None, limit: int = 50, cursor: str | None = None) -> Any:
        raise self._error


@asynccontextmanager
async def client_over(world: World, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = create_api(world.open, **options)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            yield client


async def test_the_unforeseen_is_internal_and_silent(caplog: pytest.LogCaptureFixture) -> None:
    async with client_over(World(store=BrokenStore(RuntimeError("secret inside")))) as client:
        answer = await client.get("/v1/builds/x")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert "secret inside" in caplog.text


async def test_a_busy_store_asks_to_come_back() -> None:
    async with client_over(World(store=BrokenStore(StorageBusy("Busy.")))) as client:
        answer = await client.get("/v1/builds/x")
        ready = await client.get("/readyz")
    assert (answer.status_code, answer.json()["retryable"]) == (503, True)
    assert answer.headers["retry-after"] == "1"
    assert (ready.status_code, ready.json()["checks"]["store"]) == (503, "storage_busy")


async def test_health(api: httpx.AsyncClient) -> None:
    assert (await api.get("/healthz")).json() == {"status": "ok"}
    assert (await api.get("/readyz")).json() == {"ready": True, "checks": {"store": "ok", "engine": "ok"}}


async def test_counts_by_route_not_by_id(api: httpx.AsyncClient) -> None:
    await api.get("/v1/builds/some-id")
    await api.get("/v1/builds/other-id")
    answer = await api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    line = 'buildwright_http_requests_total{method="GET",route="/v1/builds/{build_id}",status="404"} 2'
    assert line in answer.text.splitlines()
    assert "some-id" not in answer.text


class TestTokens:
    """When tokens are set, /v1 and /metrics need one."""

    @pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Basic one", "one", "Bearer one two"])
    async def test_refuses_everything_else(self, header: str | None) -> None:
        headers = {} if header is None else {"Authorization": header}
        async with client_over(World(), tokens=("one", "two")) as client:
            for path in ("/v1/builds", "/v1", "/metrics", "/v1/nothing"):
                answer = await client.get(path, headers=headers)
                assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"

    @pytest.mark.parametrize("header", ["Bearer one", "bearer two"])
    async def test_lets_in_with_any_of_them(self, header: str) -> None:
        async with client_over(World(), tokens=("one", "two")) as client:
            assert (await client.get("/v1/builds", headers={"Authorization": header})).status_code == 200

    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/docs", "/openapi.json"])
    async def test_leaves_health_and_docs_open(self, path: str) -> None:
        async with client_over(World(), tokens=("one",)) as client:
            assert (await client.get(path)).status_code == 200


async def test_every_error_is_in_the_openapi_document(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    assert sorted(document["components"]["schemas"]["Problem"]["properties"]) == PROBLEM_FIELDS
    guarded = {path: item for path, item in document["paths"].items() if path.startswith("/v1")}
    assert len(guarded) >= 14
    for path, item in guarded.items():
        for method, operation in item.items():
            answers = operation["responses"]
            wanted = {"401", "422", "500"} | ({"404"} if "{build_id}" in path and "501" not in answers else set())
            assert wanted <= set(answers), f"{method} {path}"
            for status in [status for status in answers if status >= "400"]:
                assert list(answers[status]["content"]) == ["application/problem+json"], f"{method} {path} {status}"


async def test_the_openapi_document_names_every_problem_of_creation(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    answers = document["paths"]["/v1/builds"]["post"]["responses"]
    told = " ".join(answer["description"] for answer in answers.values())
    for code in (
        "bad_request",
        "too_large",
        "invalid_input",
        "idempotency_mismatch",
        "not_available",
        "engine_missing",
    ):
        assert f"`{code}`" in told


def test_services_are_frozen() -> None:
    services: Services = World().services
    with pytest.raises(AttributeError):
        services.builds = None  # type: ignore[assignment,misc]
