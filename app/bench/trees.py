"""`bench tree`: what the tree search makes of other people's builds, with their gear, skills and number of points.

A file is measured as it is: with the tree of its own version, its author's skill and numbers.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from app.bench.builds import Kept, build_files
from app.core.config import Settings
from app.engine.base import Engine, Outputs
from app.engine.client import ProcessSession
from app.model.base import Model, changed
from app.model.blueprint import (
    JEWEL_SLOT,
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    PassiveNode,
    SetMain,
    WeaponSet,
)
from app.model.demands import NO_FLOOR, QUEST_PASSIVE_POINTS, Floor, floors_for
from app.model.facts import ClassFact, NodeFact
from app.model.names import Attribute, GearTier
from app.model.stats import ATTRIBUTE_METRICS, CHAOS_RESISTANCE, DPS, EHP, FREE_SPIRIT, RESISTANCES
from app.search.effort import RENEWED
from app.search.incumbent import Incumbent
from app.search.objective import METRICS, Objective
from app.search.passives.graph import PassiveGraph, Route
from app.search.passives.large_moves import LargeMoves
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.passives.weapon_sets import anchors, assignable, assignment, of_set, set_in_use
from app.search.sessions import ParallelSession
from app.wiring import ConfiguredEngines
from app.wiring.engines import engine_workers

NO_RATE = 1.0
"""Damage per second below which the saved main skill has no rate worth comparing."""

UNCONNECTED = "without being connected to your tree"

FAR = 2600.0
"""Tree units beyond which no radius jewel reaches."""


class OwnTree(Model):
    """The tree of a build's own version."""

    classes: list[ClassFact]
    nodes: list[NodeFact]


@dataclass(frozen=True)
class AuthoredBuild:
    """A build file as it is measured: skill, points, and the author's numbers."""

    name: str
    xml: bytes
    blueprint: Blueprint
    tree: OwnTree
    main: int
    skill: str
    author: Outputs
    points: int

    def starts(self, keystones: bool) -> tuple[str, ...]:
        """Return where searches begin; without a keystone of the author's, his keystones are as good as nothing."""
        owned = {n.id for n in self.blueprint.nodes} if keystones else set()
        return (*STARTS, KEYSTONES) if any(n.id in owned and n.kind == "keystone" for n in self.tree.nodes) else STARTS

    @property
    def setup(self) -> list[Change]:
        """Return what brings the loaded file to the skill that is compared."""
        return [] if self.main == self.blueprint.main_group else [SetMain(index=self.main)]


async def read_build(engine: Engine, path: Path) -> AuthoredBuild:
    """Read a build file and what its author reached: with the saved main group, or where that has no rate the best."""
    xml = await asyncio.to_thread(path.read_bytes)
    async with engine.session() as session:
        await session.load(xml)
        blueprint = await session.blueprint()
        assert isinstance(session, ProcessSession), "older trees are asked of the session itself"
        tree = await session.ask("own_tree", {}, TypeAdapter(OwnTree))
        groups = range(1, len(blueprint.groups) + 1)
        found = await session.what_if([[], *([SetMain(index=i)] for i in groups)], [DPS])
        rates = [outputs.get(DPS, 0.0) for outputs in found]
        main = blueprint.main_group if rates[0] >= NO_RATE else max(groups, key=lambda i: (rates[i], -i))
        author = (await session.what_if([[SetMain(index=main)]], METRICS))[0]
        points = (await session.inspect()).points["used"]
    gems = blueprint.groups[main - 1].gems if main else []
    return AuthoredBuild(path.stem, xml, blueprint, tree, main, gems[0].name if gems else "", author, points)


