"""What a phase is: one step in, one result out. A phase never writes state and never triggers transitions itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.core.ids import BuildId
from app.engine.base import Engine
from app.model.invariants import InvariantSet
from app.model.names import Trigger
from app.model.request import BuildRequest
from app.model.state import BuildState
from app.reasoning.base import Reasoner, ReasoningContext
from app.storage.base import MemoryStore, NoMemory


@dataclass(frozen=True)
class PhaseContext:
    """Everything a step may use. `engine` and `reasoner` record every call they make as tool events.

    `xml` is the file of the last valid state, None until there is one; a refinement starts with its parent's.
    `memory` is what earlier builds taught: where to begin, never what to skip.
    """

    build_id: BuildId
    request: BuildRequest
    invariants: InvariantSet
    state: BuildState
    engine: Engine
    reasoner: Reasoner
    xml: bytes | None = None
    memory: MemoryStore = field(default_factory=NoMemory)

    def reasoning(self) -> ReasoningContext:
        """Return the part of the context that a reasoner sees."""
        return ReasoningContext(self.request, self.invariants, self.state, self.engine)


@dataclass(frozen=True)
class PhaseResult:
    """The outcome of one step.

    `trigger` None = the phase has more steps: the driver checkpoints and calls `run` again.
    `invariants` and `xml` are set only when the step changed them.
    """

    state: BuildState
    trigger: Trigger | None = None
    invariants: InvariantSet | None = None
    xml: bytes | None = None


class PhaseStep(Protocol):
    """A phase: `run` does exactly one resumable step; the same context gives the same result."""

    async def run(self, ctx: PhaseContext) -> PhaseResult:
        """Do one step and return what changed."""
        ...
