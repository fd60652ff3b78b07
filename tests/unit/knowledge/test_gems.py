"""What makes a skill awkward to use over and over by itself."""

from __future__ import annotations

import pytest

from app.knowledge.gems import TOO_AWKWARD, awkwardness, stands_alone
from tests.fakes.arithmetic import active


@pytest.mark.parametrize(
    ("tags", "stands"),
    [
        (["Spell"], True),
        (["Spell", "cooldown"], True),
        (["Spell", "cooldown", "limit"], False),
        (["Spell", "remnant"], False),
        (["Attack", "ObjectDurability"], False),
        (["minion", "detonator", "payoff"], True),
        (["Attack", "detonator", "payoff"], False),
    ],
)
def test_a_cooldown_is_the_most_that_is_put_up_with(tags: list[str], stands: bool) -> None:
    assert stands_alone(active("zap", tags=tags)) is stands


def test_what_was_asked_for_is_no_burden() -> None:
    gem = active("zap", tags=["totem", "cooldown"])
    assert awkwardness(gem) == {"totem": 60.0, "cooldown": 12.0}
    assert awkwardness(gem, {"totem"}) == {"cooldown": 12.0}
    assert awkwardness(gem)["cooldown"] < TOO_AWKWARD
