"""A build that ends its process, and builds that only happen to be there when a process ends."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.model.names import Phase
from app.model.record import BuildRecord, BuildRequest
from app.phases.base import PhaseContext, PhaseResult
from app.storage.store import open_storage
from tests.crash.harness import KILLED, Plan, Product, faults, run, spawn, submit, url_in
from tests.fakes.steps import Construct, Decompose, steps

PRODUCT = "tests.crash.test_poison:poison_product"
DEADLY = "ends its process"
WHILE = "waits while there is "


class Deadly(Construct):
    """Ends the process of builds that ask for it."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        if ctx.request.prompt == DEADLY:
            await asyncio.sleep(0.05)  # the others have begun, too
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().run(ctx)


class Patient(Decompose):
    """Takes as long as a file exists that the prompt names."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        storm = Path(ctx.request.prompt.removeprefix(WHILE))
        while ctx.request.prompt.startswith(WHILE) and storm.exists():  # noqa: ASYNC110, ASYNC240  it has no bell
            await asyncio.sleep(0.02)
        return await super().run(ctx)


@asynccontextmanager
async def poison_product() -> AsyncIterator[Product]:
    """The small product, which obeys deadly and patient prompts."""
    from tests.fakes.calculators import FakeEngine, FakeReasoner

    yield Product(steps(construct=Deadly(), decompose=Patient()), FakeEngine(), FakeReasoner())


def records(url: str, ids: list[str]) -> list[BuildRecord]:
    async def read() -> list[BuildRecord]:
        async with open_storage(url, exclusive=False) as storage:
            return [await storage.builds.get(build_id) for build_id in ids]

    return asyncio.run(read())


@pytest.mark.slow
def test_only_the_build_that_ends_its_process_fails(tmp_path: Path) -> None:
    url = url_in(tmp_path)
    innocent = [submit(url) for _ in range(2)]
    deadly = submit(url, BuildRequest(prompt=DEADLY))
    innocent += [submit(url) for _ in range(2)]
    plan = Plan(url, PRODUCT, concurrency=3, pauses_s=(0.1, 0.2, 0.3))
    deaths = 0
    while run(plan) == KILLED:
        deaths += 1
        assert faults(url) == []
        assert deaths < 20
    assert [record.status.value for record in records(url, innocent)] == ["complete"] * 4
    (failed,) = records(url, [deadly])
    assert failed.failure is not None
    assert (failed.status.value, failed.failure.code) == ("failed", "crash_loop")
    assert failed.state.phase is Phase.CONSTRUCT
    assert deaths == 5 + 3


@pytest.mark.slow
def test_a_storm_of_kills_on_a_machine_too_slow_for_a_step_fails_nobody(tmp_path: Path) -> None:
    url, storm = url_in(tmp_path), tmp_path / "storm"
    storm.touch()
    ids = [submit(url, BuildRequest(prompt=f"{WHILE}{storm}")) for _ in range(3)]
    plan = Plan(url, PRODUCT, concurrency=2, pauses_s=(0.1, 0.2, 0.3))
    aside, tried = set[str](), 0
    for _ in range(16):
        before = sum(record.epoch for record in records(url, ids))
        process, deadline = spawn(plan), time.monotonic() + 60
        while sum(record.epoch for record in records(url, ids)) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        process.join(0.4)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        process.close()
        now = records(url, ids)
        aside |= {record.id for record in now if record.not_before is not None}
        tried += sum(record.alone for record in now)
        assert [record.failure for record in now] == [None] * 3
    assert aside == set(ids), "the storm was not long enough to mean anything"
    assert tried > 3, "more trials ended than a build that ends its process is given"
    storm.unlink()
    assert run(plan) == 0
    assert [record.status.value for record in records(url, ids)] == ["complete"] * 3
    assert faults(url) == []
