"""Quantities as people write them."""

from __future__ import annotations

import pytest

from app.knowledge.quantities import first_quantity, quantity


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("20000000", 20e6), ("2.5m", 2.5e6), ("250.000", 250_000), ("1,5 Mio", 1.5e6), ("90k", 90_000),
        ("75 %", 75), ("1,250,000", 1_250_000), ("3k+", 3_000), ("1.25m", 1_250_000), ("10'000", 10_000),
        ("1 000 000", 1e6), ("1.5", 1.5), ("2 mil", 2e6), ("1.250k", 1_250_000), ("0.5", 0.5), ("1.2M", 1.2e6),
    ],
)  # fmt: skip
def test_a_number_is_read_as_it_is_meant(text: str, number: float) -> None:
    assert quantity(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["abc", "", "12 monkeys", "k", "-", "1.2.3", "5 mods"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert quantity(text) is None


def test_the_first_number_of_a_sentence_counts() -> None:
    assert first_quantity("at least 90k, better 100k") == 90_000
    assert first_quantity("no number here") is None
