"""What spans say about builds and calls, in the words of OpenTelemetry's GenAI conventions.

The names are those of opentelemetry-semantic-conventions 0.66b2, where they are still in development; what they have
no word for begins with `buildwright.`. Names, sizes, outcomes, tokens and cost are said; a prompt, an argument, a
result or the text of an error never is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app import __version__
from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.names import BuildStatus
from app.model.record import BuildRecord

AGENT: Final = "buildwright"
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


def build_name() -> str:
    """Return the name of a build's span."""
    return f"invoke_agent {AGENT}"


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


def phase_name(record: BuildRecord) -> str:
    """Return the name of the span of the phase that the build is in."""
    return f"phase {record.state.phase.value}"


def phase_begun(record: BuildRecord) -> Attributes:
    """Return what is known of the phase that the build is in."""
    return {"buildwright.phase": record.state.phase.value, "buildwright.build.iteration": record.state.iteration}


def phase_ended(steps: int) -> Attributes:
    """Return what is known of a phase as it is left."""
    return {"buildwright.phase.steps": steps}


def asked_of(event: ToolEvent) -> Attributes:
    """Return which provider and model a request to a language model is made to."""
    provider, _, model = event.tool_version.partition(" ")
    return {PROVIDER: provider, MODEL: model}


def call_name(event: ToolEvent) -> str:
    """Return the name of the span of an attempt."""
    return f"chat {asked_of(event)[MODEL]}" if event.kind is ToolKind.LLM else f"execute_tool {event.tool}"


def call_begun(event: ToolEvent) -> Attributes:
    """Return what is known of an attempt before it begins."""
    about = {
        "buildwright.phase": event.phase.value,
        "buildwright.sub_problem": None if event.sub_problem is None else event.sub_problem.value,
        "buildwright.call.id": event.call_id,
        "buildwright.call.provider_id": event.provider_call_id,
        "buildwright.call.attempt": event.attempt,
        "buildwright.call.turn": event.turn or None,
        "buildwright.call.bytes_in": event.bytes_in,
    }
    return _known({**_operation(event), **about})


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


def _operation(event: ToolEvent) -> dict[str, Value | None]:
    if event.kind is ToolKind.LLM:
        return {OPERATION: "chat", **asked_of(event)}
    return {
        OPERATION: "execute_tool",
        "gen_ai.tool.name": event.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": event.call_id,
        "buildwright.tool.version": event.tool_version or None,
    }


def _known(found: Mapping[str, Value | None]) -> Attributes:
    return {name: value for name, value in found.items() if value is not None}
