"""Other people's builds as they are measured: files with the tree of their own version, skill and numbers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from app.engine.base import Engine, Outputs, Session
from app.engine.client import ProcessSession
from app.model.base import Model
from app.model.blueprint import JEWEL_SLOT, Blueprint, Change, SetMain, WeaponSet
from app.model.facts import ClassFact, NodeFact
from app.model.stats import DPS
from app.search.incumbent import Incumbent
from app.search.objective import METRICS
from app.search.passives.graph import PassiveGraph
from app.search.passives.tree import TreeSearch
from app.search.passives.weapon_sets import anchors, of_set, set_in_use

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
class Case:
    """A build file as it is measured: skill, points, and the author's numbers."""

    name: str
    xml: bytes
    blueprint: Blueprint
    tree: OwnTree
    main: int
    skill: str
    author: Outputs
    points: int

    @property
    def setup(self) -> list[Change]:
        """Return what brings the loaded file to the skill that is compared."""
        return [] if self.main == self.blueprint.main_group else [SetMain(index=self.main)]


async def read_case(engine: Engine, path: Path) -> Case:
    """Read a build file and what its author reached."""
    xml = await asyncio.to_thread(path.read_bytes)
    async with engine.session() as session:
        await session.load(xml)
        blueprint = await session.blueprint()
        assert isinstance(session, ProcessSession), "older trees are asked of the session itself"
        tree = await session.ask("own_tree", {}, TypeAdapter(OwnTree))
        main = await _main(session, blueprint)
        author = (await session.what_if([[SetMain(index=main)]], METRICS))[0]
        points = (await session.inspect()).points["used"]
    gems = blueprint.groups[main - 1].gems if main else []
    return Case(path.stem, xml, blueprint, tree, main, gems[0].name if gems else "", author, points)


async def _main(session: Session, blueprint: Blueprint) -> int:
    """Return the saved main group, or the one with the highest rate when that has none."""
    groups = range(1, len(blueprint.groups) + 1)
    found = await session.what_if([[], *([SetMain(index=i)] for i in groups)], [DPS])
    rates = [outputs.get(DPS, 0.0) for outputs in found]
    return blueprint.main_group if rates[0] >= NO_RATE else max(groups, key=lambda i: (rates[i], -i))


async def opened(incumbent: Incumbent, case: Case) -> tuple[TreeSearch, WeaponSet]:
    """Return a search over the tree of the build's own version, and the weapon set in use.

    What the search does not understand stays as it is: passives that hang on nothing, and those of the idle set.
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
    kept = anchors(whole, owned - idle, idle) | _bridges(case, owned)
    return TreeSearch(incumbent, graph, fixed=kept, local=_near_radius_jewels(case)), in_use


def _bridges(case: Case, owned: frozenset[int]) -> frozenset[int]:
    """Return the owned sockets whose jewels allow passives that hang on nothing."""
    jewels = {slot: item for slot, item in case.blueprint.items.items() if slot.startswith(JEWEL_SLOT)}
    found = (int(slot.removeprefix(JEWEL_SLOT)) for slot, item in jewels.items() if UNCONNECTED in (item.text or ""))
    return owned & frozenset(found)


def _near_radius_jewels(case: Case) -> frozenset[int]:
    at = {n.id: n for n in case.tree.nodes}
    jewels = {slot: item for slot, item in case.blueprint.items.items() if slot.startswith(JEWEL_SLOT)}
    sockets = [int(slot.removeprefix(JEWEL_SLOT)) for slot, item in jewels.items() if "Radius" in (item.text or "")]
    near = ((n.id, at[s]) for n in case.tree.nodes for s in sockets)
    return frozenset(n for n, s in near if (at[n].x - s.x) ** 2 + (at[n].y - s.y) ** 2 <= FAR**2)
