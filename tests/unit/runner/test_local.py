"""The embedded runner over a real store and driver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from app.core.errors import StorageError
from app.machine.driver import Driver, DriverLimits
from app.model.names import BuildStatus, Phase
from app.phases.base import PhaseContext, PhaseResult, PhaseStep
from app.runner.local import LocalRunner
from app.storage.builds import SqlBuildStore
from app.storage.store import Storage, open_storage
from app.tools.runner import ToolRunner
from tests.fakes.calculators import FakeEngine, FakeReasoner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import Construct, Decompose, Endless, new_record, steps


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    async with open_storage(f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}") as opened:
        yield opened


def a_runner(
    storage: Storage,
    phases: Mapping[Phase, PhaseStep] | None = None,
    concurrency: int = 2,
    grace_s: float = 5.0,
    pauses_s: tuple[float, ...] = (0.05, 0.05, 0.05),
) -> LocalRunner:
    engine = FakeEngine()
    contexts = RecordedContexts(lambda r: engine, lambda r: FakeReasoner(), ToolRunner(storage.events))
    driver = Driver(storage.builds, phases or steps(), contexts, DriverLimits(poll_s=0.01, pauses_s=pauses_s))
    return LocalRunner(driver, storage.builds, concurrency, grace_s)


async def test_a_submitted_build_is_driven_to_its_end(storage: Storage) -> None:
    runner = a_runner(storage)
    build = (await storage.builds.insert(new_record())).id
    await runner.submit(build)
    await runner.submit(build)
    await runner.wait(build)
    record = await storage.builds.get(build)
    assert (record.status, record.epoch) == (BuildStatus.COMPLETE, 1)
    await runner.close()


async def test_what_an_earlier_process_left_is_taken_up_at_start(storage: Storage) -> None:
    queued, running = [(await storage.builds.insert(new_record())).id for _ in range(2)]
    await storage.builds.claim(running)
    runner = a_runner(storage)
    await runner.start()
    for build in (queued, running):
        await runner.wait(build)
        assert (await storage.builds.get(build)).status is BuildStatus.COMPLETE
    await runner.close()


async def test_no_more_builds_at_a_time_than_allowed(storage: Storage) -> None:
    at_once, most = 0, 0

    class Counting(Construct):
        async def run(self, ctx: PhaseContext) -> PhaseResult:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.1)  # longer than it takes the others to get here, also on a busy machine
            at_once -= 1
            return await super().run(ctx)

    runner = a_runner(storage, steps(construct=Counting()), concurrency=3)
    builds = [(await storage.builds.insert(new_record())).id for _ in range(8)]
    for build in builds:
        await runner.submit(build)
    for build in builds:
        await runner.wait(build)
    assert most == 3
    assert {(await storage.builds.get(b)).status for b in builds} == {BuildStatus.COMPLETE}
    await runner.close()


async def test_closing_leaves_unfinished_builds_runnable(storage: Storage) -> None:
    endless = Endless()
    runner = a_runner(storage, steps(construct=endless), concurrency=1, grace_s=0.1)
    under_way, waiting = [(await storage.builds.insert(new_record())).id for _ in range(2)]
    await runner.submit(under_way)
    await runner.submit(waiting)
    await endless.begun.wait()
    await asyncio.wait_for(runner.close(), 30)
    assert endless.ended == "cancelled"
    assert await storage.builds.runnable() == [under_way, waiting]
    await runner.submit(waiting)
    assert (await storage.builds.get(waiting)).status is BuildStatus.QUEUED


async def test_a_bell_rung_while_cancelling_takes_the_build_up_again(storage: Storage) -> None:
    endless = Endless()
    runner = a_runner(storage, steps(construct=endless))
    build = (await storage.builds.insert(new_record())).id
    await runner.submit(build)
    await endless.begun.wait()
    await storage.builds.request_cancel(build)
    while (await storage.builds.get(build)).status is BuildStatus.RUNNING:  # noqa: ASYNC110  the store has no bell
        await asyncio.sleep(0.005)
    endless.begun.clear()
    await storage.builds.requeue(build)
    await runner.submit(build)
    await asyncio.wait_for(endless.begun.wait(), 30)
    await storage.builds.request_cancel(build)
    await runner.wait(build)
    assert (await storage.builds.get(build)).epoch == 2
    await runner.close()


async def test_waiting_for_what_is_not_here_returns(storage: Storage) -> None:
    await asyncio.wait_for(a_runner(storage).wait("missing"), 30)


async def test_a_store_that_fails_for_a_while_loses_no_build(storage: Storage) -> None:
    class Flaky(SqlBuildStore):
        failures = 1

        async def checkpoint(self, *args: object, **kwargs: object) -> None:
            if self.failures:
                self.failures -= 1
                raise StorageError("the disk is full")
            await super().checkpoint(*args, **kwargs)  # type: ignore[arg-type]

    store = Flaky(storage.database)
    contexts = RecordedContexts(lambda r: FakeEngine(), lambda r: FakeReasoner(), ToolRunner(storage.events))
    runner = LocalRunner(Driver(store, steps(), contexts), store)
    build = (await store.insert(new_record())).id
    await runner.submit(build)
    await runner.wait(build)
    record = await store.get(build)
    assert (record.status, record.epoch) == (BuildStatus.COMPLETE, 2)
    await runner.close()


async def test_what_was_set_aside_is_tried_while_nothing_else_runs_and_then_goes_on(storage: Storage) -> None:
    working: list[str] = []
    beside: dict[str, int] = {}

    class Watching(Construct):
        async def run(self, ctx: PhaseContext) -> PhaseResult:
            working.append(ctx.build_id)
            beside[ctx.build_id] = max(beside.get(ctx.build_id, 0), len(working) - 1)
            await asyncio.sleep(0.05)
            working.remove(ctx.build_id)
            return await super().run(ctx)

    class Asking(Decompose):
        async def run(self, ctx: PhaseContext) -> PhaseResult:
            if ctx.build_id == suspect:
                assert working == []
                tried.set()
            return await super().run(ctx)

    tried = asyncio.Event()
    suspect = (await storage.builds.insert(new_record())).id
    for _ in range(5):
        await storage.builds.claim(suspect)
    others = [(await storage.builds.insert(new_record())).id for _ in range(4)]
    runner = a_runner(storage, steps(construct=Watching(), decompose=Asking()), concurrency=3)
    await runner.start()
    for build in (suspect, *others):
        await runner.wait(build)
        assert (await storage.builds.get(build)).status is BuildStatus.COMPLETE
    assert tried.is_set()
    assert max(beside.values()) > 0, "the others ran beside each other"
    await runner.close()


async def set_aside(storage: Storage, runner: LocalRunner) -> str:
    """Start the runner on a build that has ended its process too often, and return it once it is set aside."""
    build = (await storage.builds.insert(new_record())).id
    for _ in range(5):
        await storage.builds.claim(build)
    await runner.start()
    while (await storage.builds.get(build)).not_before is None:  # noqa: ASYNC110  the store has no bell
        await asyncio.sleep(0.005)
    return build


async def test_a_bell_wakes_what_is_set_aside(storage: Storage) -> None:
    runner = a_runner(storage, pauses_s=(3600.0,))
    build = await set_aside(storage, runner)
    await storage.builds.request_cancel(build)
    await storage.builds.requeue(build)
    await runner.submit(build)
    await asyncio.wait_for(runner.wait(build), 30)
    assert (await storage.builds.get(build)).status is BuildStatus.COMPLETE
    await runner.close()


async def test_closing_does_not_wait_for_what_is_set_aside(storage: Storage) -> None:
    runner = a_runner(storage, pauses_s=(3600.0,))
    build = await set_aside(storage, runner)
    await asyncio.wait_for(runner.close(), 3)
    assert await storage.builds.runnable() == [build]


async def test_a_build_that_is_deleted_while_it_runs_leaves_its_slot(storage: Storage) -> None:
    endless = Endless()
    runner = a_runner(storage, steps(construct=endless), concurrency=1)
    gone = (await storage.builds.insert(new_record())).id
    await runner.submit(gone)
    await endless.begun.wait()
    await storage.builds.delete(gone)
    await asyncio.wait_for(runner.wait(gone), 30)
    assert endless.ended == "cancelled"
    await runner.close()
