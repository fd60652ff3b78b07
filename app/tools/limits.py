"""How much may be called: what one build may spend on its language model, and how many calls builds and days have.

Both are kept from the recorded calls, read again and again, so a restart forgets nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from app.core.clock import Clock
from app.core.errors import BudgetExceeded, LlmGivenUp
from app.llm.base import CHARS_PER_TOKEN
from app.model.base import Model
from app.model.events import ANSWER_REJECTED, CHAT, CallOutcome, ToolEvent
from app.storage.base import EventStore, UsageStore, Used

FAILURES_IN_A_ROW = 2
"""After so many calls in a row that failed for good, the provider is not asked again during the build."""

LEAST_SECONDS = 0.05
"""No request is begun with less time than this."""

_PAGE = 500
_FRESH_MS = 1000.0
_BUILDS = 500
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
    answered = [event for event in chats if event.outcome is CallOutcome.OK or event.error_type == ANSWER_REJECTED]
    tokens = 0
    for event in answered:
        if event.usage is not None:
            tokens += event.usage.get("input", 0) + event.usage.get("output", 0)
        else:
            sent = (event.args or {}).get("bytes", 0)
            tokens += (int(sent) + (event.bytes_out or 0)) // CHARS_PER_TOKEN
    # The last calls that failed in every attempt; one that was cut short says nothing about the provider.
    failures = 0
    for _, attempts in groupby(reversed(chats), key=lambda event: event.call_id):
        last = next(attempts)
        if last.outcome is CallOutcome.OK or last.error_type == ANSWER_REJECTED:
            break
        failures += last.outcome in _FAILED
    return Spent(
        tokens=tokens,
        usd=sum((Decimal(e.cost_usd) for e in answered if e.cost_usd is not None), Decimal()),
        seconds=sum(event.duration_ms or 0.0 for event in chats) / 1000,
        rounds=len(chats),
        unpriced=sum(event.cost_usd is None for event in answered),
        failures_in_a_row=failures,
    )


class BuildBudget:
    """What one build may spend on its language model, looked at before each request."""

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
        limits, spent = self._limits, await self.spent()
        if spent.failures_in_a_row >= FAILURES_IN_A_ROW:
            raise LlmGivenUp(f"the language model failed {spent.failures_in_a_row} times in a row")
        if limits.rounds is not None and spent.rounds >= limits.rounds:
            raise _spent("rounds", f"{limits.rounds} requests to the language model")
        if limits.seconds is not None and limits.seconds - spent.seconds < LEAST_SECONDS:
            raise _spent("seconds", f"{limits.seconds:g} s for the language model")
        if limits.tokens is not None and spent.tokens + need.tokens >= limits.tokens:
            raise _spent("tokens", f"{limits.tokens} tokens")
        if limits.usd is not None and (need.usd is None or spent.unpriced):
            text = f"Nobody knows the price of the language model, so a budget of {limits.usd} USD cannot be kept."
            raise BudgetExceeded(text, which="usd")
        if limits.usd is not None and need.usd is not None and spent.usd + need.usd >= limits.usd:
            raise _spent("usd", f"{limits.usd} USD")
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


def _spent(which: str, what: str) -> BudgetExceeded:
    return BudgetExceeded(f"The budget of {what} for this build is used up.", which=which)


class QuotaLimits(Model):
    """Most calls of one build; most calls, tokens and USD of all builds in one UTC day. None = unbounded.

    Answers from a cache are not calls.
    """

    build_calls: int | None = None
    day_calls: int | None = None
    day_tokens: int | None = None
    day_usd: Decimal | None = None

    @property
    def any_per_day(self) -> bool:
        """Whether anything is limited per day."""
        return any(limit is not None for limit in (self.day_calls, self.day_tokens, self.day_usd))


class Quota:
    """Counts what is admitted here on top of what is recorded; the record is read again once a second at most."""

    def __init__(self, usage: UsageStore, limits: QuotaLimits, clock: Clock) -> None:
        self._usage = usage
        self._limits = limits
        self._clock = clock
        self._builds: OrderedDict[str, int] = OrderedDict()
        self._day: tuple[datetime, float, Used] | None = None
        self._since = 0

    async def admit(self, build_id: str) -> None:
        """Count one attempt.

        Raises:
            BudgetExceeded: it is one too many; `details["which"]` is the limit's name.
        """
        limits = self._limits
        if limits.build_calls is not None:
            if build_id not in self._builds:
                self._builds[build_id] = (await self._usage.used(build_id=build_id)).calls
            self._builds.move_to_end(build_id)
            while len(self._builds) > _BUILDS:
                self._builds.popitem(last=False)
            if self._builds[build_id] >= limits.build_calls:
                raise _refused("build_calls", f"{limits.build_calls} calls of this build are made")
        if limits.any_per_day:
            await self._check_day()
        self._since += 1
        if build_id in self._builds:
            self._builds[build_id] += 1

    async def _check_day(self) -> None:
        midnight = self._clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        now_ms = self._clock.monotonic_ms()
        if self._day is None or self._day[0] != midnight or now_ms - self._day[1] >= _FRESH_MS:
            self._since = 0
            self._day = (midnight, now_ms, await self._usage.used(since=midnight))
        limits, used = self._limits, self._day[2]
        if limits.day_calls is not None and used.calls + self._since >= limits.day_calls:
            raise _refused("day_calls", f"{limits.day_calls} calls of this day are made")
        if limits.day_tokens is not None and used.tokens >= limits.day_tokens:
            raise _refused("day_tokens", f"{limits.day_tokens} tokens of this day are used")
        if limits.day_usd is not None and used.usd >= limits.day_usd:
            raise _refused("day_usd", f"{limits.day_usd} USD of this day are spent")


def _refused(which: str, what: str) -> BudgetExceeded:
    return BudgetExceeded(f"All {what}.", which=which)
