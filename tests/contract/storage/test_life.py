"""Every way that a build can go, in any order: what the store says against a model of forty lines."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from app.core.errors import IdempotencyMismatch, InvalidTransition, LeaseLost, NotFound
from app.model.base import changed
from app.model.names import BuildStatus, Outcome, Phase
from app.model.record import BuildFailure, BuildRecord, ProgressData
from app.model.state import BuildState
from app.storage.base import Checkpoint
from app.storage.store import Storage, check_database, open_storage
from tests.conftest import DEEP
from tests.databases import emptied_database
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record

T = TypeVar("T")
QUEUED, RUNNING = BuildStatus.QUEUED, BuildStatus.RUNNING
ENDINGS = {
    BuildStatus.COMPLETE: BuildState(phase=Phase.COMPLETE, outcome=Outcome.CAVEATS),
    BuildStatus.FAILED: BuildState(phase=Phase.CONSTRUCT),
    BuildStatus.CANCELLED: BuildState(phase=Phase.EXPLORE),
}


@dataclass
class Expected:
    """A build as it must be."""

    owner: str
    prompt: str
    status: BuildStatus = QUEUED
    epoch: int = 0
    attempts: int = 0
    trials: int = 0
    alone: bool = False
    aside: bool = False
    cancel: bool = False
    iteration: int = 0
    events: int = 0

    def anew(self, attempts: int = 0) -> None:
        self.attempts, self.trials, self.alone, self.aside = attempts, 0, False, False


@dataclass(frozen=True)
class Claim:
    """A runner's right to a build, which may be out of date."""

    build: str
    epoch: int


@dataclass
class Model:
    """What must be stored."""

    builds: dict[str, Expected] = field(default_factory=dict)
    keys: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def holder(self, claim: Claim) -> Expected | None:
        known = self.builds.get(claim.build)
        return known if known and known.epoch == claim.epoch and known.status is RUNNING else None


