"""Main skills of every kind stand on their feet: calculated, or named as not calculated with one that is.

Every `STEP`-th skill that can be a main skill is tried; BUILDWRIGHT_SKILL_STEP=1 tries all of them. The last line of
the output says how many have a rate, by which way of calculating them, and which have none.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.base import Session
from app.engine.process import ProcessEngine
from app.knowledge.gems import can_be_main
from app.model.blueprint import SkillGroup
from app.model.constraints import InvariantSet
from app.model.demands import demands_of
from app.model.facts import GemFact
from app.model.stats import DPS
from app.search.base import SearchContext, plan_of
from app.search.stages.foundation import found
from tests.fakes.engine import FactsEngine, FakeFacts
from tests.unit.reasoning.planning import plan

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(3600)]
STEP = int(os.environ.get("BUILDWRIGHT_SKILL_STEP", "16"))
UNRATED_SHARE = 0.12
"""Share of main skills that Path of Building 0.20 may leave without a rate (items' and ascendancies' own mostly)."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    made = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await made.start()
    yield made
    await made.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def facts(engine: ProcessEngine) -> FactsEngine:
    """The engine's facts for planning, asked once."""
    own = engine.facts
    fake = FakeFacts(await own.classes(), await own.gems(), await own.nodes(), await own.bases())
    return FactsEngine(fake, engine.version)


async def stood_up(engine: ProcessEngine, facts: FactsEngine, session: Session, skill: str) -> tuple[str, float, str]:
    """Return how a level 90 build around the skill is calculated, its damage per second, and the named alternative."""
    asked = await plan(f"{skill} build", facts)
    context = SearchContext(
        engine=engine,
        session=session,
        blueprint=None,  # type: ignore[arg-type]
        plan=plan_of(asked.state.sub_problems),
        demands=demands_of(InvariantSet()),
        invariants=asked.invariants,
        seed=0,
    )
    result = await found(context)
    group = result.blueprint.groups[result.blueprint.main_group - 1]
    assert group.gems[0].name == skill
    rate = (await session.what_if([[]], [DPS]))[0].get(DPS, 0.0)
    return _way(group), rate, result.notes.nearest_modelled or ""


def _way(group: SkillGroup) -> str:
    choices = group.gems[0].choices
    if "skillMinion" in choices:
        return "a monster was chosen"
    if any(name.startswith("statSet") for name in choices):
        return "another mode"
    if group.main_skill > 1:
        return "another part"
    return "its minion's other skill" if choices else "as it is"


async def test_main_skills_have_a_rate_or_name_one_that_has(engine: ProcessEngine, facts: FactsEngine) -> None:
    gems: list[GemFact] = [gem for gem in await engine.facts.gems() if can_be_main(gem)]
    ways: Counter[str] = Counter()
    unrated: dict[str, str] = {}
    async with engine.session() as session:
        for gem in gems[::STEP]:
            way, rate, nearest = await stood_up(engine, facts, session, gem.name)
            if rate > 0:
                ways[way] += 1
            else:
                unrated[gem.name] = nearest
    tried = sum(ways.values()) + len(unrated)
    print(f"\n{tried} of {len(gems)} main skills tried: {dict(ways)}; without a rate: {unrated}")
    assert tried >= len(gems) // STEP
    assert all(unrated.values()), "a skill without a rate names the nearest one that has one"
    assert len(unrated) <= max(1, UNRATED_SHARE * tried)


@pytest.mark.parametrize(
    ("skill", "way"),
    [
        ("Summon Spectre", "a monster was chosen"),
        ("Tamed Companion", "a monster was chosen"),
        ("Artillery Ballista", "another part"),
        ("Orb of Storms", "as it is"),
    ],
)
async def test_skills_that_need_a_choice_work(engine: ProcessEngine, facts: FactsEngine, skill: str, way: str) -> None:
    async with engine.session() as session:
        found_way, rate, _ = await stood_up(engine, facts, session, skill)
    assert (found_way, rate > 0) == (way, True)


@pytest.mark.parametrize("skill", ["Detonate Minion", "Volatile Dead"])
async def test_a_skill_without_a_rate_is_told_with_one_that_has(
    engine: ProcessEngine, facts: FactsEngine, skill: str
) -> None:
    async with engine.session() as session:
        _, rate, nearest = await stood_up(engine, facts, session, skill)
    assert rate == 0
    assert nearest
