"""Looking at builds: one, many, files."""

from __future__ import annotations

import base64
import zlib

import httpx
import pytest

from app.model.names import BuildStatus
from app.model.state import BuildState
from tests.fakes.samples import XML, a_complete_record, a_record, an_iterating_record
from tests.fakes.service import World

CONTRACT_FIELDS = [
    "id",
    "prompt",
    "mode",
    "parent_id",
    "status",
    "phase",
    "outcome",
    "iteration",
    "wishes",
    "damage",
    "progress",
    "engine",
    "reasoner",
    "invariants",
    "question",
    "assumptions",
    "sub_problems",
    "conflicts",
    "domain_gaps",
    "stats",
    "caveats",
    "created_at",
    "updated_at",
    "links",
    "invariant_changes",
    "refinement",
    "experiments",
    "exploration",
]
STAT_FIELDS = [
    "engine",
    "version",
    "tree_version",
    "estimate",
    "enemy",
    "dps",
    "ehp",
    "life",
    "energy_shield",
    "mana",
    "spirit",
    "spirit_unreserved",
    "armour",
    "evasion",
    "block_chance",
    "fire_resistance",
    "cold_resistance",
    "lightning_resistance",
    "chaos_resistance",
    "str",
    "dex",
    "int",
    "move_speed",
    "max_hit",
    "values",
]


async def test_shows_the_fields_of_the_contract_and_those_of_a_refinement(api: httpx.AsyncClient, world: World) -> None:
    record = a_complete_record()
    world.store.put(record)
    body = (await api.get(f"/v1/builds/{record.id}")).json()
    assert set(body) == {*CONTRACT_FIELDS, "set_aside", "effort", "race", "flask_mana"}
    assert set(body["stats"]) == set(STAT_FIELDS)
    assert body["progress"] == {"done": 0, "total": 0, "label": ""}
    assert body["engine"] == {"name": "sketch", "version": "1"}
    assert body["reasoner"] == {
        "name": "rules",
        "model": None,
        "degraded": [],
        "asked": 0,
        "decided": 0,
        "share": "",
    }
    assert body["assumptions"] == ["Spark is meant.", "Normal boss."]
    delivery = body["sub_problems"]["damage_delivery"]
    assert sorted(delivery) == ["alternatives", "decision", "depends_on", "status"]
    assert delivery["alternatives"][0]["rejected_because"] == "slower"


async def test_stats_carry_units_origin_and_the_engines_own_names(api: httpx.AsyncClient, world: World) -> None:
    record = a_complete_record()
    world.store.put(record)
    stats = (await api.get(f"/v1/builds/{record.id}")).json()["stats"]
    assert (stats["dps"], stats["ehp"], stats["life"], stats["str"]) == (54321.0, 20000.0, 2000.0, 50.0)
    assert (stats["move_speed"], stats["max_hit"], stats["chaos_resistance"]) == (130.0, {"fire": 5000.0}, None)
    assert (stats["engine"], stats["tree_version"], stats["estimate"]) == ("sketch", "0_5", True)
    assert stats["values"]["TotalEHP"] == 20000.0


async def test_every_link_of_a_finished_build_leads_somewhere(api: httpx.AsyncClient, world: World) -> None:
    record = a_complete_record()
    world.store.put(record)
    links = (await api.get(f"/v1/builds/{record.id}")).json()["links"]
    assert set(links) == {"self", "events", "tool_events", "metrics", "conflicts", "xml", "code", "state"}
    for address in links.values():
        assert (await api.get(address)).status_code == 200, address


async def test_files_agree_with_each_other(api: httpx.AsyncClient, world: World) -> None:
    record = a_complete_record()
    world.store.put(record)
    here = f"/v1/builds/{record.id}"
    xml, code, state = [await api.get(f"{here}/{tail}") for tail in ("build.xml", "code", "state.yaml")]
    assert xml.content == XML
    assert xml.headers["content-type"] == "application/xml"
    assert code.headers["content-type"] == "text/plain; charset=utf-8"
    assert zlib.decompress(base64.urlsafe_b64decode(code.content)) == XML
    assert BuildState.from_yaml(state.text) == record.state


@pytest.mark.parametrize("tail", ["build.xml", "code", "state.yaml"])
async def test_files_are_not_ready_before_a_valid_state(api: httpx.AsyncClient, world: World, tail: str) -> None:
    record = a_record(status=BuildStatus.RUNNING)
    world.store.put(record)
    answer = await api.get(f"/v1/builds/{record.id}/{tail}")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_ready")


async def test_while_iterating_the_last_valid_state_is_shown(api: httpx.AsyncClient, world: World) -> None:
    record = an_iterating_record()
    world.store.put(record)
    here = f"/v1/builds/{record.id}"
    assert (await api.get(here)).json()["stats"]["life"] == 2000.0
    assert (await api.get(f"{here}/build.xml")).content == XML
    state = BuildState.from_yaml((await api.get(f"{here}/state.yaml")).text)
    assert state.blueprint == (record.state.best and record.state.best.blueprint)


@pytest.mark.parametrize(
    "path", ["", "/events", "/build.xml", "/code", "/state.yaml", "/tool-events", "/tool-events?view=calls", "/metrics"]
)
@pytest.mark.parametrize("name", ["01J00000000000000000000000", "nothing", "..%2F..%2Fetc", "x" * 300])
async def test_an_unknown_build_is_not_found(api: httpx.AsyncClient, path: str, name: str) -> None:
    answer = await api.get(f"/v1/builds/{name}{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_pages_are_newest_first_and_complete(api: httpx.AsyncClient, world: World) -> None:
    for number in range(1, 8):
        world.store.put(a_record(number))
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await api.get("/v1/builds", params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == sorted(world.store.records, reverse=True)


async def test_lists_by_status(api: httpx.AsyncClient, world: World) -> None:
    world.store.put(a_record(1))
    world.store.put(a_complete_record(2))
    page = (await api.get("/v1/builds", params={"status": "complete"})).json()
    assert [item["status"] for item in page["items"]] == ["complete"]


@pytest.mark.parametrize("query", ["status=done", "limit=0", "limit=x", "limit=100000"])
async def test_refuses_a_senseless_page(api: httpx.AsyncClient, query: str) -> None:
    answer = await api.get(f"/v1/builds?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


async def test_conflicts_are_drawn(api: httpx.AsyncClient, world: World) -> None:
    record = a_complete_record()
    world.store.put(record)
    picture = await api.get(f"/v1/builds/{record.id}/conflicts.svg")
    text = await api.get(f"/v1/builds/{record.id}/conflicts.mmd")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert text.text.startswith("flowchart LR\n")
    assert (await api.get("/v1/builds/01J00000000000000000000000/conflicts.svg")).status_code == 404


@pytest.mark.parametrize(
    ("form", "kind"), [("json", "application/json"), ("text", "text/plain"), ("markdown", "text/markdown")]
)
async def test_a_build_is_told_in_three_forms(api: httpx.AsyncClient, world: World, form: str, kind: str) -> None:
    record = a_complete_record()
    world.store.put(record)
    answer = await api.get(f"/v1/builds/{record.id}/presentation", params={"format": form})
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
    assert "Spark Stormweaver" in answer.text
    assert (await api.get(f"/v1/builds/{record.id}/presentation", params={"format": "x"})).status_code == 422
