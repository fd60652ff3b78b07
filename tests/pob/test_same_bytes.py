"""The same sentence gives the same file, byte for byte, however many engines worked on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.model.names import BuildStatus, GearTier
from app.model.record import BuildRequest
from app.wiring import open_services

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.asyncio, pytest.mark.timeout(1800)]
SMALL = BuildRequest(prompt="lightning sorceress for mapping", level=12, gear=GearTier.STARTER)
"""Few points and small gear: every stage runs."""


async def _file(pob_path: Path, folder: Path, workers: int, request: BuildRequest = SMALL) -> bytes:
    """Return the exported file of a build made on a store and engines of its own."""
    settings = Settings(data_dir=folder, pob_path=pob_path, engine="pob", engine_workers=workers)
    async with open_services(settings) as services:
        made = await services.builds.create(request)
        await services.builds.wait(made.id)
        services.library.forget(made.id)
        assert (await services.library.get(made.id)).status is BuildStatus.COMPLETE
        return await services.library.export(made.id, "xml")


async def test_with_four_engines_and_with_one(pob_path: Path, tmp_path: Path) -> None:
    four, one = [await _file(pob_path, tmp_path / str(workers), workers) for workers in (4, 1)]
    assert four.startswith(b"<?xml")
    assert four == one


@pytest.mark.deep
async def test_twice_with_four_engines_and_once_with_one(pob_path: Path, tmp_path: Path) -> None:
    request = SMALL.model_copy(update={"level": 24})
    files = [await _file(pob_path, tmp_path / str(i), workers, request) for i, workers in enumerate((4, 4, 1))]
    assert files[0].startswith(b"<?xml")
    assert files[0] == files[1], "the same input twice"
    assert files[0] == files[2], "four engines and one"
