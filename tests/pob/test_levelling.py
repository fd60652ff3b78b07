"""Levelling loadouts of eight classes at level 90: every one valid in a fresh process, and its points well spent.

`BUILDWRIGHT_KEPT_BUILDS=folder` keeps the finished builds there, so that a run that was interrupted goes on.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from lxml import etree

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.knowledge.gems import stands_alone
from app.model.blueprint import PassiveNode
from app.model.guide import Loadout
from app.model.names import Attribute, Effort
from app.model.record import BuildRecord
from app.search.base import SearchContext
from app.search.passives.graph import main_graph
from tests.loadouts import Seen, Trees, added, compared, context_of, finished, passives, seen

pytestmark = [pytest.mark.pob, pytest.mark.deep, pytest.mark.timeout(3600)]
PROMPTS = {
    "warrior": "titan with maces for bossing",
    "sorceress": "cold sorceress for bossing, life-based",
    "ranger": "lightning bow deadeye, evasion, mapping",
    "monk": "monk invoker with quarterstaff, lightning, for bossing",
    "mercenary": "mercenary with crossbow, fire, for mapping",
    "huntress": "huntress with spear, for bossing",
    "witch": "chaos witch for mapping with energy shield",
    "druid": "druid for bossing",
}
KEPT = os.environ.get("BUILDWRIGHT_KEPT_BUILDS")

NEAR = 0.95
"""Share of the figures of a tree of the same size that is grown from nothing, at each level.

Passives on the way are among those of the finished tree, which no tree grown for one level is bound to. Beside trees
that are, by all that counts, a class's levels together have it.
"""

AUTHORS = {30: "Level 30 {03}", 50: "Level 50 {05}"}
"""The levelling trees of titan_72 that the warrior's are held against."""


async def kept(name: str, pob_path: Path, folder: Path) -> BuildRecord:
    """Return the finished build of the class, made once where a folder is named."""
    at = Path(KEPT or folder) / f"pob-{name}.json"
    if at.exists():
        return BuildRecord.model_validate_json(at.read_text())
    settings = Settings(engine="pob", data_dir=folder, pob_path=pob_path)
    record = await finished(settings, PROMPTS[name], 90, Effort.NORMAL)
    at.write_text(record.model_dump_json())
    return record


@pytest.mark.parametrize("name", PROMPTS)
async def test_every_prefix_is_valid_and_near_the_best_of_its_size(
    fresh: ProcessEngine, pob_path: Path, tmp_path: Path, real_builds: list[Path], name: str
) -> None:
    record = await kept(name, pob_path, tmp_path)
    tried = record.state.construction.notes.evaluations
    state, xml = await added(fresh, record)
    assert state.guide is not None
    told = state.guide.loadouts
    more = state.construction.notes.evaluations - tried
    print(f"\n{name}: {len(told)} loadouts, {more} evaluations beside {tried}")
    found = [await seen(fresh, xml, one) for one in told]
    faults = [fault for one in found for fault in one.faults]
    faults += [
        f"{one.told.title}: not the first passives of the order"
        for one in found
        if sorted(node.id for node in one.blueprint.nodes) != sorted(passives(one, state))
    ]
    gems = {gem.name: gem for gem in await fresh.facts.gems() if gem.kind == "active"}
    faults += [
        f"{one.title}: {one.skill} waits for something else"
        for one in told[:-1]
        if not one.is_main_skill and not stands_alone(gems[one.skill])
    ]
    faults += await of_the_open_one(fresh, xml, told[-1])
    ctx = context_of(record, state, fresh)
    shares: list[float] = []
    for one in found[:-1]:  # every figure is told before anything is asserted
        tree = await compared(ctx, one, one.told.points)
        part = await compared(ctx, one, one.told.points, among=ctx.blueprint.passives)
        why = " ".join([one.told.why, *one.told.caveats])
        print(f"  {one.told.level}: {one.told.skill}, greedy {tree}; of the finished tree {part}; {why}")
        faults += [f"{one.told.title}: {tree} of a greedy tree"] if tree.ratio < NEAR else []
        shares.append(part.share)
    inside = math.prod(shares) ** (1 / len(shares))
    faults += [f"all levels together: {inside:.3f} of greedy parts of the finished tree"] if inside < NEAR else []
    for level, title in AUTHORS.items() if name == "warrior" else ():
        file = next(at for at in real_builds if at.stem == "titan_72")
        author = await against_author(ctx, next(one for one in found if one.told.level == level), file, title)
        print(f"  {level}: titan_72 {author}")
        faults += [f"Levelling {level}: {author} of titan_72"] if author.ratio < 1.0 else []
    print(*(f"  FAULT {fault}" for fault in faults), sep="\n")
    assert faults == []


async def of_the_open_one(fresh: ProcessEngine, xml: bytes, last: Loadout) -> list[str]:
    """Return what is wrong with the open one: it is the finished build, whether or not its level is reckoned."""
    async with fresh.session() as session:
        await session.load(xml)
        dps, level = (await session.stats()).dps, (await session.blueprint()).level
    found = [] if dps == pytest.approx(last.dps, rel=1e-9) else [f"the open one deals {dps}, told {last.dps}"]
    return found if level == last.level else [*found, f"the open one is of level {level}"]


async def against_author(ctx: SearchContext, one: Seen, path: Path, title: str) -> Trees:
    """Compare with a tree of the file at equal points, on our character; what the tree of today lacks is left out."""
    spec = next(found for found in etree.parse(path).getroot().iter("Spec") if found.get("title") == title)
    graph = await main_graph(ctx)
    chosen = spec.find("Overrides/AttributeOverride")
    given = {
        int(node): attribute
        for attribute in Attribute
        for node in ("" if chosen is None else chosen.get(f"{attribute.value}Nodes", "")).split(",")
        if node
    }
    owned = frozenset(int(node) for node in spec.get("nodes", "").split(",")) & graph.bought
    order = graph.in_order(graph.connected(owned))
    kinds = {node: graph.nodes[node].kind == "attribute" for node in order}
    author = [
        PassiveNode(id=node, attribute=given.get(node, Attribute.STRENGTH) if kinds[node] else None) for node in order
    ]
    return await compared(ctx, one, len(author), author)
