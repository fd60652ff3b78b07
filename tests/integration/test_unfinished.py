"""A build that ends while it is constructed for the first time: what there is of it is measured and kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.engine.process import ProcessEngine
from app.machine.driver import Driver, DriverLimits
from app.model.blueprint import Blueprint
from app.model.names import BuildStatus, Outcome, Phase
from app.model.record import BuildRecord, BuildRequest
from app.phases.base import PhaseContext, PhaseResult
from app.phases.construct.stages import ConstructPhase
from app.phases.validate.story import noted
from app.reasoning.rules import RulesReasoner
from app.search.sessions import Sharing
from app.service.presentation import as_text, presentation_of
from app.service.view import view_of
from app.storage.store import Storage, open_storage
from app.tools.runner import ToolRunner
from app.wiring.services import phase_steps
from tests.fakes.attempts import HandClock
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import new_record


@dataclass
class Halting:
    """Construct that comes to a stand after a stage; `halted` says that it has."""

    after: str
    halted: asyncio.Event = field(default_factory=asyncio.Event)
    usual: ConstructPhase = field(default_factory=lambda: ConstructPhase(Sharing(1)))

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        if self.after in ctx.state.construction.done:
            self.halted.set()
            await asyncio.sleep(3600)
        return await self.usual.run(ctx)


@dataclass
class Site:
    """A store, an engine and a driver whose construction halts."""

    storage: Storage
    engine: ProcessEngine
    clock: HandClock = field(default_factory=HandClock)

    def driver(self, construct: Halting | None, budget_s: float | None = None) -> Driver:
        contexts = RecordedContexts(
            lambda record: self.engine, lambda record: RulesReasoner(), ToolRunner(self.storage.events)
        )
        steps = {**phase_steps(Sharing(1)), **({Phase.CONSTRUCT: construct} if construct else {})}
        return Driver(self.storage.builds, steps, contexts, DriverLimits(budget_s=budget_s, poll_s=0.05), self.clock)

    async def queued(self) -> str:
        request = BuildRequest(prompt="spark sorceress", level=24)
        return (await self.storage.builds.insert(new_record(request=request))).id

    async def get(self, build_id: str) -> BuildRecord:
        return await self.storage.builds.get(build_id)

    async def measured(self, blueprint: Blueprint) -> tuple[dict[str, float], bytes]:
        async with self.engine.session() as session:
            await session.build(blueprint)
            return (await session.stats()).values, await session.export()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    engine = ProcessEngine("sketch", workers=1)
    async with open_storage(f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}") as storage:
        try:
            yield Site(storage, engine)
        finally:
            await engine.close()


async def test_out_of_time_in_the_first_construction_hands_over_what_there_is(site: Site) -> None:
    construct, build = Halting("supports"), await site.queued()
    driving = asyncio.create_task(site.driver(construct, budget_s=100).drive(build))
    await asyncio.wait_for(construct.halted.wait(), 60)
    site.clock.passed_ms += 101_000
    await asyncio.wait_for(driving, 60)
    record = await site.get(build)
    assert (record.status, record.state.outcome) == (BuildStatus.COMPLETE, Outcome.CAVEATS)
    assert record.failure is None
    assert record.state.blueprint is not None
    assert record.state.stats is not None
    values, xml = await site.measured(record.state.blueprint)
    assert (record.state.stats.values, record.xml) == (values, noted(xml, record.state))
    first = record.state.caveats[0]
    assert first.startswith("The time budget of 100 s ended before the build was finished. Unfinished: ")
    assert "gear" in first
    assert [c for c in record.state.conflicts if not c.provisional], "the rules looked at it"
    assert first in as_text(presentation_of(record))
    assert record.state.progress_label == "unfinished"


async def test_a_cancelled_construction_keeps_what_there_is_and_can_go_on(site: Site) -> None:
    construct, build = Halting("supports"), await site.queued()
    driving = asyncio.create_task(site.driver(construct).drive(build))
    await asyncio.wait_for(construct.halted.wait(), 60)
    await site.storage.builds.request_cancel(build)
    await asyncio.wait_for(driving, 60)
    record = await site.get(build)
    assert (record.status, record.state.phase, record.state.outcome) == (BuildStatus.CANCELLED, Phase.CONSTRUCT, None)
    assert record.state.blueprint is not None
    assert record.state.stats is not None
    assert (record.state.stats.values, record.xml) == await site.measured(record.state.blueprint)
    assert "neither finished nor checked" in view_of(record).caveats[0]
    await site.storage.builds.requeue(build)
    await asyncio.wait_for(site.driver(None).drive(build), 120)
    resumed = await site.get(build)
    assert resumed.status is BuildStatus.COMPLETE
    assert resumed.state.construction.pending == []
    assert not any("neither finished" in line for line in view_of(resumed).caveats)


async def test_an_engine_that_cannot_measure_it_any_more_changes_nothing_else(site: Site) -> None:
    construct, build = Halting("supports"), await site.queued()
    driving = asyncio.create_task(site.driver(construct, budget_s=100).drive(build))
    await asyncio.wait_for(construct.halted.wait(), 60)
    await site.engine.close()
    site.clock.passed_ms += 101_000
    await asyncio.wait_for(driving, 60)
    record = await site.get(build)
    assert record.failure is not None
    assert (record.status, record.failure.code) == (BuildStatus.FAILED, "budget_exceeded")
