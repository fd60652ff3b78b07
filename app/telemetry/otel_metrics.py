"""Calls and builds as OpenTelemetry metrics, in the words of the GenAI conventions; it needs the extra `otel`."""

from __future__ import annotations

from typing import Final

from opentelemetry.metrics import Histogram, Meter

from app.core.clock import Clock, SystemClock
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.record import BuildRecord
from app.telemetry.opentelemetry import AGENT, ERROR, OPERATION, PROVIDER, Attributes, asked_of, build_error, call_error

_CALL_SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
_AGENT_SECONDS: Final = tuple(0.1 * 2**power for power in range(13))
_TOKENS: Final = tuple(4.0**power for power in range(14))
"""The buckets that the conventions advise."""


class OtelMetrics:
    """Durations of executed calls and of builds, tokens of language models; implements `Tracing`.

    Answers from the cache and rejected attempts are no executions. Tokens that nobody knows are not reported.
    """

    def __init__(self, meter: Meter, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._taken_up: dict[tuple[str, int], float] = {}
        self._tools = _seconds(meter, "gen_ai.execute_tool.duration", "What a tool took", _CALL_SECONDS)
        self._operations = _seconds(meter, "gen_ai.client.operation.duration", "What a request took", _CALL_SECONDS)
        self._agents = _seconds(meter, "gen_ai.invoke_agent.duration", "One taking-up of a build", _AGENT_SECONDS)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Tokens of a request", explicit_bucket_boundaries_advisory=_TOKENS
        )

    def taken_up(self, record: BuildRecord) -> None:
        """Note when."""
        self._taken_up[record.id, record.epoch] = self._clock.monotonic_ms()

    def stepping(self, record: BuildRecord) -> None:
        """Count nothing: phases are spans."""

    def put_down(self, record: BuildRecord) -> None:
        """Record how long the build was worked on."""
        took_ms = self._clock.monotonic_ms() - self._taken_up.pop((record.id, record.epoch))
        about: Attributes = {OPERATION: "invoke_agent", PROVIDER: AGENT, "gen_ai.agent.name": AGENT}
        self._agents.record(took_ms / 1000, _failing(about, build_error(record)))

    def started(self, event: ToolEvent) -> None:
        """Count nothing yet."""

    def finished(self, event: ToolEvent, last: bool) -> None:
        """Record an attempt."""
        self.recorded(event, last)

    def recorded(self, event: ToolEvent, last: bool) -> None:
        """Record an attempt that was executed, and its tokens."""
        if event.duration_ms is None or event.outcome is CallOutcome.REJECTED or event.cache in _ANSWERED:
            return
        seconds, error = event.duration_ms / 1000, call_error(event)
        if event.kind is not ToolKind.LLM:
            about: Attributes = {OPERATION: "execute_tool", "gen_ai.tool.name": event.tool}
            self._tools.record(seconds, _failing(about, error))
            return
        asked: Attributes = {OPERATION: "chat", **asked_of(event)}
        self._operations.record(seconds, _failing(asked, error))
        for kind in ("input", "output") if event.usage is not None else ():
            self._tokens.record((event.usage or {}).get(kind, 0), {**asked, "gen_ai.token.type": kind})


_ANSWERED = (CacheUse.HIT, CacheUse.COALESCED)


def _seconds(meter: Meter, name: str, meaning: str, bounds: tuple[float, ...]) -> Histogram:
    return meter.create_histogram(name, "s", meaning, explicit_bucket_boundaries_advisory=bounds)


def _failing(about: Attributes, error: str | None) -> Attributes:
    return about if error is None else {**about, ERROR: error}
