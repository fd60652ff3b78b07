"""What was used across builds, while builds come and go."""

from __future__ import annotations

from datetime import date, datetime

from app.core.clock import SystemClock
from app.metrics.usage import Budgets, UsageBy
from app.model.access import EVERYONE
from app.model.names import BuildStatus, Phase
from app.model.usage import UsedBuild, UsedCalls
from app.service.usage import UsageReports
from tests.fakes.stores import MemoryEventStore


class DeletedBetween:
    """A store in which one of two builds is deleted between one question and the next."""

    def __init__(self) -> None:
        self._asked = 0

    async def builds(self, since: datetime, owner: str | None = None) -> list[UsedBuild]:
        return [UsedBuild(one, "", since, BuildStatus.COMPLETE, None, 1.0) for one in self._there()]

    async def calls(self, since: datetime, owner: str | None = None) -> list[UsedCalls]:
        return [
            UsedCalls(
                build_id=one,
                phase=Phase.CONSTRUCT,
                tool="pob.build",
                model=None,
                attempts=3,
                ok=3,
                ms=1.0,
                tokens=0,
                usd=None,
                unpriced=0,
            )
            for one in self._there()
        ]

    def _there(self) -> list[str]:
        self._asked += 1
        return ["a", "b"][: 3 - self._asked]


async def test_calls_of_a_build_that_is_gone_are_in_no_figure() -> None:
    reports = UsageReports(DeletedBetween(), MemoryEventStore(), Budgets(), SystemClock())
    found = await reports.usage(UsageBy.TOOL, date(2026, 1, 1), EVERYONE)
    assert found.total.builds == 1
    assert found.total.calls == sum(row.calls for row in found.rows) == 3
