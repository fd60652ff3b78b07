"""The use cases that change builds: create, cancel, resume."""

from __future__ import annotations

from typing import Protocol

from app.core.clock import Clock
from app.core.errors import Conflict, NotFound
from app.core.ids import new_build_id
from app.model.access import EVERYONE, Access
from app.model.base import changed
from app.model.names import BuildStatus
from app.model.record import BuildRecord, BuildRequest, EngineChoice, ReasonerChoice
from app.runner.base import Runner
from app.service.intake import check_request
from app.service.library import Library
from app.service.refinement import child_of, parent_for
from app.service.view import BuildView, view_of
from app.storage.base import BuildStore

FINISHED = frozenset({BuildStatus.COMPLETE, BuildStatus.FAILED, BuildStatus.CANCELLED})


class Engines(Protocol):
    """What the service must know about engines before it accepts a build."""

    def check(self, choice: EngineChoice) -> None:
        """Return when the choice can be served.

        Raises:
            EngineMissing: it is not installed.
        """
        ...


class Reasoners(Protocol):
    """What the service must know about reasoners before it accepts a build."""

    def check(self, choice: ReasonerChoice) -> None:
        """Return when the choice can be served.

        Raises:
            ReasonerMissing: it is not set up.
        """
        ...


class BuildService:
    """Accepts requests and rings the runner; `library` forgets what is changed here."""

    def __init__(
        self,
        store: BuildStore,
        library: Library,
        runner: Runner,
        engines: Engines,
        reasoners: Reasoners,
        clock: Clock,
    ) -> None:
        self._store = store
        self._library = library
        self._runner = runner
        self._engines = engines
        self._reasoners = reasoners
        self._clock = clock

    def check(self, engine: EngineChoice, reasoner: ReasonerChoice) -> None:
        """Return when builds can be made that way.

        Raises:
            EngineMissing: the engine asked for is not installed.
            ReasonerMissing: the reasoner asked for is not set up.
        """
        self._engines.check(engine)
        self._reasoners.check(reasoner)

    async def create(
        self, request: BuildRequest, idempotency_key: str | None = None, access: Access = EVERYONE
    ) -> BuildView:
        """Store a build and have it run; the same key and request give the build stored first.

        `access`: who asks; the build is their owner's, for whom it is remembered what they keep asking for.

        Raises:
            InputError: the request cannot be used.
            EngineMissing: the engine asked for is not installed.
            ReasonerMissing: the reasoner asked for is not set up.
            IdempotencyMismatch: the key was used with another request.
            NotAvailable: this version cannot build that way yet.
            NotFound: there is no parent with that id for them.
            NotReady: the parent cannot be started from yet.
        """
        checked = check_request(request)
        self.check(checked.engine, checked.reasoner)
        now = self._clock.now()
        record = BuildRecord(id=new_build_id(), owner=access.owner, request=checked, created_at=now, updated_at=now)
        if checked.parent_id is not None:
            parent = await parent_for(self._store, checked.parent_id)
            if not access.sees(parent.owner):
                raise NotFound.of(parent.id)
            record = changed(child_of(parent, checked, now), owner=access.owner)
        stored = await self._store.insert(record, idempotency_key)
        if stored.status not in FINISHED:
            await self._runner.submit(stored.id)
        return view_of(stored)

    async def cancel(self, build_id: str) -> BuildView:
        """Ask for cancellation: a queued build is cancelled at once, a running one within one step.

        Raises:
            NotFound: no such build.
            Conflict: it has already finished.
        """
        record = await self._store.request_cancel(build_id)
        self._library.forget(build_id)
        if record.status in (BuildStatus.COMPLETE, BuildStatus.FAILED):
            raise Conflict(f"The build is {record.status.value} and cannot be cancelled.")
        return view_of(record)

    async def resume(self, build_id: str) -> BuildView:
        """Let a failed or cancelled build go on from its last checkpoint; an unfinished one just goes on.

        Raises:
            NotFound: no such build.
            InvalidTransition: it is complete.
        """
        record = await self._store.requeue(build_id)
        self._library.forget(build_id)
        await self._runner.submit(build_id)
        return view_of(record)

    async def wait(self, build_id: str) -> None:
        """Return when this process no longer works on the build."""
        await self._runner.wait(build_id)
