"""What every TokenStore promises."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime

import pytest

from app.core.errors import Conflict, NotFound
from app.model.access import Permission, Token
from app.model.base import changed
from app.storage.store import Storage

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
TODAY = NOW.date()
TOKEN = Token(
    name="ci",
    owner="team",
    permissions=frozenset({Permission.READ, Permission.METRICS}),
    requests_per_minute=60,
    created_at=NOW,
)


async def test_a_token_is_found_by_the_hash_of_its_secret(storage: Storage) -> None:
    assert await storage.tokens.any() is False
    await storage.tokens.add(TOKEN, "hash")
    assert await storage.tokens.any() is True
    assert await storage.tokens.find("hash") == TOKEN
    assert await storage.tokens.find("other") is None
    with pytest.raises(Conflict):
        await storage.tokens.add(TOKEN, "another hash")


async def test_a_revoked_token_is_not_found_and_its_name_stays_taken(storage: Storage) -> None:
    await storage.tokens.add(TOKEN, "hash")
    await storage.tokens.revoke("ci", NOW)
    await storage.tokens.revoke("ci", datetime(2027, 1, 1, tzinfo=UTC))
    assert await storage.tokens.find("hash") is None
    assert await storage.tokens.all() == [changed(TOKEN, revoked_at=NOW)]
    assert await storage.tokens.any() is True
    with pytest.raises(Conflict):
        await storage.tokens.add(TOKEN, "another hash")
    with pytest.raises(NotFound):
        await storage.tokens.revoke("nobody", NOW)


async def test_as_many_builds_a_day_as_are_allowed_however_many_ask_at_once(storage: Storage) -> None:
    taken = await asyncio.gather(*(storage.tokens.take_build("ci", TODAY, 7) for _ in range(30)))
    assert sum(taken) == 7
    assert await storage.tokens.take_build("ci", date(2026, 1, 2), 7)
    assert await storage.tokens.take_build("other", TODAY, 7)
    assert not await storage.tokens.take_build("none", TODAY, 0)
    await storage.tokens.give_back("ci", TODAY)
    assert await storage.tokens.take_build("ci", TODAY, 7)
    assert not await storage.tokens.take_build("ci", TODAY, 7)
