"""A reasoner that records every call made to it; implements the Reasoner port over another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from app.engine.base import Engine
from app.model.base import changed
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet
from app.model.events import ToolKind
from app.model.names import SubProblemName
from app.model.race import Contender
from app.model.record import BuildRequest
from app.model.sub_problems import Discovery, SubProblem
from app.reasoning.base import (
    Conclusion,
    Decomposition,
    Experimenter,
    FoundBuild,
    Idea,
    Reasoner,
    ReasoningContext,
    RefineReading,
    Remarks,
    Resolution,
)
from app.tools.runner import ToolRunner
from app.tools.scope import Scope, about, current_call

T = TypeVar("T")


class RecordedReasoner:
    """The reasoner of one step: its calls become tool events `<name>.<operation>`, parents of the calls it makes.

    A reasoner repeats what can be repeated itself, and the engine calls inside are retried one by one; here each
    call is one attempt. They contain the requests to a language model (`llm.chat`) and are none themselves.
    """

    def __init__(self, inner: Reasoner, tools: ToolRunner, scope: Scope) -> None:
        self._inner = inner
        self._tools = tools
        self._scope = scope

    @property
    def name(self) -> str:
        """Return `rules` or `llm`."""
        return self._inner.name

    @property
    def model(self) -> str | None:
        """Return the language model's name, or None."""
        return self._inner.model

    @property
    def advises(self) -> bool:
        """Return whether `advise` has anything to say."""
        return self._inner.advises

    @property
    def remarks(self) -> Remarks:
        """Return what went otherwise than asked during this step."""
        return self._inner.remarks

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        """Turn the prompt into constraints, with at most one question."""
        args = {"prompt": request.prompt}
        return await self._record("extract", args, lambda: self._inner.extract(request, engine))

    async def read_refinement(self, prompt: str) -> RefineReading:
        """Return what a refinement's prompt wishes and locks; reading alone is not recorded."""
        return await self._inner.read_refinement(prompt)

    async def recognise(self, found: FoundBuild) -> tuple[InvariantSet, dict[SubProblemName, SubProblem]]:
        """Return what a finished build says about itself; reading alone is not recorded."""
        return await self._inner.recognise(found)

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        """Set up the seven questions."""
        args = {"invariants": len(ctx.invariants.invariants)}
        return await self._record("decompose", args, lambda: self._inner.decompose(ctx))

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        """Return who starts in a race."""
        return await self._record("contenders", {"most": most}, lambda: self._inner.contenders(ctx, most))

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        """Collect the facts that the question needs; each names the recorded call it came from."""

        async def gathered() -> list[Discovery]:
            found = await self._inner.gather(ctx, name)
            return [d if d.call_id else changed(d, call_id=current_call()) for d in found]

        with about(name):
            return await self._record("gather", {"sub_problem": name}, gathered)

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer one question whose dependencies are decided."""
        args = {"sub_problem": name, "discoveries": len(discoveries)}
        with about(name):
            return await self._record("explore", args, lambda: self._inner.explore(ctx, name, discoveries))

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        """Answer a question of a finished build again."""
        args = {"sub_problem": name, "discoveries": len(discoveries)}
        with about(name):
            return await self._record("reconsider", args, lambda: self._inner.reconsider(ctx, name, discoveries))

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        """Judge what rules cannot: goal fit and coherence."""
        args = {"iteration": ctx.state.iteration}
        return await self._record("assess", args, lambda: self._inner.assess(ctx))

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        """Choose how to go on for the conflicts given."""
        args = {"conflicts": [conflict.id for conflict in conflicts]}
        return await self._record("resolve", args, lambda: self._inner.resolve(ctx, conflicts))

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        """Think about the constructed build."""
        args = {"iteration": ctx.state.iteration}
        return await self._record("advise", args, lambda: self._inner.advise(ctx, experimenter))

    async def _record(self, operation: str, args: Mapping[str, Any], fn: Callable[[], Awaitable[T]]) -> T:
        tool = f"{self.name}.{operation}"
        return await self._tools.call(self._scope, ToolKind.OTHER, tool, args, fn, version=self.model or "", retries=1)
