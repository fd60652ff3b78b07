"""OpenTelemetry's metrics, as a collector would be sent them."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from app.model.events import CacheUse, CallOutcome, ToolKind
from app.telemetry.opentelemetry import SCHEMA_URL
from app.telemetry.otel_metrics import OtelMetrics
from tests.fakes.attempts import HandClock
from tests.fakes.samples import a_complete_record, an_event


def collected(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data is not None
    (scope,) = data.resource_metrics[0].scope_metrics
    assert scope.scope.schema_url == SCHEMA_URL
    return {metric.name: list(metric.data.data_points) for metric in scope.metrics}


def test_executions_tokens_and_builds_are_reported_in_seconds() -> None:
    reader, clock = InMemoryMetricReader(), HandClock()
    meter = MeterProvider([reader], shutdown_on_exit=False).get_meter("test", schema_url=SCHEMA_URL)
    metrics, record = OtelMetrics(meter, clock), a_complete_record()
    metrics.taken_up(record)
    metrics.finished(an_event(1, tool="pob.stats", duration_ms=90.0, cache=CacheUse.MISS), last=True)
    metrics.recorded(an_event(2, tool="pob.stats", duration_ms=1.0, cache=CacheUse.HIT), last=True)
    metrics.recorded(an_event(3, tool="pob.stats", outcome=CallOutcome.REJECTED, duration_ms=0.0), last=True)
    asked: dict[str, Any] = {"kind": ToolKind.LLM, "tool": "llm.chat", "tool_version": "openai m"}
    asked["duration_ms"] = 2000.0
    metrics.finished(an_event(4, **asked, usage={"input": 100, "output": 7}), last=True)
    metrics.finished(an_event(5, **asked, outcome=CallOutcome.TIMEOUT), last=True)
    clock.passed_ms = 30_000
    metrics.put_down(record)
    found = collected(reader)
    (tool,) = found["gen_ai.execute_tool.duration"]
    assert (tool.count, tool.sum, tool.attributes["gen_ai.tool.name"]) == (1, 0.09, "pob.stats")
    assert tool.explicit_bounds[:3] == (0.01, 0.02, 0.04)
    good, failed = sorted(found["gen_ai.client.operation.duration"], key=lambda point: len(point.attributes))
    assert (good.sum, good.attributes["gen_ai.request.model"], failed.attributes["error.type"]) == (2.0, "m", "timeout")
    tokens = {point.attributes["gen_ai.token.type"]: point.sum for point in found["gen_ai.client.token.usage"]}
    assert tokens == {"input": 100, "output": 7}, "what is unknown is not reported as nothing"
    assert found["gen_ai.invoke_agent.duration"][0].sum == 30.0
