"""All that the engine says about a build: its numbers, an estimate by the game's plain rules, and its faults."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.sketch.defence import Defence, Enemy, enemy_for
from app.engine.sketch.gear import gem_attribute
from app.engine.sketch.offence import Offence
from app.engine.sketch.pack import Pack, Skill, Support
from app.engine.sketch.sheet import Sheet, Sheets, acting_supports, point_counts
from app.model.blueprint import Blueprint, Gem, SkillGroup
from app.model.damage import DamageBreakdown, DamageKind, DamageSource
from app.model.demands import ATTRIBUTE_PER_SUPPORT
from app.model.names import Attribute
from app.model.stats import (
    DPS,
    FREE_SPIRIT,
    GemFinding,
    Inspection,
    ItemFinding,
    Requirement,
)

ATTRIBUTES = tuple(attribute.value for attribute in Attribute)

Need = tuple[str, float, str]
"""Attribute (or "level"), amount, who asks."""


class Requirements:
    """What items, gems and supports ask for."""

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
                fact = self._pack.skills.get(gem.gem_id)
                if fact is None or not gem.enabled:
                    continue
                levels = self._pack.game.gem_levels
                level = max(1, levels[min(gem.level, len(levels)) - 1])
                yield "level", level, gem.name
                for attribute, share in zip(ATTRIBUTES, fact.attributes, strict=True):
                    yield attribute, gem_attribute(level, share), gem.name
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


class Calculator:
    """Calculates blueprints; holds no build."""

    def __init__(
        self, pack: Pack, sheets: Sheets, defence: Defence, offence: Offence, requirements: Requirements
    ) -> None:
        self._game = pack.game
        self._sheets = sheets
        self._defence = defence
        self._offence = offence
        self._requirements = requirements

    def values(self, blueprint: Blueprint) -> dict[str, float]:
        """Return every output under PoB's names, plus DPS.

        Raises:
            Refused: the blueprint names something the pack does not know.
        """
        sheet = self._sheets.sheet(blueprint)
        pools = self._defence.pools(sheet.stats, blueprint.level, blueprint.config)
        enemy = enemy_for(self._game, blueprint.level, blueprint.config)
        out = self._defence.outputs(sheet.stats, pools, enemy, blueprint.config)
        out[FREE_SPIRIT] = pools["spirit"] - sheet.reserved
        out |= self._requirements.outputs(sheet)
        if sheet.main is not None:
            out |= self._offence.outputs(sheet, sheet.main, pools, enemy)
        others = self._others(blueprint, enemy)
        counted = [group.in_full_dps for group in blueprint.groups[blueprint.main_group - 1 : blueprint.main_group]]
        full = sum(dps for _, dps in others) + (out.get("CombinedDPS", 0.0) if any(counted) else 0.0)
        if full > 0:
            out["FullDPS"] = full
        return out | {DPS: out.get("CombinedDPS", 0.0)}

    def damage(self, blueprint: Blueprint) -> DamageBreakdown:
        """Return where the damage comes from: hits of the main skill, and what other counted groups deal beside it."""
        sheet = self._sheets.sheet(blueprint)
        enemy = enemy_for(self._game, blueprint.level, blueprint.config)
        own = self.values(blueprint)[DPS]
        sources = [
            DamageSource(name=name, kind=DamageKind.SECOND_SKILL, dps=dps)
            for name, dps in self._others(blueprint, enemy)
        ]
        if sheet.main is not None and own > 0:
            sources.append(DamageSource(name=sheet.main.skill.name, kind=DamageKind.HIT, dps=own))
        return DamageBreakdown.of(sources)

    def _others(self, blueprint: Blueprint, enemy: Enemy) -> list[tuple[str, float]]:
        """Return name and damage per second of each group beside the main one that is counted."""
        found = []
        for index, group in enumerate(blueprint.groups, 1):
            if index == blueprint.main_group or not (group.in_full_dps and group.enabled):
                continue
            sheet = self._sheets.sheet(blueprint, index)
            if sheet.main is not None:
                pools = self._defence.pools(sheet.stats, blueprint.level, blueprint.config)
                dps = self._offence.outputs(sheet, sheet.main, pools, enemy).get("CombinedDPS", 0.0)
                found += [(sheet.main.skill.name, dps)] if dps > 0 else []
        return found

    def sheet(self, blueprint: Blueprint) -> Sheet:
        """Return the character sheet the numbers come from."""
        return self._sheets.sheet(blueprint)


_UNREAD = "the sketch engine does not count this line"
_MOST_SUPPORTS = 5


class Inspector:
    """Inspects a build."""

    def __init__(self, pack: Pack, requirements: Requirements, offence: Offence) -> None:
        self._pack = pack
        self._requirements = requirements
        self._offence = offence

    def inspect(self, sheet: Sheet, values: dict[str, float], dropped: list[int]) -> Inspection:
        """Return requirements, warnings, unread lines, idle gems and points of the build behind the sheet.

        Requirements are the largest per attribute and every one of a level, as Path of Building tells them.
        """
        blueprint = sheet.blueprint
        largest: dict[str, Requirement] = {}
        levels: list[Requirement] = []
        for attribute, amount, source in self._requirements.all(sheet):
            if attribute == "level":
                if amount > 1:
                    levels.append(_requirement(attribute, amount, blueprint.level, source))
            elif amount > (largest[attribute].required if attribute in largest else 0):
                largest[attribute] = _requirement(attribute, amount, values[attribute.capitalize()], source)
        disabled = None
        if sheet.main is None:
            disabled = "no main skill"
        elif not self._offence.usable(sheet.main, sheet.weapon):
            disabled = "Main Hand weapon is not usable with this skill"
        return Inspection(
            requirements=[*(largest[a] for a in ATTRIBUTES if a in largest), *levels],
            warnings=self._warnings(blueprint, values),
            unparsed=[
                ItemFinding(slot=slot, line=line, reason=_UNREAD)
                for slot, worn in sorted(sheet.worn.items())
                for line in worn.unread
            ],
            idle_gems=[
                GemFinding(group=index, gem=number, name=gem.name, reason=reason)
                for index, group in enumerate(blueprint.groups, 1)
                if group.enabled
                for number, gem in enumerate(group.gems, 1)
                if gem.enabled and (reason := self._idle_reason(group, gem))
            ],
            points=point_counts(self._pack, blueprint),
            support_counts=self._requirements.support_counts(blueprint),
            disabled_reason=disabled,
            dropped_nodes=dropped,
            modelled=values[DPS] > 0,
        )

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

    def _warnings(self, blueprint: Blueprint, values: dict[str, float]) -> list[str]:
        found = []
        if values[FREE_SPIRIT] < 0:
            found.append(f"You do not have enough Spirit: {-values['SpiritUnreserved']:g} missing")
        if values.get("ManaCost", 0.0) > values["Mana"]:
            found.append("You cannot pay the mana cost of the main skill once")
        found += [
            f"Too many supports in {group.label or group.gems[0].name}"
            for group in blueprint.groups
            if sum(gem.gem_id in self._pack.supports for gem in group.gems) > _MOST_SUPPORTS
        ]
        return sorted(found)


def _requirement(attribute: str, required: float, available: float, source: str) -> Requirement:
    return Requirement(attribute=attribute, required=required, available=available, source=source)
