"""The same sentence gives the same file, byte for byte, however many engines worked on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.model.names import BuildStatus, GearTier
from app.model.record import BuildRequest
from app.wiring import open_services

pytestmark = [pytest.mark.pob, pytest.mark.slow, pytest.mark.asyncio, pytest.mark.timeout(1800)]
REQUEST = BuildRequest(prompt="lightning sorceress for mapping", level=24, gear=GearTier.STARTER)
"""Few points and small gear: every stage runs, and the whole takes seconds on a quiet machine."""


async def _file(pob_path: Path, folder: Path, workers: int) -> bytes:
    """Return the exported file of a build made on a store and engines of its own."""
    settings = Settings(data_dir=folder, pob_path=pob_path, engine="pob", engine_workers=workers)
    async with open_services(settings) as services:
        made = await services.builds.create(REQUEST)
        await services.builds.wait(made.id)
        services.library.forget(made.id)
        assert (await services.library.get(made.id)).status is BuildStatus.COMPLETE
        return await services.library.export(made.id, "xml")


async def test_twice_with_four_engines_and_once_with_one(pob_path: Path, tmp_path: Path) -> None:
    files = [await _file(pob_path, tmp_path / str(i), workers) for i, workers in enumerate((4, 4, 1))]
    assert files[0].startswith(b"<?xml")
    assert files[0] == files[1], "the same input twice"
    assert files[0] == files[2], "four engines and one"
