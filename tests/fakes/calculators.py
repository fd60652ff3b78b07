"""An engine and a reasoner inside the test process, with failures on request."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from app.engine.base import Engine, Facts, Outputs, Session
from app.model.blueprint import Blueprint, Change, apply_changes
from app.model.conflicts import BuildConflict
from app.model.constraints import InvariantSet
from app.model.facts import AffixFact, BaseFact, ClassFact, EdgeFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.model.names import SubProblemName
from app.model.race import Contender
from app.model.record import BuildRequest
from app.model.stats import BuildReport, EngineVersion, Inspection, Stats
from app.model.sub_problems import Discovery, SubProblem
from app.reasoning.base import (
    Conclusion,
    Decomposition,
    Experimenter,
    FoundBuild,
    Idea,
    ReasoningContext,
    RefineReading,
    Remarks,
    Resolution,
)

VERSION = EngineVersion(name="fake", version="1", tree_version="0", estimate=True)


class FakeFacts:
    """One class, nothing else; counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def classes(self) -> list[ClassFact]:
        self.asked += 1
        return [ClassFact(name="Witch", start_node=1, ascendancies=["Lich"])]

    async def gems(self) -> list[GemFact]:
        return []

    async def nodes(self) -> list[NodeFact]:
        return []

    async def edges(self) -> list[EdgeFact]:
        return []

    async def bases(self) -> list[BaseFact]:
        return []

    async def affixes(self, base: str) -> list[AffixFact]:
        return []

    async def uniques(self) -> list[UniqueFact]:
        return []

    async def runes(self, base: str) -> list[RuneFact]:
        return []

    async def supports_for(self, gem_id: str) -> list[str]:
        return [gem_id]


class FakeSession:
    """Numbers made from the blueprint's hash: equal builds, equal numbers."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self._blueprint = Blueprint(class_name="Witch", ascendancy=None, level=1)

    async def build(self, blueprint: Blueprint) -> BuildReport:
        self._engine.fail("build")
        self._blueprint = blueprint
        return BuildReport()

    async def load(self, xml: bytes) -> BuildReport:
        self._engine.fail("load")
        return BuildReport()

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        self._engine.fail("apply")
        self._blueprint = apply_changes(self._blueprint, changes)
        return BuildReport(outputs=(await self.what_if([[]], metrics))[0] if metrics else None)

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        self._engine.fail("what_if")
        return [dict.fromkeys(metrics, self._number(apply_changes(self._blueprint, c))) for c in candidates]

    async def stats(self) -> Stats:
        self._engine.fail("stats")
        return Stats(engine=VERSION, values={"Life": self._number(self._blueprint)})

    async def inspect(self) -> Inspection:
        self._engine.fail("inspect")
        return Inspection()

    async def blueprint(self) -> Blueprint:
        return self._blueprint

    async def export(self) -> bytes:
        self._engine.fail("export")
        return f"<Build hash='{self._number(self._blueprint):.0f}'/>".encode()

    @staticmethod
    def _number(blueprint: Blueprint) -> float:
        return float(int(hashlib.sha256(blueprint.model_dump_json().encode()).hexdigest()[:6], 16))


class FakeEngine:
    """Implements `Engine`; planned failures are raised one per call, first to last."""

    def __init__(self) -> None:
        self.known = FakeFacts()
        self.opened = 0
        self._failures: dict[str, list[BaseException]] = {}

    def plan(self, operation: str, *failures: BaseException) -> None:
        """Make the next calls of the operation fail."""
        self._failures[operation] = list(failures)

    def fail(self, operation: str) -> None:
        """Raise the next failure planned for the operation."""
        if planned := self._failures.get(operation):
            raise planned.pop(0)

    @property
    def version(self) -> EngineVersion:
        return VERSION

    @property
    def facts(self) -> Facts:
        return self.known

    def session(self) -> AbstractAsyncContextManager[Session]:
        return self._session()

    async def start(self) -> None:
        """Nothing to warm up."""

    async def close(self) -> None:
        """Nothing to end."""

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Session]:
        self.opened += 1
        yield FakeSession(self)


class FakeReasoner:
    """Implements `Reasoner`: decides nothing, finds one fact per question by asking the engine."""

    def __init__(self, name: str = "rules", model: str | None = None) -> None:
        self._name = name
        self._model = model

    @property
    def name(self) -> str:
        return self._name

    @property
    def model(self) -> str | None:
        return self._model

    async def extract(self, request: BuildRequest, engine: Engine) -> InvariantSet:
        return InvariantSet()

    async def read_refinement(self, prompt: str) -> RefineReading:
        raise NotImplementedError

    async def recognise(self, found: FoundBuild) -> tuple[InvariantSet, dict[SubProblemName, SubProblem]]:
        raise NotImplementedError

    async def decompose(self, ctx: ReasoningContext) -> Decomposition:
        return Decomposition({})

    async def contenders(self, ctx: ReasoningContext, most: int) -> list[Contender]:
        return []

    async def gather(self, ctx: ReasoningContext, name: SubProblemName) -> list[Discovery]:
        classes: list[Any] = await ctx.engine.facts.classes()
        return [Discovery(sub_problem=name, fact=f"{len(classes)} classes", source="engine")]

    async def explore(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        raise NotImplementedError

    async def reconsider(self, ctx: ReasoningContext, name: SubProblemName, discoveries: list[Discovery]) -> Conclusion:
        raise NotImplementedError

    async def assess(self, ctx: ReasoningContext) -> list[BuildConflict]:
        return []

    async def resolve(self, ctx: ReasoningContext, conflicts: list[BuildConflict]) -> Resolution:
        return Resolution()

    @property
    def advises(self) -> bool:
        return False

    @property
    def remarks(self) -> Remarks:
        return Remarks()

    async def advise(self, ctx: ReasoningContext, experimenter: Experimenter) -> list[Idea]:
        return []
