"""The engine port over processes: versions, bounds, isolation, facts."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from app.core.errors import EngineCrashed, EngineError, UnknownFact
from app.engine.process import ProcessEngine
from app.model.blueprint import Allocate, PassiveNode
from tests.unit.engine.conftest import Script, is_running, make_engine, open_engine


async def test_the_version_is_the_backends(engine: ProcessEngine) -> None:
    assert (engine.version.name, engine.version.tree_version, engine.version.estimate) == ("scripted", "0_0", True)


async def test_the_version_is_unknown_before_the_start() -> None:
    with pytest.raises(EngineError):
        _ = make_engine().version


async def test_starting_twice_keeps_the_zygote(engine: ProcessEngine) -> None:
    before = engine.pids()
    await asyncio.gather(engine.start(), engine.start())

    assert engine.pids() == before


async def test_no_more_sessions_than_workers(engine: ProcessEngine, script: Script) -> None:
    inside = 0
    most = 0

    async def use() -> None:
        nonlocal inside, most
        async with engine.session() as session:
            inside += 1
            most = max(most, inside)
            await session.build(script.build())
            await session.stats()
            inside -= 1

    await asyncio.gather(*(use() for _ in range(10)))

    assert most == 2


async def test_sessions_are_separate_processes(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as one, engine.session() as two:
        await one.build(script.build())
        await two.build(script.build())
        await one.apply([Allocate(nodes=[PassiveNode(id=40)])])

        first, second = await one.stats(), await two.stats()

    assert (first.get("Sum"), second.get("Sum")) == (100, 60)
    assert first.get("Pid") != second.get("Pid")


async def test_each_build_starts_in_a_child_that_held_no_other(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build())
        first = await session.stats()
        await session.build(script.build())

        assert (await session.stats()).get("Pid") != first.get("Pid")


async def test_a_child_knows_nothing_of_our_environment(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUILDWRIGHT_LLM_API_KEY", "secret")
    async with open_engine() as engine, engine.session() as session:
        await session.build(script.build())
        seen = await session.inspect()

    assert set(seen.warnings) == {"PATH", "LANG", "PYTHONPATH", "PYTHONHASHSEED"}
    assert seen.disabled_reason == "/"


async def test_long_candidate_lists_are_asked_in_parts(engine: ProcessEngine, script: Script) -> None:
    candidates = [[Allocate(nodes=[PassiveNode(id=100 + i) for i in range(n % 3)])] for n in range(450)]
    async with engine.session() as session:
        await session.build(script.build())

        outputs = await session.what_if(candidates, ["Nodes"])

    assert [output["Nodes"] for output in outputs] == [3 + n % 3 for n in range(450)]
    assert [output["Asked"] for output in outputs] == [200] * 400 + [50] * 50


async def test_no_candidates_need_no_answer(engine: ProcessEngine) -> None:
    async with engine.session() as session:
        assert await session.what_if([], ["Nodes"]) == []


async def test_an_export_is_canonical(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build())

        assert (await session.export()).startswith(
            b'<?xml version="1.0" encoding="UTF-8"?>\n<PathOfBuilding2>\n\t<Build'
        )


async def test_facts_are_asked_once_and_not_shared(engine: ProcessEngine) -> None:
    first = await engine.facts.classes()
    first.clear()

    again = await engine.facts.classes()

    assert len(again) == 1
    assert int(again[0].name) in engine.pids()


async def test_another_engine_version_is_asked_anew(tmp_path: Path, script: Script) -> None:
    file = tmp_path / "version"
    file.write_text("1")
    async with open_engine("tests.unit.engine.scripted:VersionedBackend", {"pob": str(file)}) as engine:
        await engine.start()
        (zygote,) = engine.pids()
        before = await engine.facts.classes()
        file.write_text("2")
        os.kill(zygote, signal.SIGKILL)
        async with engine.session() as session:
            await session.build(script.build())

        assert engine.version.version == "2"
        with pytest.raises(EngineCrashed):
            await engine.facts.classes()
        assert await engine.facts.classes() != before


async def test_facts_need_no_free_worker(engine: ProcessEngine) -> None:
    async with engine.session(), engine.session():
        assert await engine.facts.supports_for("spark") == ["spark"]


async def test_an_unknown_name_is_an_unknown_fact(engine: ProcessEngine) -> None:
    with pytest.raises(UnknownFact):
        await engine.facts.supports_for("unknown")


async def test_facts_go_on_after_a_crash(engine: ProcessEngine) -> None:
    with pytest.raises(EngineCrashed):
        await engine.facts.supports_for("die")

    assert await engine.facts.supports_for("spark") == ["spark"]


async def test_a_closed_session_stays_closed(engine: ProcessEngine, script: Script) -> None:
    async with engine.session() as session:
        await session.build(script.build())
    with pytest.raises(EngineError):
        await session.stats()


async def test_a_closed_engine_stays_closed(script: Script) -> None:
    async with open_engine() as engine:
        await engine.start()
        pids = engine.pids()

    assert not [pid for pid in pids if is_running(pid)]
    with pytest.raises(EngineError):
        await engine.start()


async def test_the_event_loop_goes_on_while_a_child_calculates(engine: ProcessEngine, script: Script) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    async with engine.session() as session:
        await session.build(script.build("pause"))
        await session.stats()
    ticking.cancel()

    assert ticks >= 20
