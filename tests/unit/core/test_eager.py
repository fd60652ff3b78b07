"""Work that ends at once needs no task; what waits is done to its end by one."""

from __future__ import annotations

import asyncio

import pytest

from app.core.eager import Backlog, begun


async def test_what_does_not_wait_is_done_at_once() -> None:
    async def work() -> int:
        return 7

    async def failing() -> int:
        raise ValueError("no")

    assert begun(work()) == 7
    with pytest.raises(ValueError, match="no"):
        begun(failing())


async def test_what_waits_goes_on_although_nobody_waits_for_it() -> None:
    done: list[int] = []

    async def work() -> int:
        for number in range(3):
            await asyncio.sleep(0.01)
            done.append(number)
        return 7

    async def waiting(task: asyncio.Future[int]) -> int:
        return await asyncio.shield(task)

    task = begun(work())
    assert isinstance(task, asyncio.Future)
    waiter = asyncio.create_task(waiting(task))
    await asyncio.sleep(0.005)
    waiter.cancel()
    assert await task == 7
    assert done == [0, 1, 2]


async def test_an_error_or_a_cancellation_reaches_the_work() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = begun(work())
    assert isinstance(task, asyncio.Future)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_left_work_begins_when_the_loop_is_free_and_nobody_waits_for_it() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        done.append(number)

    backlog = Backlog()
    backlog.add(work(1))
    backlog.add(work(2))
    assert done == []
    await asyncio.sleep(0)
    assert done == [1, 2]


async def test_settled_does_left_work_at_once_and_to_its_end() -> None:
    done: list[str] = []

    async def quick() -> None:
        done.append("quick")

    async def slow() -> None:
        await asyncio.sleep(0.01)
        done.append("slow")

    backlog = Backlog()
    backlog.add(slow())
    backlog.add(quick())
    waiter = asyncio.create_task(backlog.settled())
    await asyncio.sleep(0)
    waiter.cancel()
    await backlog.settled()
    assert done == ["quick", "slow"]
    await backlog.settled()
