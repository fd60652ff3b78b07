"""The pages are safe to open and the API is safe to expose behind a token."""

from __future__ import annotations

import re

import httpx
import pytest

from app.core.config import Settings
from app.main import create_app


async def ask(path: str, **headers: str) -> httpx.Response:
    app = create_app(Settings())
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        return await client.get(path, headers=headers)


@pytest.mark.parametrize("path", ["/", "/builds", "/import", "/compare", "/signin", "/nowhere", "/builds/nowhere"])
async def test_a_page_loads_nothing_from_elsewhere_and_holds_no_script(path: str) -> None:
    page = await ask(path, accept="text/html")
    policy = page.headers["content-security-policy"]
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "://" not in page.text
    assert not re.search(r"<script(?! type=\"module\" src=\"/static/)|<style|\sstyle=|\son\w+=", page.text)


async def test_no_cross_origin_access_is_granted() -> None:
    page = await ask("/healthz")
    assert not [name for name in page.headers if name.startswith("access-control")]
