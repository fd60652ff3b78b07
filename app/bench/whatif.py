"""`bench whatif`: how fast candidates are tried, against a loop in Lua over Path of Building's own calculator.

Rates count processor seconds of the engine (and of this process where it takes part), because other programs on the
machine change the wall clock but not those; the comparisons of one engine with several, and the time until a session is
ready, are by the wall clock and need idle processors.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from app.bench.builds import SHARED_BUILDS, cpu_seconds, private_megabytes, scratch_services, timed_build
from app.core.config import Settings
from app.core.errors import NotAvailable
from app.engine.base import Engine, Outputs, Session
from app.engine.client import ProcessSession
from app.model.base import Model, changed
from app.model.blueprint import (
    JEWEL_SLOT,
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    GearItem,
    PassiveNode,
    RemoveGroup,
    SetConfig,
    SetGroup,
    Unequip,
)
from app.model.facts import NodeFact
from app.model.names import Attribute
from app.model.record import BuildRequest
from app.model.stats import CHAOS_RESISTANCE, DPS, EHP, RESISTANCES
from app.search.sessions import ParallelSession
from app.wiring import ConfiguredEngines

HEAVY = "martialartist_96"
"""The build that is measured where the folder has it: many skills, many passives, radius jewels."""

PROMPT = "lightning sorceress for bossing"
COUNT = 480
ONLY_WHEN_COMMITTED = ("AreaOfEffectRadius", "ExtraPoints", "PassivePointsToWeapon", "WeaponSetPassive", "Spec:")
"""Beginnings of numbers that the engine makes only for a committed build, or in another way in each process."""

HITS_OF_HANDS = "HitAverage"
"""End of what attacks deal of each type: Path of Building leaves it with the hands, so trials do not know it."""

Tries = list[list[Change]]


@dataclass(frozen=True)
class HeavyBuild:
    """A build, candidates that only need the calculator, and one committed move of each kind."""

    name: str
    blueprint: Blueprint
    tries: Tries
    moves: dict[str, list[Change]]

    async def open(self, session: Session) -> None:
        """Load the build."""
        await session.build(self.blueprint)

    def compared(self, keys: Sequence[str]) -> list[str]:
        """Return those of the numbers that a what-if can know."""
        return [key for key in keys if not key.startswith(ONLY_WHEN_COMMITTED) and not key.endswith(HITS_OF_HANDS)]


async def load_case(settings: Settings, engine: Engine, folder: Path | None) -> HeavyBuild:
    """Return the heavy build of the folder (default: beside the project), else its largest, else one we make.

    Raises:
        NotAvailable: the folder that was named has no build files.
    """
    files = sorted(
        (folder or SHARED_BUILDS).glob("*.xml"), key=lambda file: (file.stem != HEAVY, -file.stat().st_size, file.name)
    )
    if files:
        name, xml = files[0].stem, files[0].read_bytes()
    elif folder is not None:
        raise NotAvailable(f"There are no build files in {folder}.")
    else:
        async with scratch_services(settings) as services:
            build_id, _ = await timed_build(services, BuildRequest(prompt=PROMPT, level=90))
            name, xml = f"made: {PROMPT}", await services.library.export(build_id, "xml")
    async with engine.session() as session:
        await session.load(xml)
        blueprint = await session.blueprint()
        dropped = set((await session.build(blueprint)).dropped_nodes)
    held = [node for node in blueprint.nodes if node.id not in dropped]
    nodes = {node.id: node for node in await engine.facts.nodes()}
    kept = changed(blueprint, nodes=held)
    return HeavyBuild(name, kept, _tries(kept, nodes), _moves(kept, nodes))


def _tries(blueprint: Blueprint, nodes: dict[int, NodeFact]) -> Tries:
    """Return passives to add, alone and as paths, to remove and to exchange, and items to take off."""
    held = {node.id for node in blueprint.nodes}
    near = _beside(nodes, held)
    paths = [(a, b) for a in near for b in _beside(nodes, {a}, held | {*near})]
    alone: Tries = [[_bought(nodes, a)] for a in near]
    pairs: Tries = [[_bought(nodes, a, b)] for a, b in paths]
    added = [*alone, *pairs]
    removed: Tries = [[Deallocate(nodes=[node])] for node in sorted(held)]
    swapped: Tries = [[*out, *into] for out, into in zip(removed, added, strict=False)]
    bare: Tries = [[Unequip(slot=slot)] for slot in sorted(blueprint.items) if not slot.startswith(JEWEL_SLOT)]
    return [*added, *removed, *swapped, *bare][:COUNT]


def _beside(nodes: dict[int, NodeFact], held: set[int], taken: set[int] | None = None) -> list[int]:
    found = {other for node in held if node in nodes for other in nodes[node].neighbours}
    return sorted(
        node
        for node in found - held - (taken or set())
        if node in nodes and nodes[node].kind != "start" and not nodes[node].ascendancy
    )


def _bought(nodes: dict[int, NodeFact], *ids: int) -> Allocate:
    wishes = [
        PassiveNode(id=node, attribute=Attribute.INTELLIGENCE if nodes[node].kind == "attribute" else None)
        for node in ids
    ]
    return Allocate(nodes=wishes)


def _moves(blueprint: Blueprint, nodes: dict[int, NodeFact]) -> dict[str, list[Change]]:
    near = _beside(nodes, {node.id for node in blueprint.nodes})
    ring = GearItem(slot="Ring 1", base="Sapphire Ring", rarity="NORMAL", item_level=80)
    first = blueprint.groups[blueprint.main_group - 1 if blueprint.main_group else 0]
    fewer = changed(first, gems=first.gems[:-1] or first.gems)
    return {
        "passive": [_bought(nodes, near[0])],
        "last passive": [_bought(nodes, near[-1])],
        "item": [Equip(item=ring)],
        "empty slot": [Unequip(slot="Gloves")],
        "support": [SetGroup(index=max(1, blueprint.main_group), group=fewer)],
        "group": [RemoveGroup(index=len(blueprint.groups))],
        "configuration": [SetConfig(key="enemyIsBoss", value="None")],
    }


BATCH = 120
ROUNDS = 5
LONG_RUN = 10_000
STARTS = 15
PROCESSES = 3
ENGINES = 4

VECTORS: dict[str, tuple[str, ...]] = {
    "search": (DPS, EHP, "Life", "Mana", *RESISTANCES, CHAOS_RESISTANCE, "Str"),
    "damage": (DPS, "Life", "FireResist", "Str"),
}
"""What is asked of each candidate: with and without the estimate of hits taken."""


class PlainLoop(Model):
    """What the loop in Lua gives: processor seconds, and a row of numbers per candidate in the order of the metrics."""

    seconds: float
    rows: list[list[float | None]]


PLAIN = TypeAdapter(PlainLoop)
TRUTH = TypeAdapter(bool)


async def measure(settings: Settings, folder: Path | None = None) -> dict[str, Any]:
    """Return rates, ratios, memory, drift and start-up times on one heavy build.

    Raises:
        NotAvailable: Path of Building is not installed, or the folder has no build files.
    """
    room = ConfiguredEngines(settings)
    try:
        if room.resolve("auto") != "pob":
            raise NotAvailable("`bench whatif` measures Path of Building, which is not installed.")
        engine = await room.engine("pob")
        case = await load_case(settings, engine, folder)
        return {
            "benchmark": "whatif",
            "engine": engine.version.model_dump(),
            "build": case.name,
            "processors": len(os.sched_getaffinity(0)),
            "load_average": round(os.getloadavg()[0], 1),
            "single": {name: await _single(engine, case, metrics) for name, metrics in VECTORS.items()},
            "several": await _several(engine, case),
            "memory": await _memory(engine, case),
            "drift": await _drift(engine, case),
            "start": await _start(settings, engine, case),
        }
    finally:
        await room.close()


async def plain_rate(settings: Settings) -> float | None:
    """Return how many candidates a second the plain loop in Lua tries on the heavy build; None without PoB.

    A median over processes, because LuaJIT compiles differently in each.
    """
    room = ConfiguredEngines(settings)
    try:
        if room.resolve("auto") != "pob":
            return None
        engine = await room.engine("pob")
        case = await load_case(settings, engine, None)
        asked = [[change.model_dump(mode="json") for change in changes] for changes in case.tries]
        rates = []
        for _ in range(PROCESSES):
            async with engine.session() as plain:
                assert isinstance(plain, ProcessSession)
                await case.open(plain)
                question = {"candidates": asked, "metrics": list(VECTORS["search"])}
                rates.append(len(asked) / (await plain.ask("bench_plain", question, PLAIN)).seconds)
        return statistics.median(rates)
    finally:
        await room.close()


async def _single(engine: Engine, case: HeavyBuild, metrics: Sequence[str]) -> dict[str, Any]:
    """Time the three ways by turns, each over all candidates in a row; rates are of all rounds together.

    Garbage is collected once in some four hundred candidates, in the time of whoever is at work then. In short turns of
    two ways in one process that was the same one every time: one and the same loop had 103 or 175 candidates a second.
    """
    async with engine.session() as plain, engine.session() as quick:
        assert isinstance(plain, ProcessSession)
        assert isinstance(quick, ProcessSession)
        await case.open(plain)
        await case.open(quick)
        await plain.ask("bench_restore", {}, TRUTH)
        asked = [[change.model_dump(mode="json") for change in changes] for changes in case.tries]
        rounds, unequal = [], 0
        for _ in range(ROUNDS):
            loop = await plain.ask("bench_plain", {"candidates": asked, "metrics": list(metrics)}, PLAIN)
            protocol, same = await _timed(plain, case.tries, metrics)
            fast, rows = await _timed(quick, case.tries, metrics)
            expected = [
                {name: value for name, value in zip(metrics, row, strict=True) if value is not None}
                for row in loop.rows
            ]
            unequal += sum(a != b or a != c for a, b, c in zip(expected, same, rows, strict=True))
            rounds.append({"lua": loop.seconds, "protocol": protocol, "quick": fast})
    return _rates(rounds, len(case.tries), unequal)


def _rates(rounds: Sequence[Mapping[str, float]], count: int, unequal: int) -> dict[str, Any]:
    spent = {way: sum(one[way] for one in rounds) for way in ("lua", "protocol", "quick")}
    tried = len(rounds) * count
    return {
        "candidates": count,
        "rounds": len(rounds),
        "lua_per_second": round(tried / spent["lua"], 1),
        "protocol_per_second": round(tried / spent["protocol"], 1),
        "accelerated_per_second": round(tried / spent["quick"], 1),
        "protocol_to_lua": round(spent["lua"] / spent["protocol"], 3),
        "accelerated_to_lua": round(spent["lua"] / spent["quick"], 3),
        "unequal_rows": unequal,
    }


async def _timed(session: ProcessSession, part: Tries, metrics: Sequence[str]) -> tuple[float, list[Outputs]]:
    assert session.pid is not None
    before = cpu_seconds(session.pid) + time.process_time()
    rows = await session.what_if(part, metrics)
    return cpu_seconds(session.pid) + time.process_time() - before, rows


async def _several(engine: Engine, case: HeavyBuild) -> dict[str, Any]:
    """Time the same candidates in one session and shared by several, by turns.

    `ratio` is by the wall clock; `ratio_by_cpu` is what it would be on idle processors: as many times as there are
    engines, less what each pays for the others' company (shared caches and memory).
    """
    ratios, by_cpu, same = [], [], True
    async with AsyncExitStack() as stack:
        count = max(2, min(ENGINES, len(os.sched_getaffinity(0))))
        sessions = [await stack.enter_async_context(engine.session()) for _ in range(count)]
        await asyncio.gather(*(case.open(session) for session in sessions))
        alone, parallel = ParallelSession(sessions[:1]), ParallelSession(sessions)
        tries = (case.tries * 4)[: 4 * BATCH]
        for _ in range(ROUNDS):
            one, one_cpu, first = await _wall(alone, tries, sessions)
            many, many_cpu, second = await _wall(parallel, tries, sessions)
            ratios.append(one / many)
            by_cpu.append(count * one_cpu / many_cpu)
            same = same and first == second
    return {
        "engines": count,
        "ratio": round(statistics.median(ratios), 2),
        "ratio_by_cpu": round(statistics.median(by_cpu), 2),
        "same_results": same,
    }


async def _wall(
    parallel: ParallelSession, tries: Tries, sessions: Sequence[Session]
) -> tuple[float, float, list[Outputs]]:
    def used() -> float:
        return sum(cpu_seconds(s.pid) for s in sessions if isinstance(s, ProcessSession) and s.pid is not None)

    cpu, start = used(), time.perf_counter()
    rows = await parallel.what_if(tries, VECTORS["search"])
    return time.perf_counter() - start, used() - cpu, rows


async def _memory(engine: Engine, case: HeavyBuild) -> dict[str, Any]:
    """Return what one engine holds for itself alone after many candidates, in MB."""
    async with engine.session() as session:
        assert isinstance(session, ProcessSession)
        await case.open(session)
        pid, most, done = session.pid, 0.0, 0
        while done < LONG_RUN:
            await session.what_if(case.tries, VECTORS["search"])
            done += len(case.tries)
            assert session.pid == pid, "the engine was replaced while it was measured"
            most = max(most, private_megabytes(pid or 0))
        return {"candidates": done, "private_mb": round(private_megabytes(pid or 0)), "most_mb": round(most)}


async def _drift(engine: Engine, case: HeavyBuild) -> dict[str, Any]:
    """Return the greatest relative difference between a committed move, recalculated, and its what-if."""
    worst: dict[str, float] = {}
    for kind, changes in case.moves.items():
        async with engine.session() as session:
            await case.open(session)
            metrics = sorted((await session.stats()).values)
            (tried,) = await session.what_if([changes], metrics)
            report = await session.apply(changes)
            stats = (await session.stats()).values
            if not report.problems and not report.dropped_nodes:
                pairs = [(tried.get(key, 0.0), stats.get(key, 0.0)) for key in case.compared(metrics)]
                worst[kind] = max(0.0 if a == b else abs(a - b) / max(abs(a), abs(b)) for a, b in pairs)
    return {"moves": len(worst), "worst_relative": max(worst.values(), default=0.0), "by_kind": worst}


async def _start(settings: Settings, engine: Engine, case: HeavyBuild) -> dict[str, Any]:
    """Return milliseconds until a fresh session answers, and whether it calculates what a cold process does."""
    waits = []
    for _ in range(STARTS):
        start = time.perf_counter()
        async with engine.session() as session:
            assert isinstance(session, ProcessSession)
            await session.ask("bench_ready", {}, TRUTH)
            waits.append(1000 * (time.perf_counter() - start))
    cold = ConfiguredEngines(settings)
    try:
        return {
            "ready_ms": round(statistics.median(waits), 1),
            "ready_best_ms": round(min(waits), 1),
            "equal_to_cold": await _stats(engine, case) == await _stats(await cold.engine("pob"), case),
        }
    finally:
        await cold.close()


async def _stats(engine: Engine, case: HeavyBuild) -> Outputs:
    async with engine.session() as session:
        await case.open(session)
        values = (await session.stats()).values
        return {key: values[key] for key in case.compared(sorted(values))}
