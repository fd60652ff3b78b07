"""A fresh store for each test, on every kind of database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.storage.store import Storage, open_storage
from tests.databases import emptied_database

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}" if request.param == "sqlite" else emptied_database()


@pytest.fixture
async def storage(url: str) -> AsyncIterator[Storage]:
    async with open_storage(url) as opened:
        yield opened
