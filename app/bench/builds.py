"""`bench build`: seconds per phase and outcome of whole builds, and what a later one gains from what is known.

Also what the other benchmarks share: scratch stores, build files, and what is read off a finished build.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from app.core.config import Settings
from app.core.errors import InputError, NotAvailable
from app.model.base import changed
from app.model.demands import earned_points
from app.model.names import ConflictType, Severity
from app.model.record import BuildRequest, ProgressEvent
from app.model.state import BuildState
from app.model.stats import CHAOS_RESISTANCE, ELEMENTAL_HITS, PHYSICAL_HIT, RESISTANCES
from app.service import Services
from app.wiring import open_services

PROMPTS = ("lightning sorceress for mapping", "titan with maces for bossing", "deadeye with bow, evasion")
AGAIN = {"the same prompt": PROMPTS[0], "the same skill for another purpose": "lightning sorceress for bossing"}
"""Built after the others on the same store, to see what is answered from what is known already."""

SHARED_BUILDS = Path(__file__).parents[3] / "shared" / "builds"
"""Where files of other people's builds are looked for when no folder is named: beside the project."""


async def measure(settings: Settings) -> dict[str, Any]:
    """Return seconds (s) in all and per phase, outcome, DPS and EHP of each prompt.

    `again`: builds that follow on the same store, with their share of the first build's seconds and the share of
    engine calls that was answered from what earlier builds left (0-1).
    """
    async with scratch_services(settings) as services:
        runs = [await build(services, BuildRequest(prompt=prompt)) for prompt in PROMPTS]
        again: dict[str, dict[str, Any]] = {}
        for why, prompt in AGAIN.items():
            run = await build(services, BuildRequest(prompt=prompt))
            again[why] = {"share_of_first": round(run["seconds"] / runs[0]["seconds"], 3), **run}
    median = statistics.median(run["seconds"] for run in runs)
    return {"benchmark": "build", "cores": cores(), "median_seconds": median, "runs": runs, "again": again}


async def build(services: Services, request: BuildRequest) -> dict[str, Any]:
    """Make one build and return what is read off it, with its wall time in seconds (s)."""
    build_id, seconds = await timed_build(services, request)
    known = (await services.recordings.metrics(build_id)).run.cache_hit_rate
    found = {"id": build_id, "prompt": request.prompt, "seconds": round(seconds, 2), "cache_hit_rate": known}
    return {**found, **await judged(services, build_id)}


async def timed_build(services: Services, request: BuildRequest) -> tuple[str, float]:
    """Make one build and return its id and its wall time in seconds."""
    start = time.monotonic()
    made = await services.builds.create(request)
    await services.builds.wait(made.id)
    return made.id, time.monotonic() - start


class Kept:
    """Finished builds by name, in a file where there is one, written after each."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows: dict[str, dict[str, Any]] = (
            json.loads(file.read_text()) if file is not None and file.exists() else {}
        )

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a build that was made before, or None."""
        return self._rows.get(key)

    async def keep(self, key: str, row: dict[str, Any]) -> None:
        """Remember a build."""
        self._rows[key] = row
        if self._file is not None:
            await write(self._file, json.dumps(self._rows, indent=1, sort_keys=True).encode())


async def write(file: Path, data: bytes) -> None:
    """Write a result file, and its folder where there is none."""
    await asyncio.to_thread(file.parent.mkdir, parents=True, exist_ok=True)
    await asyncio.to_thread(file.write_bytes, data)


@contextmanager
def scratch_settings(settings: Settings) -> Iterator[Settings]:
    """Yield the settings with an empty store that nothing is learned from, and remove the store afterwards."""
    with tempfile.TemporaryDirectory(prefix="buildwright-bench-") as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        yield changed(settings, database_url=url, memory="off")


@asynccontextmanager
async def scratch_services(settings: Settings, **options: Any) -> AsyncIterator[Services]:
    """Open the services on an empty store that is removed afterwards; options as `open_services` takes them."""
    with scratch_settings(settings) as alone:
        async with open_services(alone, **options) as services:
            yield services


