"""Further skills: persistent ones paid with Spirit, and helpers such as curses and marks, taken when they help."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.knowledge.exclusions import granted_by
from app.knowledge.gems import comes_as_gem
from app.model.base import changed
from app.model.blueprint import Change, RemoveGroup, SetGroup, SetMain, SkillGroup
from app.model.facts import GemFact
from app.model.names import GearTier
from app.model.stats import FREE_SPIRIT
from app.search.base import SearchContext
from app.search.incumbent import EPSILON, Incumbent
from app.search.skills.gems import ARMOURED_SHIELD, counts, gem, usable_level
from app.search.skills.supports import SupportRules, SupportSelection

LEAST_GAIN = 0.004
"""A skill must raise the score by this (0.4 % of damage or EHP) to be worth a socket and a button."""

LEVEL_STEPS = (20, 15, 11, 7, 4, 1)
"""Gem levels offered: a lower one needs fewer attributes."""

ONE_AT_A_TIME = frozenset({"curse", "mark"})

MOST_GROUPS = 9
"""Skill gems a character can hold."""

MOST_HELPING_MINIONS = 4
_MANY = "MultipleReservation"
"""PoB's word for skills whose minions each reserve Spirit of their own."""

_CASTER = frozenset({"Wand", "Staff", "Sceptre"})
_RANGED = frozenset({"Bow", "Crossbow"})
_OFF_HAND = frozenset({"Shield", ARMOURED_SHIELD, "Focus", "Quiver"})


@dataclass(frozen=True)
class SkillOffer:
    """A skill group that could be added."""

    fact: GemFact
    group: SkillGroup

    @property
    def key(self) -> tuple[str, int, int]:
        """Return what breaks ties: gem id, then the lower level and the smaller number first."""
        first = self.group.gems[0]
        return (self.fact.id, first.level, int(first.choices.get("count", 1)))


def usable_with(requirement: str, held: frozenset[str]) -> bool:
    """Return whether what is held meets a gem's words for a weapon ("Any Melee Martial Weapon", "Any Shield")."""
    words = requirement.casefold()
    if "armoured shield" in words:
        return ARMOURED_SHIELD in held
    if "shield" in words or "buckler" in words:
        return "Shield" in held
    if "martial weapon" in words:
        return bool(held - _CASTER - _OFF_HAND - (_RANGED if "melee" in words else frozenset()))
    return requirement in held


async def skills_had(ctx: SearchContext) -> list[GemFact]:
    """Return the skills that the character can have: cut as a gem, bound as a monster, or granted by what it wears."""
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    worn = [bases[item.base] for item in ctx.blueprint.items.values() if item.base in bases]
    granted = {name for base in worn for name in granted_by(base.implicits)}
    active = [fact for fact in await ctx.engine.facts.gems() if fact.kind == "active"]
    return [fact for fact in active if comes_as_gem(fact) or fact.name in granted]


