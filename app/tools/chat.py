"""A language model whose requests are recorded, priced and kept within a budget; implements ChatModel over another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.core.errors import BudgetExceeded, LlmBusy, LlmError
from app.llm.base import CHARS_PER_TOKEN, FREE, ChatModel, Form, Judge, Message, OuterChat, Reply, ToolSpec, Usage
from app.llm.prices import CallCost, PriceTable
from app.model.events import ANSWER_REJECTED, CHAT, CallOutcome, ToolKind
from app.tools.limits import BuildBudget, Forecast
from app.tools.payload import canonical_digest
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

ATTEMPTS: Final = 3
LONGEST_WAIT_S: Final = 20.0
"""A provider that asks to wait longer than this is not waited for."""

_LEAST_OUTPUT = 256


class RecordedChat(OuterChat):
    """The language model of one step: each request becomes a tool event `llm.chat` with usage and cost.

    Failures that a repeat can help are tried three times in all, waiting as long as the provider asks.
    """

    def __init__(
        self, inner: ChatModel, tools: ToolRunner, scope: Scope, budget: BuildBudget, prices: PriceTable
    ) -> None:
        super().__init__(inner)
        self._tools = tools
        self._scope = scope
        self._budget = budget
        self._prices = prices

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
        judge: Judge | None = None,
    ) -> Reply:
        """Ask within the budget; a reply that `judge` cannot use is recorded as paid for and unsuccessful.

        Raises:
            BudgetExceeded: a limit is reached, before or while asking.
            LlmGivenUp: the provider failed too often during this build.
            LlmError: whatever the last attempt raised.
        """
        size = sum(len(m.content) + 16 for m in messages) + sum(len(str(t.parameters)) for t in tools)
        tokens = size // CHARS_PER_TOKEN
        allowed = await self._budget.allow(Forecast(tokens, self._cost(Usage(input=tokens)).usd))
        most = max_output_tokens
        if allowed.tokens is not None:  # input and output together fit the tokens that are left
            most = max(_LEAST_OUTPUT, min(most, allowed.tokens - tokens))
        args = {
            "messages": len(messages),
            "tools": [tool.name for tool in tools],
            "bytes": size,
            "sha256": canonical_digest(list(messages)).sha256,
        }

        problem = ""

        async def ask() -> Reply:
            nonlocal problem
            try:
                reply = await self._inner.complete(messages, tools, most, form)
                problem = "" if judge is None else await judge(reply)
                return reply
            except LlmError as error:
                # A provider that asks to wait too long is not asked again.
                wait_s = error.details.get("retry_after_s")
                if isinstance(wait_s, float) and wait_s > LONGEST_WAIT_S:
                    raise LlmBusy(f"the provider asks to wait {wait_s:g} s", retry_after_s=wait_s) from error
                raise

        def told(reply: Reply) -> Mapping[str, Any]:
            rejected = {"outcome": CallOutcome.ERROR, "error_type": ANSWER_REJECTED, "error_message": problem[:200]}
            return {**self._priced(reply), **(rejected if problem else {})}

        version = f"{self.provider} {self.model}"
        try:
            async with asyncio.timeout(allowed.seconds) as deadline:
                return await self._tools.call(
                    self._scope, ToolKind.LLM, CHAT, args, ask, version=version, retries=ATTEMPTS, describe=told
                )
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise BudgetExceeded("The seconds for the language model are used up.", which="seconds") from error

    def _priced(self, reply: Reply) -> Mapping[str, Any]:
        cost = self._cost(reply.usage)
        if reply.cost_usd is not None:
            cost = CallCost(usd=reply.cost_usd, source="provider")
        return {
            "usage": None if reply.usage is None else reply.usage.model_dump(),
            "cost_usd": None if cost.usd is None else str(cost.usd),
            "cost_source": cost.source,
            "price_version": cost.price_version,
        }

    def _cost(self, usage: Usage | None) -> CallCost:
        return self._prices.cost(self.provider, self.model, usage)
