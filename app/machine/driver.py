"""The driver: claim a build, do its steps, write a checkpoint after each. The only writer of BuildState.

A step that dies with the process is done again from the last checkpoint; a step whose checkpoint was written is
never done again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from app.core.clock import Clock, SystemClock
from app.core.errors import AppError, LeaseLost, StorageBusy, StorageError
from app.core.spans import SpanKind, Trace, span
from app.machine import checkpoints
from app.machine.lease import Lease, claim
from app.machine.watch import Interrupted, Reason, watched
from app.model.names import BuildStatus, Phase
from app.model.record import BuildRecord
from app.model.spans import SpanNode, StepTrace
from app.phases.base import PhaseContext, PhaseResult, PhaseStep
from app.phases.memory import memory_of, race_memory_of
from app.phases.validate.caveats import has_partial, measured_as_it_is, unfinished
from app.storage.base import BuildStore, Checkpoint
from app.storage.memory_port import MemoryStore, NoMemory
from app.telemetry.observers import BuildObserver

_log = logging.getLogger(__name__)
WORK = {phase: SpanKind.SEARCH if phase is Phase.CONSTRUCT else SpanKind.PLANNER for phase in Phase}
"""What the time of a phase's own code counts as."""


class ContextFactory(Protocol):
    """Gives a step its ports; called anew for every step."""

    async def __call__(self, record: BuildRecord) -> PhaseContext:
        """Return the context of the next step of the build.

        Raises:
            AppError: the build cannot go on, e.g. its engine is not installed.
        """
        ...


@dataclass(frozen=True)
class DriverLimits:
    """Bounds on one build.

    `budget_s`: seconds of work since the build was last taken up, None = unbounded. `attempts`: how often its process
    may end without a checkpoint before the build is set aside; `pauses_s`: for how many seconds then, before each trial
    in which nothing else runs. When its process has ended in as many trials, the build has failed.
    `poll_s`: how often a step in flight is checked for cancellation.
    `partial_s`: how long measuring what there is of an interrupted build may take.
    """

    budget_s: float | None = None
    attempts: int = 5
    pauses_s: tuple[float, ...] = (5.0, 30.0, 180.0)
    poll_s: float = 0.2
    partial_s: float = 30.0