def build_files(folder: Path | None, only: Sequence[str] = ()) -> list[Path]:
    """Return the build files of the folder (default: those beside the project) by name; `only` keeps these names.

    Raises:
        NotAvailable: there are no build files.
        InputError: there is no file of one of the names.
    """
    home = folder or SHARED_BUILDS
    found = sorted(home.glob("*.xml"))
    if not found:
        raise NotAvailable(f"There are no build files (*.xml) in {home}; name a folder that has some.")
    if unknown := sorted(set(only) - {path.stem for path in found}):
        raise InputError(f"There is no such build file: {', '.join(unknown)}")
    return [path for path in found if not only or path.stem in only]


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_seconds(pid: int) -> float:
    """Return the processor time that the main thread of a process has used, in seconds, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def private_megabytes(pid: int) -> float:
    """Return the memory that a process shares with no other, in MB (10^6 bytes)."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) * 1024 / 1e6


_UNMET = {ConflictType.STAT_REQUIREMENT, ConflictType.ATTRIBUTE_SQUEEZE}
_ENGINE_WARNS = "The engine warns"


async def judged(services: Services, build_id: str) -> dict[str, Any]:
    """Return the figures of one finished build: how it ended, its faults, strength, effort and seconds per phase.

    `dps`: damage per second; `ehp` and the largest hits survived: hit points; resistances in
    percent; `evaluations`: candidates the engine tried;
    `phases`: seconds (s) per phase. Figures are null when the build never had a valid state.
    """
    view = await services.library.get(build_id)
    stats, conflicts = view.stats, view.conflicts
    values = stats.values if stats else {}
    delivery = next((q.decision for name, q in view.sub_problems.items() if name == "damage_delivery"), None)
    resistances = zip(("fire", "cold", "lightning", "chaos"), (*RESISTANCES, CHAOS_RESISTANCE), strict=True)
    report = {
        "status": view.status.value,
        "outcome": view.outcome.value if view.outcome else None,
        "iterations": view.iteration,
        "blocking": [conflict.message for conflict in conflicts if conflict.severity is Severity.BLOCKING],
        "illegal_items": sum(conflict.type is ConflictType.ILLEGAL_ITEM for conflict in conflicts),
        "unmet_requirements": sum(conflict.type in _UNMET for conflict in conflicts),
        "engine_warnings": sum(conflict.message.startswith(_ENGINE_WARNS) for conflict in conflicts),
        "warnings": [conflict.message for conflict in conflicts if conflict.severity is not Severity.BLOCKING],
        "engine": view.engine.model_dump(),
        "delivery": delivery.name if delivery else None,
        "dps": stats.dps if stats else None,
        "ehp": stats.ehp if stats else None,
        "physical_hit": values.get(PHYSICAL_HIT),
        "fire_hit": values.get(ELEMENTAL_HITS[0]),
        "chaos_resistance": values.get(CHAOS_RESISTANCE),
        "resistances": {name: values.get(key) for name, key in resistances},
        "phases": seconds_per_phase(await services.recordings.progress(build_id)),
    }
    if "state" in view.links:
        report |= _effort(BuildState.from_yaml((await services.library.export(build_id, "yaml")).decode()))
    return report


def _effort(state: BuildState) -> dict[str, Any]:
    """Return the passive points left over, those that passives grant among them, and the candidates tried."""
    points, blueprint = state.inspection.points if state.inspection else {}, state.blueprint
    left = earned_points(blueprint.level, points) - points["used"] if blueprint and "used" in points else None
    return {
        "unspent_points": left,
        "evaluations": state.construction.notes.evaluations,
    }


def seconds_per_phase(events: Sequence[ProgressEvent]) -> dict[str, float]:
    """Return how long each phase took: the time up to a step belongs to the step's phase."""
    spent: dict[str, float] = {}
    before = events[0].at if events else None
    for event in events:
        phase = event.data.phase
        if event.type == "step" and phase and before is not None:
            spent[phase.value] = spent.get(phase.value, 0.0) + (event.at - before).total_seconds()
            before = event.at
    return {phase: round(seconds, 2) for phase, seconds in spent.items()}
