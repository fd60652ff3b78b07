"""One sentence per class through the whole service on real Path of Building, then each file in a fresh process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.model.names import BuildStatus, Severity
from app.model.record import BuildRequest
from app.service.view import BuildView
from app.wiring import open_services
from tests.pob.legality import illegal_items

pytestmark = [
    pytest.mark.pob,
    pytest.mark.deep,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(2400),
]
PROMPTS = (
    "cold sorceress for bossing, life-based",
    "chaos witch for mapping with energy shield",
    "titan with maces for bossing",
    "lightning bow deadeye, evasion, mapping",
    "monk invoker with quarterstaff, lightning, for bossing",
    "mercenary with crossbow, fire, for mapping",
    "huntress with spear, for bossing",
    "druid for bossing",
)
SAME = ("FullDPS", "CombinedDPS", "Life", "EnergyShield", "TotalEHP", "FireResist", "ColdResist", "LightningResist")
Made = list[tuple[BuildView, bytes]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def made(pob_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The eight builds, level 90 and mid gear, with their exported files."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), pob_path=pob_path)
    async with open_services(settings) as services:
        found: Made = []
        for prompt in PROMPTS:
            accepted = await services.builds.create(BuildRequest(prompt=prompt, level=90))
            await services.builds.wait(accepted.id)
            services.library.forget(accepted.id)
            view = await services.library.get(accepted.id)
            found.append((view, await services.library.export(accepted.id, "xml")))
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fresh(pob_path: Path) -> AsyncIterator[ProcessEngine]:
    """Path of Building in processes that made none of the builds."""
    engine = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    await engine.start()
    yield engine
    await engine.close()


async def test_all_complete_on_pob_by_itself(made: Made) -> None:
    assert [view.status for view, _ in made] == [BuildStatus.COMPLETE] * len(PROMPTS)
    assert {view.engine.name for view, _ in made if view.engine} == {"pob"}


async def test_at_least_six_have_no_blocking_conflict_and_the_rest_say_so(made: Made) -> None:
    blocked = {
        view.prompt: [conflict.type for conflict in view.conflicts if conflict.severity is Severity.BLOCKING]
        for view, _ in made
    }
    assert sum(not found for found in blocked.values()) >= 6, blocked
    assert all(view.caveats for view, _ in made if blocked[view.prompt])


async def test_every_item_can_be_made_by_path_of_buildings_own_tables(made: Made, pob_path: Path) -> None:
    assert [found for _, xml in made for found in illegal_items(xml, pob_path, "mid")] == []


async def test_the_file_gives_the_same_numbers_in_a_fresh_process(made: Made, fresh: ProcessEngine) -> None:
    for view, xml in made:
        assert view.stats is not None
        async with fresh.session() as session:
            report = await session.load(xml)
            again = (await session.stats()).values
        assert report.problems == [], view.prompt
        told = {key: view.stats.values.get(key, 0.0) for key in SAME}
        assert {key: again.get(key, 0.0) for key in SAME} == pytest.approx(told, rel=1e-3, abs=1e-6), view.prompt
