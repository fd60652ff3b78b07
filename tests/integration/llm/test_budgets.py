"""Budgets of a build: checked before each request, remembered over restarts, said in a caveat when they end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from app.console.build import make_build
from app.model.names import BuildStatus, Effort
from app.model.record import BuildRequest
from app.search.effort import DIALOGUE
from app.wiring import open_services
from tests.fakes.llm_bench import DELIVERY, PROMPT, LlmBench, llm_bench, llm_settings
from tests.fakes.llm_good import Good
from tests.fakes.llm_server import Asked, Hang, LlmServer, Reaction, Say, answer
from tests.integration.llm.test_builds import make

GOOD = answer({"skill": "Arc", "weapon_types": ["Wand"], "off_hand": "Focus", "reason": "It fits."}, usage=(9000, 1000))


async def steps(bench: LlmBench, most: int = 6) -> tuple[int, Any]:
    """Ask again and again, each time as after a restart; return how many steps the model answered and what ended it."""
    for done in range(most):
        reasoner = bench.next_step()
        await reasoner.explore(bench.ctx, DELIVERY, [])
        if reasoner.remarks.degraded:
            return done, reasoner.remarks
    return most, None


@pytest.mark.parametrize(
    ("limit", "answered", "words"),
    [
        ({"build_budget_tokens": 26_000}, 2, "26000 tokens"),
        ({"build_budget_usd": "0.016"}, 1, "0.016 USD"),
        ({"build_budget_rounds": 3}, 3, "3 requests"),
        ({"build_budget_rounds": 0}, 0, "0 requests"),
    ],
)
async def test_at_the_limit_the_rules_go_on_and_say_so(
    limit: dict[str, Any], answered: int, words: str, tmp_path: Path
) -> None:
    async with LlmServer(lambda _: GOOD) as server, llm_bench(f"{server.url}/v1", tmp_path, **limit) as bench:
        done, remarks = await steps(bench)
        assert done == answered
        assert len(server.requests) == answered
        assert remarks.degraded[0].startswith("explore-damage_delivery: budget_exceeded: ")
        assert words in remarks.caveats[0]
        assert "the rules decided instead" in remarks.caveats[0]


async def test_seconds_end_a_request_under_way(tmp_path: Path) -> None:
    async with (
        LlmServer(lambda _: Hang()) as server,
        llm_bench(f"{server.url}/v1", tmp_path, build_budget_seconds=0.6, llm_timeout_s=30) as bench,
    ):
        began = time.monotonic()
        _, remarks = await steps(bench)
        assert time.monotonic() - began < 15
        assert "seconds" in remarks.caveats[0]
        _, again = await steps(bench)
        assert "0.3 s" in again.caveats[0]
        assert len(server.requests) == 1


async def test_an_unknown_price_cannot_be_kept_within_a_budget_of_dollars(tmp_path: Path) -> None:
    more: dict[str, Any] = {"build_budget_usd": "5", "llm_prices": {}}
    async with LlmServer(lambda _: GOOD) as server, llm_bench(f"{server.url}/v1", tmp_path, **more) as bench:
        done, remarks = await steps(bench)
        assert (done, len(server.requests)) == (0, 0)
        assert "Nobody knows the price" in remarks.caveats[0]


async def test_an_unknown_price_is_recorded_as_unknown_and_not_as_nothing(tmp_path: Path) -> None:
    async with LlmServer(lambda _: GOOD) as server, llm_bench(f"{server.url}/v1", tmp_path, llm_prices={}) as bench:
        await bench.reasoner.explore(bench.ctx, DELIVERY, [])
        (chat,) = await bench.chats()
        assert (chat.cost_usd, chat.cost_source) == (None, "none")


async def test_unreported_usage_counts_by_size(tmp_path: Path) -> None:
    silent = answer({"skill": "Arc", "reason": "It fits."}, usage=None)
    more: dict[str, Any] = {"build_budget_tokens": 30_000}
    async with LlmServer(lambda _: silent) as server, llm_bench(f"{server.url}/v1", tmp_path, **more) as bench:
        done, _ = await steps(bench)
        assert 0 < done < 6
        assert (await bench.chats())[0].usage is None


async def test_a_step_can_have_a_model_of_its_own(tmp_path: Path) -> None:
    more: dict[str, Any] = {"llm_models": {"explore": "bigger"}}
    async with LlmServer(lambda _: GOOD) as server, llm_bench(f"{server.url}/v1", tmp_path, **more) as bench:
        await bench.reasoner.explore(bench.ctx, DELIVERY, [])
        await bench.reasoner.assess(bench.ctx)
        assert [asked.body["model"] for asked in server.requests] == ["bigger", "scripted-1", "scripted-1"]


async def test_anthropic_speaks_its_own_format(tmp_path: Path) -> None:
    more: dict[str, Any] = {"llm_provider": "anthropic"}
    async with LlmServer(lambda _: GOOD) as server, llm_bench(server.url, tmp_path, **more) as bench:
        got = await bench.reasoner.explore(bench.ctx, DELIVERY, [])
        assert got.decision.name == "Arc with wand and focus"
        (asked,) = server.requests
        assert asked.path == "/v1/messages"
        assert "x-api-key" in asked.headers
        assert asked.body["system"][0]["cache_control"] == {"type": "ephemeral"}


def searches_while_it_may(asked: Asked) -> Reaction:
    """Ask for a tool as long as tools may be called."""
    if asked.body["tool_choice"] == "none":
        return GOOD
    return Say(calls=[("search_gems", {"query": f"round {asked.turn}"})])


@pytest.mark.parametrize("effort", Effort)
async def test_effort_bounds_what_one_question_may_ask(effort: Effort, tmp_path: Path) -> None:
    async with LlmServer(searches_while_it_may) as server, llm_bench(f"{server.url}/v1", tmp_path, effort) as bench:
        got = await bench.reasoner.explore(bench.ctx, DELIVERY, [])
        bodies = [asked.body for asked in server.requests]
    assert (got.decision.name, bench.reasoner.remarks.degraded) == ("Arc with wand and focus", ())
    rounds = DIALOGUE[effort].rounds
    assert [body["tool_choice"] == "none" for body in bodies] == [False] * rounds + [True]
    assert {body["max_tokens"] for body in bodies} == {DIALOGUE[effort].output}


@pytest.mark.parametrize(
    ("usage", "limit", "answered", "words"),
    [
        ((9000, 1000), {}, DIALOGUE[Effort.QUICK].requests, "30 requests"),
        ((9000, 1000), {"build_budget_rounds": 1000}, DIALOGUE[Effort.QUICK].requests, "30 requests"),
        ((9000, 1000), {"build_budget_rounds": 2}, 2, "2 requests"),
        ((400_000, 100_000), {}, 2, "1000000 tokens"),
        ((400_000, 100_000), {"build_budget_tokens": 9_000_000}, 2, "1000000 tokens"),
    ],
    ids=["requests", "a setting above", "a setting below", "tokens", "more tokens set"],
)
async def test_effort_bounds_what_a_build_may_ask(
    usage: tuple[int, int], limit: dict[str, Any], answered: int, words: str, tmp_path: Path
) -> None:
    paid = answer({"skill": "Arc", "weapon_types": ["Wand"], "off_hand": "Focus", "reason": "It fits."}, usage=usage)
    async with (
        LlmServer(lambda _: paid) as server,
        llm_bench(f"{server.url}/v1", tmp_path, Effort.QUICK, **limit) as bench,
    ):
        done, remarks = await steps(bench, most=DIALOGUE[Effort.QUICK].requests + 2)
    assert (done, len(server.requests)) == (answered, answered)
    assert words in remarks.caveats[0]


class Patient(Good):
    """Searches in the questions of explore as long as it may."""

    def __call__(self, asked: Asked) -> Reaction:
        if asked.step.startswith("explore") and asked.body["tool_choice"] != "none":
            return Say(calls=[("search_gems", {"query": f"round {asked.turn}"})])
        return super().__call__(asked)


async def test_what_it_will_cost_is_said_before_and_beside_what_it_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = BuildRequest(prompt=PROMPT, level=12, effort=Effort.QUICK)
    async with LlmServer(Good()) as server:
        settings = llm_settings(f"{server.url}/v1", tmp_path, memory="off")
        told = []
        for _ in range(2):
            await make_build(settings, asked, tmp_path / "out", as_json=False)
            told.append(capsys.readouterr())
        sent = len(server.requests) // 2
        async with open_services(settings) as services:
            newest = (await services.library.page()).items[0]
            metrics = await services.recordings.metrics(newest.id)
    first, second = told
    assert first.err.startswith(
        "Estimate: at most 30 requests, 1,000,000 tokens of input and output together, 1.1229 USD"
    )
    usd = f"{sent * 0.0012:.4f}".rstrip("0")
    use = f"{sent} requests, {sent * 1000:,} input tokens, {sent * 100:,} output tokens, {usd} USD"
    estimate = f"Estimate: {use}; the median of 1 stored build with scripted-1 at quick effort."
    assert second.err.startswith(estimate)
    assert f"Language model: {use}. Before it began: Estimate: at most 30 requests" in first.out
    assert f"Language model: {use}. Before it began: {estimate}" in second.out
    assert metrics.language_model is not None
    assert metrics.language_model.estimate.text == estimate
    assert metrics.language_model.actual == metrics.language_model.estimate.expected


@pytest.mark.slow
async def test_more_effort_makes_more_requests_of_a_build(tmp_path: Path) -> None:
    sent = {}
    for effort in Effort:
        own = f"sqlite+aiosqlite:///{tmp_path / f'{effort.value}.db'}"
        async with LlmServer(Patient()) as server:
            made = await make(llm_settings(f"{server.url}/v1", tmp_path, database_url=own, memory="off"), 12, effort)
        assert made.view.status is BuildStatus.COMPLETE
        assert made.view.reasoner.decided == made.view.reasoner.asked
        assert len(server.requests) <= DIALOGUE[effort].requests
        sent[effort] = len(server.requests)
    assert sent[Effort.QUICK] < sent[Effort.NORMAL] < sent[Effort.DEEP]
