"""Spare children: ready before they are needed, never handed out dead, never left behind."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator

import pytest

from app.core.errors import EngineCrashed
from app.engine.spares import RESTOCK_S, Spares
from app.engine.zygote import Child


class Nest:
    """Starts real processes as children and remembers them."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self.fails = False

    async def fork(self) -> Child:
        if self.fails:
            raise EngineCrashed("no more")
        process = subprocess.Popen(["sleep", "60"])  # noqa: ASYNC220 - takes a millisecond
        self.processes.append(process)
        return Child(process.pid, os.pidfd_open(process.pid), socket.socket())

    def living(self) -> int:
        return sum(process.poll() is None for process in self.processes)


@pytest.fixture
def nest() -> Iterator[Nest]:
    made = Nest()
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


async def test_a_spare_is_ready_and_replaced(nest: Nest) -> None:
    spares = Spares(nest.fork, 2)
    spares.stock()
    await asyncio.sleep(0)
    before = [process.pid for process in nest.processes]
    child = await spares.take()
    assert child is not None
    assert [child.pid, len(before)] == [before[0], 2]
    await asyncio.sleep(2 * RESTOCK_S)
    assert nest.living() == 3
    child.close()
    await spares.close()


async def test_a_dead_spare_is_not_handed_out(nest: Nest) -> None:
    spares = Spares(nest.fork, 1)
    spares.stock()
    await asyncio.sleep(0)
    nest.processes[0].kill()
    nest.processes[0].wait()
    assert await spares.take() is None
    await spares.close()


async def test_a_fork_that_failed_is_passed_over(nest: Nest) -> None:
    nest.fails = True
    spares = Spares(nest.fork, 1)
    spares.stock()
    assert await spares.take() is None
    await spares.close()


async def test_a_cancelled_wait_keeps_the_child(nest: Nest) -> None:
    gate = asyncio.Event()

    async def slow() -> Child:
        await gate.wait()
        return await nest.fork()

    spares = Spares(slow, 1)
    spares.stock()
    waiting = asyncio.create_task(spares.take())
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.wait([waiting])
    gate.set()
    child = await spares.take()
    assert child is not None
    assert child.pid == nest.processes[0].pid
    child.close()
    await spares.close()


async def test_closing_ends_all_of_them(nest: Nest) -> None:
    spares = Spares(nest.fork, 3)
    spares.stock()
    await asyncio.sleep(0)
    await spares.close()
    for process in nest.processes:
        process.wait(timeout=60)
    assert nest.living() == 0
    spares.stock()
    assert await spares.take() is None
