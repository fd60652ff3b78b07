"""Tool events seen as calls: the attempts of one call folded into one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from app.model.base import Model
from app.model.events import CallOutcome, ToolEvent


class ToolCall(Model):
    """One call with the result of its last attempt; `duration_ms` is the sum over attempts, null while running.

    `turn` 0 = unknown; `sequence` counts calls 1..N in start order; `result` is a preview of at most 2 kB.
    """

    turn: int
    sequence: int
    tool_call_id: str
    tool_name: str
    args: dict[str, Any] | None
    result: str | None
    success: bool
    duration_ms: int | None
    error: str | None


class Folded(Model):
    """A call with what can be filtered on: phase and the outcome of its last attempt."""

    call: ToolCall
    phase: str
    outcome: CallOutcome


def fold_calls(events: Iterable[ToolEvent]) -> list[Folded]:
    """Return one entry per call id, in the order of the first attempts."""
    attempts: dict[str, list[ToolEvent]] = {}
    for event in events:
        attempts.setdefault(event.call_id, []).append(event)
    return [_fold(number, group) for number, group in enumerate(attempts.values(), start=1)]


def _fold(sequence: int, group: Sequence[ToolEvent]) -> Folded:
    last = max(group, key=lambda event: (event.attempt, event.seq))
    durations = [event.duration_ms for event in group if event.duration_ms is not None]
    call = ToolCall(
        turn=last.turn,
        sequence=sequence,
        tool_call_id=last.call_id,
        tool_name=last.tool,
        args=last.args,
        result=last.result_preview,
        success=last.outcome is CallOutcome.OK,
        duration_ms=round(sum(durations)) if durations else None,
        error=_error(last),
    )
    return Folded(call=call, phase=last.phase.value, outcome=last.outcome)


def _error(event: ToolEvent) -> str | None:
    if event.outcome is CallOutcome.OK:
        return None
    return event.error_message or event.error_type or event.outcome.value
