"""A store with one build, a clock that stands still until told, and what records attempts in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.core.logs import Redactor
from app.model.events import ToolEvent
from app.model.names import Phase
from app.storage.store import Storage, open_storage
from app.tools.runner import ToolRunner
from app.tools.scope import Scope
from tests.fakes.steps import new_record

SECRET = "sk-canary-77"


class HandClock:
    """Time that moves when the test says so."""

    def __init__(self) -> None:
        self.passed_ms = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.passed_ms)

    def monotonic_ms(self) -> float:
        return self.passed_ms


@dataclass
class Bench:
    """A recorder at work; `pauses` are the seconds it would have slept between attempts."""

    storage: Storage
    scope: Scope
    clock: HandClock
    pauses: list[float] = field(default_factory=list)

    def runner(self, attempts: int = 3) -> ToolRunner:
        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)

        redactor = Redactor([SECRET])
        return ToolRunner(self.storage.events, self.clock, redactor, attempts=attempts, sleep=sleep)

    async def events(self) -> list[ToolEvent]:
        return await self.storage.events.all(self.scope.build_id)


@asynccontextmanager
async def open_bench(folder: Path) -> AsyncIterator[Bench]:
    async with open_storage(f"sqlite+aiosqlite:///{folder / 'builds.db'}") as storage:
        build = await storage.builds.insert(new_record())
        yield Bench(storage, Scope(build.id, Phase.EXPLORE), HandClock())
