"""All parts of the service, connected."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.clock import SystemClock
from app.core.config import Settings, resource_dir
from app.core.errors import InputError
from app.core.ids import BuildId
from app.llm.transcript import ChatAround
from app.machine.driver import Driver, DriverLimits
from app.metrics.efficiency import BASELINE, Standards, load_targets, load_usual
from app.metrics.productivity import parse_weights
from app.metrics.usage import Budgets
from app.model.names import Phase
from app.model.record import BuildRecord, EngineChoice
from app.phases.base import ByMode, PhaseContext, PhaseStep
from app.phases.construct.refinement import RefineConstruct
from app.phases.construct.stages import ConstructPhase
from app.phases.decompose import DecomposePhase
from app.phases.explore.questions import ExplorePhase
from app.phases.explore.race import RaceExplore
from app.phases.explore.refinement import RefineExplore
from app.phases.explore.strategic import StrategicExplore
from app.phases.iterate import IteratePhase
from app.phases.validate.accounts import WithAccounts
from app.phases.validate.judgement import RefineValidate, ValidatePhase
from app.phases.validate.levels import WithLoadouts
from app.reasoning.recorded import RecordedReasoner
from app.reasoning.rules import RulesReasoner
from app.runner.base import Pace
from app.search.sessions import USUAL, Sharing
from app.service import ReadServices, Services
from app.service.builds import BuildService
from app.service.comparisons import Comparisons
from app.service.estimates import Estimates
from app.service.evaluations import Evaluations, Labels
from app.service.health import Health, Installation
from app.service.imports import Imports
from app.service.library import Library
from app.service.memories import Memories
from app.service.prompts import Prompts
from app.service.recordings import ExpectationChecks, Recordings
from app.service.refinement import Refinements
from app.service.repairs import Repairs
from app.service.trees import Trees
from app.service.usage import UsageReports
from app.storage.base import EventStore
from app.storage.memory_port import MemoryStore, NoMemory
from app.storage.store import Storage
from app.telemetry.observers import Observers, Tracing
from app.telemetry.prometheus import ToolCounts
from app.tools.engine import AnsweredFacts, RecordedEngine
from app.tools.runner import ToolRunner, UnrecordedRunner
from app.tools.scope import Scope
from app.wiring.engines import ConfiguredEngines, RecordedImports, engine_workers, installed_pob
from app.wiring.reasoners import ConfiguredReasoners, is_set_up, terms_of
from app.wiring.runners import Running, running, working
from app.wiring.stores import (
    access_tokens,
    is_server,
    memory_store,
    result_cache,
    retention,
    storage,
    tool_runner,
    tracing,
)
from app.wiring.tuned import tuned

if TYPE_CHECKING:
    from app.runner.queued import BuildWorker


class StepContexts:
    """Gives each step of a build its engine and reasoner, both recording what they are asked."""

    def __init__(
        self,
        engines: ConfiguredEngines,
        tools: ToolRunner,
        reasoners: ConfiguredReasoners,
        memory: MemoryStore | None = None,
    ) -> None:
        self._engines = engines
        self._tools = tools
        self._reasoners = reasoners
        self._memory = memory or NoMemory()
        self._answered = AnsweredFacts()

    async def __call__(self, record: BuildRecord) -> PhaseContext:
        """Return the context of the next step; a build stays with the engine and reasoner that it began with.

        Raises:
            ReasonerMissing: a language model is asked for and not set up any more.
            EngineMissing: the engine is not installed any more.
            EngineError: it does not start.
        """
        scope = Scope(record.id, record.state.phase, record.epoch)
        chosen = _engine_of(record)
        engine, fingerprint = await self._engines.engine(chosen), self._engines.fingerprint(chosen)
        return PhaseContext(
            build_id=BuildId(record.id),
            request=record.request,
            invariants=record.invariants,
            state=record.state,
            engine=RecordedEngine(engine, self._tools, scope, fingerprint, self._answered),
            reasoner=RecordedReasoner(self._reasoners.reasoner(record, scope), self._tools, scope),
            xml=record.xml,
            memory=self._memory,
            owner=record.owner,
        )


def _engine_of(record: BuildRecord) -> EngineChoice:
    begun = record.engine
    if begun is None:
        return record.request.engine
    return "pob" if begun.name == "pob" else "sketch"


@asynccontextmanager
async def open_services(
    settings: Settings,
    *,
    take_up: bool = False,
    events: Callable[[EventStore], EventStore] | None = None,
    recorded: bool = True,
    iterations: int | None = None,
    around: ChatAround | None = None,
) -> AsyncIterator[Services]:
    """Open everything; with `take_up`, builds that an earlier process left unfinished go on.

    For measuring: `events` goes between the calls and their records, and without `recorded` there are none;
    `iterations` bounds the rounds of improvement (None: the effort does). `around` records or replays what is said to
    language models.

    Raises:
        StorageLocked: another process runs builds on the same store.
        ExtraMissing: a setting needs an extra that is not installed.
        AddressRefused: the language model is where it may not be called.
    """
    async with (
        _machinery(settings, events, recorded, iterations, around) as parts,
        running(settings, parts.opened, parts.driver, parts.counts, serving=take_up) as runs,
    ):
        services = _services(settings, parts, runs)
        async with _beside(services.retention.run()) if take_up else nullcontext():
            yield services


@asynccontextmanager
async def _beside(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Do the endless work meanwhile."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


@asynccontextmanager
async def open_worker(settings: Settings, pace: Pace | None = None) -> AsyncIterator[BuildWorker]:
    """Open a worker on the common queue, with engines and reasoners of its own.

    Raises:
        InputError: the store is an SQLite file, which has no queue.
        StorageError: the server cannot be used.
        ExtraMissing: a setting needs an extra that is not installed.
    """
    if not is_server(settings):
        raise InputError(
            "Workers need a PostgreSQL server as the store (BUILDWRIGHT_DATABASE_URL=postgresql+psycopg://...); "
            "on an SQLite file, `buildwright serve` runs the builds itself."
        )
    async with (
        _machinery(settings) as parts,
        working(settings, parts.opened, parts.driver, parts.counts, pace or Pace()) as worker,
    ):
        yield worker


@dataclass(frozen=True)
class _Machinery:
    """What makes builds in this process."""

    opened: Storage
    engines: ConfiguredEngines
    reasoners: ConfiguredReasoners
    counts: ToolCounts
    driver: Driver


COLLECT_AFTER = 20_000
"""Objects made between two looks for circles of garbage, of which a build makes few. Python's own 700 cost 4 % of this
program's processor time in a build on the estimator, and most where every call is recorded."""


