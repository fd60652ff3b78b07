"""What every ResultStore promises."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from app.storage.base import KeptResult
from app.storage.results import SqlResultStore
from app.storage.store import Storage
from tests.fakes.attempts import HandClock

BORN = datetime(2026, 1, 1, tzinfo=UTC)
PLENTY = 10_000_000


def results(*keys: str, data: bytes = b"[1.5]", born: datetime = BORN) -> list[KeptResult]:
    return [KeptResult(key, "pob.stats", data, born) for key in keys]


async def keys(storage: Storage, *wanted: str) -> list[str]:
    return [key for key in wanted if await storage.results.find(key)]


async def test_what_is_kept_comes_back_and_nothing_else(storage: Storage) -> None:
    blob = bytes(range(256)) * 50
    await storage.results.keep(results("a", data=blob), PLENTY)
    (found,) = await storage.results.find("a")
    assert found == KeptResult("a", "pob.stats", blob, BORN)
    assert await storage.results.find("b") == []


async def test_what_was_stored_next_comes_along_in_order(storage: Storage) -> None:
    await storage.results.keep(results("c", "a"), PLENTY)
    await storage.results.keep(results("b"), PLENTY)
    assert [kept.key for kept in await storage.results.find("c")] == ["c", "a", "b"]
    assert [kept.key for kept in await storage.results.find("a")] == ["a", "b"]


async def test_the_last_answer_under_a_key_counts(storage: Storage) -> None:
    await storage.results.keep(results("a", data=b"1"), PLENTY)
    await storage.results.keep(results("a", data=b"2"), PLENTY)
    assert (await storage.results.find("a"))[0].data == b"2"


async def test_what_is_too_old_is_not_found(storage: Storage) -> None:
    await storage.results.keep([*results("a"), *results("b", born=BORN - timedelta(days=1))], PLENTY)
    assert [kept.key for kept in await storage.results.find("a", since=BORN)] == ["a"]
    assert await storage.results.find("a", since=BORN + timedelta(seconds=1)) == []


async def test_above_the_bound_the_least_recently_used_go(storage: Storage) -> None:
    clock = HandClock()
    store = SqlResultStore(storage.database, clock)
    incompressible = [random.Random(number).randbytes(400) for number in range(7)]
    for number in range(6):
        born = clock.now() + timedelta(minutes=number)
        await store.keep(results(str(number), data=incompressible[number], born=born), PLENTY)
    clock.passed_ms += 24 * 3600 * 1000
    assert [kept.key for kept in await store.find("3")] == ["3", "4", "5"]
    await store.keep(results("6", data=incompressible[6], born=clock.now()), 1850)
    assert await keys(storage, *map(str, range(7))) == ["3", "4", "5", "6"]


@pytest.mark.parametrize("count", [0, 1, 1200])
async def test_batches_of_any_size(storage: Storage, count: int) -> None:
    await storage.results.keep(results(*map(str, range(count))), PLENTY)
    assert len(await keys(storage, *map(str, range(0, count, 300)))) == len(range(0, count, 300))
