"""Contexts as `app.wiring` makes them, over an engine and a reasoner of the test's choice."""

from __future__ import annotations

from collections.abc import Callable

from app.core.ids import BuildId
from app.engine.base import Engine
from app.model.record import BuildRecord
from app.phases.base import PhaseContext
from app.reasoning.base import Reasoner
from app.reasoning.recorded import RecordedReasoner
from app.tools.engine import RecordedEngine
from app.tools.runner import ToolRunner
from app.tools.scope import Scope


class RecordedContexts:
    """A ContextFactory; `engine` and `reasoner` choose by the record, so that a resumed build keeps its own."""

    def __init__(
        self,
        engine: Callable[[BuildRecord], Engine],
        reasoner: Callable[[BuildRecord], Reasoner],
        tools: ToolRunner,
    ) -> None:
        self._engine = engine
        self._reasoner = reasoner
        self._tools = tools

    async def __call__(self, record: BuildRecord) -> PhaseContext:
        """Return the context of the next step.

        Raises:
            EngineMissing: the build's engine is not installed.
            EngineError: it does not start.
        """
        engine = self._engine(record)
        await engine.start()
        scope = Scope(record.id, record.state.phase, record.epoch)
        return PhaseContext(
            build_id=BuildId(record.id),
            request=record.request,
            invariants=record.invariants,
            state=record.state,
            engine=RecordedEngine(engine, self._tools, scope),
            reasoner=RecordedReasoner(self._reasoner(record), self._tools, scope),
            xml=record.xml,
        )
