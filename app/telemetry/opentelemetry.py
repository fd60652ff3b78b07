"""Builds, phases and calls as OpenTelemetry spans. It needs the extra `otel`, and is imported only when switched on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from app import __version__
from app.core.ids import number_of
from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.names import BuildStatus, Phase
from app.model.record import BuildRecord

AGENT: Final = "buildwright"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.37.0"
"""The version of the semantic conventions whose words are used."""

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
MODEL: Final = "gen_ai.request.model"
ERROR: Final = "error.type"
_USAGE: Final = {
    "input": "gen_ai.usage.input_tokens",
    "cache_read": "gen_ai.usage.cache_read.input_tokens",
    "cache_write": "gen_ai.usage.cache_creation.input_tokens",
    "output": "gen_ai.usage.output_tokens",
    "reasoning": "gen_ai.usage.reasoning.output_tokens",
}
"""Our words for tokens and theirs; in both, input includes what a cache was read or written for, output reasoning."""

Value = str | int | float
Attributes = dict[str, Value]


def build_begun(record: BuildRecord) -> Attributes:
    """Return what is known of a build as it is taken up; the provider is ours until a language model is asked."""
    return _known(
        {
            OPERATION: "invoke_agent",
            PROVIDER: AGENT,
            "gen_ai.agent.name": AGENT,
            "gen_ai.agent.version": __version__,
            "buildwright.build.id": record.id,
            "buildwright.build.parent_id": record.request.parent_id,
            "buildwright.build.mode": record.request.mode.value,
            "buildwright.build.epoch": record.epoch,
        }
    )


def build_ended(record: BuildRecord) -> Attributes:
    """Return what is known of a build as it is put down; its status is `running` when it is not finished."""
    engine, reasoner, outcome = record.engine, record.reasoner, record.state.outcome
    return _known(
        {
            "buildwright.build.status": record.status.value,
            "buildwright.build.outcome": None if outcome is None else outcome.value,
            "buildwright.build.iteration": record.state.iteration,
            "buildwright.engine": None if engine is None else f"{engine.name} {engine.version}",
            "buildwright.reasoner": None if reasoner is None else reasoner.name,
        }
    )


def build_error(record: BuildRecord) -> str | None:
    """Return the code of what failed the build, None when it did not fail."""
    if record.status is not BuildStatus.FAILED:
        return None
    return "_OTHER" if record.failure is None else record.failure.code


def asked_of(event: ToolEvent) -> Attributes:
    """Return which provider and model a request to a language model is made to."""
    provider, _, model = event.tool_version.partition(" ")
    return {PROVIDER: provider, MODEL: model}


def call_begun(event: ToolEvent) -> Attributes:
    """Return what is known of an attempt before it begins."""
    operation: dict[str, Value | None]
    if event.kind is ToolKind.LLM:
        operation = {OPERATION: "chat", **asked_of(event)}
    else:
        operation = {
            OPERATION: "execute_tool",
            "gen_ai.tool.name": event.tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": event.call_id,
            "buildwright.tool.version": event.tool_version or None,
        }
    about = {
        "buildwright.phase": event.phase.value,
        "buildwright.sub_problem": None if event.sub_problem is None else event.sub_problem.value,
        "buildwright.call.id": event.call_id,
        "buildwright.call.provider_id": event.provider_call_id,
        "buildwright.call.attempt": event.attempt,
        "buildwright.call.turn": event.turn or None,
        "buildwright.call.bytes_in": event.bytes_in,
    }
    return _known({**operation, **about})


def call_ended(event: ToolEvent) -> Attributes:
    """Return what is known of an attempt that is over; tokens and cost only where they are known."""
    usage = event.usage or {}
    return _known(
        {
            "buildwright.call.outcome": event.outcome.value,
            "buildwright.call.cache": event.cache.value,
            "buildwright.call.queue_ms": event.queue_ms,
            "buildwright.call.bytes_out": event.bytes_out,
            "buildwright.call.cost_usd": None if event.cost_usd is None else float(event.cost_usd),
            "buildwright.call.cost_source": None if event.cost_usd is None else event.cost_source,
            **{name: usage.get(ours) for ours, name in _USAGE.items()},
        }
    )


def call_error(event: ToolEvent) -> str | None:
    """Return the kind of error that ended an attempt, None when it went well."""
    return None if event.outcome is CallOutcome.OK else event.error_type or event.outcome.value


def _known(found: Mapping[str, Value | None]) -> Attributes:
    return {name: value for name, value in found.items() if value is not None}


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
        root = self._begin(record.id, None, f"invoke_agent {AGENT}", build_begun(record))
        self._builds[record.id, record.epoch] = _Build(root)

    def stepping(self, record: BuildRecord) -> None:
        """Begin the span of a phase with its first step; the span of the phase before ends there."""
        build = self._builds[record.id, record.epoch]
        if build.phase is not record.state.phase:
            _leave(build, None)
            build.phase, build.steps = record.state.phase, 0
            phase = record.state.phase.value
            about: Attributes = {"buildwright.phase": phase, "buildwright.build.iteration": record.state.iteration}
            build.span = self._begin(record.id, build.root, f"phase {phase}", about)
        build.steps += 1

    def put_down(self, record: BuildRecord) -> None:
        """End the spans of the build and of its phase."""
        build = self._builds.pop((record.id, record.epoch))
        error = build_error(record)
        _leave(build, error)
        _end(build.root, build_ended(record), error)

    def started(self, event: ToolEvent) -> None:
        """Begin the span of an attempt."""
        self._calls[event.call_id] = self._attempt(event)

    def finished(self, event: ToolEvent, last: bool) -> None:
        """End the span of an attempt."""
        _end(self._calls.pop(event.call_id), call_ended(event), call_error(event))

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """Make the span of an attempt that is over: it began when the event says, and ends now."""
        span = self._attempt(event, int(event.started_at.timestamp() * 1e9))
        _end(span, call_ended(event), call_error(event))

    def _attempt(self, event: ToolEvent, start_ns: int | None = None) -> Span:
        build = self._builds.get((event.build_id, event.epoch))
        if build is not None and event.kind is ToolKind.LLM:
            build.root.set_attributes(asked_of(event))
        around = None if build is None else build.span or build.root
        parent = self._calls.get(event.parent_call_id or "", around)
        name = f"chat {asked_of(event)[MODEL]}" if event.kind is ToolKind.LLM else f"execute_tool {event.tool}"
        return self._begin(event.build_id, parent, name, call_begun(event), _KINDS[event.kind], start_ns)

    def _begin(
        self,
        build_id: str,
        parent: Span | None,
        name: str,
        attributes: Attributes,
        kind: SpanKind = SpanKind.INTERNAL,
        start_ns: int | None = None,
    ) -> Span:
        """Begin a span inside its parent and nothing else: what else this process traces is not about the build."""
        context = Context() if parent is None else set_span_in_context(parent, Context())
        with self._ids.of(build_id):
            return self._tracer.start_span(name, context, kind, attributes, start_time=start_ns)


def _leave(build: _Build, error: str | None) -> None:
    if build.span is not None:
        _end(build.span, {"buildwright.phase.steps": build.steps}, error)


def _end(span: Span, attributes: Attributes, error: str | None) -> None:
    span.set_attributes(attributes)
    if error is not None:
        span.set_attribute(ERROR, error)
        span.set_status(StatusCode.ERROR)
    span.end()
