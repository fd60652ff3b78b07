"""Spans as the wiring makes them, kept in memory."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.telemetry.opentelemetry import BuildTraceIds, OtelSpans


class Traced:
    """A tracer over an exporter that keeps what has ended; `spans` is what is tested."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        ids = BuildTraceIds()
        provider = TracerProvider(id_generator=ids, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.spans = OtelSpans(provider.get_tracer("test"), ids)

    @property
    def ended(self) -> list[ReadableSpan]:
        return list(self._kept.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.ended if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def tree(self) -> dict[str, str | None]:
        """Return each span's name and its parent's."""
        names = {context(span).span_id: span.name for span in self.ended}
        return {span.name: names[span.parent.span_id] if span.parent else None for span in self.ended}


def context(span: ReadableSpan) -> Any:
    """Return the ids of a span."""
    assert span.context is not None
    return span.context


def said(span: ReadableSpan) -> dict[str, Any]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})
