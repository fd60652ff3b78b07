"""The engines that the contract is checked on: sketch always, Path of Building where it is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.engine.base import Engine
from app.engine.process import ProcessEngine
from tests.conftest import pob_home


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=["sketch", pytest.param("pob", marks=pytest.mark.pob)],
)
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    """A started engine of each kind, shared by the module: its sessions are independent."""
    name = str(request.param)
    home: Path | None = pob_home() if name == "pob" else None
    if name == "pob" and home is None:
        pytest.skip("Path of Building is not installed")
    engine = ProcessEngine(name, {} if home is None else {"pob": str(home)})
    await engine.start()
    yield engine
    await engine.close()
