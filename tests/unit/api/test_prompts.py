"""`POST /v1/read`: what would be understood, with nothing stored."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.core.config import Settings
from app.service.prompts import ReadRequest
from app.wiring import open_services
from tests.fakes.service import World


async def test_a_prompt_is_told_wish_by_wish(tmp_path: Path) -> None:
    prompt = "spark sorceress, at least 90k ehp, no minions, frobnicate"
    async with open_services(Settings(data_dir=tmp_path, engine="sketch")) as services:
        found = await services.prompts.read(ReadRequest(prompt=prompt))
        assert (await services.library.page()).items == []
    told = {(wish.kind, wish.target, wish.words) for wish in found.wishes}
    assert {("class", "Sorceress", "sorceress"), ("skill", "Spark", "spark"), (None, None, "frobnicate")} <= told
    assert ("ehp", 90_000.0) in {(wish.kind, wish.target) for wish in found.wishes}
    assert "exclude" in {wish.kind for wish in found.wishes}
    assert {"class", "skill", "level", "gear", "ehp", "exclude"} <= {one.field for one in found.invariants}


@pytest.mark.parametrize("body", [{}, {"prompt": "x"}, {"prompt": "a\x07b"}, {"prompt": 5}, {"prompt": "x" * 4001}])
async def test_a_useless_prompt_is_refused(api: httpx.AsyncClient, body: object) -> None:
    answer = await api.post("/v1/read", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


async def test_without_an_engine_there_are_no_names(api: httpx.AsyncClient, world: World) -> None:
    answer = await api.post("/v1/read", json={"prompt": "a cold witch"})
    assert (answer.status_code, answer.json()["code"]) == (503, "engine_missing")
    assert not world.store.records
