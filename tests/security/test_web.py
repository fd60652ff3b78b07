"""The pages are safe to open and the API is safe to expose behind a token."""

from __future__ import annotations

import httpx

from app.core.config import Settings
from app.main import create_app


async def ask(path: str) -> httpx.Response:
    app = create_app(Settings())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        return await client.get(path)


async def test_the_start_page_loads_nothing_and_runs_nothing() -> None:
    page = await ask("/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert "://" not in page.text


async def test_no_cross_origin_access_is_granted() -> None:
    page = await ask("/healthz")
    assert not [name for name in page.headers if name.startswith("access-control")]
