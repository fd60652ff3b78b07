"""Every process of Path of Building gives the same figures, whatever order its Lua walks tables in."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from app.engine.client import ProcessSession
from app.engine.process import ProcessEngine
from app.model.blueprint import Allocate, Blueprint, Deallocate
from tests.pob.conftest import Facts, rare

pytestmark = pytest.mark.pob
AVATAR_OF_FIRE = 18684
"""Converts 75 % of damage to fire: in one order of types Path of Building loses a part of it, in another not."""

PROCESSES = 5
"""With two orders in equal shares, equal figures by chance once in sixteen runs."""


def way_to(facts: Facts, class_name: str, target: int) -> list[int]:
    """Return the passives from the class's start to the target."""
    start = facts.classes[class_name]["start_node"]
    queue, before = deque([start]), {start: start}
    while target not in before:
        here = queue.popleft()
        for near in facts.nodes[here]["neighbours"]:
            passable = facts.nodes[near].get("ascendancy") is None and facts.nodes[near]["kind"] != "start"
            if near not in before and passable:
                before[near] = here
                queue.append(near)
    way = [target]
    while before[way[-1]] != start:
        way.append(before[way[-1]])
    return way[::-1]


async def test_conversion_of_damage_is_the_same_in_every_process(facts: Facts, pob_path: Path) -> None:
    blueprint = Blueprint.model_validate(
        {
            "class_name": "Mercenary",
            "level": 90,
            "nodes": [facts.wish(node) for node in way_to(facts, "Mercenary", AVATAR_OF_FIRE)],
            "items": {"Weapon 1": rare("Weapon 1", "Sturdy Crossbow")},
            "groups": [{"gems": [facts.gem("Rapid Shot", level=12)]}],
            "main_group": 1,
        }
    )
    found = []
    for _ in range(PROCESSES):
        engine = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
        async with engine.session() as session:
            assert (await session.build(blueprint)).dropped_nodes == []
            stats = await session.stats()
            found.append((stats.dps, stats.get("FireHitAverage")))
        await engine.close()
    assert found[0][1] > 0
    assert len(set(found)) == 1


async def test_a_file_with_many_trees_behind_it_is_the_same_in_a_fresh_child(
    fresh: ProcessEngine, real_builds: list[Path]
) -> None:
    """A fresh child takes the passives of a long search at once; the file and its figures are those of every step."""
    path = next(one for one in real_builds if one.stem == "deadeye_71")
    async with fresh.session() as session:
        await session.load(path.read_bytes())
        nodes = (await session.blueprint()).nodes
        for node in nodes[::9]:
            report = await session.apply([Deallocate(nodes=[node.id])])
            lost = [one for one in nodes if one.id in {node.id, *report.dropped_nodes}]
            await session.apply([Allocate(nodes=lost)])
        await session.apply([Deallocate(nodes=[nodes[-1].id])])
        before = (await session.export(), (await session.stats()).values)
        assert isinstance(session, ProcessSession)
        session.drop()
        after = (await session.export(), (await session.stats()).values)
    assert after == before
