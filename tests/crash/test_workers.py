"""Real workers on PostgreSQL that are killed, stopped, and cut off from their server."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from typing import Any

import psycopg
import pytest

from app.machine.driver import Driver, DriverLimits
from app.model.names import GearTier
from app.model.record import BuildRequest
from app.phases.base import PhaseContext, PhaseResult, PhaseStep
from app.runner.base import Pace
from app.runner.watchdog import GIVEN_UP
from app.tools.runner import ToolRunner
from tests.crash.harness import (
    KILLED,
    Ending,
    Product,
    children,
    ending,
    faults,
    product_of,
    run_whole,
    submit,
    tool_events,
)
from tests.crash.proxy import proxied
from tests.databases import conninfo, emptied_database
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import steps

pytestmark = [pytest.mark.postgres, pytest.mark.slow]
SLOW = "tests.crash.test_workers:slow_product"
SKETCH = "tests.crash.harness:sketch_product"
SOON_S = 300.0
BRISK = Pace(heartbeat=0.3, stall=3.0, sweep=0.5, poll=0.2, grace=5.0, silence=120.0)
SMALL_REQUEST = BuildRequest(prompt="lightning sorceress for mapping", level=12, gear=GearTier.STARTER)


class Slow:
    """A step that takes its time, so that it can be interrupted in the middle."""

    def __init__(self, inner: PhaseStep) -> None:
        self._inner = inner

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        await asyncio.sleep(0.1)
        result = await self._inner.run(ctx)
        await asyncio.sleep(0.1)
        return result


@asynccontextmanager
async def slow_product() -> AsyncIterator[Product]:
    from tests.fakes.calculators import FakeEngine, FakeReasoner

    yield Product({phase: Slow(step) for phase, step in steps().items()}, FakeEngine(), FakeReasoner())


@dataclass(frozen=True)
class Shift:
    """One worker process: where the store is, what it builds with, how fast it looks."""

    url: str
    product: str = SLOW
    pace: Pace = BRISK


def work(shift: Shift) -> None:
    """Be the worker until SIGTERM."""
    asyncio.run(_work(shift))


async def _work(shift: Shift) -> None:
    from app.runner.jobs import JobQueue
    from app.runner.queued import BuildWorker
    from app.runner.watchdog import watch_database
    from app.storage.queue import QueueTables
    from app.storage.store import open_storage

    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    jobs, tables = JobQueue(shift.url, patience_s=120.0), QueueTables(shift.url)
    async with open_storage(shift.url) as storage, product_of(shift.product) as product:
        await jobs.open()
        contexts = RecordedContexts(lambda r: product.engine, lambda r: product.reasoner, ToolRunner(storage.events))
        driver = Driver(storage.builds, product.phases, contexts, DriverLimits(poll_s=0.05, pauses_s=(0.5, 1.0, 2.0)))
        worker = BuildWorker(driver, storage.builds, jobs, tables, pace=shift.pace)
        watching = asyncio.create_task(watch_database(worker.ask, shift.pace.silence))
        await worker.run(stop)
        watching.cancel()
        await jobs.close()
        await tables.close()


def start(shift: Shift) -> BaseProcess:
    process = children().Process(target=work, args=(shift,))
    process.start()
    return process


@contextmanager
def worker(shift: Shift) -> Iterator[BaseProcess]:
    """Run a worker; it leaves in good order in the end, whatever was done to it."""
    process = start(shift)
    try:
        yield process
    finally:
        end(process)


def end(process: BaseProcess) -> None:
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGCONT)
        os.kill(process.pid, signal.SIGTERM)
    process.join(60)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise AssertionError("the worker did not leave when it was told to")


def sql(url: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(conninfo(url), options="-c search_path=queue,public") as connection:
        return connection.execute(statement, values).fetchall()


def until(what: Callable[[], bool], seconds: float = SOON_S) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def statuses(url: str) -> dict[str, int]:
    return dict(sql(url, "SELECT status, count(*) FROM build GROUP BY status"))


def checkpoints(url: str, build: str) -> int:
    return int(sql(url, "SELECT progress_seq FROM build WHERE id = %s", build)[0][0])


def everything(url: str, build: str) -> list[Any]:
    """Return all that is stored of the build and its jobs."""
    rows = sql(url, "SELECT epoch, status, state::text, progress_seq, updated_at FROM build WHERE id = %s", build)
    jobs = sql(url, "SELECT id, status::text FROM procrastinate_jobs WHERE lock = %s ORDER BY id", build)
    told = sql(url, "SELECT seq, type, at FROM build_progress WHERE build_id = %s ORDER BY seq", build)
    return [rows, jobs, told, [event.model_dump_json() for event in tool_events(url, build)]]


@pytest.fixture(scope="module")
def expected() -> Ending:
    """How a build ends that nobody disturbs."""
    return run_whole(emptied_database(), "tests.crash.harness:small_product")


@pytest.fixture
def url() -> str:
    return emptied_database()


def test_a_worker_that_comes_back_after_its_build_was_taken_writes_nothing(url: str, expected: Ending) -> None:
    build = submit(url)
    with worker(Shift(url)) as zombie:
        assert zombie.pid is not None
        until(lambda: checkpoints(url, build) >= 5)
        os.kill(zombie.pid, signal.SIGSTOP)
        left = checkpoints(url, build)
        with worker(Shift(url)):
            until(lambda: statuses(url) == {"complete": 1})
        after = everything(url, build)
        assert left < after[0][0][3]
        os.kill(zombie.pid, signal.SIGCONT)
        time.sleep(4)
        assert everything(url, build) == after
        second = submit(url)
        until(lambda: statuses(url) == {"complete": 2})
    assert after[0][0][0] == 2
    assert after[1] == [(after[1][0][0], "aborted")]
    assert [ending(url, one) for one in (build, second)] == [expected] * 2
    assert faults(url) == []


def test_a_worker_that_is_told_to_leave_gives_its_build_back(url: str, expected: Ending) -> None:
    build = submit(url)
    with worker(Shift(url)):
        until(lambda: checkpoints(url, build) >= 5)
    assert statuses(url) == {"running": 1}
    assert sql(url, "SELECT attempts FROM build") == [(0,)]
    with worker(Shift(url)):
        until(lambda: statuses(url) == {"complete": 1})
    assert ending(url, build) == expected


def storm(url: str, shift: Shift, builds: list[str], workers: int, kills: int, every_s: float, seed: int) -> int:
    """Kill workers at random while builds are made; return how many were killed when all builds have ended."""
    chance, killed = random.Random(seed), 0
    running = [start(shift) for _ in range(workers)]
    try:
        while statuses(url).keys() & {"queued", "running"}:
            time.sleep(chance.uniform(0, 2 * every_s))
            if killed < kills:
                victim = chance.randrange(workers)
                running[victim].kill()
                running[victim].join()
                killed += 1
                running[victim] = start(shift)
            assert all(one.is_alive() for one in running), "a worker ended by itself"
    finally:
        with ExitStack() as ending_all:
            for one in running:
                ending_all.callback(end, one)
    assert faults(url) == []
    return killed


def test_killed_workers_lose_no_build_and_fail_none(url: str, expected: Ending) -> None:
    builds = [submit(url) for _ in range(4)]
    assert storm(url, Shift(url), builds, workers=2, kills=3, every_s=1.5, seed=11) == 3
    assert [ending(url, build) for build in builds] == [expected] * 4


@pytest.mark.deep
@pytest.mark.parametrize("product", [SLOW, SKETCH])
def test_a_storm_of_kills_over_forty_builds(product: str) -> None:
    """Every progress event is one checkpoint's, so equal endings say that none was written twice."""
    calm = run_whole(emptied_database(), product, SMALL_REQUEST)
    url, seed = emptied_database(), random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    builds = [submit(url, SMALL_REQUEST) for _ in range(40)]
    pace = replace(BRISK, stall=10.0, heartbeat=1.0)
    killed = storm(url, Shift(url, product, pace), builds, workers=4, kills=40, every_s=4.0, seed=seed)
    print(f"{killed} workers killed over 40 builds")
    assert statuses(url) == {"complete": 40}
    assert all(ending(url, build) == calm for build in builds)


