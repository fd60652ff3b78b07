"""What was used across builds: by day, owner, model, tool or phase, and what is left of today's budgets."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, time, timedelta

from app.core.clock import Clock
from app.metrics.usage import Budgets, UsageBy, UsageReport, usage
from app.model.access import Access
from app.storage.base import UsageHistory, UsageStore

USUAL_DAYS = 30
"""How far back usage is added up when nobody says since when."""


class UsageReports:
    """Adds up what was used. `budgets`: those of a day."""

    def __init__(self, history: UsageHistory, today: UsageStore, budgets: Budgets, clock: Clock) -> None:
        self._history = history
        self._today = today
        self._budgets = budgets
        self._clock = clock

    async def usage(self, by: UsageBy, since: date | None, access: Access) -> UsageReport:
        """Return what the builds used that were asked for on or after the day (UTC), by default the last 30 days.

        Who may not see every owner's builds gets their own, and hears nothing of budgets.
        """
        start = since or (self._clock.now() - timedelta(days=USUAL_DAYS)).date()
        moment = datetime.combine(start, time(), UTC)
        calls = await self._history.calls(moment, access.only)
        builds = await self._history.builds(moment, access.only)
        known = {build.id for build in builds}
        # the two are read one after the other: a build deleted in between would leave calls that no row explains
        calls = [call for call in calls if call.build_id in known]
        left = Budgets()
        if access.only is None and self._budgets != left:
            today = datetime.combine(self._clock.now().date(), time(), UTC)
            used = await self._today.used(since=today)
            left = self._budgets.less(Budgets.model_validate(used.model_dump()))
        return await asyncio.to_thread(usage, by, moment, builds, calls, left)
