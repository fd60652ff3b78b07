"""The tree search on real Path of Building: better at the same cost, the same with any number of engines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.bench.builds import Kept
from app.bench.trees import balanced, measure, read_build, tree_search
from app.core.config import Settings
from app.core.errors import AppError
from app.engine.process import ProcessEngine
from app.model.blueprint import OFF_HAND, Blueprint, Gem, SkillGroup
from app.model.demands import Floor, floors_for
from app.model.names import GearTier
from app.model.stats import DPS
from app.search.incumbent import Incumbent
from app.search.objective import Objective
from app.search.passives.graph import PassiveGraph
from app.search.passives.large_moves import LargeMoves
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.sessions import Sharing, open_parallel
from tests.pob.conftest import Facts

pytestmark = [pytest.mark.pob, pytest.mark.slow]
BRIEF = TreeLimits(reach=6, rounds=2, trials=700)
MOVING = replace(BRIEF, trials=1800)
POINTS = 24
SKILLS = {"Sorceress": "Spark", "Witch": "Skeletal Arsonist"}


@pytest.fixture
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=3)
    await made.start()
    yield made
    await made.close()


async def searched(
    engine: ProcessEngine, facts: Facts, who: str, sessions: int, moves: int = 0
) -> tuple[TreeSearch, dict[str, Any]]:
    """Spend points for a bare character with one skill, trade and move; return the search and the first numbers."""
    gem = facts.gems[SKILLS[who]]["id"]
    group = SkillGroup(gems=[Gem(gem_id=gem, name=SKILLS[who], level=15)], in_full_dps=who == "Witch")
    start = Blueprint(class_name=who, level=60, groups=[group], main_group=1)
    nodes = [n for n in await engine.facts.nodes() if n.ascendancy is None]
    root = facts.classes[who]["start_node"]
    graph = PassiveGraph(nodes, [root], {n.id for n in nodes if n.kind == "start" and n.id != root})
    wide = Floor(least=1, good=1e12)
    floors = floors_for(60, GearTier.MID).model_copy(update={"dps": wide, "ehp": wide})
    async with open_parallel(engine, start, Sharing(sessions), patience_s=30) as parallel:
        incumbent = Incumbent(parallel, start, Objective(floors, guards=frozenset()))
        await incumbent.measure()
        search = TreeSearch(incumbent, graph, limits=MOVING if moves else BRIEF)
        before = dict(incumbent.outputs)
        assert await search.spend(POINTS) == 0
        grown = incumbent.score
        await LargeMoves(search, moves).improve()
        assert incumbent.score >= grown
        assert sorted(n.id for n in incumbent.blueprint.nodes) == sorted(
            n.id for n in (await parallel.blueprint()).nodes
        )
        return search, before


@pytest.mark.parametrize("who", sorted(SKILLS))
async def test_points_are_all_spent_and_damage_and_life_grow(engine: ProcessEngine, facts: Facts, who: str) -> None:
    search, before = await searched(engine, facts, who, sessions=3)
    after = search.incumbent.outputs
    assert search.spent == POINTS
    assert search.graph.connected(search.owned) == search.owned
    assert after[DPS] > 1.3 * before[DPS]
    assert after["TotalEHP"] > before["TotalEHP"]
    assert search.drift < 1e-6
    assert search.trials <= BRIEF.trials + 400


async def test_one_and_three_engines_find_the_same_tree(engine: ProcessEngine, facts: Facts) -> None:
    one, _ = await searched(engine, facts, "Sorceress", sessions=1)
    three, _ = await searched(engine, facts, "Sorceress", sessions=3)
    assert one.incumbent.blueprint == three.incumbent.blueprint
    assert one.trials == three.trials


async def test_large_moves_leave_nothing_of_what_was_taken_back(engine: ProcessEngine, facts: Facts) -> None:
    """Whole trees were given back and grown anew in these sessions: a fresh one gives the same figures for the tree."""
    plain, _ = await searched(engine, facts, "Sorceress", sessions=3)
    one, _ = await searched(engine, facts, "Sorceress", sessions=1, moves=1)
    three, _ = await searched(engine, facts, "Sorceress", sessions=3, moves=1)
    assert one.incumbent.blueprint == three.incumbent.blueprint
    assert one.incumbent.score >= plain.incumbent.score - 1e-9
    assert one.spent == POINTS
    async with engine.session() as fresh:
        await fresh.build(one.incumbent.blueprint)
        (found,) = await fresh.what_if([[]], one.incumbent.objective.metrics)
    assert one.incumbent.objective.score(found) == pytest.approx(one.incumbent.score, abs=1e-9)


async def test_the_off_hand_is_filled_again_with_the_keystone_that_allows_it(
    engine: ProcessEngine, real_builds: list[Path]
) -> None:
    """A shield beside a two-handed mace is there with Giant's Blood only, and stays away when it is taken again."""
    case = await read_build(engine, next(at for at in real_builds if at.stem == "warbringer_100"))
    async with engine.session() as session:
        await session.load(case.xml)
        await session.apply(case.setup)
        incumbent = Incumbent(session, case.blueprint, balanced())
        await incumbent.measure()
        search, _ = await tree_search(incumbent, case)
        before, outputs = incumbent.blueprint, dict(incumbent.outputs)
        await search.clear()
        assert OFF_HAND not in (await session.blueprint()).items
        await search.rewind(before)
        assert OFF_HAND in (await session.blueprint()).items
        assert incumbent.outputs == pytest.approx(outputs)