async def tree_search(
    incumbent: Incumbent, case: AuthoredBuild, keystones: bool = False
) -> tuple[TreeSearch, WeaponSet]:
    """Return a search over the tree of the build's own version, and the weapon set in use.

    With `keystones` it never gives the author's back: gear and skills may rest on them, as a shield beside a two-handed
    mace does on Giant's Blood. What the search does not understand stays as it is: passives that hang on nothing, and
    those of the idle set.
    """
    in_use = await set_in_use(incumbent)
    idle = frozenset(n.id for n in of_set(incumbent.blueprint, 2 if in_use == 1 else 1))
    start = next(c for c in case.tree.classes if c.name == case.blueprint.class_name).start_node
    nodes = [n for n in case.tree.nodes if n.ascendancy is None]
    walls = {n.id for n in nodes if n.kind in ("start", "ascendancy_start") and n.id != start}
    whole = PassiveGraph(nodes, [start], walls)
    owned = frozenset(n.id for n in case.blueprint.nodes if n.id in whole.nodes)
    islands = owned - whole.connected(owned)
    graph = PassiveGraph(nodes, [start], walls | islands | idle)
    jewels = {slot: item.text or "" for slot, item in case.blueprint.items.items() if slot.startswith(JEWEL_SLOT)}
    sockets = {int(slot.removeprefix(JEWEL_SLOT)): text for slot, text in jewels.items()}
    bridges = owned & frozenset(node for node, text in sockets.items() if UNCONNECTED in text)
    at = {n.id: n for n in case.tree.nodes}
    centres = [at[node] for node, text in sockets.items() if "Radius" in text]
    near = (n.id for n in case.tree.nodes for c in centres if (n.x - c.x) ** 2 + (n.y - c.y) ** 2 <= FAR**2)
    kept = anchors(whole, owned - idle, idle) | bridges
    if keystones:
        kept |= frozenset(n for n in owned & graph.nodes.keys() if graph.nodes[n].kind == "keystone")
    return TreeSearch(incumbent, graph, fixed=kept, local=frozenset(near), limits=LIMITS), in_use


LIMITS = TreeLimits(moves=4, trials=40_000, renewed=RENEWED)
"""As far as a deep build goes."""

REACH = 7
AIMS = frozenset({"notable", "keystone", "socket", "normal"})
"""Kinds of passives that a route may end in; attribute passives are on the way."""

_FLOORS = changed(floors_for(90, GearTier.MID), physical_hit=NO_FLOOR, elemental_hit=NO_FLOOR, recovery=NO_FLOOR)
"""Nothing is asked of an author's build beyond damage and effective hit points."""


def balanced() -> Objective:
    """Return the objective of the comparison: the logarithm of damage plus that of effective hit points."""
    wide = Floor(least=1, good=1e12)
    floors = changed(_FLOORS, dps=wide, ehp=wide)
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
            owned = frozenset(n.id for n in self.incumbent.blueprint.nodes if n.id in self.graph.nodes)
            near = self.graph.routes(owned, min(REACH, points)).values()
            routes = [route for route in near if self.graph.nodes[route.target].kind in AIMS]
            gains = await self.incumbent.gains([self._purchase(route) for route in routes])
            ranked = sorted(zip(gains, routes, strict=True), key=lambda p: (-p[0] / p[1].points, p[1].target))
            if not ranked:
                return points
            await self.incumbent.commit(self._purchase(ranked[0][1]))
            points -= ranked[0][1].points
        return points

    def _purchase(self, route: Route) -> list[Change]:
        travel = {n for n in route.nodes if self.graph.nodes[n].kind == "attribute"}
        return [
            Allocate(nodes=[PassiveNode(id=n, attribute=self.attribute if n in travel else None) for n in route.nodes])
        ]


ENOUGH = 0.995
"""Share of the full scan's gain at which the search counts as equal to it."""

NEAR = 0.97
"""Share of the objective of a tree begun from the author's at which one begun from nothing counts as equal to it."""

STARTS = ("author", "scratch")
"""Where searches begin: with the author's tree, and with nothing."""

KEYSTONES = "keystones"
"""Where searches begin besides, when asked for: with nothing but what leads to the author's keystones."""

