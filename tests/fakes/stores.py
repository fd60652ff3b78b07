"""In-memory stores with the behaviour of the storage ports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from app.core.errors import IdempotencyMismatch, InvalidTransition, LeaseLost, NotFound
from app.model.evaluations import EvaluationRun, LabelSummary
from app.model.events import Attempt, CallOutcome, ToolEvent
from app.model.names import BuildStatus, Phase
from app.model.record import BuildRecord, BuildRequest, ProgressData, ProgressEvent
from app.storage.base import Checkpoint, Standing, Used

RUNNABLE = (BuildStatus.QUEUED, BuildStatus.RUNNING)


class MemoryBuildStore:
    """Builds in a dict."""

    def __init__(self) -> None:
        self.records: dict[str, BuildRecord] = {}
        self.events: dict[str, list[ProgressEvent]] = {}
        self._keys: dict[str, tuple[BuildRequest, str]] = {}

    async def insert(self, record: BuildRecord, idempotency_key: str | None = None) -> BuildRecord:
        known = self._keys.get(idempotency_key) if idempotency_key else None
        if known is not None:
            if known[0] != record.request:
                raise IdempotencyMismatch("The key was used before with another request.")
            return self.records[known[1]]
        self.records[record.id] = record
        self.events[record.id] = []
        if idempotency_key:
            self._keys[idempotency_key] = (record.request, record.id)
        return record

    async def get(self, build_id: str) -> BuildRecord:
        if build_id not in self.records:
            raise NotFound("No such build.")
        return self.records[build_id]

    async def standing(self, build_id: str) -> Standing:
        record = await self.get(build_id)
        return Standing(record.status, record.updated_at, record.engine.name if record.engine else None)

    async def page(
        self, status: BuildStatus | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[BuildRecord], str | None]:
        ids = [i for i in sorted(self.records, reverse=True) if cursor is None or i < cursor]
        found = [self.records[i] for i in ids if status in (None, self.records[i].status)]
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def runnable(self) -> list[str]:
        return [i for i in sorted(self.records) if self.records[i].status in RUNNABLE]

    async def claim(self, build_id: str) -> BuildRecord | None:
        record = await self.get(build_id)
        if record.status not in RUNNABLE:
            return None
        return self.put(record, epoch=record.epoch + 1, attempts=record.attempts + 1, status=BuildStatus.RUNNING)

    async def checkpoint(self, build_id: str, epoch: int, change: Checkpoint) -> None:
        record = await self.get(build_id)
        if record.epoch != epoch:
            raise LeaseLost("Another runner owns the build.")
        names = ("status", "invariants", "xml", "engine", "reasoner", "failure")
        changed = {name: value for name in names if (value := getattr(change, name)) is not None}
        self.put(record, state=change.state, attempts=0, **changed)
        for kind, data in change.progress:
            self.tell(build_id, kind, data)

    async def cancel_requested(self, build_id: str, epoch: int) -> bool:
        record = await self.get(build_id)
        if record.epoch != epoch or record.status is not BuildStatus.RUNNING:
            raise LeaseLost("Another runner owns the build.")
        return record.cancel_requested

    async def request_cancel(self, build_id: str) -> BuildRecord:
        record = await self.get(build_id)
        status = BuildStatus.CANCELLED if record.status is BuildStatus.QUEUED else record.status
        return self.put(record, cancel_requested=True, status=status)

    async def requeue(self, build_id: str) -> BuildRecord:
        record = await self.get(build_id)
        if record.status is BuildStatus.COMPLETE:
            raise InvalidTransition("The build is complete.")
        return self.put(record, status=BuildStatus.QUEUED, cancel_requested=False, attempts=0, failure=None)

    async def progress(self, build_id: str, after_seq: int = 0, limit: int = 500) -> list[ProgressEvent]:
        return [event for event in self.events.get(build_id, []) if event.seq > after_seq][:limit]

    def put(self, record: BuildRecord, **changes: Any) -> BuildRecord:
        """Store the record with changes, as another process would."""
        self.records[record.id] = record.model_copy(update={**changes, "updated_at": datetime.now(UTC)})
        return self.records[record.id]

    def tell(self, build_id: str, kind: str, data: ProgressData | None = None) -> None:
        """Append a progress event."""
        log = self.events.setdefault(build_id, [])
        event = ProgressEvent(
            build_id=build_id, seq=len(log) + 1, type=kind, data=data or ProgressData(), at=datetime.now(UTC)
        )
        log.append(event)


class MemoryEventStore:
    """Tool events in a list per build."""

    def __init__(self) -> None:
        self.kept: dict[str, list[ToolEvent]] = {}

    async def start(self, event: ToolEvent) -> ToolEvent:
        log = self.kept.setdefault(event.build_id, [])
        numbered = event.model_copy(update={"seq": len(log) + 1, "outcome": CallOutcome.INCOMPLETE})
        log.append(numbered)
        return numbered

    async def record(self, event: ToolEvent) -> ToolEvent:
        log = self.kept.setdefault(event.build_id, [])
        log.append(event.model_copy(update={"seq": len(log) + 1}))
        return log[-1]

    async def finish(self, event: ToolEvent) -> None:
        log = self.kept[event.build_id]
        if log[event.seq - 1].outcome is CallOutcome.INCOMPLETE:
            log[event.seq - 1] = event

    async def page(
        self,
        build_id: str,
        phase: Phase | None = None,
        tool: str | None = None,
        outcome: CallOutcome | None = None,
        after_seq: int = 0,
        limit: int = 200,
    ) -> list[ToolEvent]:
        return [
            event
            for event in self.kept.get(build_id, [])
            if event.seq > after_seq
            and phase in (None, event.phase)
            and tool in (None, event.tool)
            and outcome in (None, event.outcome)
        ][:limit]

    async def all(self, build_id: str) -> list[ToolEvent]:
        return list(self.kept.get(build_id, []))

    async def used(self, build_id: str | None = None, since: datetime | None = None) -> Used:
        return Used(calls=len(self.kept.get(build_id or "", [])))

    async def measured(self, build_id: str) -> Sequence[Attempt]:
        return list(self.kept.get(build_id, []))


class MemoryEvaluationStore:
    """Evaluation runs in a list."""

    def __init__(self) -> None:
        self.runs: list[EvaluationRun] = []

    async def add(self, run: EvaluationRun) -> None:
        self.runs.append(run)

    async def of(self, label: str) -> list[EvaluationRun]:
        return sorted((run for run in self.runs if run.label == label), key=lambda run: (run.task, run.trial))

    async def labels(self) -> list[LabelSummary]:
        return []