async def test_a_keystone_is_measured_with_the_off_hand_that_it_allows(
    engine: ProcessEngine, real_builds: list[Path]
) -> None:
    """Without the shield Giant's Blood costs life and gives nothing; with it damage and survival."""
    case = await read_build(engine, next(at for at in real_builds if at.stem == "warbringer_100"))
    giants_blood = next(n.id for n in case.tree.nodes if n.name == "Giant's Blood")
    async with engine.session() as session:
        await session.load(case.xml)
        await session.apply(case.setup)
        incumbent = Incumbent(session, case.blueprint, balanced())
        await incumbent.measure()
        search, _ = await tree_search(incumbent, case)
        await search.clear()
        await search.learn(60)
        route = search.graph.routes(search.owned, 60)[giants_blood]
        with_shield, alone = search.purchase(route), [c for c in search.purchase(route) if c.op != "equip"]
        assert len(with_shield) == len(alone) + 1
        tried, without = await incumbent.outputs_of([with_shield, alone])
        assert tried[DPS] > 1.1 * without[DPS]
        assert tried["TotalEHP"] > 1.3 * without["TotalEHP"]
        bought = search.planner.bought(search.draft(), route)
        assert bought.score > search.draft().score, "on paper too"
        await search.commit(bought)
        assert incumbent.outputs[DPS] == pytest.approx(tried[DPS])
        assert OFF_HAND in (await session.blueprint()).items


async def test_a_benchmark_that_goes_on_measures_no_build_again(pob_path: Path, tmp_path: Path) -> None:
    kept = {
        "build": "known",
        "skill": "Spark",
        "points": [90, 90],
        "author_dps": 1,
        "dps": 2,
        "ratio": 2.0,
        "author_ehp": 3,
        "ehp": 3,
        "lower": [],
        "shares": {"author": 1.0, "scratch": 0.98},
        "runs": [{"start": "author", "trials": 5, "seconds": 1.0}],
    }
    (tmp_path / "known.xml").write_text("this cannot be read as a build")
    await Kept(tmp_path / "results" / "known.json").keep("scan=False keystones=False", kept)
    settings = Settings(pob_path=pob_path)
    report = await measure(settings, tmp_path, results=tmp_path / "results")
    assert report["builds"] == [kept]
    with pytest.raises(AppError):  # another question is another measurement
        await measure(settings, tmp_path, keystones=True, results=tmp_path / "results")
