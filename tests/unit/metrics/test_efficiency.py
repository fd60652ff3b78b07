"""Metrics against vectors whose figures were worked out by hand."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from app.metrics.efficiency import Metrics, measure
from app.metrics.figures import union_ms
from app.model.events import CacheUse, CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase

START = datetime(2026, 1, 1, tzinfo=UTC)
BUDGETS = {"llm.extract": 8000.0, "llm.plan": 20000.0, "pob.calc": 1500.0}
MISS, HIT, BYPASS, NEVER = CacheUse.MISS, CacheUse.HIT, CacheUse.BYPASS, CacheUse.UNCACHEABLE
OK, ERROR, TIMEOUT = CallOutcome.OK, CallOutcome.ERROR, CallOutcome.TIMEOUT


class Log:
    """Writes events as a recorder would."""

    def __init__(self) -> None:
        self.events: list[ToolEvent] = []
        self._ids = count(1)

    def add(
        self,
        tool: str,
        start_ms: float,
        duration_ms: float | None,
        outcome: CallOutcome = OK,
        cache: CacheUse = NEVER,
        key: str = "",
        **more: Any,
    ) -> Log:
        known: dict[str, Any] = {
            "build_id": "b",
            "seq": len(self.events) + 1,
            "phase": Phase.CONSTRUCT,
            "kind": ToolKind.LLM if tool.startswith("llm") else ToolKind.POB,
            "tool": tool,
            "call_id": f"c{next(self._ids)}",
            "started_at": START + timedelta(milliseconds=start_ms),
            "duration_ms": duration_ms,
            "outcome": outcome,
            "cache": cache,
            "args_sha256": key or str(len(self.events)),
        }
        self.events.append(ToolEvent(**(known | more)))
        return self

    def measure(self, usd: float | None = None, ended: bool = True) -> Metrics:
        return measure(self.events, ended=ended, target_ms=BUDGETS, budget_usd=usd)


def rounded(metrics: Metrics) -> tuple[float | None, ...]:
    found = metrics.efficiency
    return tuple(
        None if v is None else round(v, 4) for v in (found.reliability, found.time, found.use, found.cost, found.score)
    )


def test_v1_a_run_with_everything() -> None:
    log = Log().add("llm.extract", 0, 4000, cost_usd="0.004")
    log.add("pob.calc", 4000, 1000, cache=MISS, key="A").add("pob.calc", 4000, 3000, cache=MISS, key="B")
    log.add("pob.calc", 7000, 500, TIMEOUT, MISS, "C", call_id="c4")
    log.add("pob.calc", 7700, 1300, OK, MISS, "C", call_id="c4", attempt=2)
    metrics = log.add("pob.calc", 9000, 2, cache=HIT, key="A").measure(0.01)
    run = metrics.run
    assert (run.calls, run.attempts, run.retries, run.success_rate) == (5, 6, 1, 1.0)
    assert (run.first_attempt_success_rate, round(run.attempt_yield or 0, 4)) == (0.8, 0.8333)
    assert (run.latency_samples, run.mean_ms, run.p50_ms, run.p95_ms, run.max_ms) == (5, 1960, 1300, None, 4000)
    assert (run.cache_lookups, run.cache_hit_rate, run.repeat_lookups, run.repeat_hit_rate) == (5, 0.2, 1, 1.0)
    assert (run.avoidable, run.wasted_ms, run.sum_ms, run.busy_ms) == (0, 500, 9802, 8802)
    assert round(run.concurrency or 0, 4) == 1.1136
    assert rounded(metrics) == (0.8333, 0.875, 1, 1, 0.8991)


def test_v2_a_quick_failure_scores_nothing() -> None:
    metrics = Log().add("pob.calc", 0, 1, ERROR, MISS).measure()
    assert (metrics.run.success_rate, metrics.run.p50_ms, metrics.run.max_ms) == (0, None, None)
    assert metrics.efficiency.score == 0


def test_v3_nothing_is_no_data_and_still_json() -> None:
    metrics = measure([])
    run = metrics.run
    assert (run.calls, run.loops, run.executed) == (0, 0, 0)
    rates = (run.success_rate, run.first_attempt_success_rate, run.attempt_yield, run.cache_hit_rate, run.concurrency)
    times = (run.p50_ms, run.p95_ms, run.max_ms, run.mean_ms, run.busy_ms, run.sum_ms, run.wasted_ms)
    assert set(rates) | set(times) == {None}
    assert rounded(metrics) == (None,) * 5
    assert json.loads(metrics.model_dump_json())["phases"] == []


@pytest.mark.parametrize(("duration", "time", "score"), [(20000, 1.0, 1.0), (40000, 0.5, 0.8409)])
def test_v4_v5_a_long_call_is_measured_by_its_own_budget(duration: float, time: float, score: float) -> None:
    metrics = Log().add("llm.plan", 0, duration, cost_usd="0.02").measure(0.02)
    assert rounded(metrics)[1] == time
    assert rounded(metrics)[4] == score


def test_v6_a_loop_is_seen_even_when_the_cache_answers() -> None:
    log = Log().add("pob.calc", 0, 1000, cache=MISS, key="A")
    for n in range(99):
        log.add("pob.calc", 2000 + n, 1, cache=HIT, key="A")
    metrics = log.measure()
    assert (metrics.run.cache_hit_rate, metrics.run.avoidable, metrics.run.loops) == (0.99, 0, 1)
    assert metrics.efficiency.score == 1.0


def test_v7_distinct_misses_are_no_waste() -> None:
    log = Log()
    for n in range(4):
        log.add("pob.calc", n * 1000, 1000, cache=MISS)
    metrics = log.measure()
    assert (metrics.run.cache_hit_rate, metrics.run.repeat_hit_rate, metrics.run.loops) == (0, None, 0)
    assert metrics.efficiency.score == 1.0


def test_v8_asking_again_could_have_been_avoided() -> None:
    log = Log()
    for n in range(4):
        log.add("pob.calc", n * 1000, 1000, cache=BYPASS, key="A")
    metrics = log.measure()
    assert (metrics.run.avoidable, metrics.run.avoidable_ms) == (3, 3000)
    assert rounded(metrics)[2:] == (0.25, None, 0.7217)


def test_v9_an_unknown_price_is_not_zero() -> None:
    log = Log().add("llm.plan", 0, 5000, cost_usd="0.01").add("llm.plan", 5000, 5000)
    metrics = log.measure(0.05)
    assert (metrics.run.cost_usd, metrics.run.unpriced_calls) == ("0.01", 1)
    assert rounded(metrics)[3:] == (None, 1.0)


def test_v10_a_call_that_needed_three_attempts() -> None:
    log = Log()
    for attempt, outcome in enumerate((TIMEOUT, TIMEOUT, OK), start=1):
        log.add("pob.calc", attempt * 1000, 1000, outcome, MISS, "A", call_id="c", attempt=attempt)
    metrics = log.measure()
    assert (metrics.run.success_rate, metrics.run.first_attempt_success_rate) == (1.0, 0.0)
    assert (metrics.run.wasted_ms, metrics.run.loops) == (2000, 0)
    assert rounded(metrics)[0] == 0.3333
    assert rounded(metrics)[4] == 0.5963


def test_v11_a_mixed_run() -> None:
    log = Log().add("llm.plan", 0, 10000, cost_usd="0.02").add("pob.calc", 10000, 900, cache=MISS, key="A")
    log.add("pob.calc", 11000, 900, ERROR, MISS, "B").add("pob.calc", 12000, 3000, OK, MISS, "A")
    metrics = log.measure(0.01)
    run = metrics.run
    assert (run.success_rate, run.cache_hit_rate, run.repeat_hit_rate, run.avoidable, run.wasted_ms) == (
        0.75, 0, 0, 1, 900,
    )  # fmt: skip
    assert rounded(metrics) == (0.75, 0.8333, 0.75, 0.5, 0.7246)


def test_v12_the_worst_time_is_floored() -> None:
    assert rounded(Log().add("pob.calc", 0, 600000, cache=MISS).measure())[4] == 0.4143


def test_percentiles_are_by_nearest_rank_and_need_samples() -> None:
    few, many = Log(), Log()
    for n in (400, 100, 300, 200):
        few.add("pob.calc", 0, n)
    for n in range(1, 101):
        many.add("pob.calc", 0, n)
    assert (few.measure().run.p50_ms, few.measure().run.p95_ms) == (200, None)
    assert (many.measure().run.p50_ms, many.measure().run.p95_ms, many.measure().run.max_ms) == (50, 95, 100)


def test_busy_time_is_the_union_of_intervals() -> None:
    log = Log().add("a", 20, 10).add("b", 5, 10).add("a", 0, 10)
    assert (log.measure().run.busy_ms, log.measure().run.sum_ms) == (25, 30)


def test_an_unfinished_call_counts_as_failed_only_after_the_end() -> None:
    log = Log().add("pob.calc", 0, 10).add("pob.calc", 20, None, CallOutcome.INCOMPLETE)
    running, ended = log.measure(ended=False).run, log.measure().run
    assert (running.success_rate, ended.success_rate) == (1.0, 0.5)
    assert (running.incomplete_calls, ended.incomplete_calls) == (1, 1)
    assert running.sum_ms == ended.sum_ms == 10


def test_a_call_is_not_counted_twice_for_the_calls_inside_it() -> None:
    log = Log().add("rules.explore", 0, 100, call_id="outer")
    log.add("pob.stats", 10, 50, parent_call_id="outer").add("pob.stats", 60, 30, ERROR, parent_call_id="outer")
    metrics = log.measure()
    assert (metrics.run.sum_ms, metrics.run.busy_ms, metrics.run.wasted_ms) == (80, 100, 30)
    stats, outer = metrics.phases[0].tools
    assert (stats.tool, stats.sum_ms, outer.tool, outer.sum_ms) == ("pob.stats", 80, "rules.explore", 0)


def test_rejected_calls_have_no_latency() -> None:
    log = Log().add("llm.plan", 0, 0, CallOutcome.REJECTED).add("llm.plan", 0, 100, cost_usd="0.1")
    assert (log.measure().run.latency_samples, log.measure().run.executed, log.measure().run.p50_ms) == (1, 1, 100)
    assert log.measure().run.unpriced_calls == 0


def test_phases_and_tools_add_up_to_the_run() -> None:
    chance, log = random.Random(7), Log()
    for n in range(200):
        phase = chance.choice([Phase.EXPLORE, Phase.CONSTRUCT])
        log.add(f"pob.{chance.choice('abc')}", n * 10, chance.uniform(1, 20), chance.choice([OK, ERROR]), phase=phase)
    metrics = log.measure()
    assert {phase.phase for phase in metrics.phases} == {Phase.EXPLORE, Phase.CONSTRUCT}
    for name in ("calls", "attempts", "ok_calls", "executed", "sum_ms", "wasted_ms"):
        whole = getattr(metrics.run, name)
        assert sum(getattr(phase, name) for phase in metrics.phases) == pytest.approx(whole)
        assert sum(getattr(tool, name) for phase in metrics.phases for tool in phase.tools) == pytest.approx(whole)
    assert all([t.tool for t in p.tools] == sorted(t.tool for t in p.tools) for p in metrics.phases)


def test_intervals_tokens_and_walls_come_with_the_rates() -> None:
    log = Log()
    for n in range(12):
        log.add("pob.calc", n * 100, 50, OK if n < 9 else ERROR, MISS)
    log.add("llm.plan", 2000, 300, usage={"input": 100, "output": 5, "cache_read": 80}, cost_usd="0.01")
    log.add("llm.plan", 2500, 300, usage={"input": 10, "output": 1})
    run = log.measure().phases[0].tools[1]
    assert run.success_interval is not None
    assert (round(run.success_interval.low, 4), round(run.success_interval.high, 4)) == (0.4677, 0.9111)
    whole = log.measure().run
    assert whole.tokens == {"cache_read": 80, "input": 110, "output": 6}
    assert (whole.cost_usd, whole.unpriced_calls, whole.cost_complete) == ("0.01", 1, False)
    assert (whole.wall_ms, whole.busy_ms, whole.idle_ms) == (2800, 1200, 1600)
    assert {bound: n for bound, n in whole.histogram.items() if n} == {"0.08": 9, "0.32": 2}


def test_hits_save_what_making_the_answer_took() -> None:
    log = Log().add("pob.calc", 6000, 10, cache=HIT, key="A", original_ms=2000)
    log.add("pob.calc", 7000, 5000, cache=HIT, key="B", original_ms=100)
    assert (log.measure().run.saved_ms, log.measure().run.cached) == (1990, 2), "also where nothing was executed"
    log.add("pob.calc", 9000, 10, cache=HIT, key="C", phase=Phase.EXPLORE)
    assert [phase.saved_ms for phase in log.measure().phases] == [1990, None], "unknown is not nothing"
    assert log.measure().run.saved_ms == 1990
    assert Log().add("pob.calc", 0, 5, cache=MISS).measure().run.saved_ms == 0
    assert Log().add("pob.calc", 0, 5, cache=HIT).measure().run.saved_ms is None
    assert Log().add("pob.calc", 0, 5).measure().run.saved_ms is None


@pytest.mark.parametrize(
    ("sources", "whole"),
    [
        ([], None),
        (["provider", "provider"], "provider"),
        (["table", "provider"], "mixed"),
        ([None], "none"),
        (["table", None], "mixed"),
    ],
)
def test_whoever_said_the_cost_is_named(sources: list[str | None], whole: str | None) -> None:
    log = Log().add("pob.calc", 0, 1)
    for number, source in enumerate(sources):
        known: dict[str, Any] = {} if source is None else {"cost_usd": "0.1", "cost_source": source}
        log.add("llm.plan", number, 1, **known)
    assert log.measure().run.cost_source == whole
    assert log.measure().phases[0].tools[-1].cost_source is None, "a calculator costs nothing"


def test_the_union_of_intervals() -> None:
    assert union_ms([(0, 10), (5, 15), (20, 30)]) == 25
    assert union_ms([]) == 0


def test_a_phase_entered_again_does_not_count_what_came_between() -> None:
    log = Log().add("pob.calc", 0, 100, phase=Phase.EXPLORE, key="A").add("pob.calc", 100, 900, key="B")
    log.add("pob.calc", 1000, 50, phase=Phase.EXPLORE, key="A")
    found = log.measure()
    assert {phase.phase: phase.wall_ms for phase in found.phases} == {Phase.EXPLORE: 150.0, Phase.CONSTRUCT: 900.0}
    assert found.run.wall_ms == 1050.0
    assert found.phases[0].idle_ms == 0.0


def test_equal_calls_of_two_stays_in_a_phase_are_no_loop() -> None:
    log = Log()
    for start, phase in ((0, Phase.EXPLORE), (10, Phase.EXPLORE), (20, Phase.CONSTRUCT), (30, Phase.EXPLORE)):
        log.add("pob.calc", start, 5, phase=phase, key="A")
    assert log.measure().run.loops == 0
    assert log.add("pob.calc", 40, 5, phase=Phase.EXPLORE, key="A").measure().run.loops == 0
    assert log.add("pob.calc", 50, 5, phase=Phase.EXPLORE, key="A").measure().run.loops == 1
