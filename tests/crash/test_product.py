"""kill -9 while the product itself builds: real phases, real rules, real engine processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.model.names import GearTier
from app.model.record import BuildRequest
from tests.crash.harness import survives_every_kill

SKETCH = "tests.crash.harness:sketch_product"


@pytest.mark.slow
def test_a_small_build_ends_the_same_after_a_kill(tmp_path: Path) -> None:
    """Every eleventh checkpoint; every single one is killed with the small product."""
    request = BuildRequest(prompt="lightning sorceress for mapping", level=12, gear=GearTier.STARTER)
    assert survives_every_kill(tmp_path, SKETCH, "after", request, stride=11) > 20


@pytest.mark.deep
def test_a_real_build_ends_the_same_after_a_kill(tmp_path: Path) -> None:
    """Every fifth checkpoint of a whole build."""
    request = BuildRequest(prompt="lightning sorceress for mapping")
    assert survives_every_kill(tmp_path, SKETCH, "after", request, stride=5) > 20
