"""What a step is given to work with."""

from __future__ import annotations

from typing import Any

from app.storage.base import EventStore
from app.storage.memory_port import NoMemory
from app.tools.runner import ToolRunner
from app.wiring.services import StepContexts
from tests.fakes.calculators import FakeEngine, FakeReasoner
from tests.fakes.samples import XML, a_record
from tests.fakes.stores import MemoryEventStore


class Room:
    """One engine and one reasoner, as rooms for both."""

    async def engine(self, choice: str) -> FakeEngine:
        return FakeEngine()

    def fingerprint(self, choice: str) -> None:
        return None

    def reasoner(self, *_: Any) -> FakeReasoner:
        return FakeReasoner()


async def test_calls_of_a_step_carry_the_claim_it_is_done_under() -> None:
    events: Any = MemoryEventStore()
    store: EventStore = events
    room: Any = Room()
    record = a_record(epoch=7)
    context = await StepContexts(room, ToolRunner(store), room)(record)
    await context.engine.facts.classes()
    await context.reasoner.extract(record.request, context.engine)
    assert [(event.tool, event.epoch) for event in events.kept[record.id]] == [
        ("pob.facts.classes", 7),
        ("rules.extract", 7),
    ]


async def test_a_step_is_given_the_file_the_memory_and_the_owner() -> None:
    room: Any = Room()
    events: Any = MemoryEventStore()
    memory = NoMemory()
    record = a_record(xml=XML, owner="alice")
    context = await StepContexts(room, ToolRunner(events), room, memory)(record)
    assert (context.xml, context.memory, context.owner) == (XML, memory, "alice")
    assert (context.request, context.invariants, context.state) == (record.request, record.invariants, record.state)
