"""`bench tree` says plainly what it cannot measure, and judges runs by what must be kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.bench.trees import KEPT, compared, measure, totals
from app.console.bench import measure as bench
from app.core.config import Settings
from app.core.errors import InputError, NotAvailable
from app.model.stats import DPS

AUTHOR = {DPS: 100.0, **dict.fromkeys(KEPT, 50.0), "FireResist": -30.0}


async def test_a_folder_without_builds_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match=str(tmp_path)):
        await measure(Settings(), tmp_path)


@pytest.mark.parametrize("option", [{"scan": True}, {"keystones": True}, {"results": Path("somewhere")}])
async def test_these_options_belong_to_this_benchmark_only(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="--scan, --keystones and --results"):
        await bench(Settings(), "quality", as_json=True, **option)


async def test_an_unknown_build_is_named(tmp_path: Path) -> None:
    (tmp_path / "known.xml").touch()
    with pytest.raises(InputError, match=r"file: unknown$"):
        await measure(Settings(), tmp_path, ["known", "unknown"])


def row(ratio: float, scratch: float, lower: list[str]) -> dict[str, Any]:
    runs = [{"trials": 10, "seconds": 1.5}, {"trials": 20, "seconds": 2.0}]
    return {"ratio": ratio, "lower": lower, "shares": {"author": 1.0, "scratch": scratch}, "runs": runs}


def test_what_is_lower_makes_a_build_neither_better_nor_equal() -> None:
    rows = [row(2.0, 0.97, []), row(1.0, 1.1, []), row(3.0, 0.96, ["Str"])]
    assert totals(rows) == {
        "count": 3,
        "not_worse": 2,
        "better": 1,
        "median_ratio": 2.0,
        "scratch_near": 2,
        "trials": 90,
        "seconds": 10.5,
    }


def test_equal_is_not_lower() -> None:
    row = compared(AUTHOR, AUTHOR)
    assert (row["ratio"], row["lower"]) == (1.0, [])


@pytest.mark.parametrize(("key", "value"), [("FireResist", -31.0), ("Str", 49.0), ("TotalEHP", 49.9)])
def test_what_is_lower_is_named_whatever_the_damage(key: str, value: float) -> None:
    row = compared(AUTHOR, AUTHOR | {DPS: 900.0, key: value})
    assert (row["ratio"], row["lower"]) == (9.0, [key])
