"""Pages over in-memory stores: what they show of builds in every state, errors as pages, access by cookie."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.api.application import create_api
from app.core.spans import SpanKind
from app.model.base import changed
from app.model.guide import Guide, WornItem
from app.model.names import Phase
from app.model.race import Contender, Race
from app.model.record import BuildRequest
from app.model.spans import SpanNode, StepTrace
from app.model.sub_problems import DeliveryChoice, DraftFigures, Option
from app.web.browsers import COOKIE
from app.web.pages import add_pages
from tests.fakes.samples import a_complete_record, a_loadout, a_record, an_iterating_record
from tests.fakes.service import World

HTML = {"accept": "text/html"}
TOKEN = "secret-token"


@asynccontextmanager
async def browser(world: World) -> AsyncIterator[httpx.AsyncClient]:
    app = create_api(world.open)
    add_pages(app)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=HTML) as client:
            yield client


async def test_a_build_is_shown_in_every_state() -> None:
    world = World()
    records = [a_record(1), changed(an_iterating_record(), id=a_record(2).id), a_complete_record(3)]
    for record in records:
        await world.store.insert(record)
    async with browser(world) as client:
        for record in records:
            page = await client.get(f"/builds/{record.id}")
            assert page.status_code == 200
            assert record.request.prompt in page.text
        assert "Asked and reached" in page.text
        listed = (await client.get("/builds")).text
        assert all(record.id in listed for record in records)
        assert records[0].id not in (await client.get("/builds?status=complete")).text
        assert "No builds like that" in (await client.get("/builds?words=nothing+of+the+kind")).text


async def test_the_race_is_shown_with_its_figures_as_drafts() -> None:
    world, record = World(), a_complete_record(1)
    answers = {name: sub.decision.choice for name, sub in record.state.sub_problems.items() if sub.decision is not None}

    def ran(name: str, **more: Any) -> Contender:
        option = Option(name=name, choice=DeliveryChoice(skill_id=name, skill_name=name))
        return Contender(option=option, ascendancies=[], answers=answers, **more)

    found = [DraftFigures(dps=83_456, ehp=31_000, score=1.0, rung=1)]
    kept = {"energy shield": changed(found[0], ehp=44_444.0), "life with evasion": found[0]}
    race = Race(
        contenders=[ran("Zap", figures=found, by_defence=kept), ran("Corpse", out="no rate")],
        rungs=1,
        evaluations=77,
        over=True,
    )
    await world.store.insert(changed(record, state=changed(record.state, race=race)))
    async with browser(world) as client:
        page = (await client.get(f"/builds/{record.id}")).text
    for part in (
        "What was raced",
        "not finished builds",
        "77 evaluations",
        "83,456",
        "31,000",
        "Corpse",
        "no rate",
        "44,444",
    ):
        assert part in page


async def test_the_way_there_is_shown_with_what_changes_at_each_level() -> None:
    world, record = World(), a_complete_record(1)
    told = changed(
        a_loadout(),
        why="Boom comes later",
        supports=["<Faster>"],
        gear=[WornItem(slot="Ring 1", base="Iron Ring", lines=["+9 to Life"])],
    )
    await world.store.insert(changed(record, state=changed(record.state, guide=Guide(loadouts=[told]))))
    async with browser(world) as client:
        page = (await client.get(f"/builds/{record.id}")).text
    for part in (
        "On the way there",
        "Levelling 30",
        "37",
        "Zap",
        "&lt;Faster&gt;",
        "1,234",
        "Boom comes later.",
        "+9 to Life",
    ):
        assert part in page


async def test_words_of_a_user_are_text_and_nothing_else() -> None:
    world, words = World(), '<script>alert(1)</script> & "quotes" {{ 7 * 7 }}'
    await world.store.insert(a_record(1, request=BuildRequest(prompt=words)))
    async with browser(world) as client:
        for path in (f"/builds/{a_record(1).id}", "/builds", f"/builds?words={words}", f"/compare?ids={words},x"):
            page = (await client.get(path)).text
            assert "<script>alert" not in page
            assert "&lt;script&gt;alert" in page
            assert "49" not in page.replace(a_record(1).id, "")


async def test_errors_are_pages_for_browsers_and_documents_for_clients() -> None:
    async with browser(World()) as client:
        page = await client.get("/builds/nowhere")
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "not_found" in page.text
        assert (await client.get("/builds/nowhere", headers={"accept": "*/*"})).json()["code"] == "not_found"
        assert (await client.get("/v1/builds/nowhere")).json()["code"] == "not_found"
        assert (await client.get("/builds?status=nonsense")).status_code == 422


async def test_without_access_pages_of_builds_lead_to_the_sign_in() -> None:
    async with browser(World(given=[TOKEN])) as client:
        for path in ("/builds", "/compare?ids=a,b"):
            page = await client.get(path)
            assert (page.status_code, page.headers["location"].partition("?")[0]) == (303, "/signin")
        assert (await client.get("/")).status_code == (await client.get("/signin")).status_code == 200


async def test_a_cookie_opens_what_its_token_opens_and_only_from_here() -> None:
    async with browser(World(given=[TOKEN])) as client:
        assert (await client.put("/v1/session")).status_code == 401
        assert (await client.put("/v1/session", headers={"authorization": "Bearer wrong"})).status_code == 401
        kept = await client.put("/v1/session", headers={"authorization": f"Bearer {TOKEN}"})
        assert {"HttpOnly", "SameSite=strict"} <= set(kept.headers["set-cookie"].split("; "))
        assert client.cookies[COOKIE] == TOKEN
        assert (await client.get("/v1/builds")).status_code == 200
        ask = {"prompt": "lightning sorceress"}
        for origin in ({}, {"origin": "http://elsewhere"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
            refused = await client.post("/v1/builds", json=ask, headers=origin)
            assert (refused.status_code, refused.json()["code"]) == (403, "cross_site")
        for origin in ({"origin": "http://test"}, {"sec-fetch-site": "same-origin"}):
            assert (await client.post("/v1/builds", json=ask, headers=origin)).status_code == 202
        assert (await client.post("/signout", headers={"origin": "http://test"})).status_code == 204
        assert COOKIE not in client.cookies
        assert (await client.get("/v1/builds")).status_code == 401


@pytest.mark.parametrize("broken", [f"{COOKIE}=\u00e4\u00f6", f"{COOKIE}", ";;=;", f'{COOKIE}="a b"'])
async def test_a_broken_cookie_is_no_access(broken: str) -> None:
    async with browser(World(given=[TOKEN])) as client:
        headers = {"cookie": broken.encode("latin-1")}
        assert (await client.get("/v1/builds", headers=headers)).status_code == 401  # type: ignore[arg-type]


async def test_usage_is_shown_by_what_was_asked() -> None:
    world = World()
    await world.store.insert(a_complete_record(3))
    async with browser(world) as client:
        page = await client.get("/usage?by=owner&since=2000-01-01")
        assert page.status_code == 200
        assert '<th scope="row">local</th>' in page.text
        assert (await client.get("/usage?by=wat")).status_code == 422
        assert "No builds since then" in (await client.get("/usage?since=2999-01-01")).text


async def test_a_build_shows_where_its_time_went() -> None:
    world, record = World(), a_complete_record(3)
    await world.store.insert(record)
    gear = SpanNode(name="gear <b>", kind=SpanKind.SEARCH, calls=1, wall_ms=900.0, covered_ms=0.0, cpu_ms=1.0)
    root = gear.model_copy(
        update={"name": "build", "kind": SpanKind.FRAME, "wall_ms": 1000.0, "covered_ms": 900.0, "children": [gear]}
    )
    world.store.kept_traces[record.id] = [StepTrace(phase=Phase.CONSTRUCT, root=root)]
    async with browser(world) as client:
        page = (await client.get(f"/builds/{record.id}")).text
    assert "nothing stands out; most of the time (90%)" in page
    assert "gear &lt;b&gt;: 900.0 ms (90.0%)" in page
    assert "<td>gear &lt;b&gt;</td>" in page
