"""What makes a skill awkward to use over and over by itself."""

from __future__ import annotations

import pytest

from app.knowledge.gems import TOO_AWKWARD, awkwardness, brings_cooldown, is_had_each_time, stands_alone, waits
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


@pytest.mark.parametrize(
    ("said", "had"),
    [
        ("Supports Attacks, causing them to Attack faster.", True),
        ("Supported Skills can be used an additional time after their Condition has been met.", True),
        ("Supported Skills can only be used after you have moved a certain distance.", False),
        ("Supported Skills cannot be used until enough Combo has been built up, but deal more damage.", False),
        ("Supported Skills gain a Glory requirement, and build Glory when you spend Life on Skills.", False),
        ("Supported Skills consume a percentage of your maximum Mana Flask charges, Gaining damage.", False),
        ("Using supported Spells will cause you to Sacrifice a portion of your Life on use.", False),
        ("Cooldowns Recover faster, but causing you to lose Life and Mana when they are used.", False),
        ("Supported Skills gain an Energy Shield cost equal to your Intelligence, dealing more damage.", False),
        ("Supports skills you use yourself, draining the life from one of your Minions on use.", False),
    ],
)
def test_what_waits_or_uses_up_is_not_had_each_time(said: str, had: bool) -> None:
    assert is_had_each_time(active("faster", said)) is had


@pytest.mark.parametrize(
    ("said", "cools"),
    [
        ("causing it to deal significantly more damage but gain a long cooldown. Cannot support Skills which", True),
        ("making them fire extra Projectiles in a circle, at the cost of Damage and gaining a cooldown.", True),
        ("Supported Spells Echo thrice, but are given a Cooldown.", True),
        ("Sealing them over time and giving them a moderate Cooldown.", True),
        ("Supports Curse Skills, giving them a short cooldown but causing them to create areas", False),
        ("Supports Skills which have a cooldown, giving them extra uses of that cooldown.", False),
        ("Supports Attacks, causing them to Attack faster. Cannot support Skills which have a Cooldown.", False),
    ],
)
def test_what_makes_a_skill_rare_brings_a_cooldown(said: str, cools: bool) -> None:
    assert brings_cooldown(active("rare", said)) is cools


@pytest.mark.parametrize(
    ("said", "types", "waiting"),
    [
        ("Fire a bolt.", [], False),
        ("Fire a bolt.", ["HasUsageCondition"], True),
        ("Devour a corpse.", ["TargetsDestructibleCorpses"], True),
        ("Reaching maximum Heat will prevent you from firing these bolts for a short time.", [], True),
        ("The spikes are destroyed when enemies touch them, damaging and Pinning those enemies.", [], True),
        ("Raise a Totem that bombards enemies afflicted by Chaos damage over time Debuffs.", ["SummonsTotem"], True),
        ("A torrent of fire. Cannot gain fuel while using this skill.", [], True),
        ("Consume charges from your Mana Flask to throw a flask that explodes.", [], True),
        ("A seed that bursts by dealing enough damage to the enemy.", ["Spell"], True),
        ("Strikes an enemy once it falls under the Cull threshold.", ["Spell"], True),
        ("A palm of cold. Dealing enough damage to them shatters it.", ["Attack"], False),
    ],
)
def test_what_is_not_always_ready_waits_and_does_not_stand_alone(said: str, types: list[str], waiting: bool) -> None:
    gem = active("zap", said, skill_types=types)
    assert (waits(gem), stands_alone(gem)) == (waiting, not waiting)
