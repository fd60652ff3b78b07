"""Groups beside those that raise the figures: what a player presses or keeps up for a purpose, and what each is worth.

A group for a purpose must change no figure for the worse and must not raise damage or effective hit points either: what
the engine would count as always up, although it is used now and then, is switched off in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.engine.base import Outputs, Session
from app.knowledge.gems import deals_damage, is_called
from app.knowledge.roles import COUNTED, MOVEMENT, PURPOSES, SECOND, SUPPORTS, USUAL, role_of, second_role
from app.model.base import changed
from app.model.blueprint import Blueprint, Change, RemoveGroup, SetGroup, SetMain, SkillGroup
from app.model.facts import GemFact
from app.model.groups import GroupRole, GroupUse
from app.model.names import Goal
from app.model.stats import DPS, EHP, FREE_SPIRIT, Inspection
from app.search.incumbent import EPSILON, Incumbent
from app.search.skills.gems import chosen, gem, with_supports
from app.search.skills.secondary import SkillOffer, SkillSearch
from app.search.skills.supports import SupportRules, with_colours

NOT_COUNTED = {"enableGlobal1": False, "enableGlobal2": False}
"""Choices under which the engine counts no lasting effect of a gem on the character, its allies or the enemy."""

NOISE = 1e-6
"""Share by which a figure may differ and be the same."""

TRIED = 4
"""Skills of a role that are tried, and damage skills whose place in the build is tried."""

LEAST_SECOND = 1.0
"""Share of the main skill's damage that a second skill for single targets must deal by itself: with less nobody would
change to it. It has fewer supports, and nothing was chosen for it."""

PURPOSE_SUPPORTS = 3
"""Supports of a group for a purpose."""

_TIER = re.compile(r" (?:I|II|III|IV|V)$")


@dataclass(frozen=True)
class FurtherSkills:
    """Adds groups for purposes to the build that a skill search holds, while there is room for them.

    `second`: what a second damage skill is for.
    """

    search: SkillSearch
    facts: Mapping[str, GemFact]
    rules: SupportRules
    second: GroupRole

    @property
    def roles(self) -> set[GroupRole]:
        """Return the roles that the groups beside the main one have."""
        build = self.search.incumbent.blueprint
        others = (g for i, g in enumerate(build.groups, start=1) if i != build.main_group)
        return {role_of(fact, self.second) for group in others if (fact := self.facts.get(group.gems[0].gem_id))}

    def _harmless(self, outputs: Outputs, supports: Sequence[SkillGroup], raises: bool) -> bool:
        """Say whether nothing is worse, and, unless it may raise them, damage and effective hit points are the same."""
        incumbent = self.search.incumbent
        if not outputs or outputs.get(FREE_SPIRIT, 0.0) < min(0.0, incumbent.outputs.get(FREE_SPIRIT, 0.0)):
            return False
        score = with_colours(incumbent.objective, supports, self.facts).score(outputs)
        same = all(outputs.get(key, 0.0) <= incumbent.outputs.get(key, 0.0) * (1 + NOISE) for key in (DPS, EHP))
        return score >= incumbent.score - EPSILON and (raises or same)

    async def add(self, role: GroupRole, offered: Sequence[GemFact]) -> GemFact | None:
        """Add the most usual of the offered skills for the role that does no harm; return it, None where none can be.

        Each at the highest gem level whose requirements are met.
        """
        usual = {name: place for place, name in enumerate(USUAL.get(role, ()))}
        known = sorted((fact for fact in offered if fact.name in usual), key=lambda fact: usual[fact.name])[:TRIED]
        for fact in known:
            offers = self.search.offers([fact])
            if fact.spirit > 0:
                offers = [one for one in offers if fact.spirit + self.search.reserve_free <= self._free]
            if await self._take(offers, raises=fact.spirit > 0 or role in COUNTED):
                return fact
        return None

    @property
    def _free(self) -> float:
        return self.search.incumbent.outputs.get(FREE_SPIRIT, 0.0)

    async def _take(self, offers: Sequence[SkillOffer], raises: bool) -> bool:
        """Commit the first of the offers, as it is or with its effect not counted, that does no harm.

        What a gem gives by being held may raise figures (a Gemling has more life by each): it is there at every level.
        """
        incumbent = self.search.incumbent
        index = len(incumbent.blueprint.groups) + 1
        groups = [offer.group for offer in offers]
        groups += [] if raises else [chosen(group, **NOT_COUNTED) for group in groups]
        changes: list[list[Change]] = [[SetGroup(index=index, group=group)] for group in groups]
        outputs = await incumbent.outputs_of(changes)
        is_held = all(offer.fact.name in MOVEMENT or deals_damage(offer.fact) for offer in offers)
        raises = raises or (is_held and _at_every_level(outputs))
        for change, found in zip(changes, outputs, strict=True):
            if self._harmless(found, incumbent.blueprint.groups, raises):
                await incumbent.commit(change)
                return True
        return False

    async def add_second(self, offered: Sequence[GemFact]) -> GemFact | None:
        """Add the damage skill that deals most by itself, if it does no harm; return it, None where there is none."""
        incumbent, index = self.search.incumbent, len(self.search.incumbent.blueprint.groups) + 1
        best: dict[str, SkillOffer] = {}
        for offer in self.search.offers(offered):
            best.setdefault(offer.fact.id, offer)
        alone: list[list[Change]] = [
            [SetGroup(index=index, group=offer.group), SetMain(index=index)] for offer in best.values()
        ]
        dealt = [out.get(DPS, 0.0) for out in await incumbent.session.what_if(alone, [DPS])]
        incumbent.trials += len(alone)
        ranked = sorted(zip(dealt, best.values(), strict=True), key=lambda pair: (-pair[0], pair[1].key))
        for rate, offer in ranked[:TRIED]:
            if rate > 0 and await self._take(self.search.offers([offer.fact]), raises=False):
                return offer.fact
        return None

    async def support(self, index: int, role: GroupRole, ids: Sequence[str]) -> None:
        """Give the group at the 1-based index the usual supports of its role that do no harm, the best tier of each.

        None where the skill's effect is switched off: the engine then sees nothing that they could support.
        """
        incumbent = self.search.incumbent
        if _is_off(incumbent.blueprint.groups[index - 1]):
            return
        families: dict[str, list[GemFact]] = {}
        for fact in (self.facts[i] for i in ids if i in self.facts and self.rules.allows(self.facts[i])):
            families.setdefault(_TIER.sub("", fact.name), []).append(fact)
        raises = role in COUNTED
        for name in SUPPORTS.get(role, ()):
            group = incumbent.blueprint.groups[index - 1]
            if len(group.gems) > min(PURPOSE_SUPPORTS, self.rules.room):
                return
            held = {self.facts[one.gem_id].family for one in group.gems[1:] if one.gem_id in self.facts}
            tiers = sorted(families.get(name, []), key=lambda fact: (-fact.tier, fact.id))
            options = [
                with_supports(group, [*group.gems[1:], gem(fact, self.rules.level)])
                for fact in tiers
                if fact.family is None or fact.family not in held
            ]
            for option in options:
                others = [one for i, one in enumerate(incumbent.blueprint.groups, start=1) if i != index]
                change: list[Change] = [SetGroup(index=index, group=option)]
                (found,) = await incumbent.outputs_of([change])
                if self._harmless(found, [*others, option], raises):
                    await incumbent.commit(change)
                    incumbent.objective = with_colours(incumbent.objective, incumbent.blueprint.groups, self.facts)
                    await incumbent.measure()
                    break

    async def payable(self, before: Sequence[str], kept: int) -> None:
        """Take back groups above the first `kept`, the last first, until the engine warns of nothing new.

        First those that cannot be used with what is held.
        """
        incumbent = self.search.incumbent
        while len(incumbent.blueprint.groups) > kept:
            inspection = await incumbent.learn_requirements()
            unusable = [one.group for one in inspection.unusable if one.group > kept]
            new = [line for line in inspection.warnings if line not in before]
            if not unusable and not new:
                return
            groups = incumbent.blueprint.groups
            named = [i for i in range(len(groups), kept, -1) if any(groups[i - 1].gems[0].name in line for line in new)]
            await incumbent.commit([RemoveGroup(index=max(unusable, default=named[0] if named else len(groups)))])


async def without_unpaid(incumbent: Incumbent, inspection: Inspection, kept: Collection[str]) -> list[str]:
    """Take out helpers that the build cannot pay for even once, and return their names.

    What life or mana there is may have changed since they were added: a curse that costs life beside Chaos Inoculation
    stood in the figures, and nobody can cast it. The main skill stays, and groups led by the `kept` gem ids.
    """
    groups, lines = incumbent.blueprint.groups, inspection.unpaid
    gone = [
        index
        for index, group in enumerate(groups, start=1)
        if index != incumbent.blueprint.main_group and group.gems[0].gem_id not in kept
        if any(group.gems[0].name in line for line in lines)
    ]
    if gone:
        await incumbent.commit([RemoveGroup(index=index) for index in reversed(gone)])
    return [groups[index - 1].gems[0].name for index in gone]


async def without_useless(incumbent: Incumbent, facts: Mapping[str, GemFact], kept: Collection[str]) -> None:
    """Take out helpers that change nothing any more though the figures hold their effect; groups led by `kept` stay.

    Supports, gear and passives are chosen after them: a Despair stood beside a Spark that deals lightning damage alone,
    as it had some chaos damage before.
    """
    groups, main = incumbent.blueprint.groups, incumbent.blueprint.main_group
    helpers = [
        index
        for index, group in enumerate(groups, start=1)
        if index != main and group.gems[0].gem_id not in kept
        if (fact := facts.get(group.gems[0].gem_id)) is not None and fact.spirit == 0 and role_of(fact) in COUNTED
    ]
    for index in reversed(helpers):
        change: list[Change] = [RemoveGroup(index=index)]
        (found,) = await incumbent.outputs_of([change])
        same = found and all(_alike(found.get(key, 0.0), incumbent.outputs.get(key, 0.0)) for key in (DPS, EHP))
        if same and incumbent.objective.score(found) >= incumbent.score - EPSILON:
            await incumbent.commit(change)


def left_out(names: Sequence[str]) -> list[str]:
    """Return in words what was taken out because it cannot be paid for."""
    return [f"{name} left out: it cannot be paid for" for name in names]


def _at_every_level(outputs: Sequence[Outputs]) -> bool:
    """Say whether offers of a gem at several levels give the same damage and effective hit points."""
    pairs = [(out.get(key, 0.0), outputs[0].get(key, 0.0)) for out in outputs if out for key in (DPS, EHP)]
    return len(pairs) > 2 and all(_alike(one, first) for one, first in pairs)


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= NOISE * other


def _is_off(group: SkillGroup) -> bool:
    return not all(group.gems[0].choices.get(key, True) for key in NOT_COUNTED)


def for_purposes(blueprint: Blueprint, facts: Mapping[str, GemFact], kept: set[str]) -> list[int]:
    """Return the 1-based indices of groups that are there for a purpose alone: led by none of the `kept` gem ids."""
    found = []
    for index, group in enumerate(blueprint.groups, start=1):
        fact = facts.get(group.gems[0].gem_id)
        alone = fact is not None and fact.spirit == 0 and role_of(fact) not in COUNTED | {GroupRole.MINIONS}
        if index != blueprint.main_group and alone and group.gems[0].gem_id not in kept:
            found.append(index)
    return found


def roles_of(blueprint: Blueprint, facts: Mapping[str, GemFact], goal: Goal) -> list[GroupRole]:
    """Return the role of each group, in order; what the engine does not know is a supporting skill."""
    main = facts.get(blueprint.main.gems[0].gem_id) if blueprint.main is not None else None
    second = second_role(goal, main) if main is not None else GroupRole.SINGLE_TARGET
    found = []
    for index, group in enumerate(blueprint.groups, start=1):
        fact = facts.get(group.gems[0].gem_id) if group.gems else None
        role = role_of(fact, second) if fact is not None else GroupRole.SUPPORTING
        found.append(GroupRole.MAIN if index == blueprint.main_group else role)
    return found


async def measured_roles(
    session: Session, blueprint: Blueprint, facts: Mapping[str, GemFact], goal: Goal
) -> list[GroupRole]:
    """Return the role of each group, measured on a session that holds the build.

    What deals less to a single target than the main skill is no skill for single targets.
    """
    roles = roles_of(blueprint, facts, goal)
    places = [i for i, role in enumerate(roles) if role is GroupRole.SINGLE_TARGET]
    if places:
        alone: list[list[Change]] = [[SetMain(index=i + 1)] for i in places]
        main, *others = [out.get(DPS, 0.0) for out in await session.what_if([[], *alone], [DPS])]
        for i, dealt in zip(places, others, strict=True):
            roles[i] = GroupRole.SINGLE_TARGET if dealt >= LEAST_SECOND * main else GroupRole.CLEAR
    return roles


def labelled(blueprint: Blueprint, roles: Sequence[GroupRole]) -> Blueprint:
    """Return the build with what each group is for in the group's label."""
    named = [
        changed(group, label=f"{group.gems[0].name} ({role.value})") if group.gems else group
        for group, role in zip(blueprint.groups, roles, strict=True)
    ]
    return changed(blueprint, groups=named)


