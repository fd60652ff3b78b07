"""Whether builds are traced, and where the spans go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from app import __version__
from app.core.config import Settings
from app.core.errors import ExtraMissing
from app.tools.telemetry import Tracing

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
    from app.tools.otel import BuildTraceIds, OtelSpans

    ids, exporter = BuildTraceIds(), OTLPSpanExporter()
    named = {"service.name": "buildwright", "service.version": __version__}
    resource = Resource.create({**named, **OTELResourceDetector().detect().attributes})
    provider = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return OtelSpans(provider.get_tracer("buildwright", __version__), ids), provider.shutdown, exporter.shutdown
