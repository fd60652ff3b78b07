"""Who may ask what: every route of the application is walked, so that none can be forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.api.access import Needs, own_build
from app.core.config import Settings
from app.main import create_app
from app.model.access import Permission
from app.model.blueprint import Blueprint
from app.model.names import BuildStatus
from app.model.state import BuildState
from app.service.tokens import TokenLimits
from tests.fakes.service import World
from tests.fakes.steps import new_record
from tests.unit.api.test_problems import client_over

OPEN = {"/", "/docs", "/healthz", "/readyz", "/signin", "/signout"}
"""What needs no scope."""
LISTS = {
    ("GET", "/v1/builds"),
    ("GET", "/v1/compare"),
    ("GET", "/usage"),
    ("GET", "/v1/usage"),
    ("GET", "/v1/estimate"),
    ("GET", "/builds"),
    ("GET", "/compare"),
}
"""What shows several builds: tested below for each of them."""
MAKES = {("POST", "/v1/builds"), ("POST", "/v1/imports"), ("POST", "/v1/read")}
"""What names no build, or only as a parent, which is tested below."""
NOBODYS = {("GET", "/import"), ("GET", "/v1/tree"), ("PUT", "/v1/session")}
"""What shows no builds at all."""
ASKS_INSIDE = {("POST", "/v1/builds/{build_id}/expectations")}
"""What looks at the body first, and asks whose the build is in the route itself; tested below like the others."""
WHOLE = {("GET", "/metrics")}
"""What is about the whole service and needs a scope of its own."""
BODIES = {
    "refine": {"prompt": "make this tankier"},
    "answer": {"answer": "Witch"},
    "expectations": {"required_tools": ["pob.stats"]},
}
PROMPT = {"prompt": "lightning sorceress for mapping"}


def routes() -> list[APIRoute]:
    """Every route of the whole application, the pages too."""
    return list(found(create_app(Settings()).routes))


def found(some: Sequence[Any]) -> Iterator[APIRoute]:
    for route in some:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "routes") and route.routes:
            yield from found(route.routes)
        elif hasattr(route, "original_router"):
            yield from found(route.original_router.routes)


def calls(dependant: Dependant) -> Iterator[Any]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from calls(inner)


def methods() -> list[tuple[str, APIRoute]]:
    return [(method, route) for route in routes() for method in sorted(route.methods or ())]


def names(pairs: list[tuple[str, APIRoute]]) -> list[str]:
    return [f"{method} {route.path}" for method, route in pairs]


ALL = methods()
OF_A_BUILD = [(method, route) for method, route in ALL if "{build_id}" in route.path]


def test_the_walk_sees_the_routes() -> None:
    assert len(OF_A_BUILD) >= 17
    assert ("GET", "/v1/builds") in {(method, route.path) for method, route in ALL}


@pytest.mark.parametrize(("method", "route"), ALL, ids=names(ALL))
def test_every_route_needs_one_scope_or_is_open_on_purpose(method: str, route: APIRoute) -> None:
    needed = [call.permission for call in calls(route.dependant) if isinstance(call, Needs)]
    if route.path in OPEN:
        assert needed == []
        return
    assert len(needed) == 1
    if method != "GET":
        changes = not route.path.endswith(("/expectations", "/read", "/session"))
        assert needed == [Permission.WRITE if changes else Permission.READ]


@pytest.mark.parametrize(("method", "route"), ALL, ids=names(ALL))
def test_every_route_is_classified(method: str, route: APIRoute) -> None:
    known = (method, route.path) in LISTS | MAKES | NOBODYS | WHOLE or route.path in OPEN
    if "{" in route.path:
        assert not known
        assert route.path.count("{") == 1, "another id needs a rule of its own here"
        assert own_build in calls(route.dependant) or (method, route.path) in ASKS_INSIDE
    else:
        assert known, "say in this file whose builds the new route shows, and test it"


class Town:
    """Alice with a finished build, Bob with none, an operator, and tokens for them."""

    def __init__(self, world: World, client: httpx.AsyncClient) -> None:
        self.world = world
        self._client = client
        self.secrets: dict[str, str] = {}
        self.build = ""

    async def token(self, name: str, *scopes: Permission, **limits: int) -> None:
        _, self.secrets[name] = await self.world.services.tokens.add(name, scopes, **limits)  # type: ignore[arg-type]

    async def ask(self, who: str, method: str, path: str, **sent: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.secrets[who]}", **sent.pop("headers", {})}
        return await self._client.request(method, path, headers=headers, **sent)


@asynccontextmanager
async def a_town(world: World) -> AsyncIterator[Town]:
    async with client_over(world) as client:
        town = Town(world, client)
        await town.token("alice", Permission.READ, Permission.WRITE)
        await town.token("bob", Permission.READ, Permission.WRITE, Permission.METRICS, Permission.USAGE)
        await town.token("operator", Permission.ADMIN)
        state = BuildState(blueprint=Blueprint(class_name="Witch", ascendancy=None, level=90))
        record = new_record(owner="alice", status=BuildStatus.COMPLETE, state=state, xml=b"<PathOfBuilding2/>")
        town.build = (await world.store.insert(record)).id
        yield town


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    async with a_town(World()) as found:
        yield found


async def asked(town: Town, who: str, method: str, route: APIRoute) -> httpx.Response:
    path = route.path.replace("{build_id}", town.build)
    body = BODIES.get(route.path.rpartition("/")[2])
    return await town.ask(who, method, path, **({} if body is None else {"json": body}))


@pytest.mark.parametrize(("method", "route"), OF_A_BUILD, ids=names(OF_A_BUILD))
async def test_a_build_of_somebody_else_is_not_there(town: Town, method: str, route: APIRoute) -> None:
    before = await town.world.store.get(town.build)
    refused = await asked(town, "bob", method, route)
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    body = BODIES.get(route.path.rpartition("/")[2], {})
    missing = await town.ask("bob", method, route.path.replace("{build_id}", "0" * 26), json=body)
    assert {**missing.json(), "instance": ""} == {**refused.json(), "instance": ""}
    assert list(town.world.store.records.values()) == [before]
    for who in ("alice", "operator"):
        if who == "operator" and method == "DELETE":
            continue
        assert (await asked(town, who, method, route)).status_code not in (401, 403, 404)


async def test_lists_show_nothing_of_others(town: Town) -> None:
    mine = (await town.ask("bob", "POST", "/v1/builds", json=PROMPT)).json()["id"]

    async def listed(who: str, **query: Any) -> set[str]:
        answer = await town.ask(who, "GET", "/v1/builds", params=query)
        return {item["id"] for item in answer.json()["items"]}

    assert await listed("bob") == {mine}
    assert await listed("alice") == {town.build}
    assert await listed("bob", status="complete") == set()
    assert await listed("operator") == {mine, town.build}


async def test_usage_counts_nothing_of_others(town: Town) -> None:
    async def counted(who: str) -> int:
        answer = await town.ask(who, "GET", "/v1/usage", params={"since": "2000-01-01"})
        return int(answer.json()["total"]["builds"])

    assert (await counted("bob"), await counted("operator")) == (0, 1)
    assert (await town.ask("alice", "GET", "/v1/usage")).status_code == 403


async def test_an_estimate_is_made_of_ones_own_builds(town: Town) -> None:
    """Whose builds it counts is tested in tests/unit/service/test_estimates.py."""
    for who in ("alice", "bob", "operator"):
        assert (await town.ask(who, "GET", "/v1/estimate")).status_code == 200


async def test_nobody_compares_or_starts_from_a_build_of_others(town: Town) -> None:
    mine = (await town.ask("bob", "POST", "/v1/builds", json=PROMPT)).json()["id"]
    compared = await town.ask("bob", "GET", "/v1/compare", params={"ids": f"{mine},{town.build}"})
    assert (compared.status_code, compared.json()["code"]) == (404, "not_found")
    for mode in ("refinement", "strategic"):
        started = await town.ask("bob", "POST", "/v1/builds", json={**PROMPT, "parent_id": town.build, "mode": mode})
        assert (started.status_code, started.json()["code"]) == (404, "not_found")
    assert len(town.world.store.records) == 2


async def test_a_key_of_somebody_else_is_a_key_of_ones_own(town: Town) -> None:
    key = {"Idempotency-Key": "the-same"}
    mine = await town.ask("alice", "POST", "/v1/builds", json=PROMPT, headers=key)
    theirs = await town.ask("bob", "POST", "/v1/builds", json={"prompt": "a cold witch"}, headers=key)
    assert (mine.status_code, theirs.status_code) == (202, 202)
    assert mine.json()["id"] != theirs.json()["id"]


async def test_a_scope_is_needed_for_what_it_is_for(town: Town) -> None:
    await town.token("reader", Permission.READ, owner="alice")  # type: ignore[arg-type]
    await town.token("scraper", Permission.METRICS)
    assert (await town.ask("reader", "GET", f"/v1/builds/{town.build}")).status_code == 200
    for who, method, path in (
        ("reader", "POST", "/v1/builds"),
        ("reader", "DELETE", f"/v1/builds/{town.build}"),
        ("reader", "GET", "/metrics"),
        ("scraper", "GET", "/v1/builds"),
        ("alice", "GET", "/metrics"),
    ):
        refused = await town.ask(who, method, path, **({"json": PROMPT} if method == "POST" else {}))
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), (who, path)
    assert (await town.ask("scraper", "GET", "/metrics")).status_code == 200
    assert town.build in town.world.store.records


async def test_a_revoked_token_lets_nobody_in_and_no_door_opens(town: Town) -> None:
    for name in ("alice", "bob", "operator"):
        assert (await town.ask(name, "GET", "/v1/builds")).status_code == 200
        await town.world.services.tokens.revoke(name)
        assert (await town.ask(name, "GET", "/v1/builds")).status_code == 401
    assert (await town.ask("alice", "GET", "/v1/builds", headers={"Authorization": ""})).status_code == 401


async def test_builds_of_a_day_are_counted_once_each(town: Town) -> None:
    await town.token("few", Permission.READ, Permission.WRITE, builds_per_day=2)
    key = {"Idempotency-Key": "one"}
    first = await town.ask("few", "POST", "/v1/builds", json=PROMPT, headers=key)
    assert (first.status_code, "idempotency-replayed" in first.headers) == (202, False)
    for _ in range(3):
        again = await town.ask("few", "POST", "/v1/builds", json=PROMPT, headers=key)
        assert (again.json()["id"], again.headers["idempotency-replayed"]) == (first.json()["id"], "true")
        for wrong, status in (({"prompt": "x"}, 422), ({**PROMPT, "parent_id": town.build}, 404)):
            assert (await town.ask("few", "POST", "/v1/builds", json=wrong)).status_code == status
    await town.ask("few", "DELETE", f"/v1/builds/{first.json()['id']}")
    assert (await town.ask("few", "POST", "/v1/builds", json=PROMPT)).status_code == 202
    refused = await town.ask("few", "POST", "/v1/builds", json=PROMPT)
    assert (refused.status_code, refused.json()["code"], refused.json()["retryable"]) == (429, "quota_used", True)
    now = datetime.now(UTC)
    left = 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
    assert left - 60 <= int(refused.headers["retry-after"]) <= left + 60
    assert refused.headers["content-type"] == "application/problem+json"
    assert (await town.ask("few", "GET", "/v1/builds")).status_code == 200


async def test_requests_of_a_minute_are_counted_for_each_token() -> None:
    async with a_town(World(limits=TokenLimits(requests_per_minute=3))) as town:
        answers = [await town.ask("alice", "GET", "/v1/builds") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 2
        assert answers[-1].json()["code"] == "rate_limited"
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
        assert (await town.ask("bob", "GET", "/v1/builds")).status_code == 200


async def test_without_any_token_everybody_is_let_in() -> None:
    async with client_over(World(limits=TokenLimits(builds_per_day=0))) as client:
        assert (await client.post("/v1/builds", json=PROMPT)).status_code == 202
        assert (await client.get("/metrics")).status_code == 200


async def test_a_deleted_build_is_gone_at_once(town: Town) -> None:
    child = (await town.ask("alice", "POST", f"/v1/builds/{town.build}/refine", json=BODIES["refine"])).json()
    assert (await town.ask("alice", "GET", f"/v1/builds/{town.build}")).status_code == 200
    gone = await town.ask("alice", "DELETE", f"/v1/builds/{town.build}")
    assert (gone.status_code, gone.content) == (204, b"")
    for method, tail in (("GET", ""), ("GET", "/build.xml"), ("GET", "/events"), ("DELETE", "")):
        assert (await town.ask("alice", method, f"/v1/builds/{town.build}{tail}")).status_code == 404
    orphan = (await town.ask("alice", "GET", f"/v1/builds/{child['id']}")).json()
    assert orphan["parent_id"] == town.build


async def test_pages_of_lists_show_nothing_of_others(town: Town) -> None:
    mine = (await town.ask("bob", "POST", "/v1/builds", json=PROMPT)).json()["id"]
    for who, shown in (("alice", {town.build}), ("bob", {mine}), ("operator", {mine, town.build})):
        page = (await town.ask(who, "GET", "/builds")).text
        assert {one for one in (mine, town.build) if f"/builds/{one}" in page} == shown
    compared = (await town.ask("bob", "GET", f"/compare?ids={mine},{town.build}")).text
    assert "no such build" in compared
    assert "What came of it" not in compared
