"""Storage ports: what machine, tools and service ask of a store. One transaction per call."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol

from app.model.access import Token
from app.model.base import Model
from app.model.constraints import InvariantSet
from app.model.evaluations import EvaluationRun, LabelSummary
from app.model.events import Attempt, CallOutcome, ToolEvent
from app.model.names import BuildStatus, Effort, Phase
from app.model.record import BuildFailure, BuildRecord, Happening, ProgressEvent, ReasonerVersion
from app.model.spans import StepTrace
from app.model.state import BuildState
from app.model.stats import EngineVersion
from app.model.usage import UsedBuild, UsedCalls, UsedChats


@dataclass(frozen=True)
class Checkpoint:
    """What one step changed; None = unchanged. Written together with its progress events in one transaction."""

    state: BuildState
    status: BuildStatus | None = None
    invariants: InvariantSet | None = None
    xml: bytes | None = None
    engine: EngineVersion | None = None
    reasoner: ReasonerVersion | None = None
    failure: BuildFailure | None = None
    progress: Sequence[Happening] = ()
    trace: StepTrace | None = None

    @property
    def attempts(self) -> int:
        """How often the step that follows has been attempted: its first attempt begins with this checkpoint."""
        return int(self.status is None)


@dataclass(frozen=True)
class Standing:
    """How a build stands: whose it is, its status, when it was last changed, and the engine it has, if any yet."""

    owner: str
    status: BuildStatus
    changed: datetime
    engine: str | None


class BuildStore(Protocol):
    """Builds and their progress events."""

    async def insert(self, record: BuildRecord, idempotency_key: str | None = None) -> BuildRecord:
        """Store a new build; with a key seen before and the same request, return the build stored then.

        Raises:
            IdempotencyMismatch: the key was used with another request.
        """
        ...

    async def get(self, build_id: str) -> BuildRecord:
        """Return the build.

        Raises:
            NotFound: no such build.
        """
        ...

    async def standing(self, build_id: str) -> Standing:
        """Return how the build stands, without reading all of it.

        Raises:
            NotFound: no such build.
        """
        ...

    async def page(
        self,
        status: BuildStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
        owner: str | None = None,
    ) -> tuple[list[BuildRecord], str | None]:
        """Return builds (of one owner, None = of all), newest first, and the cursor of the next page (None = last)."""
        ...

    async def runnable(self) -> list[str]:
        """Return ids of builds that are queued or running, oldest first."""
        ...

    async def claim(self, build_id: str, *, alone: bool = False) -> BuildRecord | None:
        """Raise epoch and attempts of a runnable build, mark it running and return it; None when it is not runnable.

        A build that is set aside is claimed `alone`, once its time has come, and counts that as a trial. One whose
        process ended during its trial comes back with `alone` false, to be judged.
        """
        ...

    async def release(self, build_id: str, epoch: int) -> None:
        """Give the claim back, as if it had not been made: whoever had it stops in good order; it stays runnable.

        Raises:
            LeaseLost: another runner claimed the build, or it is no longer running.
        """
        ...

    async def set_aside(self, build_id: str, epoch: int, until: datetime) -> None:
        """Queue the build again and let nobody claim it until then, and then only alone.

        Raises:
            LeaseLost: another runner claimed the build, or it is no longer running.
        """
        ...

    async def pardon(self) -> None:
        """Forget the trials of builds that are set aside: a process ended while they were not worked on."""
        ...

    async def delete(self, build_id: str) -> None:
        """Remove the build with its events, keys, evaluation runs and what it taught; a runner of it loses its lease.

        Raises:
            NotFound: no such build.
        """
        ...

    async def checkpoint(self, build_id: str, epoch: int, change: Checkpoint) -> None:
        """Write what a step changed, fenced by the epoch; attempts and trials count anew.

        Raises:
            LeaseLost: another runner claimed the build.
        """
        ...

    async def traces(self, build_id: str) -> list[StepTrace]:
        """Return where the time went, one checkpoint after another; nothing where it was not recorded."""
        ...

    async def cancel_requested(self, build_id: str, epoch: int) -> bool:
        """Return whether somebody asked to cancel the build that this epoch owns.

        Raises:
            LeaseLost: another runner claimed the build, or it is no longer running.
        """
        ...

    async def request_cancel(self, build_id: str) -> BuildRecord:
        """Ask for cancellation; a queued build becomes cancelled at once. Idempotent.

        Raises:
            NotFound: no such build.
        """
        ...

    async def requeue(self, build_id: str) -> BuildRecord:
        """Make a failed or cancelled build runnable again from its last checkpoint.

        Raises:
            InvalidTransition: the build is complete.
        """
        ...

    async def progress(self, build_id: str, after_seq: int = 0, limit: int = 500) -> list[ProgressEvent]:
        """Return progress events with a greater seq, in order."""
        ...


class Used(Model):
    """What recorded attempts used; calls answered from a cache or rejected are none."""

    calls: int = 0
    tokens: int = 0
    usd: Decimal = Decimal()


class UsageStore(Protocol):
    """Sums over tool events."""

    async def used(self, build_id: str | None = None, since: datetime | None = None) -> Used:
        """Return what the attempts of a build (None = all) that started at or after `since` used."""
        ...


class UsageHistory(Protocol):
    """What was used across builds; `owner` None = those of all."""

    async def builds(self, since: datetime, owner: str | None = None) -> list[UsedBuild]:
        """Return the builds asked for at or after `since`, oldest first."""
        ...

    async def calls(self, since: datetime, owner: str | None = None) -> list[UsedCalls]:
        """Return the calls of those builds by build, phase, tool and model."""
        ...


class ChatHistory(Protocol):
    """What builds that a language model reasoned for asked of it; `owner` None = those of all."""

    async def chats(self, effort: Effort, until: datetime, owner: str | None = None) -> list[UsedChats]:
        """Return what the newest builds of the effort from a sentence asked, complete before `until`, newest first."""
        ...

    async def chats_of(self, build_id: str) -> UsedChats | None:
        """Return what the build asked so far, None where it asked nothing."""
        ...


class EventStore(Protocol):
    """Tool events: written at the start of an attempt, completed once.

    A write of an event with an epoch raises LeaseLost, and writes nothing, once that claim on the build is over."""

    @property
    def immediate(self) -> bool:
        """Whether a write mostly ends without waiting for anything, and does not ask which task it runs in."""
        ...

    async def start(self, event: ToolEvent) -> ToolEvent:
        """Store the event with the next seq of its build and outcome `incomplete`; return it with its seq."""
        ...

    async def record(self, event: ToolEvent) -> ToolEvent:
        """Store an event that is over already, with the next seq of its build; return it with its seq."""
        ...

    async def finish(self, event: ToolEvent) -> None:
        """Complete a started event; a finished event is never changed again."""
        ...

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this work, which raises nothing, when the loop is free, before anything is read or durably written."""
        ...

    async def page(
        self,
        build_id: str,
        phase: Phase | None = None,
        tool: str | None = None,
        outcome: CallOutcome | None = None,
        after_seq: int = 0,
        limit: int = 200,
    ) -> list[ToolEvent]:
        """Return events in seq order."""
        ...

    async def all(self, build_id: str) -> list[ToolEvent]:
        """Return every event of the build in seq order."""
        ...

    async def measured(self, build_id: str) -> Sequence[Attempt]:
        """Return of every event of the build, in seq order, what metrics need."""
        ...