class Life(RuleBasedStateMachine):
    """Creates, crashes, restarts, cancels, resumes, takes over, submits twice, sets aside and deletes."""

    url: str
    builds: Bundle[str] = Bundle("builds")
    claims: Bundle[Claim] = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.model = Model()
        self.folder = tempfile.TemporaryDirectory()
        self.address = emptied_database() if self.url == "postgres" else f"sqlite+aiosqlite:///{self.folder.name}/b.db"
        self.open()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def open(self) -> None:
        self.opening = open_storage(self.address)
        self.storage: Storage = self.do(self.opening.__aenter__())

    def teardown(self) -> None:
        assert self.do(check_database(self.storage.database)) == []
        self.do(self.opening.__aexit__(None, None, None))
        self.loop.close()
        self.folder.cleanup()

    def known(self, build: str) -> Expected:
        """Return what is expected of the build; a deleted one is not found by anything."""
        for call in (self.storage.builds.get, self.storage.builds.request_cancel, self.storage.builds.requeue):
            if build not in self.model.builds:
                with pytest.raises(NotFound):
                    self.do(call(build))
        return self.model.builds.get(build) or Expected("", "")

    @rule(target=builds, owner=st.sampled_from(["alice", "bob"]), prompt=st.sampled_from(["cold witch", "fire witch"]))
    def create(self, owner: str, prompt: str) -> str:
        record = self.do(self.storage.builds.insert(new_record(prompt, owner=owner)))
        self.model.builds[record.id] = Expected(owner, prompt)
        return record.id

    @rule(
        target=builds,
        owner=st.sampled_from(["alice", "bob"]),
        prompt=st.sampled_from(["cold witch", "fire witch"]),
        key=st.sampled_from(["one", "two"]),
    )
    def submit_with_key(self, owner: str, prompt: str, key: str) -> Any:
        record = new_record(prompt, owner=owner)
        first, asked = self.model.keys.get((owner, key), ("", ""))
        if first and asked != prompt:
            with pytest.raises(IdempotencyMismatch):
                self.do(self.storage.builds.insert(record, key))
            return multiple()
        stored = self.do(self.storage.builds.insert(record, key))
        assert stored.id == (first or record.id)
        if not first:
            self.model.builds[record.id] = Expected(owner, prompt)
            self.model.keys[owner, key] = (record.id, prompt)
        return stored.id

    @rule(target=claims, build=builds, alone=st.booleans())
    def take_up(self, build: str, alone: bool) -> Any:
        """By the first runner, by one after a crash, or by one that takes over from a runner that is still there."""
        claimed = self.do(self.storage.builds.claim(build, alone=alone))
        known = self.model.builds.get(build)
        if known is None or known.status not in (QUEUED, RUNNING) or (known.aside and not known.alone and not alone):
            assert claimed is None
            return multiple()
        assert claimed is not None
        trial = known.aside and not known.alone
        known.status, known.epoch, known.attempts = RUNNING, known.epoch + 1, known.attempts + 1
        known.alone, known.trials = trial, known.trials + trial
        assert (claimed.epoch, claimed.alone, claimed.trials) == (known.epoch, trial, known.trials)
        return Claim(build, known.epoch)

    @rule(claim=claims, ends=st.none() | st.sampled_from(sorted(ENDINGS)))
    def checkpoint(self, claim: Claim, ends: BuildStatus | None) -> None:
        known = self.model.holder(claim)
        iteration = (known.iteration if known else 0) + 1
        state = changed(ENDINGS[ends] if ends else BuildState(), iteration=iteration)
        failure = BuildFailure(code="x", message="y") if ends is BuildStatus.FAILED else None
        told = [("step", ProgressData(done=iteration))]
        writing = self.storage.builds.checkpoint(
            claim.build, claim.epoch, Checkpoint(state, ends, failure=failure, progress=told)
        )
        if known is None:
            with pytest.raises(LeaseLost):
                self.do(writing)
            return
        self.do(writing)
        known.iteration, known.status = iteration, ends or RUNNING
        known.cancel = known.cancel and ends is None
        known.anew(attempts=int(ends is None))

    @rule(claim=claims)
    def call_a_tool(self, claim: Claim) -> None:
        known = self.model.holder(claim)
        calling = self.storage.events.start(an_open_event(claim.build, epoch=claim.epoch))
        if known is None:
            with pytest.raises(LeaseLost):
                self.do(calling)
            return
        known.events += 1
        assert self.do(calling).seq == known.events

    @rule(claim=consumes(claims))
    def stop_in_good_order(self, claim: Claim) -> None:
        known = self.model.holder(claim)
        giving = self.storage.builds.release(claim.build, claim.epoch)
        if known is None:
            with pytest.raises(LeaseLost):
                self.do(giving)
            return
        self.do(giving)
        known.attempts, known.trials, known.alone = max(0, known.attempts - 1), known.trials - known.alone, False

    @rule(claim=claims)
    def set_aside(self, claim: Claim) -> None:
        known = self.model.holder(claim)
        putting = self.storage.builds.set_aside(claim.build, claim.epoch, datetime.now(UTC) - timedelta(seconds=1))
        if known is None:
            with pytest.raises(LeaseLost):
                self.do(putting)
            return
        self.do(putting)
        known.status, known.aside, known.alone = QUEUED, True, False

    @rule(build=builds)
    def cancel(self, build: str) -> None:
        known = self.known(build)
        if build in self.model.builds:
            self.do(self.storage.builds.request_cancel(build))
        if known.status is QUEUED:
            known.status = BuildStatus.CANCELLED
            known.anew()
        elif known.status is RUNNING:
            known.cancel = True

    @rule(build=builds)
    def resume(self, build: str) -> None:
        known = self.known(build)
        if known.status is BuildStatus.COMPLETE:
            with pytest.raises(InvalidTransition):
                self.do(self.storage.builds.requeue(build))
        elif build in self.model.builds:
            self.do(self.storage.builds.requeue(build))
            if known.status not in (QUEUED, RUNNING):
                known.status, known.cancel = QUEUED, False
                known.anew()

    @rule(build=consumes(builds))
    def delete(self, build: str) -> None:
        if self.model.builds.pop(build, None) is None:
            with pytest.raises(NotFound):
                self.do(self.storage.builds.delete(build))
            return
        self.do(self.storage.builds.delete(build))
        self.model.keys = {key: known for key, known in self.model.keys.items() if known[0] != build}

    @rule()
    def restart(self) -> None:
        self.do(self.opening.__aexit__(None, None, None))
        self.open()
        self.do(self.storage.builds.pardon())
        for known in self.model.builds.values():
            known.trials = 0 if known.aside and not known.alone else known.trials

    @invariant()
    def the_store_says_what_the_model_says(self) -> None:
        stored = {record.id: record for record in self.do(self.storage.builds.page(limit=200))[0]}
        assert set(stored) == set(self.model.builds)
        for build, known in self.model.builds.items():
            assert seen(stored[build], known.events) == known
        assert set(self.do(self.storage.builds.runnable())) == {
            build for build, known in self.model.builds.items() if known.status in (QUEUED, RUNNING)
        }


def seen(record: BuildRecord, events: int) -> Expected:
    return Expected(
        owner=record.owner,
        prompt=record.request.prompt,
        status=record.status,
        epoch=record.epoch,
        attempts=record.attempts,
        trials=record.trials,
        alone=record.alone,
        aside=record.not_before is not None,
        cancel=record.cancel_requested,
        iteration=record.state.iteration,
        events=events,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_whatever_happens_to_builds(kind: str) -> None:
    machine = type("LifeOn", (Life,), {"url": kind})
    examples, steps = (200, 60) if DEEP else (8, 30)
    found = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=found)