@dataclass(frozen=True)
class SkillSearch:
    """Adds skill groups to the incumbent's build while they measurably help.

    `counted`: the main group counts into the damage of all groups, so that further minions may as well.
    """

    incumbent: Incumbent
    level: int
    weapon_types: frozenset[str]
    reserve_free: float = 0.0
    counted: bool = False
    gear: GearTier = GearTier.STARTER

    def offers(self, facts: Iterable[GemFact]) -> list[SkillOffer]:
        """Return the groups that the character could use with its weapon, at several gem levels."""
        taken = {gem.gem_id for group in self.incumbent.blueprint.groups for gem in group.gems}
        found: list[SkillOffer] = []
        for fact in facts:
            suits = not fact.weapon_types or any(usable_with(words, self.weapon_types) for words in fact.weapon_types)
            highest = usable_level(fact, self.level)
            if fact.id in taken or fact.kind != "active" or not suits or highest == 0:
                continue
            skill, counts_in = gem(fact, self.level, self.gear), self.counted and "Minion" in fact.skill_types
            groups = [
                SkillGroup(label=fact.name, gems=[changed(skill, level=level)], in_full_dps=counts_in)
                for level in sorted({max(min(step, highest), fact.tier) for step in LEVEL_STEPS}, reverse=True)
            ]
            if counts_in and _MANY in fact.skill_types:
                groups += counts(groups[0], MOST_HELPING_MINIONS)[1:]
            found += [SkillOffer(fact, group) for group in groups]
        return found

    async def add(self, facts: Sequence[GemFact], most: int) -> list[GemFact]:
        """Add up to `most` of the skills, the most helpful first, and return those added."""
        added: list[GemFact] = []
        hopeful = self.offers(facts)
        while hopeful and len(added) < most and self._has_room():
            ranked = await self._ranked(hopeful, LEAST_GAIN)
            if not ranked:
                break
            best = ranked[0]
            await self.incumbent.commit(self._change(best))
            added.append(best.fact)
            # an enemy bears one curse and one mark of a character at a time
            shared = {tag.lower() for tag in best.fact.tags} & ONE_AT_A_TIME
            others = [offer for offer in ranked if offer.fact.id != best.fact.id]
            hopeful = [offer for offer in others if shared.isdisjoint(tag.lower() for tag in offer.fact.tags)]
        return added

    async def require(
        self, wishes: Sequence[Sequence[GemFact]], kept: Collection[str], known: Mapping[str, GemFact]
    ) -> None:
        """Add one skill of each wish whatever it is worth, where the character can use it, at the best level.

        Where there is no room or no Spirit for one, groups led by none of the `kept` give theirs up, the last first.
        """
        for wish in wishes:
            reserves = any(fact.spirit for fact in wish)
            others: list[int] = []
            for index, group in enumerate(self.incumbent.blueprint.groups, start=1):
                led_by = known.get(group.gems[0].gem_id)
                is_free = index != self.incumbent.blueprint.main_group and group.gems[0].gem_id not in kept
                if is_free and (not reserves or (led_by is not None and led_by.spirit > 0)):
                    others.append(index)
            for count in range(len(others) + 1):
                gone: list[Change] = [RemoveGroup(index=index) for index in reversed(others[len(others) - count :])]
                index = len(self.incumbent.blueprint.groups) - count + 1
                ways: list[list[Change]] = [
                    [*gone, SetGroup(index=index, group=offer.group)] for offer in self.offers(wish)
                ]
                found = await self.incumbent.outputs_of(ways) if index <= MOST_GROUPS else []
                scores = [
                    self.incumbent.objective.score(out) if not reserves or out.get(FREE_SPIRIT, 0.0) >= 0 else -math.inf
                    for out in found
                ]
                best = max(range(len(scores)), key=lambda i: (scores[i], -i), default=None)
                if best is not None and scores[best] > -math.inf:
                    await self.incumbent.commit(ways[best])
                    break

    async def fill(self, facts: Sequence[GemFact]) -> list[GemFact]:
        """Add the skills in their order where nothing gets worse, whether or not the calculator sees a gain.

        Each at the highest gem level whose requirements are met; this is for Spirit that would lie idle.
        """
        added: list[GemFact] = []
        for fact in facts:
            if not self._has_room():
                break
            harmless = await self._ranked(self.offers([fact]), -EPSILON)
            if harmless:
                best = max(harmless, key=lambda offer: offer.key)
                await self.incumbent.commit(self._change(best))
                added.append(fact)
        return added

    def _has_room(self) -> bool:
        return len(self.incumbent.blueprint.groups) < MOST_GROUPS

    async def _ranked(self, offers: Sequence[SkillOffer], least: float) -> list[SkillOffer]:
        """Return the offers that raise the score by more than `least` within the Spirit there is, best first."""
        outputs = await self.incumbent.outputs_of([self._change(offer) for offer in offers])
        scored = [
            (self.incumbent.objective.score(found) - self.incumbent.score, offer)
            for offer, found in zip(offers, outputs, strict=True)
            if found and found.get(FREE_SPIRIT, 0.0) >= (self.reserve_free if offer.fact.spirit else 0.0)
        ]
        helpful = [pair for pair in scored if pair[0] > least]
        return [offer for _, offer in sorted(helpful, key=lambda pair: (-pair[0], pair[1].key))]

    def _change(self, offer: SkillOffer) -> list[Change]:
        return [SetGroup(index=len(self.incumbent.blueprint.groups) + 1, group=offer.group)]

    async def recruit(self, index: int, fact: GemFact) -> int:
        """Let the minion skill of the group at the 1-based index count as often as helps most; return how often."""
        group = self.incumbent.blueprint.groups[index - 1]
        current = int(group.gems[0].choices.get("count", 1))
        if _MANY not in fact.skill_types or not group.in_full_dps:
            return current
        options = counts(group)
        changes: list[list[Change]] = [[SetGroup(index=index, group=option)] for option in options]
        scores = [
            # more Spirit than there is to spend cannot be reserved
            self.incumbent.objective.score(found) if found.get(FREE_SPIRIT, 0.0) >= self.reserve_free else -math.inf
            for found in await self.incumbent.outputs_of(changes)
        ]
        best = max(range(len(options)), key=lambda i: (scores[i], -i))
        if scores[best] <= scores[current - 1] + EPSILON:
            return current
        await self.incumbent.commit(changes[best])
        return best + 1

    async def support(self, index: int, rules: SupportRules, facts: dict[str, GemFact], ids: Sequence[str]) -> None:
        """Give the group at the 1-based index the supports that measurably help the build."""
        await SupportSelection(self.incumbent, index, rules, facts).run(ids)

    async def support_alone(
        self, index: int, rules: SupportRules, facts: dict[str, GemFact], ids: Sequence[str]
    ) -> None:
        """Give the group at the 1-based index the supports that help its own damage: it is the main one meanwhile."""
        main = self.incumbent.blueprint.main_group
        before = self.incumbent.blueprint.groups[main - 1]
        aside = changed(before, in_full_dps=False)  # what counts into the damage of all would hide this one's
        await self.incumbent.commit([SetGroup(index=main, group=aside), SetMain(index=index)])
        await self.support(index, rules, facts, ids)
        await self.incumbent.commit([SetGroup(index=main, group=before), SetMain(index=main)])
