"""Engines over the scripted backend, in real child processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.engine.process import ProcessEngine
from app.model.blueprint import Blueprint, PassiveNode

SCRIPTED = "tests.unit.engine.scripted:ScriptedBackend"


def make_engine(
    backend: str = SCRIPTED, options: Mapping[str, str] | None = None, *, workers: int = 2, **bounds: float
) -> ProcessEngine:
    """Return an engine with bounds small enough for a test, and deadlines that a busy machine keeps."""
    settings = {"call_deadline_s": 10.0, "start_deadline_s": 30.0, "max_line_bytes": 2**20, **bounds}
    return ProcessEngine(backend, options, workers=workers, **settings)  # type: ignore[arg-type]


@asynccontextmanager
async def open_engine(
    backend: str = SCRIPTED, options: Mapping[str, str] | None = None, *, workers: int = 2, **bounds: float
) -> AsyncIterator[ProcessEngine]:
    """Make an engine and close it whatever becomes of the test, so that what it leaves harms no other test."""
    engine = make_engine(backend, options, workers=workers, **bounds)
    try:
        yield engine
    finally:
        await engine.close()


def is_running(pid: int) -> bool:
    """Return whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def open_files() -> set[int]:
    """Return the numbers of our open descriptors."""
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}


async def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Return what the condition says once it holds, or after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:  # noqa: ASYNC110 - other processes set no event of ours
        await asyncio.sleep(0.02)
    return condition()


@pytest.fixture
async def engine() -> AsyncIterator[ProcessEngine]:
    """A started engine with two workers."""
    async with open_engine() as engine:
        await engine.start()
        yield engine


class Script:
    """Makes blueprints that tell the backend to fail on one operation, as often as their ticket is good for."""

    def __init__(self) -> None:
        self._ticket = 0

    def build(self, fault: str = "", op: str = "stats", times: int = 1, **config: str | float) -> Blueprint:
        """Return a build of three passives whose calculation of `op` fails `times` times in this way."""
        self._ticket += 1
        told: dict[str, str | int | float | bool] = {op: fault, "ticket": self._ticket, "times": times, **config}
        nodes = [PassiveNode(id=i) for i in (10, 20, 30)]
        return Blueprint(class_name="Sorceress", level=90, nodes=nodes, config=told if fault else {})


@pytest.fixture
def script() -> Script:
    """A script with tickets of its own."""
    return Script()
