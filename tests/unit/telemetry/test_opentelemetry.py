"""Builds and calls as spans: the tree, the words of the conventions, and nothing of what was said."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

from app.core.errors import EngineCrashed, LlmRateLimited
from app.core.ids import number_of
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import BuildStatus, Outcome, Phase, SubProblemName
from app.model.record import BuildFailure, BuildRecord, ReasonerVersion
from app.model.state import BuildState
from app.telemetry.observers import Observers
from app.telemetry.opentelemetry import BuildTraceIds
from app.telemetry.prometheus import ToolCounts
from app.tools.runner import ToolRunner
from tests.fakes.attempts import Bench
from tests.fakes.samples import ENGINE, a_record, an_event
from tests.fakes.traces import Traced, context, said

USAGE = {"input": 10000, "cache_read": 8000, "cache_write": 1000, "output": 500, "reasoning": 200}


@pytest.fixture
def traced() -> Traced:
    return Traced()


def at(record: BuildRecord, phase: Phase, **changes: Any) -> BuildRecord:
    return record.model_copy(update={"state": BuildState(phase=phase, iteration=1), **changes})


def call(record: BuildRecord, seq: int, tool: str, **changes: Any) -> ToolEvent:
    return an_event(seq, tool, build_id=record.id, epoch=record.epoch, **changes)


def test_one_trace_holds_the_build_its_phases_and_their_calls(traced: Traced) -> None:
    record = a_record(epoch=1)
    traced.spans.taken_up(record)
    for phase in (Phase.EXPLORE, Phase.EXPLORE, Phase.CONSTRUCT):
        traced.spans.stepping(at(record, phase))
        outer = call(record, 1, f"rules.{phase.value}", call_id=f"outer {phase}", kind=ToolKind.OTHER)
        inner = call(record, 2, f"pob.{phase.value}", call_id=f"inner {phase}", parent_call_id=outer.call_id)
        traced.spans.started(outer)
        traced.spans.started(inner)
        traced.spans.finished(inner, last=True)
        traced.spans.finished(outer, last=True)
    ended = at(record, Phase.COMPLETE, status=BuildStatus.COMPLETE, engine=ENGINE)
    traced.spans.put_down(ended)

    assert traced.tree() == {
        "invoke_agent buildwright": None,
        "phase explore": "invoke_agent buildwright",
        "execute_tool rules.explore": "phase explore",
        "execute_tool pob.explore": "execute_tool rules.explore",
        "phase construct": "invoke_agent buildwright",
        "execute_tool rules.construct": "phase construct",
        "execute_tool pob.construct": "execute_tool rules.construct",
    }
    assert {context(span).trace_id for span in traced.ended} == {number_of(record.id)}
    assert said(traced.one("phase explore"))["buildwright.phase.steps"] == 2
    assert said(traced.one("phase construct"))["buildwright.phase.steps"] == 1
    assert {span.status.status_code for span in traced.ended} == {StatusCode.UNSET}


def test_a_phase_that_is_visited_again_has_another_span(traced: Traced) -> None:
    record = a_record(epoch=1)
    traced.spans.taken_up(record)
    for phase in (Phase.CONSTRUCT, Phase.VALIDATE, Phase.ITERATE, Phase.CONSTRUCT):
        traced.spans.stepping(at(record, phase))
    traced.spans.put_down(record)
    first, second = traced.named("phase construct")
    assert first.end_time is not None
    assert second.start_time is not None
    assert first.end_time <= second.start_time


def test_a_build_says_what_it_is_and_how_it_ended(traced: Traced) -> None:
    record = a_record(epoch=3)
    traced.spans.taken_up(record)
    state = BuildState(phase=Phase.COMPLETE, iteration=2, outcome=Outcome.VALIDATED)
    reasoner = ReasonerVersion(name="rules")
    ended = {"status": BuildStatus.COMPLETE, "state": state, "engine": ENGINE, "reasoner": reasoner}
    traced.spans.put_down(record.model_copy(update=ended))
    root = traced.one("invoke_agent buildwright")
    assert root.kind is SpanKind.INTERNAL
    assert said(root) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "buildwright",
        "gen_ai.agent.name": "buildwright",
        "gen_ai.agent.version": "0.1.0",
        "buildwright.build.id": record.id,
        "buildwright.build.mode": "initial",
        "buildwright.build.epoch": 3,
        "buildwright.build.status": "complete",
        "buildwright.build.outcome": "validated",
        "buildwright.build.iteration": 2,
        "buildwright.engine": "sketch 1",
        "buildwright.reasoner": "rules",
    }


def test_a_failed_build_is_an_error_of_its_last_phase_too(traced: Traced) -> None:
    record = a_record(epoch=1)
    traced.spans.taken_up(record)
    traced.spans.stepping(at(record, Phase.EXPLORE))
    traced.spans.stepping(at(record, Phase.CONSTRUCT))
    failure = BuildFailure(code="engine_missing", message="not installed in /home/somebody")
    traced.spans.put_down(at(record, Phase.CONSTRUCT, status=BuildStatus.FAILED, failure=failure))
    for name in ("phase construct", "invoke_agent buildwright"):
        assert traced.one(name).status.status_code is StatusCode.ERROR
        assert said(traced.one(name))["error.type"] == "engine_missing"
    assert traced.one("phase explore").status.status_code is StatusCode.UNSET
    assert "somebody" not in "".join(span.to_json() for span in traced.ended)


@pytest.mark.parametrize("status", [BuildStatus.CANCELLED, BuildStatus.RUNNING])
def test_a_build_that_is_cancelled_or_left_is_no_error(traced: Traced, status: BuildStatus) -> None:
    record = a_record(epoch=1)
    traced.spans.taken_up(record)
    traced.spans.put_down(at(record, Phase.EXPLORE, status=status))
    root = traced.one("invoke_agent buildwright")
    assert (root.status.status_code, said(root)["buildwright.build.status"]) == (StatusCode.UNSET, status.value)


def test_a_build_taken_up_again_goes_on_in_its_trace(traced: Traced) -> None:
    claims = [a_record(epoch=epoch) for epoch in (1, 2)]
    for record in claims:
        traced.spans.taken_up(record)
        traced.spans.stepping(at(record, Phase.EXPLORE))
        traced.spans.recorded(call(record, record.epoch, "pob.stats"), last=True)
    for record in claims:  # the first runner notices late that it lost the build
        traced.spans.put_down(record)
    roots, calls = traced.named("invoke_agent buildwright"), traced.named("execute_tool pob.stats")
    assert {context(span).trace_id for span in traced.ended} == {number_of(claims[0].id)}
    assert [root.parent for root in roots] == [None, None]
    phases = {context(span).span_id: span for span in traced.named("phase explore")}
    owners = [phases[span.parent.span_id].parent for span in calls if span.parent]
    assert [owner.span_id for owner in owners if owner] == [context(root).span_id for root in roots]


def test_a_request_to_a_model_says_tokens_and_cost(traced: Traced) -> None:
    record = a_record(epoch=1)
    chat: dict[str, Any] = {"kind": ToolKind.LLM, "tool_version": "anthropic some-model 2", "turn": 4}
    traced.spans.taken_up(record)
    event = call(record, 1, "llm.chat", **chat)
    traced.spans.started(event)
    answered = event.model_copy(update={"usage": USAGE, "cost_usd": "0.01665", "cost_source": "table"})
    traced.spans.finished(answered, last=True)
    traced.spans.put_down(record)
    span, root = traced.one("chat some-model 2"), traced.one("invoke_agent buildwright")
    assert span.kind is SpanKind.CLIENT
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "some-model 2",
        "gen_ai.usage.input_tokens": 10000,
        "gen_ai.usage.cache_read.input_tokens": 8000,
        "gen_ai.usage.cache_creation.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 500,
        "gen_ai.usage.reasoning.output_tokens": 200,
        "buildwright.call.cost_usd": 0.01665,
        "buildwright.call.cost_source": "table",
        "buildwright.call.turn": 4,
    }
    assert said(span).items() >= expected.items()
    assert "gen_ai.tool.name" not in said(span)
    model = {"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "some-model 2"}
    assert said(root).items() >= model.items()


def test_tokens_that_nobody_knows_are_not_reported(traced: Traced) -> None:
    event = an_event(1, "llm.chat", kind=ToolKind.LLM, tool_version="openai m")
    traced.spans.recorded(event, last=True)
    assert not [key for key in said(traced.one("chat m")) if "usage" in key or "cost" in key or "turn" in key]


def test_an_answer_from_the_cache_began_when_the_event_says(traced: Traced) -> None:
    event = an_event(1, "pob.stats", cache=CacheUse.HIT, duration_ms=1.0, sub_problem=SubProblemName.ASCENDANCY)
    traced.spans.recorded(event, last=True)
    span = traced.one("execute_tool pob.stats")
    assert span.start_time == int(event.started_at.timestamp() * 1e9)
    assert said(span)["buildwright.call.cache"] == "hit"
    assert said(span)["buildwright.sub_problem"] == "ascendancy"


def test_a_call_of_a_build_that_nobody_drives_is_a_trace_of_its_own(traced: Traced) -> None:
    traced.spans.recorded(an_event(1, "pob.load"), last=True)
    traced.spans.recorded(an_event(2, "pob.stats", build_id="no ulid"), last=True)
    assert [span.parent for span in traced.ended] == [None, None]
    assert context(traced.one("execute_tool pob.load")).trace_id == number_of(an_event(1).build_id)


async def test_each_attempt_is_a_span_and_a_failed_one_an_error(traced: Traced, bench: Bench) -> None:
    counts = ToolCounts()
    tools = ToolRunner(bench.storage.events, bench.clock, observer=Observers(counts, traced.spans), sleep=no_pause)
    failures = [EngineCrashed("gone: canary"), EngineCrashed("gone: canary")]

    async def work() -> str:
        if failures:
            raise failures.pop()
        return "result canary"

    await tools.call(bench.scope, ToolKind.POB, "pob.stats", {"note": "canary"}, work, version="pob 0.20.0")
    spans = traced.named("execute_tool pob.stats")
    told = [(said(span)["buildwright.call.attempt"], said(span)["buildwright.call.outcome"]) for span in spans]
    assert told == [(1, "error"), (2, "error"), (3, "ok")]
    assert [said(span).get("error.type") for span in spans] == ["engine_crashed", "engine_crashed", None]
    codes = [span.status.status_code for span in spans]
    assert codes == [StatusCode.ERROR, StatusCode.ERROR, StatusCode.UNSET]
    stored = await bench.events()
    assert [said(span)["gen_ai.tool.call.id"] for span in spans] == [event.call_id for event in stored]
    assert [said(span)["buildwright.call.bytes_in"] for span in spans] == [event.bytes_in for event in stored]
    assert said(spans[2])["buildwright.call.bytes_out"] == stored[2].bytes_out
    assert "canary" not in "".join(span.to_json() for span in traced.ended)
    assert 'tool_attempts_total{tool="pob.stats",outcome="error"} 2' in counts.exposition()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"outcome": CallOutcome.TIMEOUT, "error_type": "engine_hung"}, "engine_hung"),
        ({"outcome": CallOutcome.REJECTED, "error_type": "day_usd"}, "day_usd"),
        ({"outcome": CallOutcome.CANCELLED}, "cancelled"),
        ({"outcome": CallOutcome.ERROR, "error_type": LlmRateLimited.code}, "llm_rate_limited"),
    ],
)
def test_whatever_is_not_ok_is_an_error_of_low_cardinality(traced: Traced, changes: dict[str, Any], error: str) -> None:
    traced.spans.recorded(an_event(1, "pob.stats", error_message="about 01J", **changes), last=True)
    span = traced.one("execute_tool pob.stats")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert said(span)["error.type"] == error


def test_the_words_are_those_of_the_conventions(traced: Traced) -> None:
    record = a_record(epoch=1)
    traced.spans.taken_up(record)
    traced.spans.stepping(at(record, Phase.EXPLORE))
    priced = {"usage": USAGE, "cost_usd": "1", "outcome": CallOutcome.ERROR}
    chat = call(record, 1, "llm.chat", kind=ToolKind.LLM, tool_version="openai m", **priced)
    traced.spans.recorded(chat, last=True)
    traced.spans.recorded(call(record, 2, "pob.stats"), last=True)
    traced.spans.put_down(record)
    standard = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    used = {key for span in traced.ended for key in said(span)}
    assert {key for key in used if key.startswith("gen_ai.")} <= standard
    assert {key for key in used if not key.startswith(("gen_ai.", "buildwright."))} == {"error.type"}
    deprecated = {"gen_ai.system", "gen_ai.prompt", "gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"}
    assert not used & deprecated


def test_spans_of_somebody_else_are_no_parents(traced: Traced) -> None:
    elsewhere = TracerProvider(shutdown_on_exit=False).get_tracer("web")
    with elsewhere.start_as_current_span("POST /v1/builds"):
        record = a_record(epoch=1)
        traced.spans.taken_up(record)
        traced.spans.put_down(record)
    assert traced.one("invoke_agent buildwright").parent is None


async def no_pause(seconds: float) -> None:
    """Wait for nothing."""


def test_ids_outside_of_builds_are_random() -> None:
    ids = BuildTraceIds()
    with ids.of(a_record().id):
        assert ids.generate_trace_id() == number_of(a_record().id)
    assert ids.generate_trace_id() != ids.generate_trace_id()
