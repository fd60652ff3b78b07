"""A small game for everything that reasons."""

from __future__ import annotations

import asyncio

import pytest

from app.knowledge.catalogue import Catalogue
from tests.fakes.engine import FactsEngine, small_world


@pytest.fixture(scope="session")
def world() -> FactsEngine:
    return small_world()


@pytest.fixture(scope="session")
def catalogue(world: FactsEngine) -> Catalogue:
    return asyncio.run(Catalogue.of(world))
