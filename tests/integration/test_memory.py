"""Memory through the whole service, on the sketch engine: on, off, and forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.model.record import BuildRequest
from app.model.state import BuildState
from app.service import Services
from app.wiring import open_services

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
PROMPT = "lightning sorceress for mapping"


@pytest.mark.parametrize("level", [24, pytest.param(90, marks=pytest.mark.deep)])
async def test_off_learned_used_and_forgotten(tmp_path: Path, level: int) -> None:
    settings = Settings(engine="sketch", engine_workers=2, data_dir=tmp_path, pob_path=tmp_path / "none")
    async with open_services(settings.model_copy(update={"memory": "off"})) as services:
        plain = await _built(services, level)
        assert (await services.memories.page()).items == []
    async with open_services(settings.model_copy(update={"memory": "learn"})) as services:
        learned = await _built(services, level)
        assert len((await services.memories.page()).items) == 1
        assert await services.memories.forget(None) == 1
    async with open_services(settings.model_copy(update={"memory": "use"})) as services:
        cold, warm = await _built(services, level), await _built(services, level)
        assert await services.memories.forget(cold.blueprint.groups[0].gems[0].name if cold.blueprint else "") == 2
        again = await _built(services, level)

    assert plain.blueprint == learned.blueprint == cold.blueprint == again.blueprint
    assert plain.memories == cold.memories == again.memories == []
    assert [one.part for one in warm.memories] == ["the whole build"]
    assert (warm.construction.notes.objective or 0.0) >= (cold.construction.notes.objective or 0.0) - 1e-6
    assert warm.construction.notes.evaluations < cold.construction.notes.evaluations / 2


async def _built(services: Services, level: int) -> BuildState:
    view = await services.builds.create(BuildRequest(prompt=PROMPT, level=level))
    await services.builds.wait(view.id)
    return BuildState.from_yaml((await services.library.export(view.id, "yaml")).decode())