KEPT = (EHP, *RESISTANCES, CHAOS_RESISTANCE, *ATTRIBUTE_METRICS.values())
"""What must not be lower than the author's."""


async def measure(
    settings: Settings,
    folder: Path | None,
    only: Sequence[str] = (),
    scan: bool = False,
    keystones: bool = False,
    results: Path | None = None,
) -> dict[str, Any]:
    """Return per build what the author reached and what the search does with the same points.

    `only`: names of builds to measure. `scan`: compare with a full scan of all routes before every purchase as well.
    `keystones`: begin from the author's keystones alone too. `results`: a folder with one file for each measured build;
    what is there is not measured again, so an interrupted run goes on, and several may share the builds.

    Raises:
        NotAvailable: there are no build files.
        InputError: there is no file of one of the names.
        EngineMissing: Path of Building is not installed.
    """
    files = build_files(folder, only)
    room = ConfiguredEngines(settings)
    try:
        engine = await room.engine("pob")
        rows: list[dict[str, Any]] = []
        for path in files:
            kept = Kept(None if results is None else results / f"{path.stem}.json")
            row = kept.get(key := f"{scan=} {keystones=}")
            if row is None:
                row = await _row(engine, path, engine_workers(settings), scan, keystones)
                await kept.keep(key, row)
            rows.append(row)
            print(_in_words(row), file=sys.stderr, flush=True)  # noqa: T201 - progress of a long run
    finally:
        await room.close()
    summary = totals(rows)
    table = [*(_in_words(row) for row in rows), ", ".join(f"{name} {figure}" for name, figure in summary.items())]
    figures = {"engine": engine.version.model_dump(), "kept": list(KEPT), **summary}
    return {"benchmark": "tree", **figures, "table": table, "builds": rows}


