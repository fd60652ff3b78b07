"""A store, a recorder and a driver over small phases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.machine.driver import Driver, DriverLimits
from app.model.names import Phase
from app.model.record import BuildRecord
from app.phases.base import PhaseStep
from app.storage.store import Storage, open_storage
from app.tools.runner import ToolRunner
from tests.fakes.calculators import FakeEngine, FakeReasoner
from tests.fakes.contexts import RecordedContexts
from tests.fakes.steps import new_record, steps


@dataclass(frozen=True)
class Workshop:
    """Everything a driver test needs."""

    storage: Storage
    engine: FakeEngine

    def driver(self, phases: Mapping[Phase, PhaseStep] | None = None, limits: DriverLimits | None = None) -> Driver:
        contexts = RecordedContexts(
            lambda record: self.engine, lambda record: FakeReasoner(), ToolRunner(self.storage.events)
        )
        return Driver(self.storage.builds, phases or steps(), contexts, limits or DriverLimits(poll_s=0.01))

    async def queued(self, **fields: Any) -> str:
        return (await self.storage.builds.insert(new_record(**fields))).id

    async def get(self, build_id: str) -> BuildRecord:
        return await self.storage.builds.get(build_id)

    async def told(self, build_id: str) -> list[tuple[str, dict[str, object]]]:
        events = await self.storage.builds.progress(build_id)
        return [(event.type, event.data.model_dump(mode="json")) for event in events]


@pytest.fixture
async def workshop(tmp_path: Path) -> AsyncIterator[Workshop]:
    async with open_storage(f"sqlite+aiosqlite:///{tmp_path / 'builds.db'}") as storage:
        yield Workshop(storage, FakeEngine())
