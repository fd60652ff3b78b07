"""Which part of a skill is calculated: a totem's bolt, an explosion, a minion's attack, and which monster a spectre is.

An engine calculates the first skill and mode of a gem. Where that deals no damage another one usually does; a part
that works by itself is never exchanged for one that merely shows a higher figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engine.base import Session
from app.model.blueprint import Blueprint, Change, ConfigValue, Gem, SetGroup, SkillGroup
from app.model.facts import GemFact
from app.model.stats import DPS

MOST_SKILLS = 4
"""Active skills of one gem that are looked at (a totem and what it throws are two)."""

MINION_SKILLS = 6
CLOSE_LOOK = 24
"""Monsters whose further skills are tried, the best by their first one."""

MOST_MINIONS = 20
_MINION, _MINION_SKILL, _COUNT = "skillMinion", "skillMinionSkill", "count"


def chosen(group: SkillGroup, **choices: ConfigValue) -> SkillGroup:
    """Return the group with choices made on its skill gem."""
    first = group.gems[0]
    gem = first.model_copy(update={"choices": {**first.choices, **choices}})
    return group.model_copy(update={"gems": [gem, *group.gems[1:]]})


def variants(group: SkillGroup, fact: GemFact) -> list[SkillGroup]:
    """Return the other ways to calculate the group's skill, in the order in which equals are preferred."""
    modes = [f"statSet.{skill}" for skill, count in sorted(fact.modes.items()) for _ in range(count - 1)]
    numbers = [n for _, count in sorted(fact.modes.items()) for n in range(2, count + 1)]
    parts = [group.model_copy(update={"main_skill": n}) for n in range(1, MOST_SKILLS + 1)]
    found = [part for part in parts if part != group]
    found += [chosen(part, **{mode: number}) for mode, number in zip(modes, numbers, strict=True) for part in parts]
    if "Minion" in fact.skill_types:
        found += [chosen(group, **{_MINION_SKILL: n}) for n in range(2, MINION_SKILLS + 1)]
    return [*found, group.model_copy(update={"in_full_dps": not group.in_full_dps})]


@dataclass(frozen=True)
class ModeSearch:
    """Tries ways to calculate the group at the 1-based `index` of the build that the session holds."""

    session: Session
    index: int

    async def best(self, groups: Sequence[SkillGroup]) -> SkillGroup | None:
        """Return the group that deals most damage, the first of equals; None when none deals any."""
        rates = await self._rates(groups)
        best = max(range(len(groups)), key=lambda i: (rates[i], -i), default=None)
        return groups[best] if best is not None and rates[best] > 0 else None

    async def monster(self, group: SkillGroup, ids: Iterable[str]) -> SkillGroup | None:
        """Return the group with the monster that deals most damage for the Spirit there is; None when none does.

        The session's build must offer these monsters. A monster that reserves less counts as often as it fits.
        """
        first = [chosen(group, **{_MINION: monster}) for monster in sorted(ids)]
        rates = await self._armies(first)
        ranked = sorted(range(len(first)), key=lambda i: (-rates[i], i))[:CLOSE_LOOK]
        close = [first[i] for i in ranked if rates[i] > 0] or [first[i] for i in ranked]
        more = [chosen(one, **{_MINION_SKILL: n}) for one in close for n in range(2, MINION_SKILLS + 1)]
        known = [*(rates[i] for i in range(len(first))), *await self._armies(more)]
        best = max(range(len(known)), key=lambda i: (known[i], -i), default=None)
        return [*first, *more][best] if best is not None and known[best] > 0 else None

    async def _rates(self, groups: Sequence[SkillGroup]) -> list[float]:
        found = await self.session.what_if([self._change(group) for group in groups], [DPS])
        return [outputs.get(DPS, 0.0) for outputs in found]

    async def _armies(self, groups: Sequence[SkillGroup]) -> list[float]:
        metrics = [DPS, "Spirit", "SpiritUnreserved"]
        found = await self.session.what_if([self._change(group) for group in groups], metrics)
        return [_army(outputs) for outputs in found]

    def _change(self, group: SkillGroup) -> list[Change]:
        return [SetGroup(index=self.index, group=group)]


def _army(outputs: dict[str, float]) -> float:
    """Return the damage of as many minions as the Spirit feeds; a minion that reserves nothing counts once."""
    spirit, rate = outputs.get("Spirit", 0.0), outputs.get(DPS, 0.0)
    reserved = spirit - outputs.get("SpiritUnreserved", 0.0)
    return rate * (spirit // reserved) if reserved > 0 else rate


def monster_of(gem: Gem) -> str | None:
    """Return the id of the monster that the gem was given, if any."""
    monster = gem.choices.get(_MINION)
    return monster if isinstance(monster, str) else None


def offering(blueprint: Blueprint, fact: GemFact, ids: Iterable[str]) -> Blueprint:
    """Return the blueprint with these monsters to choose from for the gem."""
    kind = "beasts" if "companion" in {tag.lower() for tag in fact.tags} else "spectres"
    return blueprint.model_copy(update={kind: sorted(ids)})


def counts(group: SkillGroup, most: int = MOST_MINIONS) -> list[SkillGroup]:
    """Return the group with 1, 2, ... minions of its skill; 1 is what engines take when nothing is said."""
    first = group.gems[0]
    others = {name: value for name, value in first.choices.items() if name != _COUNT}
    bare = group.model_copy(update={"gems": [first.model_copy(update={"choices": others}), *group.gems[1:]]})
    return [bare, *(chosen(bare, **{_COUNT: number}) for number in range(2, most + 1))]
