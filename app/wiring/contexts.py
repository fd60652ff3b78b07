"""What each step of a build works with."""

from __future__ import annotations

from app.core.ids import BuildId
from app.model.record import BuildRecord
from app.model.request import EngineChoice
from app.phases.base import PhaseContext
from app.reasoning.recorded import RecordedReasoner
from app.storage.base import MemoryStore, NoMemory
from app.tools.engine import RecordedEngine
from app.tools.runner import ToolRunner
from app.tools.scope import Scope
from app.wiring.engines import EngineRoom
from app.wiring.reasoners import ReasonerRoom


class StepContexts:
    """Gives each step of a build its engine and reasoner, both recording what they are asked."""

    def __init__(
        self, room: EngineRoom, tools: ToolRunner, minds: ReasonerRoom, memory: MemoryStore | None = None
    ) -> None:
        self._room = room
        self._tools = tools
        self._minds = minds
        self._memory = memory or NoMemory()

    async def __call__(self, record: BuildRecord) -> PhaseContext:
        """Return the context of the next step; a build stays with the engine and reasoner that it began with.

        Raises:
            ReasonerMissing: a language model is asked for and not set up any more.
            EngineMissing: the engine is not installed any more.
            EngineError: it does not start.
        """
        scope = Scope(record.id, record.state.phase, record.epoch)
        engine = await self._room.engine(_engine_of(record))
        return PhaseContext(
            build_id=BuildId(record.id),
            request=record.request,
            invariants=record.invariants,
            state=record.state,
            engine=RecordedEngine(engine, self._tools, scope, self._room.fingerprint(_engine_of(record))),
            reasoner=RecordedReasoner(self._minds.reasoner(record, scope), self._tools, scope),
            xml=record.xml,
            memory=self._memory,
        )


def _engine_of(record: BuildRecord) -> EngineChoice:
    begun = record.engine
    if begun is None:
        return record.request.engine
    return "pob" if begun.name == "pob" else "sketch"
