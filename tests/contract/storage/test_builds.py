"""What every BuildStore promises."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from app.core.errors import IdempotencyMismatch, InvalidTransition, LeaseLost, NotFound
from app.model.blueprint import Blueprint
from app.model.constraints import Invariant, InvariantSet
from app.model.names import BuildStatus, Mode, Outcome, Phase, Provenance
from app.model.record import BuildFailure, BuildRequest, ProgressData, ReasonerVersion
from app.model.state import BuildState
from app.model.stats import EngineVersion
from app.storage.base import Checkpoint
from app.storage.store import Storage
from tests.fakes.samples import an_open_event
from tests.fakes.steps import new_record


async def test_a_stored_build_comes_back_equal(storage: Storage) -> None:
    state = BuildState(blueprint=Blueprint(class_name="Witch", ascendancy="Lich", level=90), caveats=["größer ≥ 1"])
    record = new_record(state=state, xml=b"<x\x00/>", engine=EngineVersion(name="s", version="1", tree_version="0_5"))
    await storage.builds.insert(record)
    assert await storage.builds.get(record.id) == record


async def test_an_unknown_build_is_not_found(storage: Storage) -> None:
    for call in (storage.builds.get, storage.builds.request_cancel, storage.builds.requeue):
        with pytest.raises(NotFound):
            await call("missing")
    assert await storage.builds.claim("missing") is None


async def test_the_same_id_twice_is_refused(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    with pytest.raises(InvalidTransition):
        await storage.builds.insert(record)
    assert [e.seq for e in await storage.builds.progress(record.id)] == [1]


async def test_a_key_seen_before_gives_the_first_build(storage: Storage) -> None:
    first = await storage.builds.insert(new_record("a cold witch"), "key")
    again = await storage.builds.insert(new_record("a cold witch"), "key")
    assert again == first
    assert (await storage.builds.page())[0] == [first]


async def test_a_key_with_another_request_is_a_mismatch(storage: Storage) -> None:
    await storage.builds.insert(new_record("a cold witch"), "key")
    with pytest.raises(IdempotencyMismatch):
        await storage.builds.insert(new_record("a fire witch"), "key")


async def test_fifty_parallel_posts_with_one_key_make_one_build(storage: Storage) -> None:
    stored = await asyncio.gather(*(storage.builds.insert(new_record(), "key") for _ in range(50)))
    assert len({record.id for record in stored}) == 1
    assert len((await storage.builds.page(limit=100))[0]) == 1


async def test_pages_are_newest_first_without_gap_or_repeat(storage: Storage) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [start + timedelta(seconds=n // 2) for n in range(7)]  # pairs share a time
    records = [await storage.builds.insert(new_record(created_at=time, updated_at=time)) for time in times]
    expected = [r.id for r in sorted(records, key=lambda r: (r.created_at, r.id), reverse=True)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page, cursor = await storage.builds.page(limit=3, cursor=cursor)
        seen += [record.id for record in page]
        if cursor is None:
            break
    assert seen == expected


async def test_a_page_can_be_limited_to_a_status(storage: Storage) -> None:
    claimed, waiting = [await storage.builds.insert(new_record()) for _ in range(2)]
    await storage.builds.claim(claimed.id)
    page, cursor = await storage.builds.page(BuildStatus.QUEUED)
    assert [record.id for record in page] == [waiting.id]
    assert cursor is None


async def test_runnable_is_queued_and_running_oldest_first(storage: Storage) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    late, early, gone = [
        await storage.builds.insert(new_record(created_at=start + timedelta(seconds=n))) for n in (2, 1, 3)
    ]
    await storage.builds.claim(late.id)
    await storage.builds.request_cancel(gone.id)
    assert await storage.builds.runnable() == [early.id, late.id]


async def test_a_claim_raises_the_epoch_and_marks_the_build_running_once(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    first = await storage.builds.claim(record.id)
    second = await storage.builds.claim(record.id)
    assert first is not None
    assert second is not None
    assert [(r.epoch, r.attempts, r.status) for r in (first, second)] == [
        (1, 1, BuildStatus.RUNNING),
        (2, 2, BuildStatus.RUNNING),
    ]
    told = [(e.type, e.data) for e in await storage.builds.progress(record.id)]
    assert told == [("status", ProgressData(status=status)) for status in (BuildStatus.QUEUED, BuildStatus.RUNNING)]


async def test_a_checkpoint_writes_what_it_names_and_nothing_else(storage: Storage) -> None:
    record = await _claimed(storage)
    invariants = InvariantSet(
        invariants=[Invariant(field="level", value=90, provenance=Provenance.EXPLICIT, reason="said")]
    )
    await storage.builds.checkpoint(
        record,
        1,
        Checkpoint(
            state=BuildState(phase=Phase.EXPLORE),
            invariants=invariants,
            xml=b"<a/>",
            reasoner=ReasonerVersion(name="rules"),
        ),
    )
    await storage.builds.checkpoint(record, 1, Checkpoint(state=BuildState(phase=Phase.CONSTRUCT)))
    stored = await storage.builds.get(record)
    assert stored.state.phase is Phase.CONSTRUCT
    assert (stored.invariants, stored.xml, stored.reasoner) == (invariants, b"<a/>", ReasonerVersion(name="rules"))
    assert (stored.status, stored.attempts, stored.failure) == (BuildStatus.RUNNING, 1, None)


async def test_a_stale_epoch_writes_nothing(storage: Storage) -> None:
    record = await _claimed(storage)
    await storage.builds.claim(record)
    before = await storage.builds.get(record), await storage.builds.progress(record)
    with pytest.raises(LeaseLost):
        await storage.builds.checkpoint(
            record, 1, Checkpoint(state=BuildState(phase=Phase.COMPLETE), progress=[("step", ProgressData())])
        )
    assert (await storage.builds.get(record), await storage.builds.progress(record)) == before


async def test_a_finished_build_takes_no_checkpoint(storage: Storage) -> None:
    record = await _claimed(storage)
    await storage.builds.checkpoint(record, 1, Checkpoint(state=BuildState(), status=BuildStatus.CANCELLED))
    with pytest.raises(LeaseLost):
        await storage.builds.checkpoint(record, 1, Checkpoint(state=BuildState(iteration=7)))
    assert (await storage.builds.get(record)).state.iteration == 0


async def test_progress_is_numbered_without_gaps_and_can_be_read_from_anywhere(storage: Storage) -> None:
    record = await _claimed(storage)
    for number in range(4):
        happened = [("step", ProgressData(done=number)), ("phase", ProgressData(iteration=number))]
        await storage.builds.checkpoint(record, 1, Checkpoint(state=BuildState(), progress=happened))
    events = await storage.builds.progress(record)
    assert [event.seq for event in events] == list(range(1, 11))
    assert await storage.builds.progress(record, after_seq=3, limit=2) == events[3:5]


async def test_fifty_parallel_checkpoints_lose_nothing(storage: Storage) -> None:
    record = await _claimed(storage)
    await asyncio.gather(
        *(
            storage.builds.checkpoint(
                record, 1, Checkpoint(state=BuildState(), progress=[("step", ProgressData(done=n))])
            )
            for n in range(50)
        )
    )
    events = await storage.builds.progress(record)
    assert [event.seq for event in events] == list(range(1, 53))
    assert sorted(event.data.done or 0 for event in events[2:]) == list(range(50))


async def test_fifty_parallel_claims_give_fifty_epochs(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    claims = await asyncio.gather(*(storage.builds.claim(record.id) for _ in range(50)))
    assert sorted(claim.epoch for claim in claims if claim) == list(range(1, 51))


async def test_a_queued_build_is_cancelled_at_once(storage: Storage) -> None:
    record = await storage.builds.insert(new_record())
    cancelled = await storage.builds.request_cancel(record.id)
    again = await storage.builds.request_cancel(record.id)
    assert cancelled.status is again.status is BuildStatus.CANCELLED
    assert [e.type for e in await storage.builds.progress(record.id)] == ["status", "status", "finished"]
    assert await storage.builds.claim(record.id) is None


async def test_a_running_build_is_asked_to_stop(storage: Storage) -> None:
    record = await _claimed(storage)
    assert await storage.builds.cancel_requested(record, 1) is False
    asked = await storage.builds.request_cancel(record)
    assert (asked.status, asked.cancel_requested) == (BuildStatus.RUNNING, True)
    assert await storage.builds.cancel_requested(record, 1) is True
    with pytest.raises(LeaseLost):
        await storage.builds.cancel_requested(record, 0)


async def test_cancelling_a_complete_build_changes_nothing(storage: Storage) -> None:
    state = BuildState(phase=Phase.COMPLETE, outcome=Outcome.CAVEATS)
    record = await storage.builds.insert(new_record(status=BuildStatus.COMPLETE, state=state))
    assert await storage.builds.request_cancel(record.id) == record


async def test_a_failed_build_goes_on_where_it_was(storage: Storage) -> None:
    record = await _claimed(storage)
    state = BuildState(phase=Phase.CONSTRUCT, iteration=1)
    failure = BuildFailure(code="engine_crashed", message="gone")
    await storage.builds.checkpoint(record, 1, Checkpoint(state, BuildStatus.FAILED, failure=failure))
    assert (await storage.builds.get(record)).failure == failure
    requeued = await storage.builds.requeue(record)
    assert (requeued.status, requeued.failure, requeued.state) == (BuildStatus.QUEUED, None, state)
    assert await storage.builds.requeue(record) == requeued
    claimed = await storage.builds.claim(record)
    assert claimed is not None
    assert (claimed.epoch, claimed.cancel_requested) == (2, False)


async def test_a_complete_build_cannot_be_resumed(storage: Storage) -> None:
    record = await storage.builds.insert(new_record(status=BuildStatus.COMPLETE))
    with pytest.raises(InvalidTransition):
        await storage.builds.requeue(record.id)


async def test_a_hundred_cancels_and_a_completion_end_in_one_status(storage: Storage) -> None:
    record = await _claimed(storage)
    done = BuildState(phase=Phase.COMPLETE, outcome=Outcome.VALIDATED)
    ended = [("status", ProgressData(status=BuildStatus.COMPLETE)), ("finished", ProgressData())]
    complete = Checkpoint(done, BuildStatus.COMPLETE, progress=ended)
    cancels = [storage.builds.request_cancel(record) for _ in range(100)]
    await asyncio.gather(*cancels[:50], storage.builds.checkpoint(record, 1, complete), *cancels[50:])
    stored = await storage.builds.get(record)
    assert (stored.status, stored.cancel_requested) == (BuildStatus.COMPLETE, False)
    assert [e.type for e in await storage.builds.progress(record)].count("finished") == 1


async def _claimed(storage: Storage) -> str:
    record = await storage.builds.insert(new_record(request=BuildRequest(prompt="a cold witch")))
    await storage.builds.claim(record.id)
    return record.id


async def test_a_build_keeps_its_owner_through_every_write(storage: Storage) -> None:
    stored = await storage.builds.insert(new_record(owner="alice"))
    claimed = await storage.builds.claim(stored.id)
    await storage.builds.checkpoint(stored.id, 1, Checkpoint(state=BuildState(iteration=1)))
    read = await storage.builds.get(stored.id)
    assert claimed is not None
    assert (stored.owner, claimed.owner, read.owner) == ("alice", "alice", "alice")
    assert read.request == stored.request


async def test_the_same_key_of_two_owners_stands_for_two_builds(storage: Storage) -> None:
    mine = await storage.builds.insert(new_record("a cold witch", owner="alice"), "key")
    theirs = await storage.builds.insert(new_record("a fire witch", owner="bob"), "key")
    assert mine.id != theirs.id
    assert (await storage.builds.insert(new_record("a fire witch", owner="bob"), "key")).id == theirs.id


async def test_a_page_can_be_limited_to_an_owner(storage: Storage) -> None:
    mine = [await storage.builds.insert(new_record(owner="alice")) for _ in range(3)]
    theirs = await storage.builds.insert(new_record(owner="bob"))
    page, cursor = await storage.builds.page(limit=2, owner="alice")
    rest, end = await storage.builds.page(limit=2, cursor=cursor, owner="alice")
    assert {record.id for record in [*page, *rest]} == {record.id for record in mine}
    assert end is None
    assert (await storage.builds.page(owner="bob"))[0] == [theirs]
    assert (await storage.builds.standing(theirs.id)).owner == "bob"


async def test_a_deleted_build_leaves_nothing_and_its_children_stay(storage: Storage) -> None:
    parent = await storage.builds.insert(new_record(), "key")
    asked = BuildRequest(prompt="tankier", mode=Mode.REFINEMENT, parent_id=parent.id)
    child = await storage.builds.insert(new_record(request=asked))
    await storage.events.start(an_open_event(parent.id))
    await storage.builds.delete(parent.id)
    async with storage.database.read() as session:
        for table in ("build_progress", "tool_event", "idempotency"):
            counted = await session.scalar(text(f"SELECT count(*) FROM {table} WHERE build_id = '{parent.id}'"))
            assert counted == 0, table
    with pytest.raises(NotFound):
        await storage.builds.get(parent.id)
    with pytest.raises(NotFound):
        await storage.builds.delete(parent.id)
    assert (await storage.builds.get(child.id)).parent_id == parent.id
    again = await storage.builds.insert(new_record(), "key")
    assert again.id != parent.id


async def test_the_runner_of_a_deleted_build_has_lost_it(storage: Storage) -> None:
    build = await _claimed(storage)
    await storage.builds.delete(build)
    for write in (
        storage.builds.checkpoint(build, 1, Checkpoint(state=BuildState())),
        storage.builds.release(build, 1),
        storage.builds.cancel_requested(build, 1),
        storage.events.start(an_open_event(build, epoch=1)),
    ):
        with pytest.raises(LeaseLost):
            await write


async def test_a_claim_that_is_given_back_does_not_count(storage: Storage) -> None:
    build = await _claimed(storage)
    await storage.builds.release(build, 1)
    released = await storage.builds.get(build)
    assert (released.attempts, released.epoch, released.status) == (0, 1, BuildStatus.RUNNING)
    with pytest.raises(LeaseLost):
        await storage.builds.release(build, 0)


async def test_a_build_that_is_set_aside_can_be_claimed_alone_when_its_time_has_come(storage: Storage) -> None:
    build, now = await _claimed(storage), datetime.now(UTC)
    await storage.builds.set_aside(build, 1, now + timedelta(hours=1))
    assert await storage.builds.claim(build) is None
    assert await storage.builds.claim(build, alone=True) is None
    assert (await storage.builds.get(build)).epoch == 1
    await storage.builds.requeue(build)
    assert (await storage.builds.get(build)).not_before is not None, "a queued build stays as it is"
    await storage.builds.request_cancel(build)
    await storage.builds.requeue(build)
    claimed = await storage.builds.claim(build)
    assert claimed is not None
    await storage.builds.set_aside(build, claimed.epoch, now)
    assert await storage.builds.claim(build) is None
    alone = await storage.builds.claim(build, alone=True)
    assert alone is not None
    assert (alone.alone, alone.trials, alone.status) == (True, 1, BuildStatus.RUNNING)
    died = await storage.builds.claim(build)
    assert died is not None
    assert (died.alone, died.trials) == (False, 1)


async def test_trials_of_what_is_set_aside_are_forgotten_but_not_those_of_a_trial_under_way(storage: Storage) -> None:
    waiting, tried = await _claimed(storage), await _claimed(storage)
    for build in (waiting, tried):
        await storage.builds.set_aside(build, 1, datetime.now(UTC))
        await storage.builds.claim(build, alone=True)
    await storage.builds.claim(waiting)
    await storage.builds.set_aside(waiting, 3, datetime.now(UTC))
    await storage.builds.pardon()
    assert [(await storage.builds.get(build)).trials for build in (waiting, tried)] == [0, 1]
