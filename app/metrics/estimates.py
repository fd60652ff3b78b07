"""What a build asks of a language model: estimated before it starts, and what it came to beside that."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_UP, Decimal
from statistics import median
from typing import Literal

from app.model.base import Model
from app.model.names import Effort
from app.model.usage import UsedChats

_FINEST = Decimal("0.0001")


class ModelUse(Model):
    """Requests to a language model, repeated ones too, tokens, and USD; null = nobody knows."""

    requests: int
    input_tokens: int | None
    output_tokens: int | None
    usd: str | None

    @property
    def text(self) -> str:
        """Return it in words."""
        known = {"input": self.input_tokens, "output": self.output_tokens}
        tokens = [f"{'?' if count is None else f'{count:,}'} {kind} tokens" for kind, count in known.items()]
        price = "price unknown" if self.usd is None else f"{self.usd} USD"
        return ", ".join([f"{self.requests} request{'' if self.requests == 1 else 's'}", *tokens, price])


class CostEstimate(Model):
    """What a build of the effort is expected to ask of its language models.

    `basis`: builds = the median of `builds` stored ones of the same models and effort, of which `priced` have a known
    price; bounds = the most that it may ask, where input and output together are no more than `expected.input_tokens`;
    rules = no model is asked. `models` are those of all steps. `text` says it in a sentence.
    """

    effort: Effort
    models: list[str]
    basis: Literal["builds", "bounds", "rules"]
    builds: int
    priced: int
    expected: ModelUse
    text: str


class CostReport(Model):
    """What a build asked of its language models so far, beside the estimate of the time when it was asked for."""

    estimate: CostEstimate
    actual: ModelUse
    text: str


NOTHING = ModelUse(requests=0, input_tokens=0, output_tokens=0, usd="0")


def by_rules(effort: Effort) -> CostEstimate:
    """Return the estimate of a build that asks no model."""
    text = "The rules decide: no language model is asked, and nothing is paid for one."
    return CostEstimate(effort=effort, models=[], basis="rules", builds=0, priced=0, expected=NOTHING, text=text)


def by_builds(effort: Effort, models: Sequence[str], known: Sequence[UsedChats]) -> CostEstimate:
    """Return the medians of stored builds, of which there is at least one; each figure of those where it is known."""
    prices = [one.usd for one in known if one.usd is not None]
    expected = ModelUse(
        requests=round(median(one.requests for one in known)),
        input_tokens=_middle([one.input for one in known if one.input is not None]),
        output_tokens=_middle([one.output for one in known if one.output is not None]),
        usd=written(median(prices)) if prices else None,
    )
    made = f"{len(known)} stored build{'' if len(known) == 1 else 's'}"
    of_price = f" (the price: of {len(prices)} of them)" if 0 < len(prices) < len(known) else ""
    text = f"Estimate: {expected.text}; the median of {made} with {_with(models, effort)}{of_price}."
    return CostEstimate(
        effort=effort,
        models=[*models],
        basis="builds",
        builds=len(known),
        priced=len(prices),
        expected=expected,
        text=text,
    )


def by_bounds(effort: Effort, models: Sequence[str], most: ModelUse) -> CostEstimate:
    """Return the estimate where no such build is stored: the most that one may ask."""
    price = "price unknown" if most.usd is None else f"{most.usd} USD"
    text = (
        f"Estimate: at most {most.requests} requests, {most.input_tokens or 0:,} tokens of input and output together, "
        f"{price}: the bounds; no finished build with {_with(models, effort)} is stored yet."
    )
    return CostEstimate(effort=effort, models=[*models], basis="bounds", builds=0, priced=0, expected=most, text=text)


def use_of(chats: UsedChats) -> ModelUse:
    """Return what a build asked."""
    usd = None if chats.usd is None else written(chats.usd)
    return ModelUse(requests=chats.requests, input_tokens=chats.input, output_tokens=chats.output, usd=usd)


def report_of(estimate: CostEstimate, chats: UsedChats) -> CostReport:
    """Return what was asked beside the estimate."""
    actual = use_of(chats)
    return CostReport(
        estimate=estimate, actual=actual, text=f"Language model: {actual.text}. Before it began: {estimate.text}"
    )


def _with(models: Sequence[str], effort: Effort) -> str:
    return f"{', '.join(models)} at {effort.value} effort"


def _middle(figures: Sequence[int]) -> int | None:
    return round(median(figures)) if figures else None


def written(usd: Decimal) -> str:
    """Return the price to a hundredth of a cent, rounded up: what is paid is never written as nothing."""
    return f"{usd.quantize(_FINEST, ROUND_UP).normalize():f}"
