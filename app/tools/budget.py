"""What one build may spend on its language model, and what it has spent already.

What was spent is read from the build's recorded calls each time, so a restart forgets nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from app.core.errors import BudgetExceeded, LlmGivenUp
from app.model.base import Model
from app.model.events import CallOutcome, ToolEvent
from app.storage.base import EventStore

CHAT = "llm.chat"
"""The tool name of a request to a language model."""

FAILURES_IN_A_ROW = 2
"""After so many calls in a row that failed for good, the provider is not asked again during the build."""

LEAST_SECONDS = 0.05
"""No request is begun with less time than this."""

BYTES_PER_TOKEN = 4
"""A rule of thumb, used where a provider reports no usage and to foresee the size of a request."""

_PAGE = 500
_FAILED = (CallOutcome.ERROR, CallOutcome.TIMEOUT)


class BudgetLimits(Model):
    """Most that one build may use; None = unbounded. `seconds` of waiting for answers, `rounds` are requests."""

    tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    rounds: int | None = None


class Spent(Model):
    """What the recorded requests of a build used. `unpriced`: answers of which nobody knows the price."""

    tokens: int = 0
    usd: Decimal = Decimal()
    seconds: float = 0.0
    rounds: int = 0
    unpriced: int = 0
    failures_in_a_row: int = 0


@dataclass(frozen=True)
class Forecast:
    """What the next request uses at least: tokens of input, and their price where it is known."""

    tokens: int
    usd: Decimal | None


@dataclass(frozen=True)
class Allowance:
    """What the next request may use: seconds, and tokens of input and output together; None = unbounded."""

    seconds: float | None = None
    tokens: int | None = None


def spent_by(events: Iterable[ToolEvent]) -> Spent:
    """Return what these recorded requests used; where a provider reported no usage, tokens are estimated by size."""
    chats = [event for event in events if event.tool == CHAT]
    answered = [event for event in chats if event.outcome is CallOutcome.OK]
    return Spent(
        tokens=sum(_tokens(event) for event in answered),
        usd=sum((Decimal(e.cost_usd) for e in answered if e.cost_usd is not None), Decimal()),
        seconds=sum(event.duration_ms or 0.0 for event in chats) / 1000,
        rounds=len(chats),
        unpriced=sum(event.cost_usd is None for event in answered),
        failures_in_a_row=_failures_in_a_row(chats),
    )


def _tokens(event: ToolEvent) -> int:
    if event.usage is not None:
        return event.usage.get("input", 0) + event.usage.get("output", 0)
    sent = (event.args or {}).get("bytes", 0)
    return (int(sent) + (event.bytes_out or 0)) // BYTES_PER_TOKEN


def _failures_in_a_row(chats: list[ToolEvent]) -> int:
    """Count the last calls that failed in every attempt; one that was cut short says nothing about the provider."""
    calls = [list(attempts) for _, attempts in groupby(chats, key=lambda event: event.call_id)]
    failures = 0
    for last in (attempts[-1].outcome for attempts in reversed(calls)):
        if last is CallOutcome.OK:
            break
        failures += last in _FAILED
    return failures


class Budget:
    """The budget of one build."""

    def __init__(self, events: EventStore, build_id: str, limits: BudgetLimits) -> None:
        self._events = events
        self._build_id = build_id
        self._limits = limits

    async def allow(self, need: Forecast) -> Allowance:
        """Return what the next request may use.

        Raises:
            BudgetExceeded: a limit is reached, or would be by the request's input alone.
            LlmGivenUp: the provider failed too often.
        """
        spent = await self.spent()
        if spent.failures_in_a_row >= FAILURES_IN_A_ROW:
            raise LlmGivenUp(f"the language model failed {spent.failures_in_a_row} times in a row")
        self._check_counts(spent, need)
        self._check_usd(spent, need)
        limits = self._limits
        return Allowance(
            seconds=None if limits.seconds is None else limits.seconds - spent.seconds,
            tokens=None if limits.tokens is None else limits.tokens - spent.tokens,
        )

    async def spent(self) -> Spent:
        """Return what the build has used so far."""
        found: list[ToolEvent] = []
        while True:
            after = found[-1].seq if found else 0
            page = await self._events.page(self._build_id, tool=CHAT, after_seq=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                return spent_by(found)

    def _check_counts(self, spent: Spent, need: Forecast) -> None:
        limits = self._limits
        if limits.rounds is not None and spent.rounds >= limits.rounds:
            raise _used_up("rounds", f"{limits.rounds} requests to the language model")
        if limits.seconds is not None and limits.seconds - spent.seconds < LEAST_SECONDS:
            raise _used_up("seconds", f"{limits.seconds:g} s for the language model")
        if limits.tokens is not None and spent.tokens + need.tokens >= limits.tokens:
            raise _used_up("tokens", f"{limits.tokens} tokens")

    def _check_usd(self, spent: Spent, need: Forecast) -> None:
        limit = self._limits.usd
        if limit is None:
            return
        if need.usd is None or spent.unpriced:
            text = f"Nobody knows the price of the language model, so a budget of {limit} USD cannot be kept."
            raise BudgetExceeded(text, which="usd")
        if spent.usd + need.usd >= limit:
            raise _used_up("usd", f"{limit} USD")


def _used_up(which: str, what: str) -> BudgetExceeded:
    return BudgetExceeded(f"The budget of {what} for this build is used up.", which=which)
