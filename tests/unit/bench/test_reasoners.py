"""The table of `bench reasoner`."""

from __future__ import annotations

import pytest

from app.bench.reasoners import PROMPTS, measure, table
from app.core.config import Settings
from app.core.errors import InputError, ReasonerMissing


def test_twelve_different_prompts() -> None:
    assert len({prompt for prompt, _ in PROMPTS}) == 12


def test_a_row_per_build() -> None:
    row = {
        "prompt": "p",
        "level": 90,
        "reasoner": "llm",
        "outcome": "validated",
        "dps": 1234.5,
        "ehp": None,
        "calls": 7,
        "requests": 3,
        "usd": None,
        "seconds": 1.25,
    }
    assert table([row])[2] == "| p | 90 | llm | validated | 1,234 | 0 | 7 | 3 | - | 1.2 |"


async def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(InputError, match="No prompt contains"):
        await measure(Settings(), ["nonsense"])


async def test_without_a_model_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(ReasonerMissing):
        await measure(Settings(engine="sketch"), ["leveling"])
