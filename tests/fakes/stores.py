"""In-memory stores with the behaviour of the storage ports."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from datetime import UTC, date, datetime
from typing import Any

from app.core.eager import begun
from app.core.errors import Conflict, IdempotencyMismatch, InvalidTransition, LeaseLost, NotFound
from app.model.access import Token
from app.model.evaluations import EvaluationRun, LabelSummary
from app.model.events import Attempt, CallOutcome, ToolEvent
from app.model.names import BuildStatus, Effort, Phase
from app.model.record import BuildRecord, BuildRequest, ProgressData, ProgressEvent
from app.model.spans import StepTrace
from app.model.usage import UsedBuild, UsedCalls, UsedChats
from app.storage.base import Checkpoint, Standing, Used

RUNNABLE = (BuildStatus.QUEUED, BuildStatus.RUNNING)


class MemoryBuildStore:
    """Builds in a dict."""

    def __init__(self) -> None:
        self.records: dict[str, BuildRecord] = {}
        self.events: dict[str, list[ProgressEvent]] = {}
        self.kept_traces: dict[str, list[StepTrace]] = {}
        self._keys: dict[tuple[str, str], tuple[BuildRequest, str]] = {}

    async def insert(self, record: BuildRecord, idempotency_key: str | None = None) -> BuildRecord:
        known = self._keys.get((record.owner, idempotency_key)) if idempotency_key else None
        if known is not None:
            if known[0] != record.request:
                raise IdempotencyMismatch("The key was used before with another request.")
            return self.records[known[1]]
        self.records[record.id] = record
        self.events[record.id] = []
        if idempotency_key:
            self._keys[record.owner, idempotency_key] = (record.request, record.id)
        return record

    async def get(self, build_id: str) -> BuildRecord:
        if build_id not in self.records:
            raise NotFound.of(build_id)
        return self.records[build_id]

    async def standing(self, build_id: str) -> Standing:
        record = await self.get(build_id)
        return Standing(record.owner, record.status, record.updated_at, record.engine.name if record.engine else None)

    async def page(
        self,
        status: BuildStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
        owner: str | None = None,
    ) -> tuple[list[BuildRecord], str | None]:
        known = [self.records[i] for i in sorted(self.records, reverse=True) if cursor is None or i < cursor]
        found = [one for one in known if status in (None, one.status) and owner in (None, one.owner)]
        return found[:limit], found[limit - 1].id if len(found) > limit else None

    async def runnable(self) -> list[str]:
        return [i for i in sorted(self.records) if self.records[i].status in RUNNABLE]

    async def claim(self, build_id: str, *, alone: bool = False) -> BuildRecord | None:
        record = await self.get(build_id)
        if record.status not in RUNNABLE:
            return None
        return self.put(record, epoch=record.epoch + 1, attempts=record.attempts + 1, status=BuildStatus.RUNNING)

    async def release(self, build_id: str, epoch: int) -> None:
        record = await self.get(build_id)
        self.put(record, attempts=record.attempts - 1)

    async def set_aside(self, build_id: str, epoch: int, until: datetime) -> None:
        self.put(await self.get(build_id), status=BuildStatus.QUEUED, not_before=until)

    async def pardon(self) -> None:
        """Do nothing: nothing is tried here."""

    async def delete(self, build_id: str) -> None:
        await self.get(build_id)
        del self.records[build_id]
        self.events.pop(build_id, None)
        self._keys = {key: known for key, known in self._keys.items() if known[1] != build_id}

    async def checkpoint(self, build_id: str, epoch: int, change: Checkpoint) -> None:
        record = await self.get(build_id)
        if record.epoch != epoch:
            raise LeaseLost("Another runner owns the build.")
        names = ("status", "invariants", "xml", "engine", "reasoner", "failure")
        changed = {name: value for name in names if (value := getattr(change, name)) is not None}
        self.put(record, state=change.state, attempts=change.attempts, **changed)
        for kind, data in change.progress:
            self.tell(build_id, kind, data)
        if change.trace is not None:
            self.kept_traces.setdefault(build_id, []).append(change.trace)

    async def traces(self, build_id: str) -> list[StepTrace]:
        return list(self.kept_traces.get(build_id, ()))

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

    immediate = True

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

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        begun(work)

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


class MemoryUsageHistory:
    """The builds of a store, none of which called anything."""

    def __init__(self, store: MemoryBuildStore) -> None:
        self._store = store

    async def builds(self, since: datetime, owner: str | None = None) -> list[UsedBuild]:
        return [
            UsedBuild(one.id, one.owner, one.created_at, one.status, one.state.outcome, None)
            for one in self._store.records.values()
            if one.created_at >= since and owner in (None, one.owner)
        ]

    async def calls(self, since: datetime, owner: str | None = None) -> list[UsedCalls]:
        return []

    async def chats(self, effort: Effort, until: datetime, owner: str | None = None) -> list[UsedChats]:
        return []

    async def chats_of(self, build_id: str) -> UsedChats | None:
        return None


class MemoryEvaluationStore:
    """Evaluation runs in a list."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.runs: list[EvaluationRun] = []

    async def add(self, run: EvaluationRun) -> None:
        self.runs.append(run)

    async def of(self, label: str) -> list[EvaluationRun]:
        return sorted((run for run in self.runs if run.label == label), key=lambda run: (run.task, run.trial))

    async def labels(self) -> list[LabelSummary]:
        return []

    async def keep(self, label: str, content: str, at: datetime) -> None:
        self.files[label] = content

    async def kept(self, label: str) -> str | None:
        return self.files.get(label)


class MemoryTokenStore:
    """Tokens in a dict."""

    def __init__(self) -> None:
        self.tokens: dict[str, tuple[str, Token]] = {}
        self.builds: dict[tuple[str, date], int] = {}

    async def add(self, token: Token, sha256: str) -> None:
        if token.name in self.tokens:
            raise Conflict("There is a token of that name.")
        self.tokens[token.name] = (sha256, token)

    async def find(self, sha256: str) -> Token | None:
        found = (token for known, token in self.tokens.values() if known == sha256 and token.revoked_at is None)
        return next(found, None)

    async def any(self) -> bool:
        return bool(self.tokens)

    async def all(self) -> list[Token]:
        return [token for _, token in self.tokens.values()]

    async def revoke(self, name: str, at: datetime) -> None:
        if name not in self.tokens:
            raise NotFound("No such token.")
        sha256, token = self.tokens[name]
        self.tokens[name] = (sha256, token.model_copy(update={"revoked_at": at}))

    async def take_build(self, name: str, day: date, limit: int) -> bool:
        taken = self.builds.get((name, day), 0)
        if taken < limit:
            self.builds[name, day] = taken + 1
        return taken < limit

    async def give_back(self, name: str, day: date) -> None:
        self.builds[name, day] -= 1


class MemoryRetentionStore:
    """Nothing that is old."""

    async def measure(self) -> int:
        return 0

    async def oldest(self, used_after: datetime, before: datetime | None = None, *, whole: bool = False) -> str | None:
        return None

    async def thin(self, build_id: str) -> None:
        """Do nothing: nothing is old."""

    async def remove(self, build_id: str, used_after: datetime) -> None:
        """Do nothing: nothing is old."""

    async def compact(self) -> None:
        """Do nothing: memory is no disk."""
