"""Engines over the scripted backend, in real child processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.process import ProcessEngine
from app.model.blueprint import Blueprint, PassiveNode

SCRIPTED = "tests.unit.engine.scripted:ScriptedBackend"


def make_engine(backend: str = SCRIPTED, workers: int = 2, **options: float) -> ProcessEngine:
    """Return an engine with bounds small enough for a test, and deadlines that a busy machine keeps."""
    settings = {"call_deadline_s": 10.0, "start_deadline_s": 30.0, "max_line_bytes": 2**20, **options}
    return ProcessEngine(backend, workers=workers, **settings)  # type: ignore[arg-type]


def is_running(pid: int) -> bool:
    """Return whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
async def engine() -> AsyncIterator[ProcessEngine]:
    """A started engine with two workers."""
    engine = make_engine()
    await engine.start()
    yield engine
    await engine.close()


class Script:
    """Makes blueprints that tell the backend to fail on one operation, as often as there are tickets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def build(self, fault: str = "", op: str = "stats", times: int = 1) -> Blueprint:
        """Return a build of three passives whose calculation of `op` fails `times` times in this way."""
        for number in range(times):
            (self._folder / f"ticket{number}").touch()
        config: dict[str, str | int | float | bool] = {"tickets": str(self._folder), op: fault} if fault else {}
        return Blueprint(
            class_name="Sorceress", level=90, nodes=[PassiveNode(id=i) for i in (10, 20, 30)], config=config
        )


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A script with its tickets in a folder of this test."""
    return Script(tmp_path / "tickets")
