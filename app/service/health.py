"""Whether the product can serve: alive is free, ready asks the store and names the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from app.core.errors import AppError
from app.model.base import Model
from app.model.names import BuildStatus, Phase
from app.model.record import BuildRecord, ProgressEvent
from app.service.builds import Engines
from app.storage.base import BuildStore, EventStore

PAGE = 100


class Finding(Model):
    """An invariant that does not hold for a build."""

    build_id: str
    broken: str


class Integrity(Model):
    """The result of a check: how many builds were looked at, what is broken in them, and in the database itself."""

    builds: int
    findings: list[Finding]
    database: list[str] = Field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is broken."""
        return not self.findings and not self.database


async def check_store(builds: BuildStore, events: EventStore) -> Integrity:
    """Check every build: numbering without gaps, and a status that fits what is stored."""
    count, findings = 0, []
    async for record in _all(builds):
        count += 1
        broken = _contradictions(record)
        broken += _gaps("progress events", [event.seq for event in await _progress(builds, record.id)])
        broken += _gaps("tool events", [event.seq for event in await events.all(record.id)])
        findings += [Finding(build_id=record.id, broken=sentence) for sentence in broken]
    return Integrity(builds=count, findings=findings)


async def _all(builds: BuildStore) -> AsyncIterator[BuildRecord]:
    cursor: str | None = None
    while True:
        records, cursor = await builds.page(limit=PAGE, cursor=cursor)
        for record in records:
            yield record
        if cursor is None:
            return


async def _progress(builds: BuildStore, build_id: str) -> list[ProgressEvent]:
    found: list[ProgressEvent] = []
    while page := await builds.progress(build_id, found[-1].seq if found else 0):
        found += page
    return found


def _gaps(what: str, numbers: Sequence[int]) -> list[str]:
    return [] if list(numbers) == list(range(1, len(numbers) + 1)) else [f"{what} are not numbered 1 to N"]


def _contradictions(record: BuildRecord) -> list[str]:
    state, status = record.state, record.status
    rules = {
        "complete, but without an outcome": status is BuildStatus.COMPLETE and state.outcome is None,
        "complete, but its phase is not": status is BuildStatus.COMPLETE and state.phase is not Phase.COMPLETE,
        "failed, but nothing says why": status is BuildStatus.FAILED and record.failure is None,
        "validated, but without a file": state.outcome is not None and record.xml is None,
        "running, but never claimed": status is BuildStatus.RUNNING and record.epoch < 1,
        "updated before it was created": record.updated_at < record.created_at,
    }
    return [sentence for sentence, holds in rules.items() if holds]


class Readiness(Model):
    """`ready` and, per part, `ok` or what is wrong."""

    ready: bool
    checks: dict[str, str]


class Health:
    """Checks the parts that a build needs."""

    def __init__(self, store: BuildStore, engines: Engines) -> None:
        self._store = store
        self._engines = engines

    async def ready(self) -> Readiness:
        """Return whether builds can be accepted now."""
        checks = {"store": await self._check_store(), "engine": self._check_engine()}
        return Readiness(ready=all(word == "ok" for word in checks.values()), checks=checks)

    async def _check_store(self) -> str:
        try:
            await self._store.page(limit=1)
        except AppError as error:
            return error.code
        return "ok"

    def _check_engine(self) -> str:
        try:
            self._engines.check("auto")
        except AppError as error:
            return error.code
        return "ok"
