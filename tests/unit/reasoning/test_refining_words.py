"""What a refinement's words mean: the wish, what stays, and what is left to read."""

from __future__ import annotations

import pytest

from app.model.moves import WEAPON_SLOTS, Part
from app.reasoning.prompt.refinement import read_refinement

EVERYTHING_BUT_JEWELS = sorted(set(Part) - {Part.JEWELS})


@pytest.mark.parametrize(
    ("prompt", "direction"),
    [
        ("more damage", "damage"),
        ("hit harder please", "damage"),
        ("more effective HP", "survivability"),
        ("make this tankier", "survivability"),
        ("I die to one-shots, more life", "survivability"),
        ("cap my resistances", "resistances"),
        ("fix my resistances", "resistances"),
        ("fix my mana", "sustain"),
        ("I always run oom", "sustain"),
        ("fix it", "repair"),
        ("what's wrong with this?", "repair"),
        ("repair the build please, keep the weapon", "repair"),
        ("fix my damage", "damage"),
        ("more damage and more ehp", "balanced"),
        ("improve it", "balanced"),
    ],
)
def test_direction(prompt: str, direction: str) -> None:
    assert read_refinement(prompt).wish.direction == direction


@pytest.mark.parametrize(
    ("prompt", "parts", "slots"),
    [
        ("make this tankier, keep the weapon", [], sorted(WEAPON_SLOTS)),
        ("keep the gear, more damage", [Part.FLASKS, Part.GEAR, Part.JEWELS], []),
        ("more damage while keeping the tree", [Part.JEWELS, Part.TREE], []),
        ("don't touch my helmet or boots; more life please", [], ["Boots", "Helmet"]),
        ("change nothing but jewels", EVERYTHING_BUT_JEWELS, []),
        ("keep everything", sorted(Part), []),
        ("more dps without changing the supports or the ascendancy", [Part.ASCENDANCY, Part.SPIRIT, Part.SUPPORTS], []),
        ("more damage", [], []),
    ],
)
def test_what_stays(prompt: str, parts: list[Part], slots: list[str]) -> None:
    found = read_refinement(prompt)
    assert (found.locks.parts, found.locks.slots) == (parts, slots)
    assert bool(found.kept) == bool(parts or slots)


def test_only_one_kind_of_item_may_change() -> None:
    found = read_refinement("change only the rings for more damage")
    assert found.wish.direction == "damage"
    assert not found.locks.holds_slot("Ring 1")
    assert found.locks.holds_slot("Helmet")
    assert found.locks.holds_slot("Jewel 123")
    assert found.locks.holds(Part.TREE)


def test_the_rest_stays() -> None:
    found = read_refinement("new boots for more life, keep everything else")
    assert not found.locks.holds_slot("Boots")
    assert found.locks.holds_slot("Gloves")
    assert found.locks.holds(Part.SUPPORTS)


def test_what_is_kept_is_not_read_as_a_wish() -> None:
    found = read_refinement("keep the bow, more life")
    assert "bow" not in found.rest
    assert found.wish.direction == "survivability"


@pytest.mark.parametrize(
    ("prompt", "gain", "loss"),
    [
        ("more damage", 0.15, 0.05),
        ("20% more damage", 0.2, 0.05),
        ("raise ehp by 30%", 0.3, 0.05),
        ("20 % more damage, losing at most 10 % ehp", 0.2, 0.1),
        ("5 percent more ehp", 0.05, 0.05),
        ("900% more damage", 3.0, 0.05),
    ],
)
def test_how_much(prompt: str, gain: float, loss: float) -> None:
    wish = read_refinement(prompt).wish
    assert (wish.gain, wish.loss) == (gain, loss)
