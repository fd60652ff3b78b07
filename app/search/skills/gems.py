"""Choosing gem levels and reading gem facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.engine.base import Session
from app.knowledge.gems import can_be_cut, level_required
from app.knowledge.weapons import BARE_HANDED
from app.model.base import changed
from app.model.blueprint import MAIN_HAND, OFF_HAND, Blueprint, Change, ConfigValue, Gem, SetGroup, SkillGroup
from app.model.facts import GemFact
from app.model.names import GearTier
from app.model.stats import DPS, FREE_SPIRIT
from app.search.base import SearchContext


def mentions(lines: Iterable[str], keywords: Sequence[str]) -> int:
    """Return how many lines contain at least one of the keywords, ignoring case."""
    words = [word.lower() for word in keywords if word]
    return sum(1 for line in map(str.lower, lines) if any(word in line for word in words))


HIGHEST_GEM_LEVEL = 20

GEM_QUALITY = {GearTier.STARTER: 0, GearTier.MID: 10, GearTier.ENDGAME: 20, GearTier.MIRROR: 20}
"""Quality (percent) of skill gems: prisms that raise it are rare finds first, and bought by the dozen last."""


def usable_level(fact: GemFact, character_level: int) -> int:
    """Return the highest gem level (at most 20) that the character may use, 0 when it may not use the gem yet."""
    if level_required(fact) > character_level:
        return 0
    levels = fact.level_requirements[: min(HIGHEST_GEM_LEVEL, max(1, fact.natural_max_level))]
    if not levels:
        return min(HIGHEST_GEM_LEVEL, max(1, fact.natural_max_level))
    return max((i for i, needed in enumerate(levels, start=1) if needed <= character_level), default=0)


def gem(fact: GemFact, character_level: int, gear: GearTier = GearTier.STARTER) -> Gem:
    """Return the gem at the highest level that the character may use (at least 1).

    Supports have no quality, nor has a skill that an item or a passive grants.
    """
    quality = GEM_QUALITY[gear] if fact.kind == "active" and can_be_cut(fact) else 0
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
    return changed(group, gems=[group.gems[0], *supports])


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
    gem = changed(first, choices={**first.choices, **choices})
    return changed(group, gems=[gem, *group.gems[1:]])


def variants(group: SkillGroup, fact: GemFact) -> list[SkillGroup]:
    """Return the other ways to calculate the group's skill, in the order in which equals are preferred."""
    modes = [f"statSet.{skill}" for skill, count in sorted(fact.modes.items()) for _ in range(count - 1)]
    numbers = [n for _, count in sorted(fact.modes.items()) for n in range(2, count + 1)]
    parts = [changed(group, main_skill=n) for n in range(1, MOST_SKILLS + 1)]
    found = [part for part in parts if part != group]
    found += [chosen(part, **{mode: number}) for mode, number in zip(modes, numbers, strict=True) for part in parts]
    if "Minion" in fact.skill_types:
        found += [chosen(group, **{_MINION_SKILL: n}) for n in range(2, MINION_SKILLS + 1)]
    return found


@dataclass(frozen=True)
class ModeSearch:
    """Tries ways to calculate the group at the 1-based `index` of the build that the session holds."""

    session: Session
    index: int

    async def best(self, groups: Sequence[SkillGroup]) -> SkillGroup | None:
        """Return the group that deals most damage, the first of equals; None when none deals any."""
        found = await self.session.what_if([self._change(group) for group in groups], [DPS])
        rates = [outputs.get(DPS, 0.0) for outputs in found]
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

    async def _armies(self, groups: Sequence[SkillGroup]) -> list[float]:
        """Return the damage of as many minions as the Spirit feeds; a minion that reserves nothing counts once."""
        metrics = [DPS, "Spirit", FREE_SPIRIT]
        found = await self.session.what_if([self._change(group) for group in groups], metrics)
        rates = []
        for outputs in found:
            spirit, rate = outputs.get("Spirit", 0.0), outputs.get(DPS, 0.0)
            reserved = spirit - outputs.get(FREE_SPIRIT, 0.0)
            rates.append(rate * (spirit // reserved) if reserved > 0 else rate)
        return rates

    def _change(self, group: SkillGroup) -> list[Change]:
        return [SetGroup(index=self.index, group=group)]


def monster_of(gem: Gem) -> str | None:
    """Return the id of the monster that the gem was given, if any."""
    monster = gem.choices.get(_MINION)
    return monster if isinstance(monster, str) else None


def offering(blueprint: Blueprint, fact: GemFact, ids: Iterable[str]) -> Blueprint:
    """Return the blueprint with these monsters to choose from for the gem."""
    kind = "beasts" if "companion" in {tag.lower() for tag in fact.tags} else "spectres"
    return changed(blueprint, **{kind: sorted(ids)})


def counts(group: SkillGroup, most: int = MOST_MINIONS) -> list[SkillGroup]:
    """Return the group with 1, 2, ... minions of its skill; 1 is what engines take when nothing is said."""
    first = group.gems[0]
    others = {name: value for name, value in first.choices.items() if name != _COUNT}
    bare = changed(group, gems=[changed(first, choices=others), *group.gems[1:]])
    return [bare, *(chosen(bare, **{_COUNT: number}) for number in range(2, most + 1))]


ARMOURED_SHIELD = "Armoured Shield"
"""What gems call a shield with armour, beside that it is a Shield."""


async def weapon_types(ctx: SearchContext) -> frozenset[str]:
    """Return what is in the build's hands, in the words that gems use: a martial staff is a Quarterstaff.

    With a keystone that lets bare hands use skills of a weapon, they count as that weapon.
    """
    held = {item.base for slot, item in ctx.blueprint.items.items() if slot in (MAIN_HAND, OFF_HAND)}
    bases = [base for base in await ctx.engine.facts.bases() if base.name in held]
    if not bases:
        owned = {node.name for node in await ctx.engine.facts.nodes() if node.id in ctx.blueprint.passives}
        return frozenset(weapon for keystone, weapon in BARE_HANDED.items() if keystone in owned)
    armoured = {ARMOURED_SHIELD for base in bases if base.type == "Shield" and base.defences.get("Armour", 0.0) > 0}
    return frozenset("Quarterstaff" if base.sub_type == "Warstaff" else base.type for base in bases) | armoured
