"""The use cases over in-memory stores, with a runner that only notes what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

from app.core.clock import SystemClock
from app.core.config import Settings
from app.core.errors import EngineMissing, ReasonerMissing
from app.metrics.usage import Budgets
from app.model.record import EngineChoice, ReasonerChoice
from app.reasoning.rules import RulesReasoner
from app.service import Services
from app.service.builds import BuildService
from app.service.comparisons import Comparisons
from app.service.estimates import Estimates, ModelTerms
from app.service.evaluations import Evaluations, Labels
from app.service.health import Health, Installation
from app.service.imports import Imports
from app.service.library import Library
from app.service.memories import Memories
from app.service.prompts import Prompts
from app.service.recordings import ExpectationChecks, Recordings
from app.service.refinement import Refinements
from app.service.repairs import Repairs
from app.service.retention import Retention, RetentionLimits
from app.service.tokens import TokenLimits, Tokens
from app.service.trees import Trees
from app.service.usage import UsageReports
from app.storage.memory_port import NoMemory
from app.telemetry.prometheus import ToolCounts
from app.wiring.reasoners import terms_of
from tests.fakes.stores import (
    MemoryBuildStore,
    MemoryEvaluationStore,
    MemoryEventStore,
    MemoryRetentionStore,
    MemoryTokenStore,
    MemoryUsageHistory,
)


class NotingRunner:
    """Remembers the builds it was rung for."""

    def __init__(self) -> None:
        self.rung: list[str] = []

    async def start(self) -> None:
        """Do nothing: there is nothing to take up."""

    async def submit(self, build_id: str) -> None:
        self.rung.append(build_id)

    async def wait(self, build_id: str) -> None:
        """Return at once: nothing runs here."""

    async def close(self) -> None:
        """Do nothing: nothing runs here."""


class SketchOnly:
    """Engines where only the estimator is installed."""

    def check(self, choice: EngineChoice) -> None:
        if choice == "pob":
            raise EngineMissing("Path of Building is not installed.")

    async def engine(self, choice: EngineChoice) -> NoReturn:
        raise EngineMissing("No engine runs here.")

    async def engine_for(self, build_id: str, choice: EngineChoice) -> NoReturn:
        raise EngineMissing("No engine runs here.")


class RulesOnly:
    """Reasoners where no language model is set up."""

    def check(self, choice: ReasonerChoice) -> None:
        if choice == "llm":
            raise ReasonerMissing("No language model is set up.")


@dataclass
class World:
    """Everything behind the services, in memory."""

    store: MemoryBuildStore = field(default_factory=MemoryBuildStore)
    events: MemoryEventStore = field(default_factory=MemoryEventStore)
    runner: NotingRunner = field(default_factory=NotingRunner)
    evaluations: MemoryEvaluationStore = field(default_factory=MemoryEvaluationStore)
    counts: ToolCounts = field(default_factory=ToolCounts)
    given: Sequence[str] = ()
    token_store: MemoryTokenStore = field(default_factory=MemoryTokenStore)
    limits: TokenLimits = field(default_factory=TokenLimits)
    terms: ModelTerms = field(default_factory=lambda: terms_of(Settings(llm_model=None)))

    @cached_property
    def services(self) -> Services:
        engines, clock = SketchOnly(), SystemClock()
        library = Library(self.store, clock)
        builds = BuildService(self.store, library, self.runner, engines, RulesOnly(), clock)
        expectations = ExpectationChecks(self.store, self.events)
        imports = Imports(self.store, engines, RulesReasoner(), clock)
        refinements = Refinements(self.store, self.runner, clock)
        return Services(
            builds=builds,
            library=library,
            recordings=Recordings(self.store, self.events),
            expectations=expectations,
            comparisons=Comparisons(self.store, self.events, self.evaluations),
            labels=Labels(self.evaluations),
            memories=Memories(NoMemory()),
            tokens=Tokens(self.token_store, clock, self.given, self.limits),
            retention=Retention(MemoryRetentionStore(), clock, RetentionLimits(), MemoryRetentionStore().compact),
            estimates=Estimates(self.store, MemoryUsageHistory(self.store), self.terms, clock),
            usage=UsageReports(MemoryUsageHistory(self.store), self.events, Budgets(), clock),
            imports=imports,
            refinements=refinements,
            repairs=Repairs(imports, refinements),
            prompts=Prompts(engines, RulesReasoner()),
            health=Health(self.store, engines),
            counts=self.counts,
            evaluations=Evaluations(self.evaluations, builds, library, expectations, clock),
            trees=Trees(engines),
            setup=lambda: Installation(engine="sketch", reasoner="rules"),
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Services]:
        yield self.services