async def group_uses(
    session: Session, blueprint: Blueprint, facts: Mapping[str, GemFact], goal: Goal
) -> list[GroupUse]:
    """Return what each enabled group that is known is for, measured on a session that holds the build.

    Each is left out once and, for what it deals by itself, the main one once.
    """
    roles = await measured_roles(session, blueprint, facts, goal)
    shown = [i for i, g in enumerate(blueprint.groups, start=1) if g.enabled and g.gems and g.gems[0].gem_id in facts]
    if not shown:
        return []
    without: list[list[Change]] = [[RemoveGroup(index=i)] for i in shown]
    alone: list[list[Change]] = [[SetMain(index=i)] for i in shown]
    whole, *rest = await session.what_if([[], *without, *alone], [DPS, EHP])
    both = any(node.weapon_set == 2 for node in blueprint.nodes)
    if both:  # a second skill is used with the second set
        await session.build(changed(blueprint, weapon_set=2))
        rest[len(shown) :] = await session.what_if(alone, [DPS, EHP])
        await session.build(blueprint)
    found = []
    for place, index in enumerate(shown):
        group, role, is_main = blueprint.groups[index - 1], roles[index - 1], index == blueprint.main_group
        gone = {} if is_main else rest[place]
        by_itself = rest[len(shown) + place].get(DPS, 0.0)
        is_second = role in SECOND and by_itself > 0
        found.append(
            GroupUse(
                skill=group.gems[0].name,
                role=role,
                purpose=PURPOSES[role],
                supports=[one.name for one in group.gems[1:] if one.enabled],
                damage=_share(whole, gone, DPS),
                ehp=_share(whole, gone, EHP),
                alone=by_itself if is_second else None,
                counted=False if _is_off(group) else None,
                weapon_set=2 if both and role in SECOND else 0,
            )
        )
    return found


LEAST_SHARE = 0.001
"""A group that less than this share of a figure hangs on has a purpose and no figure."""


def _share(whole: Outputs, gone: Outputs, key: str) -> float | None:
    """Return which share of the figure goes without the group, None where next to nothing does."""
    if whole.get(key, 0.0) <= 0 or key not in gone:
        return None
    share = 1.0 - gone[key] / whole[key]
    return round(share, 4) if share >= LEAST_SHARE else None


def used_skills(blueprint: Blueprint, facts: Mapping[str, GemFact]) -> list[GemFact]:
    """Return the first skill of each group."""
    return [facts[group.gems[0].gem_id] for group in blueprint.groups if group.gems[0].gem_id in facts]


def uncalled(blueprint: Blueprint, facts: Mapping[str, GemFact]) -> list[GemFact]:
    """Return the skills whose minions come with spells that the build does not have."""
    used = used_skills(blueprint, facts)
    return [fact for fact in used if not is_called(fact, used)]
