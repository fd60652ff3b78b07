"""A wish in one line."""

from __future__ import annotations

import pytest

from app.model.wishes import WishOutcome, WishState, asked_and_reached


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (
            WishOutcome(
                wish="at least 20,000 effective hit points",
                words="20k ehp",
                kind="ehp",
                target=20_000.0,
                reached=24_428.4,
                state=WishState.MET,
            ),
            '✓ at least 20,000 effective hit points ("20k ehp"): 24,428 effective hit points',
        ),
        (
            WishOutcome(
                wish="at least 75 % chaos resistance",
                words="",
                kind="chaos_resistance",
                target=75.0,
                reached=60.0,
                state=WishState.UNMET,
                nearest="60 %, 15 % short",
            ),
            "✗ at least 75 % chaos resistance: not reached; the nearest: 60 %, 15 % short",
        ),
        (
            WishOutcome(
                wish="class Witch", words="witch", kind="class", target="Witch", reached="Witch", state=WishState.MET
            ),
            '✓ class Witch ("witch"): Witch',
        ),
        (
            WishOutcome(
                wish="quux",
                words="quux",
                kind="",
                target=None,
                reached=None,
                state=WishState.NOT_UNDERSTOOD,
            ),
            '? "quux": not understood',
        ),
        (
            WishOutcome(
                wish="played in delirium",
                words="simulacrum",
                kind="content",
                target=None,
                reached=None,
                state=WishState.NO_EFFECT,
                nearest="it would need figures of that content",
            ),
            '- played in delirium ("simulacrum"): no effect; it would need figures of that content',
        ),
    ],
)
def test_line(outcome: WishOutcome, line: str) -> None:
    assert asked_and_reached([outcome]) == [line]
