"""All of the wall time of a build on Path of Building is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.config import Settings
from app.core.spans import SpanKind
from tests.integration.test_time import explained

pytestmark = [pytest.mark.slow, pytest.mark.pob, pytest.mark.timeout(900)]


async def test_all_of_the_time_of_a_small_build_is_explained(pob_path: Path) -> None:
    found = await explained("pob", 5, Settings(pob_path=pob_path))
    assert found.time is not None
    assert found.time.kinds[SpanKind.ENGINE] > 0.3 * found.time.wall_ms, "it is the calculator that takes the time"
