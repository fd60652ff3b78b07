"""What a build will ask of its language model, told before it starts, and what it came to, told afterwards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from app.core.clock import Clock
from app.core.errors import NotFound, ReasonerMissing, StorageBusy
from app.llm.base import Usage
from app.llm.prices import PriceTable
from app.metrics.estimates import CostEstimate, CostReport, ModelUse, by_bounds, by_builds, by_rules, report_of, written
from app.model.access import Access
from app.model.names import LOCAL_OWNER, Effort
from app.model.record import ReasonerChoice
from app.search.effort import DIALOGUE
from app.service.builds import FINISHED
from app.service.view import BuildView
from app.storage.base import BuildStore, ChatHistory


@dataclass(frozen=True)
class ModelTerms:
    """On which terms models are asked: wire format, the models of all steps, prices, and what settings allow a build.

    `is_asked` says whether builds of the choice ask them; it raises ReasonerMissing where they should and none is set
    up. Limits: None = those of the effort alone.
    """

    is_asked: Callable[[ReasonerChoice], bool]
    provider: str
    models: tuple[str, ...]
    prices: PriceTable
    requests: int
    tokens: int | None = None
    usd: Decimal | None = None


class StartedBuild(BuildView):
    """A build that was accepted, and what it is expected to ask of a language model.

    `cost_estimate` null: no model is asked, or the store was too busy to tell.
    """

    cost_estimate: CostEstimate | None = None


class Estimates:
    """Estimates from the stored builds of the same models and effort, or else from the bounds of the effort."""

    def __init__(self, builds: BuildStore, history: ChatHistory, terms: ModelTerms, clock: Clock) -> None:
        self._builds = builds
        self._history = history
        self._terms = terms
        self._clock = clock

    async def before(self, effort: Effort, choice: ReasonerChoice, access: Access) -> CostEstimate:
        """Return what a build that is begun now is expected to ask.

        Raises:
            ReasonerMissing: a language model is asked for and not set up.
        """
        if not self._terms.is_asked(choice):
            return by_rules(effort)
        return await self._estimate(effort, self._terms.models, access.only, self._clock.now())

    async def started(self, build: BuildView, access: Access) -> StartedBuild:
        """Return the build that was accepted with what it is expected to ask; a finished one asks nothing any more.

        Nothing is raised: that would hide a build that was accepted from its caller.
        """
        found = None
        if build.status not in FINISHED and self._terms.models:  # without a model nothing needs to be looked up
            with suppress(NotFound, ReasonerMissing, StorageBusy):
                request = (await self._builds.get(build.id)).request
                found = await self.before(request.effort, request.reasoner, access)
        return StartedBuild(**dict(build), cost_estimate=found if found and found.models else None)

    async def report(self, build_id: str) -> CostReport | None:
        """Return what a build asked so far, beside the estimate of when it was asked for; None where it asked nothing.

        Raises:
            NotFound: no such build.
        """
        chats = await self._history.chats_of(build_id)
        if chats is None:
            return None
        record = await self._builds.get(build_id)
        owner = None if record.owner == LOCAL_OWNER else record.owner
        models = tuple(sorted(name.partition(" ")[2] for name in chats.versions))
        return report_of(await self._estimate(record.request.effort, models, owner, record.created_at), chats)

    async def _estimate(self, effort: Effort, models: tuple[str, ...], owner: str | None, at: datetime) -> CostEstimate:
        versions = frozenset(f"{self._terms.provider} {model}" for model in models)
        found = await self._history.chats(effort, at, owner)
        known = [one for one in found if one.versions == versions]
        return by_builds(effort, models, known) if known else by_bounds(effort, models, self._most(effort, models))

    def _most(self, effort: Effort, models: tuple[str, ...]) -> ModelUse:
        """Return the most that a build may ask: by the effort, or by the settings where they allow less."""
        limits, terms = DIALOGUE[effort], self._terms
        requests = min(limits.requests, terms.requests)
        tokens = limits.tokens if terms.tokens is None else min(limits.tokens, terms.tokens)
        output = min(requests * limits.output, tokens)
        prices = [self._dearest(model, requests, tokens, output) for model in models]
        known = [price for price in prices if price is not None]
        dearest = max(known, default=Decimal())
        most = dearest if terms.usd is None else min(terms.usd, dearest)
        usd = written(most) if len(known) == len(prices) else None
        return ModelUse(requests=requests, input_tokens=tokens, output_tokens=output, usd=usd)

    def _dearest(self, model: str, requests: int, tokens: int, output: int) -> Decimal | None:
        """Return what so many tokens cost at most: in many requests, or in few where long ones have a higher rate."""
        whole = Usage(input=tokens - output, output=output)
        each = Usage(input=whole.input // max(requests, 1), output=whole.output // max(requests, 1))
        one, many = (self._terms.prices.cost(self._terms.provider, model, use).usd for use in (whole, each))
        return None if one is None or many is None else max(one, many * requests)
