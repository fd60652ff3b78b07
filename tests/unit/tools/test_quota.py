"""Quotas: looked at before each attempt, recorded when they refuse, and counted on what is stored."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from app.core.errors import BudgetExceeded, EngineCrashed
from app.metrics.efficiency import measure
from app.model.events import CallOutcome, ToolKind
from app.telemetry.prometheus import ToolCounts
from app.tools.cache import Cacheable, ResultCache, json_codec
from app.tools.limits import Quota, QuotaLimits
from app.tools.runner import ToolRunner
from tests.fakes.attempts import Bench

PRICED = {"usage": {"input": 900, "output": 100, "cache_read": 800}, "cost_usd": "0.02", "cost_source": "table"}


def limited(bench: Bench, counts: ToolCounts | None = None, **limits: Any) -> ToolRunner:
    quota = Quota(bench.storage.events, QuotaLimits(**limits), bench.clock)
    return ToolRunner(bench.storage.events, bench.clock, quota=quota, observer=counts, sleep=no_pause)


async def no_pause(seconds: float) -> None:
    return


async def ask(bench: Bench, tools: ToolRunner, fail: bool = False, kind: ToolKind = ToolKind.POB) -> int:
    async def work() -> int:
        if fail:
            raise EngineCrashed("gone")
        return 7

    describe = (lambda _: PRICED) if kind is ToolKind.LLM else None
    name = "llm.chat" if kind is ToolKind.LLM else "pob.stats"
    return await tools.call(bench.scope, kind, name, {}, work, version="m", describe=describe)


async def test_one_call_too_many_is_rejected_and_recorded_as_that(bench: Bench) -> None:
    counts = ToolCounts()
    tools = limited(bench, counts, build_calls=2)
    assert [await ask(bench, tools) for _ in range(2)] == [7, 7]
    with pytest.raises(BudgetExceeded) as refused:
        await ask(bench, tools)
    assert refused.value.details["which"] == "build_calls"
    event = (await bench.events())[-1]
    assert (event.outcome, event.duration_ms, event.cost_usd) == (CallOutcome.REJECTED, 0.0, None)
    assert event.error_type == "build_calls"
    run = measure(await bench.events()).run
    assert (run.calls, run.ok_calls, run.executed, run.latency_samples) == (3, 2, 2, 2)
    assert 'buildwright_quota_rejections_total{scope="build_calls"} 1' in counts.exposition()


async def test_each_attempt_counts_and_a_restart_forgets_nothing(bench: Bench) -> None:
    with pytest.raises(BudgetExceeded):
        await ask(bench, limited(bench, build_calls=2), fail=True)
    assert [e.outcome for e in await bench.events()] == [CallOutcome.ERROR, CallOutcome.ERROR, CallOutcome.REJECTED]
    with pytest.raises(BudgetExceeded):
        await ask(bench, limited(bench, build_calls=2))
    assert await ask(bench, limited(bench, build_calls=3)) == 7


@pytest.mark.parametrize(
    ("limits", "which"),
    [
        ({"day_calls": 2}, "day_calls"),
        ({"day_tokens": 2000}, "day_tokens"),
        ({"day_usd": Decimal("0.04")}, "day_usd"),
    ],
)
async def test_what_is_used_in_a_day_is_bounded_until_midnight(
    bench: Bench, limits: dict[str, Any], which: str
) -> None:
    tools = limited(bench, **limits)
    for _ in range(2):
        await ask(bench, tools, kind=ToolKind.LLM)
        bench.clock.passed_ms += 1500
    with pytest.raises(BudgetExceeded) as refused:
        await ask(bench, tools, kind=ToolKind.LLM)
    assert refused.value.details["which"] == which
    bench.clock.passed_ms += timedelta(days=1).total_seconds() * 1000
    assert await ask(bench, tools, kind=ToolKind.LLM) == 7


async def test_answers_from_the_cache_are_no_calls(bench: Bench) -> None:
    quota = Quota(bench.storage.events, QuotaLimits(build_calls=1, day_calls=1), bench.clock)
    cache = ResultCache(bench.storage.results, None, bench.clock)
    tools = ToolRunner(bench.storage.events, bench.clock, quota=quota, cache=cache)

    async def work() -> int:
        return 7

    for _ in range(4):
        await tools.call(bench.scope, ToolKind.POB, "pob.stats", {}, work, cacheable=Cacheable(json_codec(int), "f"))
    used = await bench.storage.events.used(bench.scope.build_id)
    assert used.calls == 1


async def test_without_limits_nothing_is_asked(bench: Bench) -> None:
    class Silent:
        async def used(self, build_id: str | None = None, since: object = None) -> Any:
            raise AssertionError("nobody wants to know")

    await Quota(Silent(), QuotaLimits(), bench.clock).admit("b")


async def test_used_sums_what_is_stored(bench: Bench) -> None:
    tools = limited(bench)
    for _ in range(3):
        await ask(bench, tools, kind=ToolKind.LLM)
    await ask(bench, tools)
    used = await bench.storage.events.used(bench.scope.build_id)
    assert (used.calls, used.tokens, used.usd) == (4, 3000, Decimal("0.06"))
    assert (await bench.storage.events.used(since=bench.clock.now() + timedelta(seconds=1))).calls == 0
