"""What a request costs: the operator's override table first, then the bundled price library; unknown stays unknown.

The library (genai-prices) ships its table and is used offline; its version is recorded with every cost. A local
server's model is usually in no table: its cost is None, never 0, unless the override table names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Literal

import genai_prices

from app.llm.base import Usage
from app.model.base import Model

_MILLION = Decimal(1_000_000)


class Price(Model):
    """USD per million tokens."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None


class CallCost(Model):
    """`usd` is None when nobody knows the price; `source` is who said it; `price_version` names the table."""

    usd: Decimal | None = None
    source: Literal["provider", "config", "table", "none"] = "none"
    price_version: str | None = None


class PriceTable:
    """Prices by model name; `overrides` win over the library.

    `api_url`: the address that is asked instead of the provider's own; another host may charge other prices, so the
    library must know that host.
    """

    def __init__(self, overrides: Mapping[str, Price] | None = None, api_url: str | None = None) -> None:
        self._overrides = dict(overrides or {})
        self._api_url = api_url
        self._version = f"genai-prices {version('genai-prices')}"

    def cost(self, provider: str, model: str, usage: Usage | None, at: datetime | None = None) -> CallCost:
        """Return the cost of one request; without usage, or where its figures contradict each other, it is unknown."""
        if usage is None or usage.cache_read + usage.cache_write > usage.input:
            return CallCost()
        if price := self._overrides.get(model):
            return CallCost(usd=_charge(price, usage), source="config", price_version="config")
        sizes = genai_prices.Usage(
            input_tokens=usage.input,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        )
        try:
            host = self._api_url
            if host is not None:
                found = genai_prices.calc_price(sizes, model, provider_api_url=host, genai_request_timestamp=at)
            else:
                found = genai_prices.calc_price(sizes, model, provider_id=provider, genai_request_timestamp=at)
        except (LookupError, ValueError):  # unknown model; figures that contradict each other
            return CallCost()
        return CallCost(usd=found.total_price, source="table", price_version=self._version)


def _charge(price: Price, usage: Usage) -> Decimal:
    """Cached parts are counted inside `input`, so they are taken out before the plain rate applies."""
    read = price.cache_read if price.cache_read is not None else price.input
    write = price.cache_write if price.cache_write is not None else price.input
    plain = usage.input - usage.cache_read - usage.cache_write
    total = plain * price.input + usage.cache_read * read + usage.cache_write * write + usage.output * price.output
    return total / _MILLION
