"""One step at a time with the real reasoner, recorder, store and HTTP client; only the model and the game are ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.clock import SystemClock
from app.core.config import Settings
from app.model.events import CallOutcome, ToolEvent
from app.model.names import Effort, Phase, SubProblemName
from app.model.record import BuildRecord, BuildRequest
from app.reasoning.base import Reasoner, ReasoningContext
from app.reasoning.recorded import RecordedReasoner
from app.storage.store import Storage, open_storage
from app.tools.engine import RecordedEngine
from app.tools.runner import ToolRunner
from app.tools.scope import Scope
from app.wiring.reasoners import ConfiguredReasoners
from app.wiring.stores import redactor
from tests.fakes.engine import FactsEngine, small_world
from tests.fakes.steps import new_record
from tests.unit.reasoning.planning import plan

KEY = "sk-canary-0123456789abcdef"
PROMPT = "lightning sorceress for mapping"


@dataclass
class LlmBench:
    """A build at some step; `reasoner` is that step's, as the wiring makes it."""

    settings: Settings
    storage: Storage
    record: BuildRecord
    room: ConfiguredReasoners
    tools: ToolRunner
    world: FactsEngine
    reasoner: Reasoner
    ctx: ReasoningContext

    async def events(self) -> list[ToolEvent]:
        return await self.storage.events.all(self.record.id)

    async def chats(self) -> list[ToolEvent]:
        return [event for event in await self.events() if event.tool == "llm.chat"]

    async def outcomes(self) -> list[tuple[int, CallOutcome, str | None]]:
        return [(event.attempt, event.outcome, event.error_type) for event in await self.chats()]

    def next_step(self) -> Reasoner:
        """Return the reasoner of another step of the same build, as after a restart."""
        scope = Scope(self.record.id, Phase.EXPLORE)
        return RecordedReasoner(self.room.reasoner(self.record, scope), self.tools, scope)


def llm_settings(url: str | None, folder: Path, **more: Any) -> Settings:
    """Return settings with a language model at the address."""
    base: dict[str, Any] = {
        "database_url": f"sqlite+aiosqlite:///{folder / 'llm.db'}",
        "llm_base_url": url,
        "llm_model": "scripted-1",
        "llm_api_key": KEY,
        "llm_timeout_s": 20,
        "llm_prices": {"scripted-1": {"input": "1", "output": "2"}},
        "engine": "sketch",
    }
    return Settings(**{**base, **more})


@asynccontextmanager
async def llm_bench(
    url: str | None, folder: Path, effort: Effort = Effort.NORMAL, **more: Any
) -> AsyncIterator[LlmBench]:
    """Open a bench whose build has every question answered by the rules, ready to be asked anything again."""
    asked = BuildRequest(prompt=PROMPT, effort=effort)
    settings, world = llm_settings(url, folder, **more), small_world()
    async with open_storage(settings.database, redact=redactor(settings).data) as storage:
        record = await storage.builds.insert(new_record(PROMPT, request=asked))
        tools = ToolRunner(storage.events, SystemClock(), redactor(settings))
        room = ConfiguredReasoners(settings, storage.events, tools)
        scope = Scope(record.id, Phase.EXPLORE)
        ready = await plan(PROMPT, world)
        ctx = ReasoningContext(asked, ready.invariants, ready.state, RecordedEngine(world, tools, scope))
        reasoner = RecordedReasoner(room.reasoner(record, scope), tools, scope)
        try:
            yield LlmBench(settings, storage, record, room, tools, world, reasoner, ctx)
        finally:
            await room.close()


DELIVERY = SubProblemName.DAMAGE_DELIVERY