@dataclass(frozen=True)
class KeptResult:
    """The answer to a call, kept for the next one. `key` hashes everything that the answer depends on.

    `took_ms`: what making it took, None where that is not known.
    """

    key: str
    tool: str
    data: bytes
    born: datetime
    took_ms: float | None = None


class ResultStore(Protocol):
    """Answers of deterministic calls, across builds and restarts. Losing one costs time, nothing else."""

    async def find(self, key: str, since: datetime | None = None) -> list[KeptResult]:
        """Return the answer and some that were stored after it: whoever asks again, asks in the same order.

        Nothing when there is none, or only one older than `since`.
        """
        ...

    async def keep(self, results: Sequence[KeptResult], most_bytes: int) -> None:
        """Store the answers; then, above `most_bytes` in all, the least recently used go."""
        ...


class EvaluationStore(Protocol):
    """Runs of evaluation suites, and result files of runs that were made elsewhere."""

    async def add(self, run: EvaluationRun) -> None:
        """Store the run; Conflict: this trial of the task is stored under the label already."""
        ...

    async def of(self, label: str) -> list[EvaluationRun]:
        """Return the runs under the label, by task and trial."""
        ...

    async def labels(self) -> list[LabelSummary]:
        """Return every label with its counts, newest first."""
        ...

    async def keep(self, label: str, content: str, at: datetime) -> None:
        """Keep a result file; Conflict: something is kept, or was run, under the label."""
        ...

    async def kept(self, label: str) -> str | None:
        """Return the result file kept under the label, None when there is none."""
        ...


class TokenStore(Protocol):
    """Access tokens, and how many builds each has started."""

    async def add(self, token: Token, sha256: str) -> None:
        """Store a token by the hash of its secret.

        Raises:
            Conflict: there is, or was, one of that name.
        """
        ...

    async def find(self, sha256: str) -> Token | None:
        """Return the token whose secret has that hash, None when there is none or it was revoked."""
        ...

    async def any(self) -> bool:
        """Return whether there has ever been a token."""
        ...

    async def all(self) -> list[Token]:
        """Return every token, revoked ones too, by name."""
        ...

    async def revoke(self, name: str, at: datetime) -> None:
        """Let nobody in with the token any more; a revoked one stays as it is.

        Raises:
            NotFound: no such token.
        """
        ...

    async def take_build(self, name: str, day: date, limit: int) -> bool:
        """Count one build more of the token on that day; false, and nothing counted, where the limit is reached."""
        ...

    async def give_back(self, name: str, day: date) -> None:
        """Count one build less: it was not made."""
        ...
