"""Builds in real child processes that kill themselves at a chosen commit, and what must come out in the end.

A product is anything that makes phases, an engine and a reasoner: `"module:function"` naming a function that returns
an async context manager of `Product`. The harness runs it through the real store, driver and runner.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import event

from app.engine.base import Engine
from app.machine.driver import Driver, DriverLimits
from app.model.events import ToolEvent
from app.model.names import Phase
from app.model.record import BuildRecord, BuildRequest
from app.model.state import BuildState
from app.phases.base import PhaseStep
from app.reasoning.base import Reasoner
from app.runner.local import LocalRunner
from app.search.sessions import Sharing
from app.storage.base import BuildStore, Checkpoint, EventStore
from app.storage.store import Storage, check_database, open_storage
from app.tools.runner import ToolRunner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import new_record

T = TypeVar("T")
When = Literal["before", "inside", "after"]
KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Product:
    """What a build is made with."""

    phases: Mapping[Phase, PhaseStep]
    engine: Engine
    reasoner: Reasoner


MakeProduct = Callable[[], AbstractAsyncContextManager[Product]]


@dataclass(frozen=True)
class Plan:
    """One child: where the store is, what it builds with, and at which commit it dies (0 = never).

    `before` a commit is asked for, `inside` its transaction with everything written, or `after` it.
    `events` counts commits of tool events too. `pauses_s`: before trials of builds that are set aside.
    """

    url: str
    product: str
    at: int = 0
    when: When = "after"
    events: bool = False
    concurrency: int = 1
    pauses_s: tuple[float, ...] = DriverLimits().pauses_s


@dataclass(frozen=True)
class Ending:
    """Everything about a finished build that must not depend on crashes."""

    status: str
    outcome: str | None
    failure: str | None
    state: BuildState
    invariants: str
    xml: bytes | None
    progress: list[tuple[str, dict[str, Any]]]


class Guillotine:
    """Kills its own process at the chosen commit."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._commits = 0

    async def around(self, commit: Awaitable[T]) -> T:
        """Do the commit, unless this is where it ends."""
        self._commits += 1
        self._fall("before")
        result = await commit
        self._fall("after")
        return result

    def watch(self, storage: Storage) -> None:
        """Also look inside transactions: everything is written, nothing is committed."""
        event.listen(storage.database.writers[0].sync_engine, "commit", lambda _: self._fall("inside"))

    def _fall(self, when: When) -> None:
        if self._plan.when == when and self._plan.at == self._commits:
            os.kill(os.getpid(), signal.SIGKILL)


class DeadlyBuilds:
    """A BuildStore whose commits may be the last."""

    def __init__(self, inner: BuildStore, guillotine: Guillotine) -> None:
        self._inner = inner
        self._guillotine = guillotine

    def __getattr__(self, name: str) -> Any:
        """Reading is harmless."""
        return getattr(self._inner, name)

    async def claim(self, build_id: str, *, alone: bool = False) -> BuildRecord | None:
        return await self._guillotine.around(self._inner.claim(build_id, alone=alone))

    async def checkpoint(self, build_id: str, epoch: int, change: Checkpoint) -> None:
        await self._guillotine.around(self._inner.checkpoint(build_id, epoch, change))


class DeadlyEvents:
    """An EventStore whose commits may be the last."""

    def __init__(self, inner: EventStore, guillotine: Guillotine) -> None:
        self._inner = inner
        self._guillotine = guillotine

    def __getattr__(self, name: str) -> Any:
        """Reading is harmless."""
        return getattr(self._inner, name)

    async def start(self, event: ToolEvent) -> ToolEvent:
        return await self._guillotine.around(self._inner.start(event))

    async def record(self, event: ToolEvent) -> ToolEvent:
        return await self._guillotine.around(self._inner.record(event))

    async def finish(self, event: ToolEvent) -> None:
        await self._guillotine.around(self._inner.finish(event))


def run_child(plan: Plan) -> None:
    """Be the child: take up every runnable build and drive it to its end, or to ours."""
    asyncio.run(_work(plan))


def product_of(name: str) -> AbstractAsyncContextManager[Product]:
    """Return the product with that name."""
    module, function = name.split(":")
    make: MakeProduct = getattr(importlib.import_module(module), function)
    return make()


async def _work(plan: Plan) -> None:
    guillotine = Guillotine(plan)
    async with open_storage(plan.url) as storage, product_of(plan.product) as product:
        guillotine.watch(storage)
        builds: Any = DeadlyBuilds(storage.builds, guillotine)
        events: Any = DeadlyEvents(storage.events, guillotine) if plan.events else storage.events
        contexts = RecordedContexts(lambda r: product.engine, lambda r: product.reasoner, ToolRunner(events))
        limits = DriverLimits(poll_s=0.05, pauses_s=plan.pauses_s)
        runner = LocalRunner(Driver(builds, product.phases, contexts, limits), builds, plan.concurrency)
        waiting = await storage.builds.runnable()
        await runner.start()
        for build_id in waiting:
            await runner.wait(build_id)
        await runner.close()


