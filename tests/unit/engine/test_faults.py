"""Every way a child can fail gives its typed error in bounded time, and the next call goes on with the same build."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.errors import (
    EngineCrashed,
    EngineError,
    EngineGarbage,
    EngineHung,
    EngineMissing,
    EngineRefused,
    UnknownFact,
)
from app.core.spans import BUSY, SpanKind, Trace
from app.engine.process import ProcessEngine
from app.model.blueprint import Allocate, Blueprint, Change, Deallocate, PassiveNode, SetConfig
from tests.unit.engine.conftest import Script, open_engine

FAULTS = [
    ("crash", EngineCrashed),
    ("segv", EngineCrashed),
    ("raise", EngineCrashed),
    ("half", EngineCrashed),
    ("garbage", EngineGarbage),
    ("huge", EngineGarbage),
    ("wrong_id", EngineGarbage),
    ("nan", EngineGarbage),
    ("infinity", EngineGarbage),
    ("shape", EngineGarbage),
]


@pytest.mark.parametrize(("fault", "error"), FAULTS, ids=[fault for fault, _ in FAULTS])
async def test_a_fault_is_typed_and_survived(
    engine: ProcessEngine, script: Script, fault: str, error: type[Exception]
) -> None:
    async with engine.session() as session:
        await session.build(script.build(fault))
        with pytest.raises(error):
            await session.stats()

        stats = await session.stats()

    assert (stats.get("Level"), stats.get("Nodes"), stats.get("Sum")) == (90, 3, 60)


@pytest.mark.parametrize("fault", ["hang", "late"])
async def test_a_missed_deadline_is_bounded_and_survived(script: Script, fault: str) -> None:
    async with open_engine(call_deadline_s=2.0) as engine, engine.session() as session:
        await session.build(script.build(fault))
        started = time.monotonic()
        with pytest.raises(EngineHung):
            await session.stats()
        elapsed = time.monotonic() - started

        stats = await session.stats()

    assert 2 <= elapsed < 20
    assert stats.get("Sum") == 60


@contextlib.contextmanager
def crowded(processor: int, others: int) -> Iterator[None]:
    """Let so many other processes calculate on a processor while the block runs, which begins when all of them do."""
    code = "print(flush=True)\nwhile True: pass"
    with contextlib.ExitStack() as stack:
        crowd = []
        for _ in range(others):
            # Each in a session of its own: Linux may share a processor between sessions first, then between processes.
            starting = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
            other = stack.enter_context(starting)
            stack.callback(other.kill)
            os.sched_setaffinity(other.pid, {processor})
            crowd.append(other)
        for other in crowd:
            assert other.stdout is not None
            other.stdout.readline()
        yield


async def test_a_child_that_is_kept_from_the_processor_is_waited_for(script: Script) -> None:
    """Four others want the same processor: a second of work takes about five, and the deadline is two."""
    processor = min(os.sched_getaffinity(0))
    async with open_engine(call_deadline_s=2.0) as engine, engine.session() as session:
        await session.build(script.build("work", work_s=1.0))
        assert session.pid is not None
        os.sched_setaffinity(session.pid, {processor})
        with crowded(processor, 4):
            started = time.monotonic()
            stats = await session.stats()
            elapsed = time.monotonic() - started

    assert elapsed > 2
    assert stats.get("Sum") == 60


async def test_committed_changes_survive_a_crash(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build("crash"))
        await session.apply([Allocate(nodes=[PassiveNode(id=40)])])
        await session.apply([Deallocate(nodes=[10])])
        with pytest.raises(EngineCrashed):
            await session.stats()

        stats = await session.stats()

    assert stats.get("Sum") == 20 + 30 + 40


async def test_a_crash_while_committing_leaves_nothing_half_done(engine: ProcessEngine, script: Script) -> None:
    changes = [Allocate(nodes=[PassiveNode(id=40)])]
    async with engine.session() as session:
        await session.build(script.build("crash", op="apply"))
        with pytest.raises(EngineCrashed):
            await session.apply(changes)
        assert (await session.stats()).get("Sum") == 60

        await session.apply(changes)

        assert (await session.stats()).get("Sum") == 100


@pytest.mark.parametrize("kind", ["crash", "raise"])
async def test_changes_whose_figures_cannot_be_told_are_not_committed(
    engine: ProcessEngine, script: Script, kind: str
) -> None:
    changes = [Allocate(nodes=[PassiveNode(id=40)])]
    async with engine.session() as session:
        await session.build(script.build(kind, op="what_if"))
        with pytest.raises(EngineError):
            await session.apply(changes, ["Nodes"])
        assert (await session.stats()).get("Sum") == 60

        report = await session.apply(changes, ["Nodes"])

        assert report.outputs == {"Nodes": 4.0, "Asked": 1.0}
        assert (await session.stats()).get("Sum") == 100


async def test_dropped_passives_do_not_come_back_after_a_crash(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build("crash"))
        report = await session.apply([Allocate(nodes=[PassiveNode(id=-1), PassiveNode(id=40)])])
        assert report.dropped_nodes == [-1]
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Sum") == 100


async def test_passives_that_a_build_lost_do_not_come_back_after_a_crash(engine: ProcessEngine, script: Script) -> None:
    blueprint = script.build("crash")
    with_lost = blueprint.model_copy(update={"nodes": [*blueprint.nodes, PassiveNode(id=-40)]})
    async with engine.session() as session:
        assert (await session.build(with_lost)).dropped_nodes == [-40]
        await session.apply([Allocate(nodes=[PassiveNode(id=40)])])
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Sum") == 100


async def test_changes_that_did_not_work_out_are_replayed_as_they_were(engine: ProcessEngine, script: Script) -> None:
    many = Allocate(nodes=[PassiveNode(id=i) for i in range(1000, 1101)])
    async with engine.session() as session:
        await session.build(script.build("crash"))
        assert (await session.apply([many])).problems == ["impossible"]
        await session.apply([Deallocate(nodes=[1000])])
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Nodes") == 3 + 100


async def test_a_loaded_file_survives_a_crash_with_its_changes(engine: ProcessEngine, script: Script) -> None:
    xml = b'<PathOfBuilding2><Build><PlayerStat stat="a"/><PlayerStat stat="b"/></Build></PathOfBuilding2>'
    async with engine.session() as session:
        await session.load(xml)
        tickets = script.build("crash").config
        await session.apply([SetConfig(key=key, value=value) for key, value in tickets.items()])
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Level") == 2


async def test_a_fresh_child_takes_all_passives_of_a_file_at_once(engine: ProcessEngine, script: Script) -> None:
    """A search on a file commits thousands of trees; a child that had to go through them took minutes."""
    xml = b'<PathOfBuilding2><Build><PlayerStat stat="a"/></Build></PathOfBuilding2>'
    async with engine.session() as session:
        await session.load(xml)
        for i in range(1, 30):
            await session.apply([Allocate(nodes=[PassiveNode(id=i), PassiveNode(id=-i)]), Deallocate(nodes=[i - 2])])
        tickets = script.build("crash").config
        await session.apply([SetConfig(key=key, value=value) for key, value in tickets.items()])
        await session.apply([Allocate(nodes=[PassiveNode(id=50)])])
        with pytest.raises(EngineCrashed):
            await session.stats()

        trace = Trace()
        assert (await session.stats()).get("Sum") == (28 - 28) + (29 - 29) + 50, "what lost its way is gone for good"
        asked = trace.close().children[BUSY, SpanKind.ENGINE].calls
    assert asked == 5, "the file, passives, the rest, passives, the question"


async def test_a_fault_in_what_if_is_survived(engine: ProcessEngine, script: Script) -> None:
    candidates: list[list[Change]] = [[], [Allocate(nodes=[PassiveNode(id=1)])], [Deallocate(nodes=[10, 20])]]
    async with engine.session() as session:
        await session.build(script.build("garbage", op="what_if"))
        with pytest.raises(EngineGarbage):
            await session.what_if(candidates, ["Nodes"])

        outputs = await session.what_if(candidates, ["Nodes"])

    assert [output["Nodes"] for output in outputs] == [3, 4, 1]


async def test_repeated_faults_each_get_their_own_child(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build("crash", times=3))
        for _ in range(3):
            with pytest.raises(EngineCrashed):
                await session.stats()

        assert (await session.stats()).get("Sum") == 60


async def test_much_talk_on_both_streams_blocks_nothing(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build("noise"))

        assert (await session.stats()).get("Sum") == 60


async def test_a_child_that_grew_too_big_is_replaced_between_calls(script: Script) -> None:
    async with open_engine(memory_limit_bytes=150 * 2**20) as engine, engine.session() as session:
        await session.build(script.build("memory"))
        big = await session.stats()

        fresh = await session.stats()

    assert fresh.get("Pid") != big.get("Pid")
    assert fresh.get("Sum") == 60


async def test_a_child_cannot_grow_without_bound(script: Script) -> None:
    async with open_engine(memory_limit_bytes=50 * 2**20) as engine, engine.session() as session:
        await session.build(script.build("memory"))
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Sum") == 60


async def test_a_child_cannot_write_files(engine: ProcessEngine, script: Script, tmp_path: Path) -> None:
    async with engine.session() as session:
        await session.build(script.build("write", file=str(tmp_path / "written")))
        with pytest.raises(EngineCrashed):
            await session.stats()

        assert (await session.stats()).get("Sum") == 60
    assert not (tmp_path / "written").exists()


async def test_a_cancelled_call_leaves_no_answer_behind(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build("hang"))
        call = asyncio.create_task(session.stats())
        await asyncio.sleep(0.2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert (await session.stats()).get("Sum") == 60


async def test_a_refusal_keeps_the_child_and_the_build(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build())
        before = await session.stats()
        with pytest.raises(UnknownFact):
            await session.build(Blueprint(class_name="Nobody", level=1))

        after = await session.stats()

    assert after.get("Sum") == before.get("Sum")


async def test_a_session_without_a_build_says_so(engine: ProcessEngine) -> None:
    async with engine.session() as session:
        with pytest.raises(EngineRefused):
            await session.stats()


async def test_rubbish_never_reaches_the_child(engine: ProcessEngine) -> None:
    async with engine.session() as session:
        with pytest.raises(EngineRefused):
            await session.load(b"<!DOCTYPE x><PathOfBuilding2/>")


@pytest.mark.parametrize(
    ("backend", "error", "deadline_s"),
    [
        ("ExitingBackend", EngineCrashed, 60.0),
        ("SilentBackend", EngineHung, 2.0),
        ("AbsentBackend", EngineMissing, 60.0),
    ],
)
async def test_a_failed_start_is_typed(backend: str, error: type[Exception], deadline_s: float) -> None:
    async with open_engine(f"tests.unit.engine.scripted:{backend}", start_deadline_s=deadline_s) as engine:
        with pytest.raises(error):
            await engine.start()


async def test_a_crash_at_start_tells_what_was_printed() -> None:
    async with open_engine("tests.unit.engine.scripted:ExitingBackend") as engine:
        with pytest.raises(EngineCrashed) as caught:
            await engine.start()

    assert "cannot open shared object file" in str(caught.value.details["stderr"])
