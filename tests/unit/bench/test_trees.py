"""`bench tree` says plainly what it cannot measure, and judges runs by what must be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bench.trees import KEPT, compared, measure
from app.console.bench import measure as bench
from app.core.config import Settings
from app.core.errors import InputError, NotAvailable
from app.model.stats import DPS

AUTHOR = {DPS: 100.0, **dict.fromkeys(KEPT, 50.0), "FireResist": -30.0}


async def test_a_folder_without_builds_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match=str(tmp_path)):
        await measure(Settings(), tmp_path)


async def test_a_scan_belongs_to_this_benchmark_only() -> None:
    with pytest.raises(InputError, match="--scan"):
        await bench(Settings(), "quality", as_json=True, scan=True)


async def test_an_unknown_build_is_named(tmp_path: Path) -> None:
    (tmp_path / "known.xml").touch()
    with pytest.raises(InputError, match="unknown"):
        await measure(Settings(), tmp_path, ["unknown"])


def test_equal_is_not_lower() -> None:
    row = compared(AUTHOR, AUTHOR)
    assert (row["ratio"], row["lower"]) == (1.0, [])


@pytest.mark.parametrize(("key", "value"), [("FireResist", -31.0), ("Str", 49.0), ("TotalEHP", 49.9)])
def test_what_is_lower_is_named_whatever_the_damage(key: str, value: float) -> None:
    row = compared(AUTHOR, AUTHOR | {DPS: 900.0, key: value})
    assert (row["ratio"], row["lower"]) == (9.0, [key])
