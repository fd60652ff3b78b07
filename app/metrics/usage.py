"""What builds used, added up by day, owner, model, tool or phase; null is "no data", never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from app.metrics.figures import rate
from app.model.base import Model
from app.model.names import Outcome
from app.model.usage import UsedBuild, UsedCalls

NO_MODEL = "none"
"""Stands for the calls that no language model answered."""

SLOWEST = 5


class UsageBy(StrEnum):
    """What usage is added up by; a day is of UTC, that on which the build was asked for."""

    DAY = "day"
    OWNER = "owner"
    MODEL = "model"
    TOOL = "tool"
    PHASE = "phase"


class UsageRow(Model):
    """Builds, and what was called for them.

    `builds`: asked for; `ended` of them, `valid` of those. `build_seconds`: from request to end, of those that ended.
    `calls`: attempts that were executed, `ok_rate` the share that succeeded, `call_seconds` what they took in all.
    `usd` is a lower bound unless `cost_complete`; null = no request had a price. `*_per_valid_build`: of all builds of
    the row, failed ones included; null when none was validated. By model, tool and phase, builds are those that used
    it, and seconds and cost per valid build are of these calls alone.
    """

    name: str
    builds: int
    ended: int
    valid: int
    valid_rate: float | None
    build_seconds: float | None
    calls: int
    ok_rate: float | None
    call_seconds: float
    tokens: int
    usd: str | None
    cost_complete: bool
    seconds_per_valid_build: float | None
    usd_per_valid_build: float | None

    @classmethod
    def of(cls, name: str, builds: Sequence[UsedBuild], calls: Sequence[UsedCalls], *, whole: bool) -> UsageRow:
        """Return the sums; `whole`: the calls are all that the builds made."""
        timed = [build.seconds for build in builds if build.seconds is not None]
        valid = sum(build.outcome is Outcome.VALIDATED for build in builds)
        attempts, call_seconds = sum(one.attempts for one in calls), sum(one.ms for one in calls) / 1000
        known = [one.usd for one in calls if one.usd is not None]
        usd = sum(known, Decimal()) if known else None
        complete = not any(one.unpriced for one in calls)
        seconds = sum(timed) if whole else call_seconds
        return cls(
            name=name,
            builds=len(builds),
            ended=len(timed),
            valid=valid,
            valid_rate=rate(valid, len(timed)),
            build_seconds=sum(timed) if timed else None,
            calls=attempts,
            ok_rate=rate(sum(one.ok for one in calls), attempts),
            call_seconds=call_seconds,
            tokens=sum(one.tokens for one in calls),
            usd=None if usd is None else str(usd),
            cost_complete=complete,
            seconds_per_valid_build=rate(seconds, valid),
            usd_per_valid_build=None if usd is None or not complete else rate(float(usd), valid),
        )


class SlowTool(Model):
    """A tool that took long: attempts, seconds in all, milliseconds each."""

    tool: str
    calls: int
    seconds: float
    mean_ms: float


class Budgets(Model):
    """What a day (UTC) may use, or what is left of it; null = no budget is set."""

    calls: int | None = None
    tokens: int | None = None
    usd: Decimal | None = None

    def less(self, used: Budgets) -> Budgets:
        """Return what is left of the day; never less than nothing."""
        return Budgets(
            calls=None if self.calls is None else max(0, self.calls - (used.calls or 0)),
            tokens=None if self.tokens is None else max(0, self.tokens - (used.tokens or 0)),
            usd=None if self.usd is None else max(Decimal(), self.usd - (used.usd or 0)),
        )


class UsageReport(Model):
    """Usage since a day, row by row; `slowest`: the tools that took most time."""

    schema_version: str = "1.0"
    by: UsageBy
    since: date
    total: UsageRow
    rows: list[UsageRow]
    slowest: list[SlowTool]
    budget_left: Budgets


def usage(
    by: UsageBy, since: datetime, builds: Sequence[UsedBuild], calls: Sequence[UsedCalls], left: Budgets
) -> UsageReport:
    """Return what was used, rows by name."""
    return UsageReport(
        by=by,
        since=since.date(),
        total=UsageRow.of("total", builds, calls, whole=True),
        rows=_by_build(by, builds, calls) if by in _OF_BUILD else _by_call(by, builds, calls),
        slowest=slowest(calls),
        budget_left=left,
    )


_OF_BUILD: dict[UsageBy, Callable[[UsedBuild], str]] = {
    UsageBy.DAY: lambda build: build.created_at.date().isoformat(),
    UsageBy.OWNER: lambda build: build.owner,
}
_OF_CALL: dict[UsageBy, Callable[[UsedCalls], str]] = {
    UsageBy.MODEL: lambda call: call.model or NO_MODEL,
    UsageBy.TOOL: lambda call: call.tool,
    UsageBy.PHASE: lambda call: call.phase.value,
}


def _by_build(by: UsageBy, builds: Sequence[UsedBuild], calls: Sequence[UsedCalls]) -> list[UsageRow]:
    made: dict[str, list[UsedBuild]] = {}
    for build in builds:
        made.setdefault(_OF_BUILD[by](build), []).append(build)
    called: dict[str, list[UsedCalls]] = {}
    for call in calls:
        called.setdefault(call.build_id, []).append(call)
    return [
        UsageRow.of(name, group, [call for build in group for call in called.get(build.id, ())], whole=True)
        for name, group in sorted(made.items())
    ]


def _by_call(by: UsageBy, builds: Sequence[UsedBuild], calls: Sequence[UsedCalls]) -> list[UsageRow]:
    groups: dict[str, list[UsedCalls]] = {}
    for call in calls:
        groups.setdefault(_OF_CALL[by](call), []).append(call)
    rows = []
    for name, inside in sorted(groups.items()):
        ids = {call.build_id for call in inside}
        rows.append(UsageRow.of(name, [build for build in builds if build.id in ids], inside, whole=False))
    return rows


def slowest(calls: Iterable[UsedCalls], most: int = SLOWEST) -> list[SlowTool]:
    """Return the tools that took most time in all, the slowest first."""
    groups: dict[str, tuple[int, float]] = {}
    for call in calls:
        attempts, ms = groups.get(call.tool, (0, 0.0))
        groups[call.tool] = attempts + call.attempts, ms + call.ms
    ordered = sorted(groups.items(), key=lambda pair: (-pair[1][1], pair[0]))[:most]
    return [
        SlowTool(tool=tool, calls=attempts, seconds=ms / 1000, mean_ms=ms / attempts)
        for tool, (attempts, ms) in ordered
        if attempts
    ]
