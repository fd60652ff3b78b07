"""`bench tree`: what the tree search makes of other people's builds, with their gear, skills and number of points."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.bench.authored import Case, opened, read_case
from app.core.config import Settings
from app.core.errors import InputError, NotAvailable
from app.engine.base import Engine, Outputs
from app.model.blueprint import Allocate, Blueprint, Change, Deallocate, PassiveNode, WeaponSet
from app.model.demands import Floor, floors_for
from app.model.names import Attribute, GearTier
from app.model.stats import ATTRIBUTE_METRICS, CHAOS_RESISTANCE, DPS, EHP, FREE_SPIRIT, RESISTANCES
from app.search.incumbent import Incumbent
from app.search.objective import METRICS, Objective
from app.search.passives.graph import PassiveGraph, Route
from app.search.passives.tree import TreeSearch
from app.search.passives.weapon_sets import MOST, assignable, assignment, of_set
from app.search.sessions import ParallelSession
from app.wiring import engine_room
from app.wiring.engines import engine_workers

REACH = 7
AIMS = frozenset({"notable", "keystone", "socket", "normal"})
"""Kinds of passives that a route may end in; attribute passives are on the way."""


def balanced() -> Objective:
    """Return the objective of the comparison: the logarithm of damage plus that of effective hit points."""
    wide = Floor(least=1, good=1e12)
    floors = floors_for(90, GearTier.MID).model_copy(update={"dps": wide, "ehp": wide})
    return Objective(floors, guards=frozenset())


@dataclass(frozen=True)
class FullScan:
    """Buys the route with the best gain per point, trying all of them anew each time."""

    incumbent: Incumbent
    graph: PassiveGraph
    attribute: Attribute

    async def spend(self, points: int) -> int:
        """Spend the points and return how many are left."""
        while points > 0:
            routes = self._routes(min(REACH, points))
            gains = await self.incumbent.gains([self._purchase(route) for route in routes])
            ranked = sorted(zip(gains, routes, strict=True), key=lambda p: (-p[0] / p[1].points, p[1].target))
            if not ranked:
                return points
            await self.incumbent.commit(self._purchase(ranked[0][1]))
            points -= ranked[0][1].points
        return points

    def _routes(self, reach: int) -> list[Route]:
        owned = frozenset(n.id for n in self.incumbent.blueprint.nodes if n.id in self.graph.nodes)
        return [r for r in self.graph.routes(owned, reach).values() if self.graph.nodes[r.target].kind in AIMS]

    def _purchase(self, route: Route) -> list[Change]:
        travel = {n for n in route.nodes if self.graph.nodes[n].kind == "attribute"}
        return [
            Allocate(nodes=[PassiveNode(id=n, attribute=self.attribute if n in travel else None) for n in route.nodes])
        ]


ENOUGH = 0.995
"""Share of the full scan's gain at which the search counts as equal to it."""

KEPT = (EHP, *RESISTANCES, CHAOS_RESISTANCE, *ATTRIBUTE_METRICS.values())
"""What must not be lower than the author's."""


async def measure(
    settings: Settings, folder: Path | None, only: Sequence[str] = (), scan: bool = False
) -> dict[str, Any]:
    """Return per build what the author reached and what the search does with the same points.

    `only`: names of builds to measure. `scan`: compare with a full scan of all routes before every purchase as well.

    Raises:
        NotAvailable: there are no build files.
        InputError: none of the files has such a name.
        EngineMissing: Path of Building is not installed.
    """
    files = [path for path in sorted(_folder(folder).glob("*.xml")) if not only or path.stem in only]
    if not files:
        raise InputError(f"There is no such build file: {', '.join(only)}")
    room = engine_room(settings)
    try:
        engine = await room.engine("pob")
        rows = [await _row(engine, path, engine_workers(settings), scan) for path in files]
    finally:
        await room.close()
    figures = {"engine": engine.version.model_dump(), "kept": list(KEPT), **_summary(rows)}
    table = [*(_line(row) for row in rows), ", ".join(f"{k} {v}" for k, v in _summary(rows).items())]
    return {"benchmark": "tree", **figures, "table": table, "builds": rows}


