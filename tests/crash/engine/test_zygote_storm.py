"""Starts, forks, kills and closes of several engines at once, on a busy machine, in one event loop after another.

Nothing is stopped or silenced here, so nobody has a reason to wait for a deadline: a call is answered, or its engine or
child was ended and it says so. BUILDWRIGHT_TEST_DEEP=1 makes it 1,000 rounds.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.errors import EngineCrashed, EngineError, EngineHung
from app.engine.process import ProcessEngine
from app.model.blueprint import Blueprint, PassiveNode
from tests.unit.engine.conftest import make_engine, open_files

DEEP = os.environ.get("BUILDWRIGHT_TEST_DEEP") == "1"
ROUNDS = 1000 if DEEP else 5
ROUNDS_PER_LOOP = 5
ENGINES = 3
LIMIT_S = 300.0
"""What a round may take at the very most; the deadlines of the calls themselves are shorter."""

BUILD = Blueprint(class_name="Sorceress", level=90, nodes=[PassiveNode(id=7)])

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * 3600 if DEEP else 900)]


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Processes that calculate all the time, and a thread that starts processes of its own all the time."""
    calculating = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    over = threading.Event()

    def start_others() -> None:
        while not over.wait(0.01):
            subprocess.run(["true"], check=True)

    starting = threading.Thread(target=start_others)
    starting.start()
    yield
    over.set()
    starting.join()
    for process in calculating:
        process.kill()
        process.wait()


def test_a_storm_leaves_nobody_waiting_and_nothing_behind(busy_machine: None) -> None:
    seen: Counter[str] = Counter()
    files: int | None = None
    for first in range(0, ROUNDS, ROUNDS_PER_LOOP):
        asyncio.run(storm(random.Random(first), seen))
        gc.collect()  # a transport or socket that nobody closed says so here, and not in a later test
        if files is None:
            files = descriptors()
        assert descriptors() == files, f"round {first}: descriptors left"
        assert not zygotes(), f"round {first}: processes left"
    print(f"{ROUNDS} rounds: {dict(seen)}")
    assert seen["answered"] > ROUNDS


def descriptors() -> int:
    """Count our descriptors without those of the processes that the other thread starts."""
    return len([fd for fd in open_files() if not is_pipe(fd)])


def is_pipe(fd: int) -> bool:
    try:
        return str(Path(f"/proc/self/fd/{fd}").readlink()).startswith("pipe:")
    except OSError:
        return True


async def storm(dice: random.Random, seen: Counter[str]) -> None:
    """Run some rounds of one event loop, each with calls on all engines while something ends what they work with."""
    engines = [storm_engine() for _ in range(ENGINES)]
    try:
        for _ in range(ROUNDS_PER_LOOP):
            calls = [asyncio.create_task(use(engine)) for engine in engines for _ in range(3)]
            for _ in range(dice.randint(1, 4)):
                await asyncio.sleep(dice.choice([0, 0.001, 0.02, 0.2]))
                await dice.choice([kill_zygote, kill_zygote, kill_unheard, kill_child, close, cancel])(
                    dice, engines, calls
                )
            async with asyncio.timeout(LIMIT_S):
                results = await asyncio.gather(*calls, return_exceptions=True)
            seen.update(outcome(result) for result in results)
    finally:
        for engine in engines:
            await engine.close()


def storm_engine() -> ProcessEngine:
    return make_engine(start_deadline_s=90.0, fork_deadline_s=60.0, call_deadline_s=60.0)


async def use(engine: ProcessEngine) -> None:
    """Ask for facts and for a build twice, with a new child each time."""
    with contextlib.suppress(EngineCrashed):  # somebody else's kill met it; the next call recovers
        await engine.facts.classes()
    async with engine.session() as session:
        for _ in range(2):
            await session.build(BUILD)
            assert (await session.stats()).get("Sum") == 7


def outcome(result: object) -> str:
    """Return what became of a call.

    Raises:
        BaseException: the call waited in vain or failed in a way that no kill explains.
    """
    if isinstance(result, EngineHung):
        raise result
    if isinstance(result, asyncio.CancelledError):
        return "cancelled"
    if isinstance(result, EngineError):
        return type(result).__name__
    if isinstance(result, BaseException):
        raise result
    return "answered"


async def kill_zygote(dice: random.Random, engines: list[ProcessEngine], _: list[asyncio.Task[None]]) -> None:
    zygote = dice.choice(engines)._zygote
    if zygote is not None:
        zygote._process.kill()


async def kill_unheard(dice: random.Random, engines: list[ProcessEngine], calls: list[asyncio.Task[None]]) -> None:
    """Kill a zygote, and call its engine when the process has ended and the event loop has not heard of it."""
    engine = dice.choice(engines)
    if engine._zygote is not None:
        engine._zygote._process.kill()
        with contextlib.suppress(ChildProcessError):  # reaped already
            wait_for_end(engine._zygote.pid)
    with contextlib.suppress(EngineCrashed):
        await engine.facts.classes()


async def kill_child(dice: random.Random, engines: list[ProcessEngine], _: list[asyncio.Task[None]]) -> None:
    engine = dice.choice(engines)
    channels = [session._channel for session in [*engine._sessions, engine._facts_session]]
    channel = dice.choice(channels)
    if channel is not None and channel.is_open:
        channel._child.kill()


async def close(dice: random.Random, engines: list[ProcessEngine], _: list[asyncio.Task[None]]) -> None:
    """Close an engine under its callers and put another in its place."""
    place = dice.randrange(len(engines))
    closed, engines[place] = engines[place], storm_engine()
    await closed.close()


async def cancel(dice: random.Random, _: list[ProcessEngine], calls: list[asyncio.Task[None]]) -> None:
    dice.choice(calls).cancel()


def wait_for_end(pid: int) -> None:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def zygotes() -> list[str]:
    """Return the command lines of our children that are zygotes."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            for pid in (task / "children").read_text().split():
                with contextlib.suppress(OSError):
                    command = Path(f"/proc/{pid}/cmdline").read_text()
                    found += [command] if "app.engine.worker" in command else []
    return found
