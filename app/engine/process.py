"""The engine port over child processes: one zygote, sessions forked from it, a bound on how many at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from app.core.errors import EngineCrashed, EngineError
from app.core.spans import OPENING, WAITING, SpanKind, span
from app.engine.base import Facts, ProcessFacts
from app.engine.channel import Channel
from app.engine.client import ProcessSession, SessionLimits
from app.engine.protocol import MAX_LINE_BYTES
from app.engine.spares import Spares
from app.engine.zygote import Child, Zygote, launch
from app.model.stats import EngineVersion

_log = logging.getLogger(__name__)


class ProcessEngine:
    """An engine in child processes; implements `Engine`.

    `backend` is a name of `app.engine.worker.BACKENDS` or "module:Class"; `options` are the worker's (pob: path).
    At most `workers` sessions are open at once, others wait; facts have a session apart. Deadlines are seconds;
    a child whose resident memory is above `memory_limit_bytes` is replaced between two calls.
    """

    def __init__(
        self,
        backend: str,
        options: Mapping[str, str] | None = None,
        workers: int = 2,
        *,
        call_deadline_s: float = 60.0,
        candidate_deadline_s: float = 0.25,
        start_deadline_s: float = 120.0,
        fork_deadline_s: float = 15.0,
        memory_limit_bytes: int = 1_500_000_000,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        # The hard bound leaves room above the limit, so that a child is replaced in peace before it runs into it.
        self._arguments = {**(options or {}), "backend": backend, "memory-bytes": str(2 * memory_limit_bytes)}
        self._limits = SessionLimits(call_deadline_s, candidate_deadline_s, memory_bytes=memory_limit_bytes)
        self._start_deadline_s = start_deadline_s
        self._fork_deadline_s = fork_deadline_s
        self._max_line_bytes = max_line_bytes
        self._zygote: Zygote | None = None
        self._version: EngineVersion | None = None
        self._missing: dict[str, str] = {}
        self._closed = False
        self._starting = asyncio.Lock()
        self._free = asyncio.Semaphore(workers)
        self._sessions: set[ProcessSession] = set()
        self._facts_session = ProcessSession(self._open_channel, self._limits)
        self._facts = ProcessFacts(self._facts_session)
        self._spares = Spares(self._fork, workers)

    @property
    def version(self) -> EngineVersion:
        """Which engine this is.

        Raises:
            EngineError: it has not been started.
        """
        if self._version is None:
            raise EngineError("the engine has not been started")
        return self._version

    @property
    def missing_guards(self) -> dict[str, str]:
        """What the kernel does not offer to keep the children in, with what it said; see `app.engine.sandbox`."""
        return self._missing

    @property
    def facts(self) -> Facts:
        """What it knows about the game."""
        return self._facts

    def pids(self) -> set[int]:
        """Return the process ids of the zygote and of all open sessions, for health checks."""
        sessions = {session.pid for session in [*self._sessions, self._facts_session]}
        zygote = {self._zygote.pid} if self._zygote is not None else set()
        return zygote | {pid for pid in sessions if pid is not None}

    def session(self) -> AbstractAsyncContextManager[ProcessSession]:
        """Open a session; it gets a forked child at the first call, and leaving the context ends it."""
        return self._session()

    async def start(self) -> None:
        """Start the zygote, unless one runs.

        Raises:
            EngineMissing: what the backend calculates with is not installed.
            EngineCrashed, EngineHung, EngineGarbage: it did not start.
        """
        await self._running()
        self._spares.stock()

    async def close(self) -> None:
        """End all child processes; the engine is of no further use."""
        self._closed = True
        for session in [*self._sessions, self._facts_session]:
            await session.close()
        await self._spares.close()
        async with self._starting:
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            await zygote.close()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ProcessSession]:
        with span(WAITING, SpanKind.WAIT):
            await self._free.acquire()
        try:
            session = ProcessSession(self._open_channel, self._limits)
            self._sessions.add(session)
            try:
                yield session
            finally:
                self._sessions.discard(session)
                await session.close()
        finally:
            self._free.release()

    async def _open_channel(self) -> Channel:
        with span(OPENING, SpanKind.ENGINE):
            return await Channel.to(await self._child(), self._max_line_bytes)

    async def _child(self) -> Child:
        """Return a child of a zygote that answers: a spare one, or one forked now when there is none."""
        zygote = await self._running()
        try:
            await zygote.check(self._fork_deadline_s)
        except EngineCrashed:
            return await self._fork()
        return await self._spares.take() or await self._fork()

    async def _fork(self) -> Child:
        zygote = await self._running()
        try:
            return await zygote.fork(self._fork_deadline_s)
        except EngineCrashed:
            # It died since it was last seen alive; a second failure is no accident.
            return await (await self._running()).fork(self._fork_deadline_s)

    async def _running(self) -> Zygote:
        async with self._starting:
            if self._closed:
                raise EngineError("the engine is closed")
            if self._zygote is not None and self._zygote.alive:
                return self._zygote
            dead, self._zygote = self._zygote, None
            if dead is not None:
                self._spares.discard()
                await dead.close()
            self._zygote = await self._launch()
            self._note_version(self._zygote.version)
            self._note_missing(self._zygote.missing)
            return self._zygote

    async def _launch(self) -> Zygote:
        try:
            return await launch(self._arguments, self._start_deadline_s)
        except BaseException:
            # The children died with the last zygote. Their sessions may never call again and so find that out.
            for session in [*self._sessions, self._facts_session]:
                session.drop()
            raise

    def _note_version(self, version: EngineVersion) -> None:
        if self._version not in (None, version):
            self._facts.forget()
        self._version = version

    def _note_missing(self, missing: dict[str, str]) -> None:
        if missing and missing != self._missing:
            _log.warning("the kernel does not confine engine processes wholly", extra={"missing": missing})
        self._missing = missing
