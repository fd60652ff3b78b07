"""How `bench whatif` sums up, and what it asks the kernel."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from app.bench import whatif
from app.bench.builds import cpu_seconds, private_megabytes
from app.bench.whatif import load_case
from app.core.config import Settings
from app.core.errors import NotAvailable
from tests.fakes.engine import small_world


def test_rates_are_of_all_rounds_together() -> None:
    rounds = [
        {"lua": 4.0, "protocol": 4.0, "quick": 2.0},
        {"lua": 6.0, "protocol": 8.0, "quick": 2.0},
    ]
    found = whatif._rates(rounds, 100, unequal=3)
    assert (found["lua_per_second"], found["accelerated_per_second"]) == (20.0, 50.0)
    assert (found["protocol_to_lua"], found["accelerated_to_lua"]) == (0.833, 2.5)
    assert (found["candidates"], found["rounds"], found["unequal_rows"]) == (100, 2, 3)


def test_the_kernel_counts_time_and_memory_of_a_process() -> None:
    before, held = cpu_seconds(os.getpid()), private_megabytes(os.getpid())
    kept = bytearray(os.urandom(1)) * 30_000_000
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    assert cpu_seconds(os.getpid()) - before >= 0.04
    assert private_megabytes(os.getpid()) - held > 20
    del kept


async def test_a_named_folder_must_hold_builds(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="no build files"):
        await load_case(Settings(), small_world(), tmp_path)
