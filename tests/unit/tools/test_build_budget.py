"""What a build spent, read from its recorded requests."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from app.core.errors import BudgetExceeded, LlmGivenUp
from app.model.events import CallOutcome, ToolEvent, ToolKind
from app.model.names import Phase
from app.tools.limits import BudgetLimits, BuildBudget, Forecast, spent_by
from tests.fakes.attempts import Bench

OK, ERROR, TIMEOUT, CUT = CallOutcome.OK, CallOutcome.ERROR, CallOutcome.TIMEOUT, CallOutcome.CANCELLED


def chat(call: str = "a", outcome: CallOutcome = OK, attempt: int = 1, **more: Any) -> ToolEvent:
    base = {
        "build_id": "b",
        "seq": 1,
        "phase": Phase.EXPLORE,
        "kind": ToolKind.LLM,
        "tool": "llm.chat",
        "call_id": call,
        "attempt": attempt,
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
        "duration_ms": 1000.0,
        "outcome": outcome,
    }
    return ToolEvent.model_validate({**base, **more})


def test_tokens_dollars_seconds_and_requests_add_up() -> None:
    usage = {"input": 700, "output": 300, "cache_read": 600}
    spent = spent_by(
        [chat(usage=usage, cost_usd="0.1"), chat("b", ERROR), chat("b", attempt=2, usage=usage, cost_usd="0.2")]
    )
    assert (spent.tokens, spent.usd, spent.seconds, spent.rounds) == (2000, Decimal("0.3"), 3.0, 3)
    assert (spent.unpriced, spent.failures_in_a_row) == (0, 0)


def test_other_calls_cost_nothing() -> None:
    assert spent_by([chat(tool="pob.stats"), chat(tool="llm.explore")]).rounds == 0


def test_usage_that_was_not_reported_is_estimated_by_size() -> None:
    assert spent_by([chat(args={"bytes": 4000}, bytes_out=400)]).tokens == 1100


@pytest.mark.parametrize(
    ("ends", "failures"),
    [([], 0), ([OK], 0), ([ERROR, TIMEOUT], 2), ([ERROR, OK, ERROR], 1), ([ERROR, CUT, ERROR], 2), ([ERROR, OK], 0)],
)
def test_failures_in_a_row(ends: list[CallOutcome], failures: int) -> None:
    events = [chat(f"c{i}", end) for i, end in enumerate(ends)]
    assert spent_by(events).failures_in_a_row == failures


def test_attempts_of_one_call_are_one_failure() -> None:
    assert spent_by([chat("a", ERROR, attempt) for attempt in (1, 2, 3)]).failures_in_a_row == 1


async def stored(bench: Bench, *events: ToolEvent) -> None:
    for event in events:
        started = await bench.storage.events.start(event.model_copy(update={"build_id": bench.scope.build_id}))
        ending = {
            "outcome": event.outcome,
            "duration_ms": event.duration_ms,
            "usage": event.usage,
            "cost_usd": event.cost_usd,
        }
        await bench.storage.events.finish(started.model_copy(update=ending))


async def test_a_budget_remembers_over_restarts_and_looks_ahead(bench: Bench) -> None:
    await stored(bench, chat(usage={"input": 900, "output": 100}, cost_usd="0.5"))

    def budget(**limits: Any) -> BuildBudget:
        return BuildBudget(bench.storage.events, bench.scope.build_id, BudgetLimits(**limits))

    need = Forecast(tokens=500, usd=Decimal("0.2"))
    allowed = await budget(tokens=2000, seconds=5, rounds=2, usd=1).allow(need)
    assert (allowed.seconds, allowed.tokens) == (4.0, 1000)
    assert (await budget().allow(need)).tokens is None
    used_up: list[tuple[dict[str, Any], str]] = [
        ({"tokens": 1500}, "tokens"),
        ({"usd": "0.7"}, "usd"),
        ({"seconds": 1}, "seconds"),
        ({"rounds": 1}, "rounds"),
    ]
    for limits, which in used_up:
        with pytest.raises(BudgetExceeded) as caught:
            await budget(**limits).allow(need)
        assert caught.value.details["which"] == which


async def test_a_provider_that_keeps_failing_is_given_up(bench: Bench) -> None:
    await stored(bench, chat("a", ERROR), chat("b", TIMEOUT))
    with pytest.raises(LlmGivenUp):
        await BuildBudget(bench.storage.events, bench.scope.build_id, BudgetLimits()).allow(Forecast(1, None))
