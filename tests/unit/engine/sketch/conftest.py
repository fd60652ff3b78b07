"""A warmed sketch engine and sample builds for its tests."""

from __future__ import annotations

import pytest

from app.engine.sketch.backend import SketchBackend
from app.engine.sketch.pack import Pack
from tests.unit.engine.sketch import samples


@pytest.fixture(scope="session")
def pack() -> Pack:
    return samples.pack()


@pytest.fixture(scope="module")
def backend() -> SketchBackend:
    """One engine per module: every test that needs a build loads its own first."""
    made = SketchBackend()
    made.warm()
    return made


@pytest.fixture(scope="module")
def builder(backend: SketchBackend) -> samples.Builder:
    return samples.Builder(backend)