def totals(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts over all builds, the median ratio of damage, and trials and seconds (s) of all searches."""
    return {
        "count": len(rows),
        "not_worse": sum(row["ratio"] >= 1.0 and not row["lower"] for row in rows),
        "better": sum(row["ratio"] > 1.001 and not row["lower"] for row in rows),
        "median_ratio": round(statistics.median(row["ratio"] for row in rows), 3),
        "scratch_near": sum(row["shares"]["scratch"] >= NEAR for row in rows),
        "trials": sum(run["trials"] for row in rows for run in row["runs"]),
        "seconds": round(sum(run["seconds"] for row in rows for run in row["runs"]), 1),
    }


def _in_words(row: dict[str, Any]) -> str:
    """Return a build in one line."""
    lower = f"; lower: {', '.join(row['lower'])}" if row["lower"] else ""
    runs = ", ".join(f"from {r['start']} {r['trials']} trials {r['seconds']} s" for r in row["runs"])
    scan = f"; {row['scan']}" if "scan" in row else ""
    by_keystones = f", from his keystones alone {row['shares'][KEYSTONES]} x" if KEYSTONES in row["shares"] else ""
    return (
        f"{row['build']} ({row['skill']}): DPS {row['author_dps']} -> {row['dps']} ({row['ratio']} x), "
        f"EHP {row['author_ehp']} -> {row['ehp']}, points {row['points'][0]} -> {row['points'][1]}{lower}; "
        f"begun from nothing {row['shares']['scratch']} x begun from the author's{by_keystones}; {runs}{scan}"
    )


def _objective(author: Outputs) -> Objective:
    """Damage, nearly alone; what must be kept has the author's number as its minimum."""
    floors = changed(_FLOORS, dps=Floor(least=1, good=1e12), ehp=Floor(least=1, good=1))
    minima = {key: author.get(key, 0.0) for key in KEPT}
    minima[FREE_SPIRIT] = min(0.0, author.get(FREE_SPIRIT, 0.0))
    return Objective(floors, ehp_weight=0.08, guards=frozenset(), minima=minima)


async def _row(engine: Engine, path: Path, sessions: int, scan: bool, keystones: bool) -> dict[str, Any]:
    case = await read_build(engine, path)
    async with AsyncExitStack() as stack:
        parallel = ParallelSession([await stack.enter_async_context(engine.session()) for _ in range(sessions)])
        runs = [await _run(parallel, case, start) for start in case.starts(keystones)]
        scanned = await _scanned(parallel, case) if scan else {}
    for run in runs:  # a session that has held nothing else tells what the changes are worth
        async with engine.session() as fresh:
            await fresh.load(case.xml)
            await fresh.apply([*case.setup, *run.changes])
            run.outputs, run.points = (await fresh.what_if([[]], METRICS))[0], (await fresh.inspect()).points["used"]
    scores = [_objective(case.author).score(run.outputs) for run in runs]
    found = runs[scores.index(max(scores))]
    return {
        "build": case.name,
        "skill": case.skill,
        "points": [case.points, found.points],
        "start": found.start,
        **compared(case.author, found.outputs),
        "shares": {run.start: round(math.exp(score - scores[0]), 4) for run, score in zip(runs, scores, strict=True)},
        "runs": [run.figures() for run in runs],
        **scanned,
    }


async def _scanned(parallel: ParallelSession, case: AuthoredBuild) -> dict[str, Any]:
    """Spend the same points from an empty tree both ways, for damage and effective hit points alike."""
    search, _, points = await _prepared(parallel, case, balanced())
    await search.clear()
    empty = search.incumbent.score
    await search.spend(points - search.spent)
    await search.improve()
    found, history = search.incumbent.score - empty, search.history
    search, _, points = await _prepared(parallel, case, balanced())
    await search.clear()
    begun = search.incumbent.trials
    await FullScan(search.incumbent, search.graph, Attribute.DEXTERITY).spend(points - search.spent)
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


async def _prepared(
    parallel: ParallelSession, case: AuthoredBuild, objective: Objective, keystones: bool = False
) -> tuple[TreeSearch, WeaponSet, int]:
    """Return a search over the author's tree, the weapon set in use, and the points that are spent.

    No passive is left to one weapon set alone, for what is bought next must not hang on such.
    """
    await parallel.load(case.xml)
    await parallel.apply(case.setup)
    incumbent = Incumbent(parallel, case.blueprint, objective)
    await incumbent.measure()
    search, in_use = await tree_search(incumbent, case, keystones)
    await incumbent.commit(assignment(incumbent.blueprint, [], in_use))
    return search, in_use, search.spent


@dataclass
class TreeRun:
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


async def _run(parallel: ParallelSession, case: AuthoredBuild, start: str) -> TreeRun:
    """Search from one of `STARTS`, or from `KEYSTONES`."""
    begun = time.monotonic()
    search, in_use, points = await _prepared(parallel, case, _objective(case.author), start == KEYSTONES)
    if start != "author":
        await search.clear()
        await search.spend(points - search.spent)
    await LargeMoves(search, search.limits.moves).improve()
    # as many passives for the set in use as the idle one has, because these are paid together
    incumbent = search.incumbent
    idle = len(of_set(incumbent.blueprint, 2 if in_use == 1 else 1))
    chosen = assignable(search.graph, search.owned, min(idle, QUEST_PASSIVE_POINTS), search.fixed)
    await incumbent.commit(assignment(incumbent.blueprint, chosen, in_use))
    seconds = time.monotonic() - begun
    old, new = {n.id: n for n in case.blueprint.nodes}, {n.id: n for n in incumbent.blueprint.nodes}
    changes: list[Change] = [
        Deallocate(nodes=sorted(old.keys() - new.keys())),
        Allocate(nodes=[n for n in incumbent.blueprint.nodes if old.get(n.id) != n]),
    ]
    return TreeRun(start, changes, search.trials, search.accepted, search.drift, seconds)


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
