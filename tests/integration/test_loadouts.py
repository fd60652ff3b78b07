"""Levelling loadouts on the sketch engine: in one file, nested, what is told of them true, the same for any number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.config import Settings
from app.engine.files.loadouts import titles, without_levelling
from app.engine.files.xml import read
from app.engine.process import ProcessEngine
from app.model.names import Effort
from app.model.record import BuildRecord
from app.service.presentation import as_markdown, as_text, presentation_of
from tests.loadouts import added, compared, context_of, finished, passives, seen

pytestmark = pytest.mark.timeout(600)
PROMPT, LEVEL = "titan with maces for bossing", 60


@pytest.fixture
async def sketch() -> AsyncIterator[ProcessEngine]:
    engine = ProcessEngine("sketch", {}, workers=3)
    await engine.start()
    yield engine
    await engine.close()


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> BuildRecord:
    """A finished quick build, which has no loadouts yet."""
    return asyncio.run(finished(settings(tmp_path_factory.mktemp("data")), PROMPT, LEVEL))


def settings(folder: Path) -> Settings:
    return Settings(engine="sketch", engine_workers=1, data_dir=folder, pob_path=folder / "none")


async def test_every_level_is_in_the_file_as_it_is_told(sketch: ProcessEngine, record: BuildRecord) -> None:
    assert record.xml is not None
    state, xml = await added(sketch, record)
    assert state.guide is not None
    told = state.guide.loadouts
    assert [one.title for one in told] == ["Levelling 12", "Levelling 30", "Levelling 50", "Final 60"]
    assert sorted(titles(xml)) == sorted(one.title for one in told)
    found = [await seen(sketch, xml, one) for one in told]
    assert [fault for one in found for fault in one.faults] == []
    for one in found:  # the first so many of the order, so each tree is the beginning of the next one
        assert sorted(node.id for node in one.blueprint.nodes) == sorted(passives(one, state))
    assert [one.points for one in told[:3]] == [15, 37, 61]
    assert [one.ascendancy_points for one in told[:3]] == [0, 2, 4]
    assert [one.life for one in told] == sorted(one.life for one in told)
    assert told[1].changes
    assert all(one.engine.estimate for one in told)


async def test_the_finished_build_stays_the_active_one(sketch: ProcessEngine, record: BuildRecord) -> None:
    state, xml = await added(sketch, record)
    assert record.xml is not None
    async with sketch.session() as session:
        await session.load(record.xml)
        alone = await session.stats()
        await session.load(xml)
        assert await session.stats() == alone
    assert state.stats == record.state.stats
    bare, before = read(without_levelling(xml)), read(record.xml)
    assert [len(bare.findall(path)) for path in ("Tree/Spec", "Items/Item", "Skills/SkillSet")] == [
        len(before.findall(path)) for path in ("Tree/Spec", "Items/Item", "Skills/SkillSet")
    ]


async def test_one_session_and_three_make_the_same_file(sketch: ProcessEngine, record: BuildRecord) -> None:
    assert await added(sketch, record, 1) == await added(sketch, record, 3)


async def test_every_level_is_near_the_best_tree_of_its_size(sketch: ProcessEngine, record: BuildRecord) -> None:
    state, xml = await added(sketch, record)
    assert state.guide is not None
    ctx, told = context_of(record, state, sketch), state.guide.loadouts[:3]
    found = [await compared(ctx, await seen(sketch, xml, one), one.points) for one in told]
    assert min(one.ratio for one in found) > 0.8, [str(one) for one in found]


async def test_people_are_told(sketch: ProcessEngine, record: BuildRecord) -> None:
    shown = presentation_of(record)
    assert record.request.effort is Effort.QUICK
    assert "Quick effort makes no levelling loadouts" in as_text(shown)
    state, _ = await added(sketch, record)
    shown = presentation_of(record.model_copy(update={"state": state}))
    text = as_text(shown)
    assert "Levelling 30: " in text
    assert "(estimate)" in text
    assert "gear is plain" in text
    assert "## Levelling: loadouts" in as_markdown(shown)