@asynccontextmanager
async def _machinery(
    settings: Settings,
    events: Callable[[EventStore], EventStore] | None = None,
    recorded: bool = True,
    iterations: int | None = None,
    around: ChatAround | None = None,
) -> AsyncIterator[_Machinery]:
    gc.set_threshold(COLLECT_AFTER)
    settings = tuned(settings)
    async with tracing(settings) as traced, storage(settings, exclusive=True) as opened:
        engines, cache = ConfiguredEngines(settings), result_cache(settings, opened)
        counts = ToolCounts()
        kept = opened.events if events is None else events(opened.events)
        observer: Tracing = counts if traced is None else Observers(counts, traced)
        tools = tool_runner(settings, kept, opened.events, cache, observer) if recorded else UnrecordedRunner(kept)
        reasoners = ConfiguredReasoners(settings, opened.events, tools, around)
        contexts = StepContexts(engines, tools, reasoners, memory_store(settings, opened))
        driver = Driver(
            opened.builds,
            phase_steps(Sharing(engine_workers(settings), settings.whatif_batch), iterations),
            contexts,
            DriverLimits(budget_s=settings.build_budget_seconds),
            memory=memory_store(settings, opened),
            observer=observer,
        )
        try:
            await reasoners.check_address()
            yield _Machinery(opened, engines, reasoners, counts, driver)
        finally:
            await reasoners.close()
            await engines.close()
            await cache.close()


