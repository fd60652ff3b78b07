"""Which reasoner serves whom, and what the language-model reasoner is made of."""

from __future__ import annotations

from typing import Literal

from app.core.config import LlmStep, Settings, resource_dir
from app.core.errors import ReasonerMissing
from app.llm.addresses import AddressRule
from app.llm.chat import HttpChatModel
from app.llm.prices import Price, PriceTable
from app.llm.transcript import ChatAround
from app.model.dialogue import DialogueLimits
from app.model.record import BuildRecord, ReasonerChoice
from app.prompting.library import PromptLibrary
from app.reasoning.base import Reasoner
from app.reasoning.llm.reasoner import LlmReasoner, LlmResources
from app.reasoning.rules import RulesReasoner
from app.search.effort import DIALOGUE
from app.service.estimates import ModelTerms
from app.storage.base import EventStore
from app.tools.chat import RecordedChat
from app.tools.limits import BudgetLimits, BuildBudget
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

ReasonerName = Literal["rules", "llm"]
SHARE_OF_SECONDS = 0.5
"""Of a build's seconds, the part that may be spent waiting for a language model; calculating needs the rest."""


class ConfiguredReasoners:
    """The rules, and the language models of these settings, each connected when the first step asks for it.

    `around` puts something around the model of each step, such as what records or replays it.
    """

    def __init__(
        self, settings: Settings, events: EventStore, tools: ToolRunner, around: ChatAround | None = None
    ) -> None:
        self._settings = settings
        self._events = events
        self._tools = tools
        self._around = around or (lambda step, model: model)
        self._rules = RulesReasoner()
        self._library = PromptLibrary(resource_dir("prompts"), resource_dir("domain"))
        self._prices = prices_of(settings)
        self._models: dict[str, HttpChatModel] = {}

    def resolve(self, choice: ReasonerChoice) -> ReasonerName:
        """Return which reasoner serves the choice: `auto` is the setting's, then the model where one is set up."""
        return resolved(self._settings, choice)

    def check(self, choice: ReasonerChoice) -> None:
        """Return when the choice can be served.

        Raises:
            ReasonerMissing: a language model is asked for and not set up.
        """
        is_asked(self._settings, choice)

    def reasoner(self, record: BuildRecord, scope: Scope) -> Reasoner:
        """Return the reasoner of one step; a build stays with the one that it began with while that is set up.

        Raises:
            ReasonerMissing: a language model is asked for and not set up any more.
        """
        self.check(record.request.reasoner)
        began_with_rules = record.reasoner is not None and record.reasoner.name == "rules"
        if began_with_rules or self.resolve(record.request.reasoner) == "rules":
            return self._rules
        limits = DIALOGUE[record.request.effort]
        resources = LlmResources(
            lambda step: self._chat(step, scope, limits), limits, self._library, self._tools, scope
        )
        return LlmReasoner(resources, self._rules, self._settings.llm_model or "")

    def _chat(self, step: LlmStep, scope: Scope, most: DialogueLimits) -> RecordedChat:
        own = self._settings
        name = own.llm_models.get(step) or own.llm_model or ""
        if name not in self._models:
            self._models[name] = HttpChatModel(
                own.llm_provider,
                name,
                key=own.llm_api_key.get_secret_value() if own.llm_api_key else None,
                base_url=own.llm_base_url,
                timeout_s=own.llm_timeout_s,
                stream=own.llm_stream,
                rule=AddressRule(own.llm_allow_private),
            )
        seconds = own.build_budget_seconds
        limits = BudgetLimits(
            tokens=most.tokens if own.build_budget_tokens is None else min(own.build_budget_tokens, most.tokens),
            usd=own.build_budget_usd,
            seconds=None if seconds is None else seconds * SHARE_OF_SECONDS,
            rounds=min(own.build_budget_rounds, most.requests),
        )
        budget = BuildBudget(self._events, scope.build_id, limits)
        return RecordedChat(self._around(step, self._models[name]), self._tools, scope, budget, self._prices)

    async def check_address(self) -> None:
        """Return when the address of the language model may be called, or none is set.

        Raises:
            AddressRefused: it may not.
        """
        if self._settings.llm_base_url:
            await AddressRule(self._settings.llm_allow_private).check(self._settings.llm_base_url)

    async def close(self) -> None:
        """Close all connections."""
        for model in self._models.values():
            await model.close()


def resolved(settings: Settings, choice: ReasonerChoice) -> ReasonerName:
    """Return which reasoner serves the choice: `auto` is the setting's, then the model where one is set up."""
    wanted = settings.reasoner if choice == "auto" else choice
    if wanted == "auto":
        return "llm" if is_set_up(settings) else "rules"
    return wanted


def is_asked(settings: Settings, choice: ReasonerChoice) -> bool:
    """Return whether a language model serves the choice.

    Raises:
        ReasonerMissing: it should, and none is set up.
    """
    if resolved(settings, choice) == "rules":
        return False
    if not is_set_up(settings):
        raise ReasonerMissing(
            "No language model is set up: set BUILDWRIGHT_LLM_MODEL, and BUILDWRIGHT_LLM_API_KEY or"
            " BUILDWRIGHT_LLM_BASE_URL; or use the reasoner rules."
        )
    return True


def prices_of(settings: Settings) -> PriceTable:
    """Return the prices of these settings."""
    prices = {name: Price.model_validate(price) for name, price in settings.llm_prices.items()}
    return PriceTable(prices, settings.llm_base_url)


def terms_of(settings: Settings) -> ModelTerms:
    """Return on which terms these settings ask language models."""
    return ModelTerms(
        is_asked=lambda choice: is_asked(settings, choice),
        provider=settings.llm_provider,
        models=tuple(sorted({settings.llm_model or "", *settings.llm_models.values()} - {""})),
        prices=prices_of(settings),
        requests=settings.build_budget_rounds,
        tokens=settings.build_budget_tokens,
        usd=settings.build_budget_usd,
    )


def is_set_up(settings: Settings) -> bool:
    """Return whether these settings name a language model and a way to reach it."""
    return bool(settings.llm_model) and bool(settings.llm_api_key or settings.llm_base_url)
