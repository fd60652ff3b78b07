"""The driver remembers a build that ends well, once, and no failure of memory fails a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.errors import StorageError
from app.machine.driver import Driver
from app.model.base import changed
from app.model.memory import Memory, RaceMemory
from app.model.names import BuildStatus, Outcome, Phase, Trigger
from app.model.race import Race
from app.model.record import BuildRecord
from app.model.sub_problems import DraftFigures
from app.phases.base import PhaseContext, PhaseResult
from app.storage.memory_port import NoMemory
from app.storage.store import open_storage
from app.tools.runner import ToolRunner
from tests.fakes.arithmetic import ArithmeticEngine
from tests.fakes.calculators import FakeEngine, FakeReasoner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import new_record
from tests.fakes.stores import MemoryBuildStore, MemoryEventStore
from tests.unit.phases.test_construct import fresh, run_all, world
from tests.unit.phases.test_race import contender


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
        self.told: list[RaceMemory] = []

    async def remember(self, memory: Memory) -> None:
        self.memories.append(memory)

    async def remember_race(self, race: RaceMemory) -> None:
        self.told.append(race)


async def ended(memory: NoMemory, trigger: Trigger = Trigger.VALIDATED, race: Race | None = None) -> BuildRecord:
    built = (await run_all(ArithmeticEngine(world()), fresh())).state
    built = built.model_copy(update={"race": race})
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


@pytest.mark.parametrize("trigger", [Trigger.VALIDATED, Trigger.GAVE_UP])
async def test_a_race_is_remembered_whatever_became_of_the_build(trigger: Trigger) -> None:
    kept, figures = Kept(), DraftFigures(dps=1, ehp=1, score=1.0, rung=1)
    ran = [changed(contender(gem), figures=[figures]) for gem in ("skill01", "skill02")]
    record = await ended(kept, trigger, Race(contenders=ran, rungs=1, over=True))
    (race,) = kept.told
    assert (race.build_id, race.owner, len(race.results)) == (record.id, "me", 2)


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