def phase_steps(sharing: Sharing = USUAL, iterations: int | None = None) -> Mapping[Phase, PhaseStep]:
    """Return the step of every phase that runs; complete is an end.

    `sharing`: between how many engine sessions trials may be shared. `iterations`: rounds of improvement that a build
    gets, None = what its effort allows.
    """
    exploring = StrategicExplore(RaceExplore(ExplorePhase(), sharing.sessions), sharing)
    return {
        Phase.DECOMPOSE: DecomposePhase(),
        Phase.EXPLORE: ByMode(RefineExplore(sharing), exploring),
        Phase.CONSTRUCT: ByMode(RefineConstruct(sharing), ConstructPhase(sharing)),
        Phase.VALIDATE: WithLoadouts(WithAccounts(ByMode(RefineValidate(), ValidatePhase())), sharing),
        Phase.ITERATE: WithLoadouts(WithAccounts(IteratePhase(iterations)), sharing),
    }


def _services(settings: Settings, parts: _Machinery, runs: Running) -> Services:
    opened, engines, runner = parts.opened, parts.engines, runs.runner
    reading = read_side(settings, opened)
    imported = RecordedImports(engines, opened.events, SystemClock())
    builds = BuildService(opened.builds, reading.library, runner, engines, parts.reasoners, SystemClock())
    imports = Imports(opened.builds, imported, RulesReasoner(), SystemClock())
    refinements = Refinements(opened.builds, runner, SystemClock())
    return Services(
        **vars(reading),
        builds=builds,
        evaluations=Evaluations(opened.evaluations, builds, reading.library, reading.expectations, SystemClock()),
        imports=imports,
        refinements=refinements,
        repairs=Repairs(imports, refinements),
        prompts=Prompts(engines, RulesReasoner()),
        health=Health(opened.builds, engines, runs.workers),
        counts=parts.counts,
        trees=Trees(engines),
        setup=lambda: installation_of(settings, engines, parts.reasoners),
    )


def installation_of(settings: Settings, engines: ConfiguredEngines, reasoners: ConfiguredReasoners) -> Installation:
    """Return what these settings can use now."""
    found, usd = installed_pob(settings), settings.build_budget_usd
    return Installation(
        engine=engines.resolve("auto"),
        reasoner=reasoners.resolve("auto"),
        pob=None if found is None else found.version,
        model=settings.llm_model if is_set_up(settings) else None,
        budget_seconds=settings.build_budget_seconds,
        budget_usd=None if usd is None else float(usd),
        budget_tokens=settings.build_budget_tokens,
    )


@asynccontextmanager
async def open_reading(settings: Settings) -> AsyncIterator[ReadServices]:
    """Open the read side; it works beside a server on the same store."""
    async with storage(settings, exclusive=False) as opened:
        yield read_side(settings, opened)


def read_side(settings: Settings, opened: Storage) -> ReadServices:
    """Return the read side over an open store; nothing is remembered from another one."""
    baseline = resource_dir("evals") / BASELINE
    standards = Standards(
        target_ms=load_targets(baseline),
        usual_ms=load_usual(baseline),
        budget_usd=None if settings.build_budget_usd is None else float(settings.build_budget_usd),
        weights=parse_weights(settings.efficiency_weights),
    )
    estimates = Estimates(opened.builds, opened.usage, terms_of(settings), SystemClock())
    return ReadServices(
        library=Library(opened.builds, SystemClock()),
        recordings=Recordings(opened.builds, opened.events, standards, estimates),
        estimates=estimates,
        expectations=ExpectationChecks(opened.builds, opened.events),
        comparisons=Comparisons(opened.builds, opened.events, opened.evaluations, standards),
        labels=Labels(opened.evaluations),
        memories=Memories(opened.memory),
        tokens=access_tokens(settings, opened),
        retention=retention(settings, opened),
        usage=UsageReports(opened.usage, opened.events, day_budgets(settings), SystemClock()),
    )


def day_budgets(settings: Settings) -> Budgets:
    """Return what all builds may use in a day."""
    return Budgets(calls=settings.day_budget_calls, tokens=settings.day_budget_tokens, usd=settings.day_budget_usd)
