"""The levers of gems: supports of the skill that deals the damage, and persistent skills for Spirit that is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.model.blueprint import Change, SetGroup, SkillGroup
from app.model.facts import GemFact
from app.model.moves import Part
from app.model.stats import DPS, EHP, FREE_SPIRIT
from app.search.refine.work import WORTHWHILE, Candidate, Work
from app.search.skills.secondary import SkillSearch
from app.search.skills.supports import SupportRules, SupportSelection
from app.search.stages.skills import weapon_types

SAME = 1e-6
MOST_PERSISTENT = 2


@dataclass(frozen=True)
class SupportLever:
    """Exchanges supports of the damage skill; only where writing the group anew loses nothing of the file's choices."""

    name: str = "supports"
    parts: tuple[Part, ...] = (Part.SUPPORTS,)

    async def propose(self, work: Work) -> list[Candidate]:
        """Return nothing: sets of supports are chosen together."""
        return []

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Choose the supports of the damage skill anew; the old ones stay unless others are better."""
        group = self._group(work)
        if group is None or not await _rewritable(work, work.strongest, group):
            work.asides.append("supports stay: the file has settings for the skill that a new group would lose")
            return
        search = SupportSelection(work.incumbent, work.strongest, self._rules(work, group), work.gems)
        await search.run(await work.ctx.engine.facts.supports_for(group.gems[0].gem_id))

    def _group(self, work: Work) -> SkillGroup | None:
        groups = work.incumbent.blueprint.groups
        group = groups[work.strongest - 1] if 0 < work.strongest <= len(groups) else None
        kinds = [work.gems[gem.gem_id].kind for gem in group.gems if gem.gem_id in work.gems] if group else []
        return group if kinds[:1] == ["active"] and "active" not in kinds[1:] else None

    def _rules(self, work: Work, group: SkillGroup) -> SupportRules:
        others = [g for i, g in enumerate(work.incumbent.blueprint.groups, start=1) if i != work.strongest]
        used = frozenset(gem.gem_id for other in others for gem in other.gems)
        slots = max(1, len(group.gems) - 1)
        return SupportRules(work.ctx.demands.level, work.ctx.demands.gear, used, work.ctx.plan.scaling.keywords, slots)


async def _rewritable(work: Work, index: int, group: SkillGroup) -> bool:
    """Return whether a group written anew shows the same figures as the file's."""
    (found,) = await work.incumbent.outputs_of([[SetGroup(index=index, group=group)]])
    return bool(found) and all(
        abs(found.get(key, 0.0) - work.incumbent.outputs.get(key, 0.0)) <= SAME * max(1.0, found.get(key, 0.0))
        for key in (DPS, EHP)
    )


@dataclass(frozen=True)
class SpiritLever:
    """Reserves Spirit that is left for persistent skills that help."""

    name: str = "free Spirit"
    parts: tuple[Part, ...] = (Part.SPIRIT,)

    async def propose(self, work: Work) -> list[Candidate]:
        """Return the persistent skills that help most and fit into the Spirit there is."""
        search, wanted = await self._search(work)
        highest = {offer.fact.id: offer for offer in reversed(search.offers(wanted))}
        offers = [highest[key] for key in sorted(highest)]
        index = len(work.incumbent.blueprint.groups) + 1
        named: list[tuple[str, Sequence[Change]]] = [
            (offer.fact.name, [SetGroup(index=index, group=offer.group)]) for offer in offers
        ]
        found = await work.proposals(named)
        return [p for p in found if p.gain > WORTHWHILE and p.figures.get(FREE_SPIRIT, 0.0) >= 0][:4]

    async def pull(self, work: Work, hints: Sequence[Candidate]) -> None:
        """Add up to two persistent skills."""
        search, wanted = await self._search(work)
        await search.add(wanted, MOST_PERSISTENT)

    async def _search(self, work: Work) -> tuple[SkillSearch, list[GemFact]]:
        held = await weapon_types(work.now())
        free = work.incumbent.outputs.get(FREE_SPIRIT, 0.0)
        wanted = [fact for fact in work.gems.values() if fact.kind == "active" and 0 < fact.spirit <= free]
        return SkillSearch(work.incumbent, work.ctx.demands.level, held), sorted(wanted, key=lambda fact: fact.id)