def _line(row: dict[str, Any]) -> str:
    """Return a build in one line of words."""
    lower = f"; lower: {', '.join(row['lower'])}" if row["lower"] else ""
    runs = ", ".join(f"from {r['start']} {r['trials']} trials {r['seconds']} s" for r in row["runs"])
    scan = f"; {row['scan']}" if "scan" in row else ""
    return (
        f"{row['build']} ({row['skill']}): DPS {row['author_dps']} -> {row['dps']} ({row['ratio']} x), "
        f"EHP {row['author_ehp']} -> {row['ehp']}, points {row['points'][0]} -> {row['points'][1]}{lower}; {runs}{scan}"
    )


def _folder(folder: Path | None) -> Path:
    found = folder or Path(__file__).parents[3] / "shared" / "builds"
    if not any(found.glob("*.xml")):
        raise NotAvailable(f"There are no build files (*.xml) in {found}; name a folder that has some.")
    return found


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "count": len(rows),
        "not_worse": sum(row["ratio"] >= 1.0 and not row["lower"] for row in rows),
        "better": sum(row["ratio"] > 1.001 and not row["lower"] for row in rows),
        "trials": sum(run["trials"] for row in rows for run in row["runs"]),
        "seconds": round(sum(run["seconds"] for row in rows for run in row["runs"]), 1),
    }


@asynccontextmanager
async def _parallel(engine: Engine, case: Case, sessions: int) -> AsyncIterator[ParallelSession]:
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(engine.session()) for _ in range(sessions)]
        parallel = ParallelSession(opened)
        await parallel.load(case.xml)
        await parallel.apply(case.setup)
        yield parallel


def _objective(author: Outputs) -> Objective:
    """Damage, nearly alone; what must be kept has the author's number as its minimum."""
    worth = {"dps": Floor(least=1, good=1e12), "ehp": Floor(least=1, good=1)}
    floors = floors_for(90, GearTier.MID).model_copy(update=worth)
    minima = {key: author.get(key, 0.0) for key in KEPT}
    minima[FREE_SPIRIT] = min(0.0, author.get(FREE_SPIRIT, 0.0))
    return Objective(floors, ehp_weight=0.08, guards=frozenset(), minima=minima)


async def _row(engine: Engine, path: Path, sessions: int, scan: bool) -> dict[str, Any]:
    case = await read_case(engine, path)
    async with _parallel(engine, case, sessions) as parallel:
        runs = [await _run(parallel, case, start) for start in ("author", "scratch")]
        scanned = await _scanned(parallel, case) if scan else {}
    for run in runs:
        run.outputs, run.points = await _afresh(engine, case, run.changes)
    found = max(runs, key=lambda run: _objective(case.author).score(run.outputs))
    return {
        "build": case.name,
        "skill": case.skill,
        "points": [case.points, found.points],
        "start": found.start,
        **compared(case.author, found.outputs),
        "runs": [run.figures() for run in runs],
        **scanned,
    }


async def _scanned(parallel: ParallelSession, case: Case) -> dict[str, Any]:
    """Spend the same points from an empty tree both ways, for damage and effective hit points alike."""
    search, points = await _stripped(parallel, case)
    empty = search.incumbent.score
    await search.spend(points)
    await search.improve()
    found, history = search.incumbent.score - empty, search.history
    search, points = await _stripped(parallel, case)
    begun = search.incumbent.trials
    await FullScan(search.incumbent, search.graph, Attribute.DEXTERITY).spend(points)
    plain, tried = search.incumbent.score - empty, search.incumbent.trials - begun
    trials = next((n for n, score in history if score - empty >= ENOUGH * plain), history[-1][0])
    return {
        "scan": {
            "search_gain": round(found, 4),
            "scan_gain": round(plain, 4),
            "share_of_gain": round(found / plain, 4),
            "search_trials": history[-1][0],
            "trials_to_the_scans_gain": trials,
            "scan_trials": tried,
            "share_of_trials": round(trials / tried, 4),
        }
    }


