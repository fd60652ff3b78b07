"""What items and gems require of a character."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.sketch.gear import gem_attribute
from app.engine.sketch.pack import Pack, Skill, Support
from app.engine.sketch.sheet import Sheet
from app.model.blueprint import Blueprint, Gem

ATTRIBUTES = ("str", "dex", "int")
PER_SUPPORT = 5
"""Attribute that each support of a colour asks for, over the whole build (game rule)."""

Need = tuple[str, float, str]
"""Attribute (or "level"), amount, who asks."""


class Needs:
    """Lists requirements."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack

    def outputs(self, sheet: Sheet) -> dict[str, float]:
        """Return the largest requirement per attribute as ReqStr, ReqDex, ReqInt; absent when there is none."""
        found: dict[str, float] = {}
        for attribute, amount, _ in self.all(sheet):
            if attribute != "level" and amount > 0:
                key = f"Req{attribute.capitalize()}"
                found[key] = max(found.get(key, 0.0), amount)
        return found

    def all(self, sheet: Sheet) -> Iterator[Need]:
        """Yield every requirement of items, gems and supports."""
        for slot, worn in sorted(sheet.worn.items()):
            for attribute, amount in worn.requires.items():
                yield attribute, amount, f"{slot}: {worn.item.title or worn.base.name}"
        for group in sheet.blueprint.groups:
            for gem in group.gems if group.enabled else []:
                yield from self._of_gem(gem)
        for attribute, count in self.support_counts(sheet.blueprint).items():
            yield attribute, count * PER_SUPPORT, "Support Gems"

    def support_counts(self, blueprint: Blueprint) -> dict[str, int]:
        """Return enabled supports per attribute colour."""
        counts = dict.fromkeys(ATTRIBUTES, 0)
        for group in blueprint.groups:
            for gem in group.gems if group.enabled else []:
                fact = self._pack.supports.get(gem.gem_id)
                if fact and gem.enabled and fact.colour:
                    counts[fact.colour] += 1
        return counts

    def gem_level(self, fact: Skill | Support, level: int) -> int:
        """Return the character level that a gem of this level needs."""
        if isinstance(fact, Support):
            return 1
        return max(1, self._pack.game.gem_levels[min(level, len(self._pack.game.gem_levels)) - 1])

    def _of_gem(self, gem: Gem) -> Iterator[Need]:
        fact = self._pack.skills.get(gem.gem_id)
        if fact is None or not gem.enabled:
            return
        level = self.gem_level(fact, gem.level)
        yield "level", level, gem.name
        for attribute, share in zip(ATTRIBUTES, fact.attributes, strict=True):
            yield attribute, gem_attribute(level, share), gem.name