@pytest.mark.parametrize("away_s", [1.0, pytest.param(15.0, marks=pytest.mark.deep)])
def test_a_server_that_is_away_for_a_while_costs_nothing(url: str, expected: Ending, away_s: float) -> None:
    builds = [submit(url) for _ in range(4)]
    with proxied(url) as (through, proxy), worker(Shift(through)) as one, worker(Shift(through)) as two:
        until(lambda: statuses(url).get("running", 0) >= 1 and checkpoints(url, builds[0]) >= 4)
        proxy.cut()
        time.sleep(away_s)
        assert statuses(url).get("complete", 0) < 4
        proxy.back()
        until(lambda: statuses(url) == {"complete": 4})
        assert one.is_alive()
        assert two.is_alive()
    assert [ending(url, build) for build in builds] == [expected] * 4
    assert faults(url) == []


@pytest.mark.deep
def test_a_worker_whose_connections_hang_ends_itself_and_another_takes_over(url: str, expected: Ending) -> None:
    build = submit(url)
    hasty = replace(BRISK, silence=6.0)
    with proxied(url) as (through, proxy):
        stuck = start(Shift(through, pace=hasty))
        until(lambda: checkpoints(url, build) >= 4)
        proxy.freeze()
        with worker(Shift(url)):
            until(lambda: statuses(url) == {"complete": 1})
        stuck.join(60)
        assert stuck.exitcode == GIVEN_UP != KILLED
    assert ending(url, build) == expected
