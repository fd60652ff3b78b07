"""Repair: flawed files are taken in, mended and told, on real Path of Building."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.config import Settings
from app.engine.process import ProcessEngine
from app.model.names import BuildStatus, ConflictType, Severity
from app.service import Services
from app.service.imports import ImportRequest
from app.service.view import BuildView
from app.wiring import open_services
from tests.integration.test_repair import without_notes
from tests.pob.sabotage import Plant, dead_support, overflowed_spirit, world_of

pytestmark = [pytest.mark.pob, pytest.mark.slow]
FILE = "monk_13"


@pytest.fixture
async def services(tmp_path: Path, pob_path: Path) -> AsyncIterator[Services]:
    settings = Settings(engine="pob", engine_workers=1, data_dir=tmp_path, pob_path=pob_path)
    async with open_services(settings) as opened:
        yield opened


@pytest.fixture
def sound(real_builds: list[Path]) -> str:
    return next(path for path in real_builds if path.stem == FILE).read_text(encoding="utf-8-sig")


async def with_fault(pob_path: Path, text: str, plant: Plant) -> str:
    """Return the file with the fault planted, as Path of Building writes it."""
    engine = ProcessEngine("pob", {"pob": str(pob_path)}, workers=1)
    try:
        async with engine.session() as session:
            await session.load(text.encode())
            blueprint = await session.blueprint()
            await session.build(plant(blueprint, await world_of(engine.facts, blueprint)))
            return (await session.export()).decode()
    finally:
        await engine.close()


async def repaired(services: Services, text: str, sentence: str | bool = True) -> tuple[BuildView, BuildView]:
    """Return the import and its repaired child."""
    child = await services.repairs.create(ImportRequest(xml=text, repair=sentence))
    await services.builds.wait(child.id)
    services.library.forget(child.id)
    view = await services.library.get(child.id)
    assert view.status is BuildStatus.COMPLETE, view.caveats
    assert view.parent_id is not None
    return await services.library.get(view.parent_id), view


def blocking(view: BuildView) -> set[ConflictType]:
    return {conflict.type for conflict in view.conflicts if conflict.severity is Severity.BLOCKING}


@pytest.mark.parametrize(
    ("plant", "fault"),
    [
        pytest.param(overflowed_spirit, ConflictType.SPIRIT_OVERFLOW, marks=pytest.mark.deep),
        (dead_support, ConflictType.INEFFECTIVE_SUPPORT),
    ],
)
async def test_a_planted_fault_is_found_mended_and_told(
    services: Services, pob_path: Path, sound: str, plant: Plant, fault: ConflictType
) -> None:
    parent, child = await repaired(services, await with_fault(pob_path, sound, plant))
    assert fault in blocking(parent)
    assert fault not in blocking(child)
    assert blocking(child) <= blocking(parent)
    told = child.refinement
    assert told is not None
    assert told.reached
    assert len(told.left) < len(told.faults)
    assert told.changes
    assert told.verdict.split(" faults mended")[0] == f"{len(told.faults) - len(told.left)} of {len(told.faults)}"
    for figure, before in told.before.items():
        assert told.after[figure] >= 0.95 * before


@pytest.mark.deep
async def test_what_has_no_fault_is_handed_back(services: Services, sound: str) -> None:
    parent, child = await repaired(services, sound, "what's wrong with it?")
    assert child.refinement is not None
    if not blocking(parent):
        assert child.refinement.verdict == "No change recommended: the rules find no fault."
        files = [await services.library.export(view.id, "xml") for view in (parent, child)]
        assert without_notes(files[0]) == without_notes(files[1])


@pytest.mark.deep
async def test_resistances_are_mended_when_they_are_named(services: Services, real_builds: list[Path]) -> None:
    text = next(path for path in real_builds if path.stem == "deadeye_71").read_text(encoding="utf-8-sig")
    parent, child = await repaired(services, text, "fix my resistances")
    assert parent.stats is not None
    assert child.stats is not None
    assert child.refinement is not None
    assert child.refinement.wish.direction == "resistances"
    before = min(parent.stats.fire_resistance or 0, parent.stats.cold_resistance or 0)
    if child.refinement.reached:
        after = (child.stats.fire_resistance, child.stats.cold_resistance, child.stats.lightning_resistance)
        assert min(value or 0 for value in after) >= 75 > before
    else:
        assert "No change recommended" in child.refinement.verdict
