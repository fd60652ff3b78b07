"""Which store the settings name and what checks it; what records calls in it, within which quota, told to whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from app import __version__
from app.core.clock import SystemClock
from app.core.config import Settings
from app.core.errors import ExtraMissing
from app.core.logs import Redactor
from app.model.base import changed
from app.service.health import Integrity, check_store
from app.service.retention import Retention, RetentionLimits
from app.service.tokens import TokenLimits, Tokens, parse_tokens
from app.storage.base import EventStore, UsageStore
from app.storage.copy import address_of
from app.storage.copy import copy_store as copied_store
from app.storage.memory import LearningMemory
from app.storage.memory_port import MemoryStore, NoMemory
from app.storage.postgres import server
from app.storage.retention import compact
from app.storage.sqlite import sqlite_file
from app.storage.store import Storage, check_database, is_current, open_storage, upgrade
from app.telemetry.observers import Observer, Observers, Tracing
from app.tools.cache import CachePolicy, ResultCache
from app.tools.limits import Quota, QuotaLimits
from app.tools.runner import ToolRunner


def storage(settings: Settings, *, exclusive: bool) -> AbstractAsyncContextManager[Storage]:
    """Open the store of these settings; `exclusive` is for the one process that runs builds."""
    return open_storage(
        database_url(settings), exclusive=exclusive, clock=SystemClock(), redact=redactor(settings).data
    )


def memory_store(settings: Settings, opened: Storage) -> MemoryStore:
    """Return where builds learn from and for each other.

    By default they only leave memories, for what a build recalls would make it depend on the builds before it.
    """
    if settings.memory == "use":
        return opened.memory
    return LearningMemory(opened.memory) if settings.memory == "learn" else NoMemory()


def access_tokens(settings: Settings, opened: Storage) -> Tokens:
    """Return the tokens of these settings and of the store."""
    limits = TokenLimits(settings.token_builds_per_day, settings.token_requests_per_minute)
    return Tokens(opened.tokens, SystemClock(), _given_tokens(settings), limits)


def retention(settings: Settings, opened: Storage) -> Retention:
    """Return what lets go of old builds, as these settings say."""
    limits = RetentionLimits(settings.keep_event_days, settings.keep_days, settings.keep_gb)
    return Retention(
        opened.retention, SystemClock(), limits, lambda: asyncio.to_thread(compact, database_url(settings))
    )


def _given_tokens(settings: Settings) -> tuple[str, ...]:
    return parse_tokens(settings.api_tokens.get_secret_value() if settings.api_tokens else None)


def database_url(settings: Settings) -> str:
    """Return the address of the store."""
    return settings.database


def is_server(settings: Settings) -> bool:
    """Return whether the store is a database server, where workers drive the builds.

    Raises:
        StorageError: the address is neither that of one nor of an SQLite file.
    """
    return sqlite_file(settings.database) is None and bool(server(settings.database))


def redactor(settings: Settings) -> Redactor:
    """Return what takes the secrets of these settings out of anything stored or logged."""
    key = [settings.llm_api_key.get_secret_value()] if settings.llm_api_key else []
    password = _password(settings.database)
    return Redactor([*key, *_given_tokens(settings), *([password] if password else [])])


def _password(url: str) -> str | None:
    try:
        return make_url(url).password
    except SQLAlchemyError:
        return None


async def store_report(settings: Settings) -> Integrity:
    """Return which invariants of the store are broken."""
    async with storage(settings, exclusive=False) as opened:
        report = await check_store(opened.builds, opened.events)
        return changed(report, database=await check_database(opened.database))


def upgrade_store(settings: Settings) -> None:
    """Bring the store to the schema of this version.

    Raises:
        StorageError: it cannot be opened, or a newer version wrote it.
    """
    upgrade(database_url(settings))


def copy_store(source: str, target: str) -> dict[str, int]:
    """Copy a store into an empty one and return the rows by table; each is an address or the path of an SQLite file.

    Raises:
        StorageLocked: a process makes builds on the source.
        Conflict: there is something in the target already.
        StorageError: one of them cannot be used.
    """
    return copied_store(address_of(source), address_of(target))


def store_is_current(settings: Settings) -> bool:
    """Return whether the store exists with the schema of this version."""
    return is_current(database_url(settings))


GRACE_S = 5.0
"""How long the last spans may take to be sent before a collector that does not answer is given up."""


@asynccontextmanager
async def tracing(settings: Settings) -> AsyncIterator[Tracing | None]:
    """Open what turns builds into spans and sends them; None when that is off, and then nothing of it is imported.

    Where to and how is said by OpenTelemetry's own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`...).

    Raises:
        ExtraMissing: it is on, and the extra `otel` is not installed.
    """
    if settings.otel == "off":
        yield None
        return
    spans, close, give_up = _open()
    try:
        yield spans
    finally:
        closing = asyncio.create_task(asyncio.to_thread(close))
        if not (await asyncio.wait({closing}, timeout=GRACE_S))[0]:
            give_up()
        await closing


def _open() -> tuple[Tracing, Callable[[], None], Callable[[], None]]:
    """Return the spans, what sends the last of them, and what stops that."""
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as exc:
        raise ExtraMissing(
            "BUILDWRIGHT_OTEL is on, but OpenTelemetry is not installed; run `pip install 'buildwright[otel]'`.",
            extra="otel",
        ) from exc
    from app.telemetry.opentelemetry import SCHEMA_URL, BuildTraceIds, OtelSpans
    from app.telemetry.otel_metrics import OtelMetrics

    ids, exporter, sender = BuildTraceIds(), OTLPSpanExporter(), OTLPMetricExporter()
    named = {"service.name": "buildwright", "service.version": __version__}
    resource = Resource.create({**named, **OTELResourceDetector().detect().attributes}, SCHEMA_URL)
    provider = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    meters = MeterProvider([PeriodicExportingMetricReader(sender)], resource, shutdown_on_exit=False)
    spans = OtelSpans(provider.get_tracer("buildwright", __version__, schema_url=SCHEMA_URL), ids)
    counted = OtelMetrics(meters.get_meter("buildwright", __version__, SCHEMA_URL))

    def close() -> None:
        provider.shutdown()
        meters.shutdown()

    def give_up() -> None:
        exporter.shutdown()  # type: ignore[no-untyped-call]
        sender.shutdown()

    return Observers(spans, counted), close, give_up


_MEGABYTE = 1_000_000


def result_cache(settings: Settings, opened: Storage) -> ResultCache:
    """Return the cache of these settings over the store."""
    hours = settings.cache_ttl_hours
    policy = CachePolicy(
        memory_bytes=min(settings.cache_mb, settings.cache_memory_mb) * _MEGABYTE,
        store_bytes=settings.cache_mb * _MEGABYTE,
        ttl_s=None if hours is None else hours * 3600,
        skip=frozenset(tool.strip() for tool in settings.cache_skip.split(",")),
    )
    return ResultCache(opened.results, policy, SystemClock())


def tool_runner(
    settings: Settings, events: EventStore, usage: UsageStore, cache: ResultCache, observer: Observer
) -> ToolRunner:
    """Return what makes and records every call of these settings."""
    limits = QuotaLimits(
        build_calls=settings.build_budget_calls,
        day_calls=settings.day_budget_calls,
        day_tokens=settings.day_budget_tokens,
        day_usd=settings.day_budget_usd,
    )
    return ToolRunner(
        events,
        SystemClock(),
        redactor(settings),
        cache=cache,
        quota=Quota(usage, limits, SystemClock()),
        observer=observer,
    )
