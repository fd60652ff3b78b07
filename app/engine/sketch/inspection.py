"""What a validator needs to know beyond the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.sketch.gear import gem_attribute
from app.engine.sketch.offence import Offence
from app.engine.sketch.pack import Pack, Skill, Support
from app.engine.sketch.sheet import Sheet, acting_supports, point_counts
from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.demands import ATTRIBUTE_PER_SUPPORT
from app.model.names import Attribute
from app.model.stats import DPS, FREE_SPIRIT, GemFinding, Inspection, ItemFinding, Requirement

ATTRIBUTES = tuple(attribute.value for attribute in Attribute)
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
            yield attribute, count * ATTRIBUTE_PER_SUPPORT, "Support Gems"

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


_UNREAD = "the sketch engine does not count this line"
_MOST_SUPPORTS = 5


class Inspector:
    """Inspects a build."""

    def __init__(self, pack: Pack, needs: Needs, offence: Offence) -> None:
        self._pack = pack
        self._needs = needs
        self._offence = offence

    def inspect(self, sheet: Sheet, values: dict[str, float], dropped: list[int]) -> Inspection:
        """Return requirements, warnings, unread lines, idle gems and points of the build behind the sheet."""
        blueprint = sheet.blueprint
        return Inspection(
            requirements=self._requirements(sheet, values),
            warnings=_warnings(blueprint, values, self._pack),
            unparsed=[
                ItemFinding(slot=slot, line=line, reason=_UNREAD)
                for slot, worn in sorted(sheet.worn.items())
                for line in worn.unread
            ],
            idle_gems=self._idle_gems(blueprint),
            points=point_counts(self._pack, blueprint),
            support_counts=self._needs.support_counts(blueprint),
            disabled_reason=self._disabled(sheet),
            dropped_nodes=dropped,
            modelled=DPS in values,
        )

    def _requirements(self, sheet: Sheet, values: dict[str, float]) -> list[Requirement]:
        """Return the largest requirement per attribute and every level requirement, as the PoB engine does."""
        largest: dict[str, Requirement] = {}
        levels: list[Requirement] = []
        for attribute, amount, source in self._needs.all(sheet):
            if attribute == "level":
                if amount > 1:
                    levels.append(_requirement(attribute, amount, sheet.blueprint.level, source))
            elif amount > (largest[attribute].required if attribute in largest else 0):
                largest[attribute] = _requirement(attribute, amount, values[attribute.capitalize()], source)
        return [*(largest[a] for a in ATTRIBUTES if a in largest), *levels]

    def _disabled(self, sheet: Sheet) -> str | None:
        if sheet.main is None:
            return "no main skill"
        if not self._offence.usable(sheet.main, sheet.weapon):
            return "Main Hand weapon is not usable with this skill"
        return None

    def _idle_gems(self, blueprint: Blueprint) -> list[GemFinding]:
        return [
            GemFinding(group=index, gem=number, name=gem.name, reason=reason)
            for index, group in enumerate(blueprint.groups, 1)
            if group.enabled
            for number, gem in enumerate(group.gems, 1)
            if gem.enabled and (reason := self._idle_reason(group, gem))
        ]

    def _idle_reason(self, group: SkillGroup, gem: Gem) -> str | None:
        fact = self._pack.gem(gem.gem_id)
        if fact is None:
            return "unknown gem"
        if isinstance(fact, Skill):
            return None
        known = [self._pack.gem(g.gem_id) for g in group.gems if g.enabled]
        supports = [f for f in known if isinstance(f, Support)]
        skills = [f for f in known if isinstance(f, Skill)]
        if not any(fact.name in skill.supports for skill in skills):
            return "it supports no skill of its group"
        if not any(fact in acting_supports(skill, supports) for skill in skills) or supports.count(fact) > 1:
            return "another support of its kind takes its place"
        return None


def _requirement(attribute: str, required: float, available: float, source: str) -> Requirement:
    return Requirement(attribute=attribute, required=required, available=available, source=source)


def _warnings(blueprint: Blueprint, values: dict[str, float], pack: Pack) -> list[str]:
    found = []
    if values[FREE_SPIRIT] < 0:
        found.append(f"You do not have enough Spirit: {-values['SpiritUnreserved']:g} missing")
    if values.get("ManaCost", 0.0) > values["Mana"]:
        found.append("You cannot pay the mana cost of the main skill once")
    found += [
        f"Too many supports in {group.label or group.gems[0].name}"
        for group in blueprint.groups
        if sum(gem.gem_id in pack.supports for gem in group.gems) > _MOST_SUPPORTS
    ]
    return sorted(found)
