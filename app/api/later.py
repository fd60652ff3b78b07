"""Calls of the contract that this version does not have yet: each says so, with its own problem code."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.problems import documented
from app.core.errors import NotAvailable

router = APIRouter(tags=["not available yet"])
CALLS = (("GET", "/v1/builds/{build_id}/tree.svg", "A picture of the passive tree"),)


def _add(method: str, path: str, what: str) -> None:
    async def refuse() -> None:
        raise NotAvailable(f"{what} is not available in this version.")

    router.add_api_route(path, refuse, methods=[method], summary=what, responses=documented(NotAvailable))


for _method, _path, _what in CALLS:
    _add(_method, _path, _what)
