"""Costs: overrides, the bundled table, and honest ignorance."""

from __future__ import annotations

from decimal import Decimal

from app.llm.base import Usage
from app.llm.prices import CallCost, Price, PriceTable

USAGE = Usage(input=10_000, cache_read=8_000, cache_write=1_000, output=500)


def test_cached_parts_are_not_charged_twice() -> None:
    price = Price(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))
    cost = PriceTable({"ours": price}).cost("openai", "ours", USAGE)
    assert cost.usd == Decimal("0.01665")
    assert cost.source == "config"


def test_the_bundled_table_agrees() -> None:
    cost = PriceTable().cost("anthropic", "claude-3-5-sonnet-latest", USAGE)
    assert cost.usd == Decimal("0.01665")
    assert cost.source == "table"
    assert cost.price_version
    assert "genai-prices" in cost.price_version


def test_unknown_is_none_and_never_zero() -> None:
    table = PriceTable()
    assert table.cost("openai", "my-own-llama", USAGE) == CallCost()
    assert table.cost("openai", "gpt-4o", None).usd is None
    assert table.cost("openai", "gpt-4o", Usage(input=1, cache_read=5)).usd is None
    ours = PriceTable({"ours": Price(input=Decimal(3), output=Decimal(15))})
    assert ours.cost("openai", "ours", Usage(input=1, cache_read=5)) == CallCost()  # never less than nothing


def test_a_free_local_model_is_zero_only_when_the_operator_says_so() -> None:
    free = Price(input=Decimal(0), output=Decimal(0))
    assert PriceTable({"llama": free}).cost("openai", "llama", USAGE).usd == 0
