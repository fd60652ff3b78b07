"""Builds, phases and calls as OpenTelemetry spans. It needs the extra `otel`, and is imported only when switched on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from app.core.ids import number_of
from app.model.events import ToolEvent, ToolKind
from app.model.names import Phase
from app.model.record import BuildRecord
from app.tools import genai

_KINDS = {ToolKind.LLM: SpanKind.CLIENT, ToolKind.POB: SpanKind.INTERNAL, ToolKind.OTHER: SpanKind.INTERNAL}


class BuildTraceIds(RandomIdGenerator):
    """Gives the trace of a build the build's own number, so that each finds the other, also after a restart.

    A build id is a ULID: as long as a trace id, and random in the part that samplers look at.
    """

    def __init__(self) -> None:
        self._next: int | None = None

    @contextmanager
    def of(self, build_id: str) -> Iterator[None]:
        """A trace that begins inside is the build's; an id that is no ULID gets a random one."""
        try:
            self._next = number_of(build_id)
        except ValueError:
            self._next = None
        try:
            yield
        finally:
            self._next = None

    def generate_trace_id(self) -> int:
        """Return the build's number, or a random one outside of builds."""
        return self._next or super().generate_trace_id()


Claim = tuple[str, int | None]
"""A build and the epoch under which it is worked on."""


@dataclass
class _Build:
    """The open spans of a build that is worked on."""

    root: Span
    span: Span | None = None
    phase: Phase | None = None
    steps: int = 0


class OtelSpans:
    """Turns builds, phases and attempts into spans; implements `Tracing`.

    One trace per build: `invoke_agent buildwright`, in it a span per visit of a phase, in those `execute_tool {tool}`
    and `chat {model}` per attempt, each inside the call that made it. A build that is taken up again gets another root
    in the same trace. Use it from one thread.
    """

    def __init__(self, tracer: Tracer, ids: BuildTraceIds) -> None:
        self._tracer = tracer
        self._ids = ids
        self._builds: dict[Claim, _Build] = {}
        self._calls: dict[str, Span] = {}

    def taken_up(self, record: BuildRecord) -> None:
        """Begin the build's span."""
        root = self._begin(record.id, None, genai.build_name(), genai.build_begun(record))
        self._builds[record.id, record.epoch] = _Build(root)

    def stepping(self, record: BuildRecord) -> None:
        """Begin the span of a phase with its first step; the span of the phase before ends there."""
        build = self._builds[record.id, record.epoch]
        if build.phase is not record.state.phase:
            _leave(build, None)
            build.phase, build.steps = record.state.phase, 0
            build.span = self._begin(record.id, build.root, genai.phase_name(record), genai.phase_begun(record))
        build.steps += 1

    def put_down(self, record: BuildRecord) -> None:
        """End the spans of the build and of its phase."""
        build = self._builds.pop((record.id, record.epoch))
        error = genai.build_error(record)
        _leave(build, error)
        _end(build.root, genai.build_ended(record), error)

    def started(self, event: ToolEvent) -> None:
        """Begin the span of an attempt."""
        self._calls[event.call_id] = self._attempt(event)

    def finished(self, event: ToolEvent, last: bool) -> None:
        """End the span of an attempt."""
        _end(self._calls.pop(event.call_id), genai.call_ended(event), genai.call_error(event))

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """Make the span of an attempt that is over: it began when the event says, and ends now."""
        span = self._attempt(event, int(event.started_at.timestamp() * 1e9))
        _end(span, genai.call_ended(event), genai.call_error(event))

    def _attempt(self, event: ToolEvent, start_ns: int | None = None) -> Span:
        build = self._builds.get((event.build_id, event.epoch))
        if build is not None and event.kind is ToolKind.LLM:
            build.root.set_attributes(genai.asked_of(event))
        around = None if build is None else build.span or build.root
        parent = self._calls.get(event.parent_call_id or "", around)
        name, attributes = genai.call_name(event), genai.call_begun(event)
        return self._begin(event.build_id, parent, name, attributes, _KINDS[event.kind], start_ns)

    def _begin(
        self,
        build_id: str,
        parent: Span | None,
        name: str,
        attributes: genai.Attributes,
        kind: SpanKind = SpanKind.INTERNAL,
        start_ns: int | None = None,
    ) -> Span:
        """Begin a span inside its parent and nothing else: what else this process traces is not about the build."""
        context = Context() if parent is None else set_span_in_context(parent, Context())
        with self._ids.of(build_id):
            return self._tracer.start_span(name, context, kind, attributes, start_time=start_ns)


def _leave(build: _Build, error: str | None) -> None:
    if build.span is not None:
        _end(build.span, genai.phase_ended(build.steps), error)


def _end(span: Span, attributes: genai.Attributes, error: str | None) -> None:
    span.set_attributes(attributes)
    if error is not None:
        span.set_attribute(genai.ERROR, error)
        span.set_status(StatusCode.ERROR)
    span.end()
