"""A whole build as spans: made by the service on the sketch engine, with a scripted model over real HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import trace_exporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from app.core.ids import number_of
from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.names import BuildStatus
from app.model.record import BuildRequest
from app.storage.store import open_storage
from app.wiring import open_services
from tests.fakes.llm_bench import KEY, PROMPT, llm_settings
from tests.fakes.llm_player import Player, recorded
from tests.fakes.llm_server import Asked, LlmServer, Reaction, Status
from tests.fakes.traces import said

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where the spans go, instead of to a collector."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(trace_exporter, "OTLPSpanExporter", lambda: exporter)
    return exporter


def failing_once(player: Player) -> Callable[[Asked], Reaction]:
    """Answer soundly, but the very first request with a server error."""
    faults: list[Reaction] = [Status(500)]
    return lambda asked: faults.pop() if faults else player(asked)


async def test_a_build_is_one_trace_that_agrees_with_its_records(kept: InMemorySpanExporter, tmp_path: Path) -> None:
    async with LlmServer(failing_once(Player(recorded("lightning_sorceress")))) as server:
        settings = llm_settings(f"{server.url}/v1", tmp_path, llm_timeout_s=20, otel="on")
        async with open_services(settings) as services:
            build = await services.builds.create(BuildRequest(prompt=PROMPT, level=15))
            await services.builds.wait(build.id)
            view = await services.library.get(build.id)
    async with open_storage(settings.database) as storage:
        events = await storage.events.all(build.id)
    spans = kept.get_finished_spans()
    assert view.status is BuildStatus.COMPLETE
    check_tree(spans, events, build.id)
    check_attempts(spans, events)
    check_silence(spans, events)


def check_tree(spans: tuple[ReadableSpan, ...], events: list[ToolEvent], build_id: str) -> None:
    """Check one trace, one root, phases below it, and each call inside the call or the phase that made it."""
    by_id = {span.context.span_id: span for span in spans if span.context}
    assert {span.context.trace_id for span in spans if span.context} == {number_of(build_id)}
    (root,) = [span for span in spans if span.parent is None]
    assert root.name == "invoke_agent buildwright"
    model = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "scripted-1", "buildwright.reasoner": "llm"}
    assert said(root).items() >= model.items()
    assert root.status.status_code is StatusCode.UNSET
    phases = [span for span in spans if span.name.startswith("phase ")]
    assert all(span.parent and by_id[span.parent.span_id] is root for span in phases)
    assert [span.name for span in phases][:4] == [
        "phase decompose",
        "phase explore",
        "phase construct",
        "phase validate",
    ]
    calls = {said(span)["buildwright.call.id"]: event_parent(span, by_id) for span in attempts(spans)}
    for event in events:
        above = event.parent_call_id or event.phase.value
        assert calls[event.call_id] == above, event.tool
    for span in spans:
        if span.parent:
            above_span = by_id[span.parent.span_id]
            assert above_span.start_time <= span.start_time <= span.end_time <= above_span.end_time  # type: ignore[operator]


def event_parent(span: ReadableSpan, by_id: dict[int, ReadableSpan]) -> str:
    """Return the id of the call, or the phase, that the span is in."""
    assert span.parent is not None
    above = said(by_id[span.parent.span_id])
    return str(above.get("buildwright.call.id") or above["buildwright.phase"])


def check_attempts(spans: tuple[ReadableSpan, ...], events: list[ToolEvent]) -> None:
    """Check that each recorded attempt is a span that says the same, the failed one an error."""
    assert Counter(key(span) for span in attempts(spans)) == Counter(
        (event.call_id, event.attempt, event.outcome.value, event.error_type, event.bytes_out) for event in events
    )
    for span in attempts(spans):
        good = said(span)["buildwright.call.outcome"] == "ok"
        assert span.status.status_code is (StatusCode.UNSET if good else StatusCode.ERROR)
    names = {span.name for span in attempts(spans)}
    chats = [event for event in events if event.kind is ToolKind.LLM]
    tools = {f"execute_tool {event.tool}" for event in events if event.kind is not ToolKind.LLM}
    assert names == {"chat scripted-1", *tools}
    first, second = [span for span in spans if span.name == "chat scripted-1"][:2]
    assert (chats[0].outcome, chats[0].call_id) == (CallOutcome.ERROR, chats[1].call_id)
    assert said(first)["error.type"] == "llm_unavailable"
    assert "gen_ai.usage.input_tokens" not in said(first)
    asked = {"gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 100, "buildwright.call.cost_usd": 0.0012}
    assert said(second).items() >= asked.items()


def key(span: ReadableSpan) -> tuple[Any, ...]:
    about = said(span)
    ours = [about.get(f"buildwright.call.{name}") for name in ("id", "attempt", "outcome")]
    return (*ours, about.get("error.type"), about.get("buildwright.call.bytes_out"))


def check_silence(spans: tuple[ReadableSpan, ...], events: list[ToolEvent]) -> None:
    """Check that no span repeats what was asked, answered or went wrong, let alone a secret."""
    text = "".join(span.to_json() for span in spans)
    assert KEY not in text
    assert PROMPT not in text
    for event in events:
        assert not event.error_message or event.error_message not in text
        assert not event.result_preview or len(event.result_preview) < 20 or event.result_preview[:20] not in text
        assert event.args_sha256 not in text
    strings = [value for span in spans for value in said(span).values() if isinstance(value, str)]
    assert max(map(len, strings)) <= 40


def attempts(spans: tuple[ReadableSpan, ...]) -> list[ReadableSpan]:
    return [span for span in spans if "buildwright.call.id" in said(span)]
