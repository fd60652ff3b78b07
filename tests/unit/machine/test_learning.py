"""The driver remembers a build that ends well, once, and no failure of memory fails a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.errors import StorageError
from app.machine.driver import Driver
from app.model.memory import Memory
from app.model.names import BuildStatus, Outcome, Phase, Trigger
from app.model.record import BuildRecord
from app.phases.base import PhaseContext, PhaseResult
from app.storage.base import NoMemory
from app.storage.store import open_storage
from app.tools.runner import ToolRunner
from tests.fakes.arithmetic import ArithmeticEngine
from tests.fakes.calculators import FakeEngine, FakeReasoner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import new_record
from tests.fakes.stores import MemoryBuildStore, MemoryEventStore
from tests.unit.phases.test_construct import fresh, run_all, world


class Ends:
    """The last step: content, or not."""

    def __init__(self, trigger: Trigger) -> None:
        self._trigger = trigger

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        return PhaseResult(ctx.state, self._trigger)


class Broken(NoMemory):
    """Cannot write."""

    async def remember(self, memory: Memory) -> None:
        raise StorageError("the disk is full")


class Kept(NoMemory):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.memories: list[Memory] = []

    async def remember(self, memory: Memory) -> None:
        self.memories.append(memory)


async def ended(memory: NoMemory, trigger: Trigger = Trigger.VALIDATED) -> BuildRecord:
    built = (await run_all(ArithmeticEngine(world()), fresh())).state
    store = MemoryBuildStore()
    record = await store.insert(new_record(owner="me", state=built.model_copy(update={"phase": Phase.VALIDATE})))
    contexts = RecordedContexts(lambda _: FakeEngine(), lambda _: FakeReasoner(), ToolRunner(MemoryEventStore()))
    await Driver(store, {Phase.VALIDATE: Ends(trigger)}, contexts, memory=memory).drive(record.id)
    return await store.get(record.id)


async def test_a_validated_build_is_remembered() -> None:
    kept = Kept()
    record = await ended(kept)
    (memory,) = kept.memories
    assert (memory.build_id, memory.owner) == (record.id, "me")
    assert record.state.outcome is Outcome.VALIDATED


async def test_a_build_with_caveats_is_not() -> None:
    kept = Kept()
    record = await ended(kept, Trigger.GAVE_UP)
    assert kept.memories == []
    assert record.status is BuildStatus.COMPLETE


async def test_a_memory_that_cannot_write_fails_nothing(caplog: pytest.LogCaptureFixture) -> None:
    record = await ended(Broken())
    assert record.status is BuildStatus.COMPLETE
    assert "nothing was remembered" in caplog.text


async def test_the_store_remembers_what_the_driver_tells(tmp_path: Path) -> None:
    async with open_storage(f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}") as storage:
        kept = Kept()
        await ended(kept)
        await storage.memory.remember(kept.memories[0])
        assert await storage.memory.all() == kept.memories
