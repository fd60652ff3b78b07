"""Whether the product can serve: alive is free, ready asks the store and names the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import Field

from app.core.errors import AppError
from app.model.base import Model
from app.model.names import BuildStatus, Phase
from app.model.record import BuildRecord
from app.service.builds import Engines
from app.storage.base import BuildStore, EventStore

PAGE = 100


class BrokenInvariant(Model):
    """An invariant that does not hold for a build."""

    build_id: str
    broken: str


class Integrity(Model):
    """The result of a check: how many builds were looked at, what is broken in them, and in the database itself."""

    builds: int
    findings: list[BrokenInvariant]
    database: list[str] = Field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is broken."""
        return not self.findings and not self.database


async def check_store(builds: BuildStore, events: EventStore) -> Integrity:
    """Check every build: numbering without gaps, and a status that fits what is stored."""
    count, cursor, findings = 0, None, []
    while True:
        records, cursor = await builds.page(limit=PAGE, cursor=cursor)
        count += len(records)
        for record in records:
            progress: list[int] = []
            while page := await builds.progress(record.id, progress[-1] if progress else 0):
                progress += [event.seq for event in page]
            calls = [event.seq for event in await events.all(record.id)]
            broken = _contradictions(record)
            for what, numbers in (("progress events", progress), ("tool events", calls)):
                if numbers != list(range(1, len(numbers) + 1)):
                    broken.append(f"{what} are not numbered 1 to N")
            findings += [BrokenInvariant(build_id=record.id, broken=sentence) for sentence in broken]
        if cursor is None:
            return Integrity(builds=count, findings=findings)


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


CountWorkers = Callable[[], Awaitable[int]]
"""Returns how many workers are alive."""


class Installation(Model):
    """What can be used: what `auto` stands for, and the bounds of one build; null = not there, or none.

    `pob`: the installed Path of Building's version. `model`: the language model. `install_pob`, `set_up_model`: what
    to do to get them.
    """

    engine: Literal["pob", "sketch"]
    reasoner: Literal["rules", "llm"]
    pob: str | None = None
    model: str | None = None
    install_pob: str = "buildwright pob install"
    set_up_model: str = "export BUILDWRIGHT_LLM_MODEL=… BUILDWRIGHT_LLM_API_KEY=…"
    budget_seconds: float | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None


class Health:
    """Checks the parts that a build needs; `workers`, where they are other processes."""

    def __init__(self, store: BuildStore, engines: Engines, workers: CountWorkers | None = None) -> None:
        self._store = store
        self._engines = engines
        self._workers = workers

    async def ready(self) -> Readiness:
        """Return whether builds can be accepted now; without a worker they are, and wait for one."""
        checks = {"store": "ok", "engine": "ok"}
        try:
            await self._store.page(limit=1)
        except AppError as error:
            checks["store"] = error.code
        try:
            self._engines.check("auto")
        except AppError as error:
            checks["engine"] = error.code
        ready = all(word == "ok" for word in checks.values())
        return Readiness(ready=ready, checks=checks | await self._alive())

    async def _alive(self) -> dict[str, str]:
        if self._workers is None:
            return {}
        try:
            alive = await self._workers()
        except AppError as error:
            return {"workers": error.code}
        return {"workers": "ok" if alive else "none"}
