"""What a build will ask of a language model: from stored builds, else from the bounds; unknown prices stay unknown."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from app.core.clock import SystemClock
from app.core.config import Settings
from app.core.errors import ReasonerMissing
from app.metrics.estimates import CostEstimate
from app.model.access import EVERYONE, Access, Permission
from app.model.base import changed
from app.model.names import BuildStatus, Effort
from app.model.usage import UsedChats
from app.search.effort import DIALOGUE
from app.service.estimates import Estimates
from app.service.view import view_of
from app.wiring.reasoners import terms_of
from tests.fakes.samples import a_complete_record
from tests.fakes.stores import MemoryBuildStore

PRICES = {"m1": {"input": Decimal(1), "output": Decimal(2)}, "m2": {"input": Decimal(10), "output": Decimal(20)}}
ONE = frozenset({"openai m1"})


def chats(
    requests: int, *, usd: str | None = "0.5", tokens: int | None = 1000, versions: frozenset[str] = ONE
) -> UsedChats:
    output = None if tokens is None else tokens // 10
    return UsedChats("b", versions, requests, tokens, output, None if usd is None else Decimal(usd))


class Past:
    """What earlier builds asked."""

    def __init__(self, *known: UsedChats) -> None:
        self.known = known
        self.wanted: list[tuple[Effort, datetime, str | None]] = []

    async def chats(self, effort: Effort, until: datetime, owner: str | None = None) -> list[UsedChats]:
        self.wanted.append((effort, until, owner))
        return list(self.known)

    async def chats_of(self, build_id: str) -> UsedChats | None:
        return next((one for one in self.known if one.build_id == build_id), None)


def estimates(past: Past, store: MemoryBuildStore | None = None, **settings: Any) -> Estimates:
    base: dict[str, Any] = {"llm_model": "m1", "llm_api_key": "k", "llm_prices": PRICES}
    return Estimates(store or MemoryBuildStore(), past, terms_of(Settings(**{**base, **settings})), SystemClock())


async def before(past: Past, effort: Effort = Effort.NORMAL, **settings: Any) -> CostEstimate:
    return await estimates(past, **settings).before(effort, "auto", EVERYONE)


async def test_the_median_of_stored_builds() -> None:
    past = Past(chats(10, usd="0.1"), chats(30, usd="0.9", tokens=9000), chats(14, usd="0.25", tokens=3000))
    found = await before(past, Effort.DEEP)
    assert (found.basis, found.builds, found.priced, found.models) == ("builds", 3, 3, ["m1"])
    use = found.expected
    assert (use.requests, use.input_tokens, use.output_tokens, use.usd) == (14, 3000, 300, "0.25")
    assert found.text == (
        "Estimate: 14 requests, 3,000 input tokens, 300 output tokens, 0.25 USD; "
        "the median of 3 stored builds with m1 at deep effort."
    )
    assert [(effort, owner) for effort, _, owner in past.wanted] == [(Effort.DEEP, None)]


async def test_only_builds_of_whoever_asks_are_counted() -> None:
    past = Past(chats(10))
    bob = Access(token="t", owner="bob", permissions=frozenset({Permission.READ}))
    await estimates(past).before(Effort.NORMAL, "auto", bob)
    assert [owner for *_, owner in past.wanted] == ["bob"]


async def test_each_figure_is_of_the_builds_where_it_is_known() -> None:
    found = await before(Past(chats(10), chats(20, usd=None, tokens=None)))
    assert (found.builds, found.priced) == (2, 1)
    assert (found.expected.requests, found.expected.input_tokens, found.expected.usd) == (15, 1000, "0.5")
    assert "(the price: of 1 of them)" in found.text
    unknown = await before(Past(chats(10, usd=None, tokens=None)))
    assert (unknown.expected.input_tokens, unknown.expected.usd) == (None, None)
    assert "? input tokens, ? output tokens, price unknown" in unknown.text


async def test_builds_of_other_models_say_nothing() -> None:
    others = Past(chats(10, versions=frozenset({"openai m2"})), chats(10, versions=ONE | {"openai m2"}))
    assert (await before(others)).basis == "bounds"
    both = await before(others, llm_models={"explore": "m2"})
    assert (both.basis, both.builds, both.models) == ("builds", 1, ["m1", "m2"])


@pytest.mark.parametrize("effort", Effort)
async def test_without_such_a_build_it_is_the_most_that_the_effort_allows(effort: Effort) -> None:
    found, most = await before(Past(), effort), DIALOGUE[effort]
    output = min(most.requests * most.output, most.tokens)
    assert (found.basis, found.builds) == ("bounds", 0)
    assert (found.expected.requests, found.expected.input_tokens) == (most.requests, most.tokens)
    assert found.expected.output_tokens == output
    assert Decimal(found.expected.usd or 0) == pytest.approx(
        Decimal(most.tokens + output) / 1_000_000, abs=Decimal("0.0001")
    )
    assert found.text.startswith(f"Estimate: at most {most.requests} requests, {most.tokens:,} tokens")


async def test_settings_that_allow_less_bound_it() -> None:
    less: dict[str, Any] = {"build_budget_rounds": 5, "build_budget_tokens": 90_000, "build_budget_usd": "0.03"}
    found = (await before(Past(), **less)).expected
    assert (found.requests, found.input_tokens, found.output_tokens, found.usd) == (5, 90_000, 40_960, "0.03")
    more: dict[str, Any] = {"build_budget_rounds": 5000, "build_budget_tokens": 90_000_000, "build_budget_usd": "5000"}
    assert (await before(Past(), **more)).expected == (await before(Past())).expected


async def test_the_dearest_of_several_models_bounds_the_price() -> None:
    one, both = await before(Past()), await before(Past(), llm_models={"explore": "m2"})
    assert Decimal(both.expected.usd or 0) == pytest.approx(10 * Decimal(one.expected.usd or 0), abs=Decimal("0.001"))
    unknown = await before(Past(), llm_models={"explore": "nobody-knows-it"})
    assert unknown.expected.usd is None
    assert "price unknown" in unknown.text


async def test_the_rules_cost_nothing() -> None:
    found = await before(Past(chats(10)), llm_model=None)
    assert (found.basis, found.models, found.expected.requests, found.expected.usd) == ("rules", [], 0, "0")
    assert "nothing is paid" in found.text
    with pytest.raises(ReasonerMissing):
        await estimates(Past(), llm_model=None).before(Effort.NORMAL, "llm", EVERYONE)


async def test_afterwards_it_stands_beside_the_estimate_of_then() -> None:
    record, store = a_complete_record(1), MemoryBuildStore()
    await store.insert(record)
    past = Past(replace_id(chats(12, usd="0.00001"), record.id))
    found = await estimates(past, store).report(record.id)
    assert found is not None
    assert (found.actual.requests, found.actual.usd) == (12, "0.0001"), "what is paid is never written as nothing"
    assert past.wanted[-1][:2] == (record.request.effort, record.created_at)
    assert found.text == f"Language model: {found.actual.text}. Before it began: {found.estimate.text}"
    assert await estimates(past, store).report("another") is None


def replace_id(one: UsedChats, build_id: str) -> UsedChats:
    return one._replace(build_id=build_id)


async def test_a_build_that_was_accepted_stands_whatever_comes_of_its_estimate() -> None:
    store = MemoryBuildStore()
    record = await store.insert(changed(a_complete_record(), status=BuildStatus.QUEUED))
    found = await estimates(Past(chats(10)), store).started(view_of(record), EVERYONE)
    assert found.cost_estimate is not None
    assert (found.id, found.cost_estimate.basis) == (record.id, "builds")
    by_llm = await store.insert(changed(record, id="B", request=changed(record.request, reasoner="llm")))
    gone = changed(record, id="C")
    for one in (by_llm, gone, changed(record, status=BuildStatus.COMPLETE)):
        assert (await estimates(Past(), store, llm_model=None).started(view_of(one), EVERYONE)).cost_estimate is None
    done = view_of(changed(record, status=BuildStatus.COMPLETE))
    assert (await estimates(Past(chats(10)), store).started(done, EVERYONE)).cost_estimate is None