class Driver:
    """Drives builds to a terminal status."""

    def __init__(
        self,
        store: BuildStore,
        phases: Mapping[Phase, PhaseStep],
        contexts: ContextFactory,
        limits: DriverLimits | None = None,
        clock: Clock | None = None,
        memory: MemoryStore | None = None,
        observer: BuildObserver | None = None,
    ) -> None:
        self._store = store
        self._phases = phases
        self._contexts = contexts
        self._limits = limits or DriverLimits()
        self._clock = clock or SystemClock()
        self._memory = memory or NoMemory()
        self._observer = observer or _Nobody()

    async def drive(self, build_id: str, stop: asyncio.Event | None = None, *, alone: bool = False) -> bool:
        """Work on the build until it is finished, lost to another runner, or `stop` is set between two steps.

        Return whether it was this runner's to the end: a build that somebody else finished, or holds, is not.

        What goes wrong with the build is written into it, never raised. A build whose process ended too often is set
        aside; from then on it is driven `alone`, while nothing else runs, for the one step that was interrupted.

        Raises:
            StorageError: the store failed; the build stays runnable from its last checkpoint.
        """
        trace = Trace()
        try:
            with span("claim", SpanKind.STORE):
                lease = await claim(self._store, build_id, alone=alone)
            return lease is not None and await self._drive(lease, trace, stop)
        finally:
            trace.close()

    async def _drive(self, lease: Lease, trace: Trace, stop: asyncio.Event | None) -> bool:
        run = _Run(lease, self._limits, self._clock)
        trial = lease.record.alone
        self._observer.taken_up(lease.record)
        try:
            if lease.record.attempts > self._limits.attempts and not trial:
                await self._judge(lease)
                return True
            while lease.running and not (stop is not None and stop.is_set()):
                record, checkpoint = lease.record, await self._next(run)
                root = SpanNode.of(trace.cut())
                kept = StepTrace(phase=record.state.phase, queued_ms=run.queued_ms(), root=root)
                with span("checkpoint", SpanKind.STORE):
                    await lease.write(replace(checkpoint, trace=kept))
                if trial:
                    break
            return True
        except LeaseLost:
            _log.info("another runner took the build over, or it is gone", extra={"build_id": lease.record.id})
            return False
        finally:
            if lease.running:
                await lease.release()
            self._observer.put_down(lease.record)

    async def _judge(self, lease: Lease) -> None:
        """Set a build aside that was interrupted again and again; fail it once it has ended its process all alone.

        Raises:
            LeaseLost: another runner claimed the build.
        """
        record, pauses_s = lease.record, self._limits.pauses_s
        if record.cancel_requested:
            await lease.write(checkpoints.cancelled(record))
        elif record.trials >= len(pauses_s):
            sentence = "The build ended its process again and again, also while nothing else ran."
            await lease.write(checkpoints.failed(record, "crash_loop", sentence))
        else:
            _log.warning("a build is set aside", extra={"build_id": record.id, "trials": record.trials})
            await lease.set_aside(self._clock.now() + timedelta(seconds=pauses_s[record.trials]))

    async def _next(self, run: _Run) -> Checkpoint:
        record = run.lease.record
        try:
            with span("looking for a cancellation", SpanKind.STORE):
                await run.check()
            return await watched(self._step(record), run.look, self._limits.poll_s)
        except Interrupted as stopped:
            return run.ending(stopped.reason, await self._partial(run, stopped.reason))
        except (LeaseLost, StorageError):
            raise
        except AppError as error:
            _log.warning("a step failed: %s", error.code, extra={"build_id": record.id})
            return checkpoints.failed_by(record, error)
        except Exception:
            _log.exception("a step failed unexpectedly", extra={"build_id": record.id})
            return checkpoints.failed(record, "internal", "An unexpected error ended the build; the log has it.")

    async def _step(self, record: BuildRecord) -> Checkpoint:
        self._observer.stepping(record)
        phase = record.state.phase
        with span(phase.value, SpanKind.FRAME):
            with span("engine and reasoner", SpanKind.ENGINE):
                context = await self._contexts(record)
            with span(f"{phase.value} step", WORK[phase]):
                result = await self._phases[phase].run(context)
                checkpoint = checkpoints.after_step(record, context, result)
            with span("memory", SpanKind.STORE):
                await self._learn(record, checkpoint)
        return checkpoint

    async def _partial(self, run: _Run, reason: Reason) -> PhaseResult | None:
        """Return what there is of a build that ends before its first validation, or None when that is nothing.

        A few seconds on top of the budget, and no reason to end otherwise when they fail.
        """
        record = run.lease.record
        if not has_partial(record.state):
            return None
        try:
            async with asyncio.timeout(self._limits.partial_s):
                context = await self._contexts(record)
                if reason is Reason.CANCELLED:
                    return await measured_as_it_is(context)
                return await unfinished(context, checkpoints.time_spent(self._limits.budget_s or 0.0))
        except (LeaseLost, StorageError):
            raise
        except Exception:
            _log.exception("nothing could be kept of an unfinished build", extra={"build_id": record.id})
            return None

    async def _learn(self, record: BuildRecord, ending: Checkpoint) -> None:
        """Remember what a build taught that ends well with this checkpoint.

        Before the checkpoint is written: after a crash in between, the last step is done again and teaches the same.
        """
        if ending.status is not BuildStatus.COMPLETE:
            return
        changed = {"state": ending.state, "invariants": ending.invariants or record.invariants}
        ended, now = record.model_copy(update=changed), self._clock.now()
        memory, race = memory_of(ended, now), race_memory_of(ended, now)
        try:
            if memory is not None:
                await self._memory.remember(memory)
            if race is not None:
                await self._memory.remember_race(race)
        except StorageError as error:
            _log.warning("nothing was remembered: %s", error.code, extra={"build_id": record.id})


class _Nobody:
    """The observer when nobody watches."""

    def taken_up(self, record: BuildRecord) -> None:
        """Tell nobody."""

    def stepping(self, record: BuildRecord) -> None:
        """Tell nobody."""

    def put_down(self, record: BuildRecord) -> None:
        """Tell nobody."""


class _Run:
    """One taking-up of a build: its lease and how much time is left."""

    def __init__(self, lease: Lease, limits: DriverLimits, clock: Clock) -> None:
        self.lease = lease
        self._limits = limits
        self._clock = clock
        self._started_ms = clock.monotonic_ms()
        record = lease.record
        waited = (record.updated_at - record.created_at).total_seconds() * 1000
        self._queued_ms = waited if record.epoch == 1 else None

    def queued_ms(self) -> float | None:
        """Return how long the build had waited for its first claim, once; None where that is not known."""
        queued_ms, self._queued_ms = self._queued_ms, None
        return queued_ms

    async def look(self) -> Reason | None:
        """Return why the step in flight should stop; a store that is busy for a moment is no reason."""
        try:
            return await self._reason()
        except StorageBusy:
            return None

    async def check(self) -> None:
        """Return when the next step may begin.

        Raises:
            Interrupted: it may not.
        """
        if (reason := await self._reason()) is not None:
            raise Interrupted(reason)

    async def _reason(self) -> Reason | None:
        if await self.lease.cancel_requested():
            return Reason.CANCELLED
        budget = self._limits.budget_s
        elapsed_s = (self._clock.monotonic_ms() - self._started_ms) / 1000
        return Reason.OUT_OF_TIME if budget is not None and elapsed_s >= budget else None

    def ending(self, reason: Reason, partial: PhaseResult | None) -> Checkpoint:
        """Return what a build that is stopped for the reason writes."""
        if reason is Reason.CANCELLED:
            return checkpoints.cancelled(self.lease.record, partial)
        return checkpoints.out_of_time(self.lease.record, self._limits.budget_s or 0.0, partial)
