"""Refining: children of finished builds, from a wish or from the answer to a build's question."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from app.core.clock import Clock
from app.core.errors import Conflict, NotReady
from app.core.ids import new_build_id
from app.machine.phases import entry_phase
from app.model.base import Model, changed
from app.model.constraints import InvariantSet
from app.model.names import BuildStatus, Effort, Mode, Provenance
from app.model.record import UNTRIED, BuildRecord, BuildRequest, EngineChoice
from app.model.state import BuildState
from app.runner.base import Runner
from app.service.intake import check_answer, check_prompt, check_request
from app.service.view import BuildView, valid_state, view_of
from app.storage.base import BuildStore


class RefineRequest(Model):
    """What should become better, and what must stay: "make this tankier, keep the weapon"."""

    prompt: Annotated[str, Field(max_length=4000)]


class AnswerRequest(Model):
    """The answer to the build's one question: one of its options, or other words."""

    answer: Annotated[str, Field(max_length=200)]


class Refinements:
    """Makes children of builds; the parent never changes."""

    def __init__(self, store: BuildStore, runner: Runner, clock: Clock) -> None:
        self._store = store
        self._runner = runner
        self._clock = clock

    async def refine(self, build_id: str, request: RefineRequest, idempotency_key: str | None = None) -> BuildView:
        """Start a refinement of the build; the child begins as its parent is.

        Raises:
            NotFound: no such build.
            NotReady: the parent has no valid state yet, or is still being worked on.
            IdempotencyMismatch: the key was used with another request.
            InputError: the prompt cannot be used.
        """
        parent = await parent_for(self._store, build_id)
        asked = _request(parent, check_prompt(request.prompt), Mode.REFINEMENT)
        # What the parent's request set stands in the constraints, where this prompt may change it. A draft is refined
        # with the usual effort.
        asked = changed(asked, level=None, gear=None, effort=Effort.NORMAL, overrides={})
        return await self._start(child_of(parent, asked, self._clock.now()), idempotency_key)

    async def answer(self, build_id: str, request: AnswerRequest, idempotency_key: str | None = None) -> BuildView:
        """Build again with the question answered; the answer that was assumed changes nothing but its standing.

        Raises:
            NotFound: no such build.
            NotReady: the parent is still being worked on.
            Conflict: the build asks nothing.
            IdempotencyMismatch: the key was used with another request.
            InputError: the answer cannot be used.
        """
        parent = await parent_for(self._store, build_id)
        question = parent.invariants.question
        if question is None:
            raise Conflict("The build asks nothing.")
        answer = request.answer.strip()
        if answer.casefold() == question.assumed.casefold():
            return view_of(await self._store.insert(self._confirmed(parent, question.field, answer), idempotency_key))
        overrides = {**parent.request.overrides, question.field: check_answer(question.field, answer)}
        asked = _request(parent, parent.request.prompt, Mode.STRATEGIC, overrides)
        return await self._start(child_of(parent, check_request(asked), self._clock.now()), idempotency_key)

    async def _start(self, child: BuildRecord, idempotency_key: str | None) -> BuildView:
        stored = await self._store.insert(child, idempotency_key)
        await self._runner.submit(stored.id)
        return view_of(stored)

    def _confirmed(self, parent: BuildRecord, field: str, answer: str) -> BuildRecord:
        """Return the parent again, byte for byte, with the assumption made a statement."""
        asked = _request(parent, parent.request.prompt, Mode.REFINEMENT)
        return changed(
            child_of(parent, asked, self._clock.now()),
            status=BuildStatus.COMPLETE,
            invariants=_stated(parent.invariants, field, answer),
            state=changed(parent.state, inherited=parent.invariants),
            reasoner=parent.reasoner,
        )


async def parent_for(store: BuildStore, build_id: str) -> BuildRecord:
    """Return the build that a child starts from.

    Raises:
        NotFound: no such build.
        NotReady: it is still being worked on, or has no valid state.
    """
    record = await store.get(build_id)
    if record.status in (BuildStatus.QUEUED, BuildStatus.RUNNING):
        raise NotReady("The build is still being worked on; refine it when it is finished or cancelled.")
    if record.xml is None or record.state.blueprint is None:
        raise NotReady("The build has no valid state to start from.")
    return record


def child_of(parent: BuildRecord, request: BuildRequest, now: datetime) -> BuildRecord:
    """Return the child as it starts: its parent's owner and engine, and a new life.

    A refinement is what its parent is; another mode only inherits constraints.
    """
    child = changed(
        parent,
        id=new_build_id(),
        request=request,
        status=BuildStatus.QUEUED,
        epoch=0,
        **UNTRIED,
        cancel_requested=False,
        state=BuildState(phase=entry_phase(request.mode), inherited=parent.invariants),
        reasoner=None,
        failure=None,
        created_at=now,
        updated_at=now,
    )
    if request.mode is not Mode.REFINEMENT:
        return changed(child, invariants=InvariantSet(), xml=None)
    best = valid_state(parent)
    begun = changed(
        child.state,
        progress_label="waiting to be refined",
        origin=best.origin,
        sub_problems=best.sub_problems,
        eliminated=best.eliminated,
        assumptions=best.assumptions,
        domain_gaps=best.domain_gaps,
        conflicts=best.conflicts,
        blueprint=best.blueprint,
        stats=best.stats,
        inspection=best.inspection,
    )
    return changed(child, state=begun)


def _request(parent: BuildRecord, prompt: str, mode: Mode, overrides: dict[str, Any] | None = None) -> BuildRequest:
    asked = parent.request if overrides is None else changed(parent.request, overrides=overrides)
    return changed(asked, prompt=prompt, mode=mode, parent_id=parent.id, engine=_engine(parent))


def _engine(parent: BuildRecord) -> EngineChoice:
    if parent.engine is None:
        return parent.request.engine
    return "pob" if parent.engine.name == "pob" else "sketch"


def _stated(before: InvariantSet, field: str, answer: str) -> InvariantSet:
    """Return the constraints with the field's value said by the user, and nothing left to ask."""
    reason = f'you answered "{answer}"'
    kept = [
        changed(i, provenance=Provenance.EXPLICIT, reason=reason) if i.field == field else i for i in before.invariants
    ]
    return changed(before, invariants=kept, question=None)
