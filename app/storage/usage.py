"""Every SQL statement on what was used across builds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, case, func, select
from sqlmodel import col

from app.model.events import ANSWER_REJECTED, CHAT, CacheUse, CallOutcome, ToolKind
from app.model.names import BuildStatus, Effort, Mode, Outcome, Phase
from app.model.usage import UsedBuild, UsedCalls, UsedChats
from app.storage.database import Database
from app.storage.tables import BuildRow, ToolEventRow

_ENDED = (BuildStatus.COMPLETE.value, BuildStatus.FAILED.value, BuildStatus.CANCELLED.value)
_ANSWERED = (CacheUse.HIT.value, CacheUse.COALESCED.value)
_KEY = (
    col(ToolEventRow.build_id),
    col(ToolEventRow.phase),
    col(ToolEventRow.tool),
    col(ToolEventRow.kind),
    col(ToolEventRow.tool_version),
)

MOST_BUILDS = 50
"""How many builds what a language model is asked is told of: newer ones are like the next one."""


class SqlUsageHistory:
    """The ports UsageHistory and ChatHistory on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def builds(self, since: datetime, owner: str | None = None) -> list[UsedBuild]:
        """Return the builds asked for at or after `since`, oldest first."""
        statement = (
            select(
                col(BuildRow.id),
                col(BuildRow.owner),
                col(BuildRow.created_at),
                col(BuildRow.status),
                col(BuildRow.state)["outcome"].as_string(),
                col(BuildRow.updated_at),
            )
            .where(*_made(since, owner))
            .order_by(col(BuildRow.created_at), col(BuildRow.id))
        )
        async with self._database.read() as session:
            rows = (await session.execute(statement)).all()
        return [
            UsedBuild(
                id=build_id,
                owner=whose,
                created_at=created,
                status=BuildStatus(status),
                outcome=Outcome(outcome) if outcome else None,
                seconds=(changed - created).total_seconds() if status in _ENDED else None,
            )
            for build_id, whose, created, status, outcome, changed in rows
        ]

    async def calls(self, since: datetime, owner: str | None = None) -> list[UsedCalls]:
        """Return the calls of those builds by build, phase, tool and model."""
        executed = (
            *_made(since, owner),
            col(ToolEventRow.outcome) != CallOutcome.REJECTED.value,
            col(ToolEventRow.cache).not_in(_ANSWERED),
        )
        is_ok = case((col(ToolEventRow.outcome) == CallOutcome.OK.value, 1), else_=0)
        counted = (
            select(*_KEY, func.count(), func.sum(is_ok), func.sum(func.coalesce(col(ToolEventRow.duration_ms), 0.0)))
            .join(BuildRow, col(BuildRow.id) == col(ToolEventRow.build_id))
            .where(*executed)
            .group_by(*_KEY)
            .order_by(*_KEY)
        )
        paid = (
            select(*_KEY, col(ToolEventRow.usage), col(ToolEventRow.cost_usd))
            .join(BuildRow, col(BuildRow.id) == col(ToolEventRow.build_id))
            .where(*executed, col(ToolEventRow.kind) == ToolKind.LLM.value)
        )
        async with self._database.read() as session:
            groups = (await session.execute(counted)).all()
            spent = _spent_by_key((await session.execute(paid)).all())
        found = []
        for build_id, phase, tool, kind, version, attempts, ok, ms in groups:
            cost = spent.get((build_id, phase, tool, kind, version), _Spent())
            found.append(
                UsedCalls(
                    build_id=build_id,
                    phase=Phase(phase),
                    tool=tool,
                    model=version if kind == ToolKind.LLM.value else None,
                    attempts=attempts,
                    ok=ok,
                    ms=float(ms),
                    tokens=cost.tokens,
                    usd=cost.usd,
                    unpriced=cost.unpriced,
                )
            )
        return found

    async def chats(self, effort: Effort, until: datetime, owner: str | None = None) -> list[UsedChats]:
        """Return what the newest builds from a sentence asked that were complete before `until`, newest first."""
        own = [] if owner is None else [col(BuildRow.owner) == owner]
        request = col(BuildRow.request)
        newest = (
            select(col(BuildRow.id))
            .where(
                *own,
                col(BuildRow.status) == BuildStatus.COMPLETE.value,
                col(BuildRow.updated_at) < until,
                request["effort"].as_string() == effort.value,
                request["mode"].as_string() == Mode.INITIAL.value,
                col(BuildRow.reasoner)["name"].as_string() == "llm",
            )
            .order_by(col(BuildRow.created_at).desc(), col(BuildRow.id).desc())
            .limit(MOST_BUILDS)
        )
        async with self._database.read() as session:
            ids = (await session.execute(newest)).scalars().all()
        asked = await self._asked(ids)
        return [asked[one] for one in ids if one in asked]

    async def chats_of(self, build_id: str) -> UsedChats | None:
        """Return what the build asked so far, None where it asked nothing."""
        return (await self._asked([build_id])).get(build_id)

    async def _asked(self, ids: Sequence[str]) -> dict[str, UsedChats]:
        statement = (
            select(
                col(ToolEventRow.build_id),
                col(ToolEventRow.tool_version),
                col(ToolEventRow.outcome),
                col(ToolEventRow.error_type),
                col(ToolEventRow.usage),
                col(ToolEventRow.cost_usd),
            )
            .where(
                col(ToolEventRow.build_id).in_(ids),
                col(ToolEventRow.tool) == CHAT,
                col(ToolEventRow.outcome) != CallOutcome.REJECTED.value,
            )
            .order_by(col(ToolEventRow.build_id), col(ToolEventRow.seq))
        )
        async with self._database.read() as session:
            rows = (await session.execute(statement)).all()
        return {build_id: _asked_of(build_id, [*own]) for build_id, own in groupby(rows, key=lambda row: str(row[0]))}


def _asked_of(build_id: str, rows: Sequence[Any]) -> UsedChats:
    """Return the sums of a build's requests; one that failed has neither tokens nor a price."""
    answered = [row for row in rows if row[2] == CallOutcome.OK.value or row[3] == ANSWER_REJECTED]
    usages, prices = [row[4] for row in answered], [row[5] for row in answered]
    known = bool(usages) and all(one is not None for one in usages)
    return UsedChats(
        build_id=build_id,
        versions=frozenset(row[1] for row in rows),
        requests=len(rows),
        input=sum(one.get("input", 0) for one in usages) if known else None,
        output=sum(one.get("output", 0) for one in usages) if known else None,
        usd=sum(map(Decimal, prices), Decimal()) if prices and None not in prices else None,
    )


@dataclass
class _Spent:
    tokens: int = 0
    usd: Decimal | None = None
    unpriced: int = 0


def _made(since: datetime, owner: str | None) -> list[ColumnElement[bool]]:
    where = [col(BuildRow.created_at) >= since]
    return where if owner is None else [*where, col(BuildRow.owner) == owner]


def _spent_by_key(rows: Iterable[Any]) -> dict[tuple[str, ...], _Spent]:
    found: dict[tuple[str, ...], _Spent] = {}
    for *key, usage, usd in rows:
        spent = found.setdefault(tuple(key), _Spent())
        spent.tokens += (usage or {}).get("input", 0) + (usage or {}).get("output", 0)
        if usd is None:
            spent.unpriced += 1
        else:
            spent.usd = (spent.usd or Decimal()) + Decimal(usd)
    return found
