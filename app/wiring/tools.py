"""What makes and records calls: within which quota, with answers kept where, counted by whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from app import __version__
from app.core.clock import SystemClock
from app.core.config import Settings
from app.core.errors import ExtraMissing
from app.storage.base import EventStore, UsageStore
from app.storage.store import Storage
from app.telemetry.observers import Observer, Tracing
from app.tools.cache import CachePolicy, ResultCache
from app.tools.limits import Quota, QuotaLimits
from app.tools.runner import ToolRunner
from app.wiring.stores import redactor

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
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as exc:
        raise ExtraMissing(
            "BUILDWRIGHT_OTEL is on, but OpenTelemetry is not installed; run `pip install 'buildwright[otel]'`.",
            extra="otel",
        ) from exc
    from app.telemetry.opentelemetry import BuildTraceIds, OtelSpans

    ids, exporter = BuildTraceIds(), OTLPSpanExporter()
    named = {"service.name": "buildwright", "service.version": __version__}
    resource = Resource.create({**named, **OTELResourceDetector().detect().attributes})
    provider = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return OtelSpans(provider.get_tracer("buildwright", __version__), ids), provider.shutdown, exporter.shutdown


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
