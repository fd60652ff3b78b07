"""The Prometheus text of tool calls."""

from __future__ import annotations

import re
from typing import Any

from app.core.errors import EngineCrashed
from app.model.events import CacheUse, CallOutcome, ToolKind
from app.model.names import Phase
from app.telemetry.prometheus import SECONDS, RequestCounts, ToolCounts
from app.tools.runner import ToolRunner
from tests.fakes.attempts import Bench, HandClock
from tests.fakes.samples import a_complete_record, an_event

LINE = re.compile(r'^[a-z_]+(\{[a-z_]+="(?:[^"\\]|\\.)*"(,[a-z_]+="(?:[^"\\]|\\.)*")*\})? -?[0-9.e+-]+$')


def test_calls_attempts_and_caches_are_counted_apart() -> None:
    counts = ToolCounts()
    first = an_event(1, tool="pob.stats", cache=CacheUse.MISS, outcome=CallOutcome.TIMEOUT, duration_ms=700.0)
    counts.started(first)
    counts.finished(first, last=False)
    second = an_event(2, tool="pob.stats", attempt=2, cache=CacheUse.MISS, duration_ms=90.0)
    counts.started(second)
    counts.finished(second, last=True)
    counts.recorded(an_event(3, tool="pob.stats", cache=CacheUse.HIT, duration_ms=1.0), last=True)
    text = counts.exposition().splitlines()
    assert 'buildwright_tool_attempts_total{tool="pob.stats",outcome="timeout"} 1' in text
    assert 'buildwright_tool_attempts_total{tool="pob.stats",outcome="ok"} 2' in text
    assert 'buildwright_tool_calls_total{tool="pob.stats",kind="pob",phase="construct",outcome="ok"} 2' in text
    assert 'buildwright_tool_cache_requests_total{tool="pob.stats",result="hit"} 1' in text
    assert 'buildwright_tool_cache_requests_total{tool="pob.stats",result="miss"} 1' in text
    assert 'buildwright_tool_duration_seconds_count{tool="pob.stats",phase="construct"} 2' in text
    assert 'buildwright_tool_cached_seconds_count{tool="pob.stats",phase="construct"} 1' in text
    assert 'buildwright_tool_duration_seconds_bucket{tool="pob.stats",phase="construct",le="0.16"} 1' in text
    assert 'buildwright_tool_inflight{tool="pob.stats"} 0' in text
    assert not [line for line in text if not (line.startswith("# ") or LINE.match(line))]


def test_tokens_never_count_what_is_cached_as_uncached() -> None:
    counts = ToolCounts()
    usage = {"input": 10000, "cache_read": 8000, "cache_write": 1000, "output": 500, "reasoning": 200}
    known: dict[str, Any] = {"kind": ToolKind.LLM, "tool": "llm.chat", "tool_version": 'openai "m"\n', "usage": usage}
    counts.recorded(an_event(1, **known, cost_usd="0.01665", cost_source="table"), last=True)
    counts.recorded(an_event(2, **known), last=True)
    text = counts.exposition()
    model = 'model="openai \\"m\\"\\n"'
    assert f'buildwright_llm_tokens_total{{{model},type="input"}} 20000' in text
    assert f"buildwright_llm_uncached_input_tokens_total{{{model}}} 2000" in text
    assert f'buildwright_llm_cost_usd_total{{{model},source="table"}} 0.01665' in text
    assert f"buildwright_llm_unpriced_calls_total{{{model}}} 1" in text


def test_builds_are_counted_by_how_they_ended() -> None:
    counts = ToolCounts()
    counts.ended(a_complete_record())
    assert 'buildwright_runs_total{mode="initial",result="caveats"} 1' in counts.exposition()


def test_every_series_says_what_it_is() -> None:
    clock = HandClock()
    counts, requests = ToolCounts(clock), RequestCounts()
    record = a_complete_record()
    counts.taken_up(record)
    for phase in (Phase.EXPLORE, Phase.EXPLORE, Phase.CONSTRUCT):
        counts.stepping(record.model_copy(update={"state": record.state.model_copy(update={"phase": phase})}))
        clock.passed_ms += 3_000
    counts.put_down(record)
    counts.ended(record)
    requests.add(("GET", "/v1/builds", 200), 0.02)
    counts.recorded(an_event(1, queue_ms=40.0), last=True)
    text = requests.exposition() + counts.exposition()
    typed = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    assert typed == set(re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE))
    series = {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"^(buildwright_[a-z_]+)", text, re.M)}
    assert series <= typed | {re.sub("_(bucket|sum|count)$", "", name) for name in typed}
    assert 'buildwright_phase_duration_seconds_sum{phase="explore"} 6.000000' in text
    assert 'buildwright_phase_duration_seconds_count{phase="construct"} 1' in text
    assert 'buildwright_build_duration_seconds_count{mode="initial",result="caveats"} 1' in text
    assert 'buildwright_http_request_duration_seconds_bucket{method="GET",route="/v1/builds",le="0.02"} 1' in text


def test_buckets_cover_five_minutes() -> None:
    assert list(SECONDS) == sorted(SECONDS)
    assert SECONDS[-1] > 300


async def test_a_runner_tells_who_watches(bench: Bench) -> None:
    counts = ToolCounts()
    tools = ToolRunner(bench.storage.events, bench.clock, observer=counts)
    failures = [EngineCrashed("gone")]

    async def work() -> int:
        if failures:
            raise failures.pop()
        return 1

    await tools.call(bench.scope, ToolKind.POB, "pob.stats", {}, work)
    text = counts.exposition()
    assert 'buildwright_tool_attempts_total{tool="pob.stats",outcome="error"} 1' in text
    assert 'buildwright_tool_calls_total{tool="pob.stats",kind="pob",phase="explore",outcome="ok"} 1' in text
    assert 'buildwright_tool_inflight{tool="pob.stats"} 0' in text
    assert "01J" not in text
