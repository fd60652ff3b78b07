"""Zygotes that end while somebody waits for them: who waits is told, and what comes next is not harmed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import resource
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.errors import EngineCrashed, EngineError
from app.engine.channel import Channel
from app.engine.client import ProcessSession, SessionLimits
from app.engine.zygote import Child, Zygote, launch
from app.model.blueprint import Blueprint
from tests.unit.engine.conftest import SCRIPTED, Script, is_running, open_engine, open_files, wait_until

ARGUMENTS = {"backend": SCRIPTED, "memory-bytes": str(2**30)}
PROMPT_S = 30.0
"""Less than the deadlines in the tests that use it, and enough for a busy machine."""


def kill_unheard(pid: int) -> None:
    """Kill the process and wait for its end, so that the next call can see it and the event loop could not yet."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


async def launched() -> Zygote:
    return await launch(ARGUMENTS, 60)


@pytest.mark.parametrize("request_", ["check", "fork"])
async def test_who_waits_for_a_closed_zygote_is_told_at_once(request_: str) -> None:
    zygote = await launched()
    os.kill(zygote.pid, signal.SIGSTOP)
    waiting = asyncio.create_task(getattr(zygote, request_)(60))
    behind = asyncio.create_task(zygote.check(60))
    await asyncio.sleep(0.05)

    await zygote.close()

    async with asyncio.timeout(PROMPT_S):
        for task in (waiting, behind):
            with pytest.raises(EngineCrashed):
                await task


async def test_a_zygote_closed_while_it_is_waited_for_makes_the_next_one_no_less_heard() -> None:
    """The next one's control socket has the number of the last one's, which the event loop must have forgotten."""
    first = await launched()
    os.kill(first.pid, signal.SIGSTOP)
    waiting = asyncio.create_task(first.check(60))
    await asyncio.sleep(0.05)
    await first.close()

    second = await launched()
    await second.check(60)

    await second.close()
    with pytest.raises(EngineCrashed):
        await waiting


async def test_an_engine_whose_zygote_died_under_a_waiting_call_starts_another(script: Script) -> None:
    async with open_engine() as engine:
        await engine.start()
        (zygote,) = engine.pids()
        os.kill(zygote, signal.SIGSTOP)
        async with engine.session() as waiting, engine.session() as next_one:
            build = asyncio.create_task(waiting.build(script.build()))
            await asyncio.sleep(0.05)
            kill_unheard(zygote)

            await next_one.build(script.build())
            await build

            assert (await waiting.stats()).get("Sum") == 60


async def test_a_call_that_waits_when_the_engine_closes_ends() -> None:
    async with open_engine(fork_deadline_s=60.0) as engine:
        await engine.start()
        (zygote,) = engine.pids()
        os.kill(zygote, signal.SIGSTOP)
        call = asyncio.create_task(engine.facts.classes())
        await asyncio.sleep(0.05)
    async with asyncio.timeout(PROMPT_S):
        with pytest.raises(EngineError):
            await call


async def test_a_cancelled_close_leaves_no_descriptor_and_no_process() -> None:
    files = open_files()
    zygote = await launched()
    closing = asyncio.create_task(zygote.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])

    assert open_files() == files
    assert await wait_until(lambda: not is_running(zygote.pid))


async def test_an_engine_that_cannot_start_again_holds_nothing_of_its_dead_children(tmp_path: Path) -> None:
    version = tmp_path / "version"
    version.write_text("1")
    async with open_engine("tests.unit.engine.scripted:VersionedBackend", {"pob": str(version)}) as engine:
        files = open_files()
        await engine.start()
        (zygote,) = engine.pids()
        await engine.facts.classes()
        version.unlink()
        os.kill(zygote, signal.SIGKILL)
        async with engine.session() as session:
            with pytest.raises(EngineCrashed):
                await session.build(Blueprint(class_name="A", level=1))

        assert await wait_until(lambda: open_files() == files, 20)  # the spares try to start it too, one by one
        assert engine.pids() == set()


async def test_a_session_closed_while_its_child_comes_leaves_no_child() -> None:
    zygote = await launched()
    gate = asyncio.Event()

    async def open_channel() -> Channel:
        await gate.wait()
        return await Channel.to(await zygote.fork(60))

    session = ProcessSession(open_channel, SessionLimits())
    files = open_files()
    call = asyncio.create_task(session.build(Blueprint(class_name="A", level=1)))
    await asyncio.sleep(0)
    await session.close()
    gate.set()
    with pytest.raises(EngineError):
        await call
    await asyncio.sleep(0)

    assert session.pid is None
    assert open_files() == files
    await zygote.close()


@pytest.fixture
def many_files() -> Iterator[int]:
    """A number above what select() can look at, which descriptors may have here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    above = 2000
    if hard != resource.RLIM_INFINITY and hard <= above:
        pytest.skip("descriptors cannot have such numbers here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, above + 10), hard))
    yield above
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_child_is_seen_whatever_number_its_descriptor_has(many_files: int) -> None:
    process = subprocess.Popen(["sleep", "60"])
    low = os.pidfd_open(process.pid)
    child = Child(process.pid, fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, many_files), socket.socket())
    try:
        assert child.is_alive
        child.kill()
        select.select([low], [], [])
        assert not child.is_alive
    finally:
        child.close()
        os.close(low)
        process.wait()
