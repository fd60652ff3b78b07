"""`POST /v1/imports`: hostile and useless files are refused with a typed error before any engine sees them."""

from __future__ import annotations

import base64
import zlib

import httpx
import pytest

from tests.fakes.service import World

BUILD = '<PathOfBuilding2><Build level="1" className="Witch"/></PathOfBuilding2>'
ENTITIES = '<!DOCTYPE a [<!ENTITY b "ccc">]><PathOfBuilding2>&b;</PathOfBuilding2>'
DEEP = "<PathOfBuilding2>" + "<a>" * 200 + "</a>" * 200 + "</PathOfBuilding2>"
MANY = "<PathOfBuilding2>" + "<a/>" * 60_000 + "</PathOfBuilding2>"


def _code(content: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(content, 9)).decode()


@pytest.mark.parametrize(
    "body",
    [
        {"xml": ENTITIES},
        {"xml": DEEP},
        {"xml": MANY},
        {"xml": "<html></html>"},
        {"xml": "<PathOfBuilding2>"},
        {"xml": ""},
        {"code": "not base64!"},
        {"code": ""},
        {"code": base64.urlsafe_b64encode(b"plain").decode()},
        {"code": _code(b"a" * 3_000_000)},
        {"code": _code(b"<html></html>")},
        {"code": _code(BUILD.encode())[:-8]},
    ],
)
async def test_refuses_what_is_not_a_build(api: httpx.AsyncClient, world: World, body: dict[str, str]) -> None:
    answer = await api.post("/v1/imports", json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] in ("bad_import", "invalid_input")
    assert not world.store.records


async def test_refuses_half_a_surrogate(api: httpx.AsyncClient) -> None:
    body = b'{"xml": "<PathOfBuilding2>\\ud800</PathOfBuilding2>"}'
    answer = await api.post("/v1/imports", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_import")


async def test_refuses_what_is_too_large(api: httpx.AsyncClient) -> None:
    answer = await api.post("/v1/imports", json={"xml": "<PathOfBuilding2>" + " " * 1_000_000 + "</PathOfBuilding2>"})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("body", [{}, {"xml": BUILD, "code": _code(BUILD.encode())}, {"file": "x"}, {"xml": 5}, []])
async def test_wants_exactly_one_of_both(api: httpx.AsyncClient, body: object) -> None:
    answer = await api.post("/v1/imports", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


@pytest.mark.parametrize("body", [{"xml": BUILD}, {"code": _code(BUILD.encode())}])
async def test_a_build_gets_as_far_as_the_engine(api: httpx.AsyncClient, body: dict[str, str]) -> None:
    answer = await api.post("/v1/imports", json=body)
    assert (answer.status_code, answer.json()["code"]) == (503, "engine_missing")
