"""Jobs that fail in every way an engine can, many at once: each is told its error, and the pool is what it was.

100 jobs; BUILDWRIGHT_TEST_DEEP=1 makes it 1,000.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from app.core.errors import EngineCrashed, EngineError, EngineGarbage, EngineHung
from app.engine.process import ProcessEngine
from tests.conftest import DEEP
from tests.crash.engine.test_kills import children, is_at_rest
from tests.unit.engine.conftest import Script, open_engine, open_files, wait_until

JOBS = 1000 if DEEP else 100
WORKERS = 4
DEADLINE_S = 15.0
"""Of a call: what hangs costs so much, and innocent calls keep it on a busy machine."""

FAULTS: dict[str, type[EngineError] | None] = {
    "crash": EngineCrashed,
    "segv": EngineCrashed,
    "raise": EngineCrashed,
    "half": EngineCrashed,
    "garbage": EngineGarbage,
    "huge": EngineGarbage,
    "wrong_id": EngineGarbage,
    "nan": EngineGarbage,
    "shape": EngineGarbage,
    "noise": None,
    "memory": None,
    "none": None,
}
SLOW: dict[str, type[EngineError] | None] = {"hang": EngineHung, "late": EngineHung}
SLOW_EVERY = 50

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


async def test_faults_of_every_kind_cost_the_pool_nothing() -> None:
    script = Script()
    async with open_engine(workers=WORKERS, call_deadline_s=DEADLINE_S, memory_limit_bytes=150 * 2**20) as engine:
        await run_job(engine, script, "none", None)
        assert await wait_until(lambda: is_at_rest(engine))
        (zygote,), files = engine.pids(), len(open_files())
        seen: Counter[str] = Counter()

        seen.update(await asyncio.gather(*(run_job(engine, script, *fault_of(n)) for n in range(JOBS))))

        assert await wait_until(lambda: is_at_rest(engine) and len(open_files()) == files)
        assert engine.pids() == {zygote}
        assert len(children(zygote)) == WORKERS
        assert await most_at_once(engine, script) == WORKERS
    print(dict(seen))
    assert {*seen} == {*FAULTS, *SLOW}


async def test_engines_that_end_at_their_start_leave_nothing() -> None:
    files = len(open_files())
    async with open_engine("tests.unit.engine.scripted:ExitingBackend") as engine:
        for _ in range(3):
            with pytest.raises(EngineCrashed):
                await engine.start()
            with pytest.raises(EngineCrashed):
                await run_job(engine, Script(), "none", None)
        assert engine.pids() == set()
    assert len(open_files()) == files


def fault_of(number: int) -> tuple[str, type[EngineError] | None]:
    """Return which way the job fails; the slow ways are rare, because each costs a deadline."""
    kinds = SLOW if number % SLOW_EVERY == 0 else FAULTS
    turn = number // SLOW_EVERY if kinds is SLOW else number
    return list(kinds.items())[turn % len(kinds)]


async def run_job(engine: ProcessEngine, script: Script, fault: str, error: type[EngineError] | None) -> str:
    """Do one build whose first calculation fails, and calculate again."""
    async with engine.session() as session:
        await session.build(script.build(fault if fault != "none" else "", late_s=DEADLINE_S + 1))
        if error is not None:
            with pytest.raises(error):
                await session.stats()
        assert (await session.stats()).get("Sum") == 60
    return fault


async def most_at_once(engine: ProcessEngine, script: Script) -> int:
    """Return how many sessions are open together when more are asked for."""
    inside, most = 0, 0

    async def hold() -> None:
        nonlocal inside, most
        async with engine.session() as session:
            inside += 1
            most = max(most, inside)
            await session.build(script.build())
            inside -= 1

    await asyncio.gather(*(hold() for _ in range(3 * WORKERS)))
    return most
