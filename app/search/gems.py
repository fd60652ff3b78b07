"""Choosing gem levels and reading gem facts."""

from __future__ import annotations

from collections.abc import Iterable

from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.facts import GemFact
from app.model.names import GearTier

HIGHEST_GEM_LEVEL = 20

GEM_QUALITY = {GearTier.STARTER: 0, GearTier.MID: 10, GearTier.ENDGAME: 20}
"""Quality (percent) of skill gems: prisms that raise it are rare finds first, and bought by the dozen last."""


def usable_level(fact: GemFact, character_level: int) -> int:
    """Return the highest gem level (at most 20) that the character may use, 0 when it may use none."""
    levels = fact.level_requirements[: min(HIGHEST_GEM_LEVEL, max(1, fact.natural_max_level))]
    if not levels:
        return min(HIGHEST_GEM_LEVEL, max(1, fact.natural_max_level))
    return max((i for i, needed in enumerate(levels, start=1) if needed <= character_level), default=0)


def gem(fact: GemFact, character_level: int, gear: GearTier = GearTier.STARTER) -> Gem:
    """Return the gem at the highest level that the character may use (at least 1); supports have no quality."""
    quality = GEM_QUALITY[gear] if fact.kind == "active" else 0
    return Gem(gem_id=fact.id, name=fact.name, level=max(1, usable_level(fact, character_level)), quality=quality)


def by_id(facts: Iterable[GemFact]) -> dict[str, GemFact]:
    """Return the facts by gem id."""
    return {fact.id: fact for fact in facts}


def support_slots(level: int) -> int:
    """Return how many supports a skill may hold: sockets are rare early (jeweller's orbs drop by area level)."""
    return 5 if level >= 65 else 4 if level >= 45 else 3 if level >= 20 else 2


def group_index(blueprint: Blueprint, gem_id: str) -> int:
    """Return the 1-based index of the group led by the gem, 0 when there is none."""
    for index, group in enumerate(blueprint.groups, start=1):
        if group.gems and group.gems[0].gem_id == gem_id:
            return index
    return 0


def with_supports(group: SkillGroup, supports: Iterable[Gem]) -> SkillGroup:
    """Return the group with its active gem and these supports."""
    return group.model_copy(update={"gems": [group.gems[0], *supports]})