async def _stripped(parallel: ParallelSession, case: Case) -> tuple[TreeSearch, int]:
    await parallel.load(case.xml)
    await parallel.apply(case.setup)
    incumbent = Incumbent(parallel, case.blueprint, balanced())
    await incumbent.measure()
    search, in_use = await opened(incumbent, case)
    await incumbent.commit(assignment(incumbent.blueprint, [], in_use))
    points = search.spent
    await search.clear()
    return search, points - search.spent


@dataclass
class Run:
    """One search: where it started, the changes it found, and what it took."""

    start: str
    changes: list[Change]
    trials: int
    accepted: int
    drift: float
    seconds: float
    outputs: Outputs = field(default_factory=dict)
    points: int = 0

    def figures(self) -> dict[str, Any]:
        """Return the run in numbers."""
        return {
            "start": self.start,
            "dps": round(self.outputs.get(DPS, 0.0)),
            "trials": self.trials,
            "accepted": self.accepted,
            "drift": round(self.drift, 5),
            "seconds": round(self.seconds, 1),
        }


async def _run(parallel: ParallelSession, case: Case, start: str) -> Run:
    """Search from the author's tree, or from an empty one."""
    begun = time.monotonic()
    await parallel.load(case.xml)
    await parallel.apply(case.setup)
    incumbent = Incumbent(parallel, case.blueprint, _objective(case.author))
    await incumbent.measure()
    search, in_use = await opened(incumbent, case)
    await incumbent.commit(
        assignment(incumbent.blueprint, [], in_use)
    )  # what is bought next must not hang on one set's passives
    points = search.spent
    if start == "scratch":
        await search.clear()
        await search.spend(points - search.spent)
    await search.improve()
    await _mark(search, in_use)
    seconds = time.monotonic() - begun
    changes = _difference(case.blueprint, incumbent.blueprint)
    return Run(start, changes, search.trials, search.accepted, search.drift, seconds)


async def _mark(search: TreeSearch, in_use: WeaponSet) -> None:
    """Mark as many passives for the set in use as the idle one has, because these are paid together."""
    incumbent, idle = search.incumbent, len(of_set(search.incumbent.blueprint, 2 if in_use == 1 else 1))
    chosen = assignable(search.graph, search.owned, min(idle, MOST), search.fixed)
    await incumbent.commit(assignment(incumbent.blueprint, chosen, in_use))


def _difference(before: Blueprint, after: Blueprint) -> list[Change]:
    old, new = {n.id: n for n in before.nodes}, {n.id: n for n in after.nodes}
    return [
        Deallocate(nodes=sorted(old.keys() - new.keys())),
        Allocate(nodes=[n for n in after.nodes if old.get(n.id) != n]),
    ]


async def _afresh(engine: Engine, case: Case, changes: Sequence[Change]) -> tuple[Outputs, int]:
    """Return the numbers and the points used, calculated in a session that has held nothing else."""
    async with engine.session() as session:
        await session.load(case.xml)
        await session.apply([*case.setup, *changes])
        return (await session.what_if([[]], METRICS))[0], (await session.inspect()).points["used"]


def compared(author: Outputs, found: Outputs) -> dict[str, Any]:
    """Return damage and effective hit points of both, their ratio, and what of `KEPT` is lower than the author's."""
    return {
        "author_dps": round(author.get(DPS, 0.0)),
        "dps": round(found.get(DPS, 0.0)),
        "ratio": round(found.get(DPS, 0.0) / max(author.get(DPS, 0.0), 1e-9), 3),
        "author_ehp": round(author.get(EHP, 0.0)),
        "ehp": round(found.get(EHP, 0.0)),
        "lower": [key for key in KEPT if found.get(key, 0.0) < author.get(key, 0.0) - 1e-6 * abs(author.get(key, 0.0))],
    }
