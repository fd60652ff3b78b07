"""Processes that are killed, and processes that outlive what they belong to: none may be lost, left over or leaked."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import EngineCrashed, EngineError
from app.engine.process import ProcessEngine
from app.model.blueprint import Allocate, Blueprint, PassiveNode
from tests.unit.engine.conftest import SCRIPTED, is_running, open_engine, open_files, wait_until

ROOT = Path(__file__).resolve().parents[3]
BUILD = Blueprint(class_name="Sorceress", level=90, nodes=[PassiveNode(id=7)])

PROMPT_S = 2.0
"""Within this a process must have followed its parent; it is the kernel that ends it."""

HOST = f"""
import asyncio, sys
from app.engine.process import ProcessEngine
from app.model.blueprint import Blueprint

async def main():
    engine = ProcessEngine("{SCRIPTED}")
    config = {{"stats": "hang"}}
    async with engine.session() as quiet, engine.session() as busy:
        for session in (quiet, busy):
            await session.build(Blueprint(class_name="A", level=1, config=config))
        await engine.facts.classes()
        print(engine._zygote.pid, flush=True)
        await busy.stats()

asyncio.run(main())
"""


async def test_a_killed_child_is_replaced_with_the_same_build() -> None:
    async with open_engine() as engine, engine.session() as session:
        await session.build(BUILD)
        await session.apply([Allocate(nodes=[PassiveNode(id=8)])])
        os.kill(int((await session.stats()).get("Pid")), signal.SIGKILL)
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Sum") == 15


async def test_a_killed_zygote_takes_its_sessions_along_and_is_replaced() -> None:
    async with open_engine() as engine:
        await engine.start()
        (zygote,) = engine.pids()
        async with engine.session() as session:
            await session.build(BUILD)
            (child,) = engine.pids() - {zygote}
            os.kill(zygote, signal.SIGKILL)

            assert await wait_until(lambda: not is_running(child), PROMPT_S)
            with pytest.raises(EngineCrashed):
                await session.stats()
            assert (await session.stats()).get("Sum") == 7
            assert zygote not in engine.pids()
        async with engine.session() as session:
            await session.build(BUILD)
            assert (await session.stats()).get("Sum") == 7


async def test_a_zygote_killed_between_sessions_is_not_noticed_by_the_next() -> None:
    async with open_engine() as engine:
        await engine.start()
        (zygote,) = engine.pids()
        os.kill(zygote, signal.SIGKILL)
        async with engine.session() as session:
            await session.build(BUILD)
            assert (await session.stats()).get("Sum") == 7


async def test_a_stopped_zygote_is_given_up() -> None:
    async with open_engine(fork_deadline_s=0.5) as engine:
        await engine.start()
        (zygote,) = engine.pids()
        os.kill(zygote, signal.SIGSTOP)
        async with engine.session() as session:
            with pytest.raises(EngineError):
                await session.build(BUILD)
            await session.build(BUILD)
            assert zygote not in engine.pids()


async def test_many_sessions_leave_no_descriptor_and_no_process() -> None:
    async with open_engine(workers=4) as engine:
        await use(engine)
        assert await wait_until(lambda: is_at_rest(engine))
        files = len(open_files())

        await asyncio.gather(*(use(engine) for _ in range(200)))

        assert await wait_until(lambda: is_at_rest(engine) and len(open_files()) == files)


async def test_killed_sessions_leave_no_descriptor_and_no_process() -> None:
    async with open_engine(workers=4) as engine:
        await use(engine)
        assert await wait_until(lambda: is_at_rest(engine))
        files = len(open_files())
        for _ in range(30):
            async with engine.session() as session:
                await session.build(BUILD)
                os.kill(int((await session.stats()).get("Pid")), signal.SIGKILL)
                with pytest.raises(EngineCrashed):
                    await session.stats()

        assert await wait_until(lambda: is_at_rest(engine) and len(open_files()) == files)


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_service_leaves_no_orphan(killed: signal.Signals) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    service = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True, env=environment)
    with service:
        assert service.stdout is not None
        zygote = int(service.stdout.readline())
        pids = [zygote, *children(zygote)]
        assert len(pids) >= 4  # two sessions, the facts', and the spares that are ready
        assert all(is_running(pid) for pid in pids)

        service.send_signal(killed)

        assert asyncio.run(wait_until(lambda: not any(is_running(pid) for pid in pids), PROMPT_S))


async def use(engine: ProcessEngine) -> None:
    async with engine.session() as session:
        await session.build(BUILD)
        assert (await session.stats()).get("Sum") == 7


def is_at_rest(engine: ProcessEngine) -> bool:
    """Return whether four spares are ready, their descriptors received, and there are no other children."""
    orders = engine._spares._ordered
    return len(orders) == 4 and all(order.done() for order in orders) and count_children(engine) == 4


def count_children(engine: ProcessEngine) -> int:
    """Count the zygote's children, zombies included."""
    (zygote,) = engine.pids()
    return len(children(zygote))


def children(pid: int) -> list[int]:
    """Return the process ids of a process' children, zombies included."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
