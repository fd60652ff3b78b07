"""What may be called at all: calls per build, and calls, tokens and USD per day, looked at before each attempt."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from decimal import Decimal

from app.core.clock import Clock
from app.core.errors import BudgetExceeded
from app.model.base import Model
from app.storage.base import UsageStore, Used

_FRESH_MS = 1000.0
_BUILDS = 500


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
        if limits.build_calls is not None and await self._calls_of(build_id) >= limits.build_calls:
            raise _used_up("build_calls", f"{limits.build_calls} calls of this build are made")
        if limits.any_per_day:
            self._check_day(await self._today())
        self._count(build_id)

    def _check_day(self, used: Used) -> None:
        limits = self._limits
        if limits.day_calls is not None and used.calls + self._since >= limits.day_calls:
            raise _used_up("day_calls", f"{limits.day_calls} calls of this day are made")
        if limits.day_tokens is not None and used.tokens >= limits.day_tokens:
            raise _used_up("day_tokens", f"{limits.day_tokens} tokens of this day are used")
        if limits.day_usd is not None and used.usd >= limits.day_usd:
            raise _used_up("day_usd", f"{limits.day_usd} USD of this day are spent")

    async def _calls_of(self, build_id: str) -> int:
        if build_id not in self._builds:
            self._builds[build_id] = (await self._usage.used(build_id=build_id)).calls
        self._builds.move_to_end(build_id)
        while len(self._builds) > _BUILDS:
            self._builds.popitem(last=False)
        return self._builds[build_id]

    async def _today(self) -> Used:
        midnight = self._clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        now_ms = self._clock.monotonic_ms()
        if self._day is None or self._day[0] != midnight or now_ms - self._day[1] >= _FRESH_MS:
            self._since = 0
            self._day = (midnight, now_ms, await self._usage.used(since=midnight))
        return self._day[2]

    def _count(self, build_id: str) -> None:
        self._since += 1
        if build_id in self._builds:
            self._builds[build_id] += 1


def _used_up(which: str, what: str) -> BudgetExceeded:
    return BudgetExceeded(f"All {what}.", which=which)