def spawn(plan: Plan) -> BaseProcess:
    """Start a child; forked from a server process that has our modules loaded already."""
    process = children().Process(target=run_child, args=(plan,))
    process.start()
    return process


def run(plan: Plan, deadline_s: float = 300.0) -> int:
    """Run a child to its end and return its exit code (-9 = killed)."""
    process = spawn(plan)
    process.join(deadline_s)
    code = process.exitcode
    assert code is not None, "the child hangs"
    process.close()
    return code


def children() -> ForkServerContext:
    """Return what makes child processes, quickly: from a server process that has our modules loaded already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def url_in(folder: Path) -> str:
    """Return the address of a store in the folder."""
    return f"sqlite+aiosqlite:///{folder / 'builds.db'}"


def submit(url: str, request: BuildRequest | None = None) -> str:
    """Store a queued build and return its id."""

    async def work() -> str:
        async with open_storage(url) as storage:
            record = new_record()
            asked = record.model_copy(update={"request": request or record.request})
            return (await storage.builds.insert(asked)).id

    return asyncio.run(work())


def ending(url: str, build_id: str) -> Ending:
    """Return how the build ended, without times and ids."""

    async def work() -> Ending:
        async with open_storage(url) as storage:
            record = await storage.builds.get(build_id)
            progress = await storage.builds.progress(build_id, limit=100_000)
        return Ending(
            status=record.status.value,
            outcome=record.state.outcome.value if record.state.outcome else None,
            failure=record.failure.code if record.failure else None,
            state=_without_ids(record.state),
            invariants=record.invariants.model_dump_json(),
            xml=record.xml,
            progress=[(event.type, event.data.model_dump(mode="json")) for event in progress],
        )

    return asyncio.run(work())


def faults(url: str) -> list[str]:
    """Return what is wrong with the store: checked after every crash."""

    async def work() -> list[str]:
        async with open_storage(url) as storage:
            return await check_database(storage.database)

    return asyncio.run(work())


def tool_events(url: str, build_id: str) -> list[ToolEvent]:
    """Return the tool events of the build."""

    async def work() -> list[ToolEvent]:
        async with open_storage(url) as storage:
            return await storage.events.all(build_id)

    return asyncio.run(work())


def survives_every_kill(
    folder: Path,
    product: str,
    when: When,
    request: BuildRequest | None = None,
    *,
    events: bool = False,
    stride: int = 1,
    empty: Callable[[Path], str] | None = None,
) -> int:
    """Kill a build at its first commit, at its second ... until the kill comes too late; return that number.

    After each kill the store must be sound, and after a restart the build must end as if nothing had happened.
    `empty` returns the address of a store without builds, given a folder; an SQLite file in it by default.
    """
    empty = empty or url_in
    calm = folder / "calm"
    calm.mkdir()
    expected = run_whole(empty(calm), product, request)
    for at in range(1, 10_000, stride):
        spot = folder / f"{when}-{at}"
        spot.mkdir()
        url = empty(spot)
        build_id = submit(url, request)
        code = run(Plan(url, product, at, when, events))
        if code == 0:
            assert ending(url, build_id) == expected
            return at
        assert code == KILLED, f"the child failed by itself (exit code {code})"
        assert faults(url) == [], f"after the kill {when} commit {at}"
        assert run(Plan(url, product)) == 0
        assert faults(url) == []
        assert ending(url, build_id) == expected, f"after the kill {when} commit {at}"
    raise AssertionError("the build never ends")


def run_whole(url: str, product: str, request: BuildRequest | None = None) -> Ending:
    """Make a build without any kill and return how it ended."""
    build_id = submit(url, request)
    assert run(Plan(url, product)) == 0
    return ending(url, build_id)


def _without_ids(state: BuildState) -> BuildState:
    found = [discovery.model_copy(update={"call_id": None}) for discovery in state.discoveries]
    return state.model_copy(update={"discoveries": found})


@asynccontextmanager
async def small_product() -> AsyncIterator[Product]:
    """The small product: every phase, a loop, engine calls; a build takes a few milliseconds."""
    from tests.fakes.calculators import FakeEngine, FakeReasoner
    from tests.fakes.steps import steps

    yield Product(steps(), FakeEngine(), FakeReasoner())


@asynccontextmanager
async def sketch_product() -> AsyncIterator[Product]:
    """The product itself with the embedded engine: real phases, rules, engine processes."""
    from app.engine.process import ProcessEngine
    from app.reasoning.rules import RulesReasoner
    from app.wiring.services import phase_steps

    engine = ProcessEngine("sketch", workers=2)
    try:
        yield Product(phase_steps(Sharing(1)), engine, RulesReasoner())
    finally:
        await engine.close()
