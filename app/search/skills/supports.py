"""The best set of supports for a skill: screened one by one, built greedily, then improved by exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from app.knowledge.gems import brings_cooldown, is_had_each_time
from app.model.blueprint import Change, Gem, SetGroup, SkillGroup
from app.model.demands import ATTRIBUTE_PER_SUPPORT
from app.model.facts import GemFact
from app.model.names import Attribute, GearTier
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import Objective
from app.search.skills.gems import gem, mentions, support_slots, usable_level, with_supports

SHORT_LIST = 36
"""Supports that go on after screening; those that did nothing alone seldom do in company."""

PAIR_LIST = 12
MOST_LINEAGE = 2
"""Lineage supports of a whole build: each is a boss's rare drop, and PoB allows only one of a kind."""

WORTHWHILE = 1e-4
"""A support must raise the score by this much (0.01 % of damage) to deserve its place."""


@dataclass(frozen=True)
class SupportRules:
    """What may be offered: character level, gear tier, gems that are excluded or already used elsewhere.

    `lineage`: how many lineage supports this group may hold, given those of the others. `required`: those that the
    user named; they are in the group, whatever they are worth there, where the skill can be supported by them.
    `exchanges`: whether a full set is improved by exchanging one or two. `short_list`: how many go on after screening.
    """

    level: int
    gear: GearTier
    excluded: frozenset[str] = frozenset()
    keywords: Sequence[str] = ()
    slots: int | None = None
    lineage: int = MOST_LINEAGE
    required: tuple[str, ...] = ()
    exchanges: bool = True
    short_list: int = SHORT_LIST

    def allows(self, fact: GemFact) -> bool:
        """Return whether the character may use the support at all.

        Lineage supports are boss drops, what is not had at each use has a figure that nobody gets, and with a cooldown
        a skill cannot be used over and over: none of them unless named.
        """
        if fact.kind != "support" or fact.id in self.excluded or fact.name in self.excluded:
            return False
        had = not fact.lineage or (self.gear.has_rarities and self.lineage > 0)
        usual = had and is_had_each_time(fact) and not brings_cooldown(fact)
        return usable_level(fact, self.level) > 0 and (usual or fact.id in self.required)

    def spoken(self, fact: GemFact) -> int:
        """Return how many lines of the support speak of the plan's words."""
        return mentions([fact.description, *fact.tags], self.keywords)

    @property
    def room(self) -> int:
        """Return the number of support slots."""
        return support_slots(self.level) if self.slots is None else self.slots


def with_colours(objective: Objective, groups: Iterable[SkillGroup], facts: Mapping[str, GemFact]) -> Objective:
    """Return the objective with the attributes that the colours of all supports need: trials do not count them."""
    supports = [facts[gem.gem_id].colour for group in groups for gem in group.gems[1:] if gem.gem_id in facts]
    needs = dict(objective.required)
    for attribute in Attribute:
        needs[attribute] = max(needs.get(attribute, 0.0), ATTRIBUTE_PER_SUPPORT * supports.count(attribute.value))
    return objective.requiring(needs)


Team = tuple[str, ...]
"""Support gem ids, sorted: the order of supports does not change what they do."""


def joined(team: Team, newcomers: Iterable[str]) -> Team:
    """Return the team with the newcomers."""
    return tuple(sorted((*team, *newcomers)))


@dataclass
class SupportSelection:
    """Searches the supports of one group (`index`, 1-based) on an incumbent."""

    incumbent: Incumbent
    index: int
    rules: SupportRules
    facts: dict[str, GemFact]
    scores: dict[Team, float] = field(default_factory=dict)
    kept: Team = ()

    @property
    def group(self) -> SkillGroup:
        """Return the group as it stands."""
        return self.incumbent.blueprint.groups[self.index - 1]

    async def run(self, candidates: Iterable[str]) -> Team:
        """Commit the best set found among the candidate gem ids and return it; it has what is required of them."""
        offered = sorted(i for i in candidates if i in self.facts and self.rules.allows(self.facts[i]))
        short = await self._screen(offered)
        for named in (i for i in self.rules.required if i in offered):
            if len(self.kept) < self.rules.room and self._fits(self.kept, named):
                self.kept = joined(self.kept, [named])
        team = await self._grow(self.kept, short)
        if self.rules.exchanges:
            team = await self._exchange(team, short)
            team = await self._grow(team, short)
        current = joined((), (g.gem_id for g in self.group.gems[1:]))
        await self._score([team, current])
        lacking = not set(self.kept) <= set(current)
        if current != team and (lacking or self.scores[team] > self.scores[current] + EPSILON):
            await self.incumbent.commit(self._change(team))
        return team

    def _change(self, team: Team) -> list[Change]:
        gems: list[Gem] = [gem(self.facts[i], self.rules.level) for i in team if i in self.facts]
        return [SetGroup(index=self.index, group=with_supports(self.group, gems))]

    async def _score(self, teams: Iterable[Team]) -> None:
        new = [team for team in dict.fromkeys(teams) if team not in self.scores]
        outputs = await self.incumbent.outputs_of([self._change(team) for team in new])
        for team, found in zip(new, outputs, strict=True):
            others = [g for i, g in enumerate(self.incumbent.blueprint.groups, start=1) if i != self.index]
            tried = with_supports(self.group, [gem(self.facts[i], self.rules.level) for i in team if i in self.facts])
            objective = with_colours(self.incumbent.objective, [*others, tried], self.facts)
            self.scores[team] = objective.score(found)

    async def _screen(self, offered: Sequence[str]) -> list[str]:
        """Return the candidates that help alone, best first; when none does, those that speak of the plan's words."""
        await self._score([(), *((i,) for i in offered)])
        bare = self.scores[()]
        ranked = sorted(offered, key=lambda i: (-self.scores[(i,)], i))
        useful = [i for i in ranked if self.scores[(i,)] > bare + WORTHWHILE]
        if useful:
            return useful[: self.rules.short_list]
        spoken = {i: self.rules.spoken(self.facts[i]) for i in offered}
        return sorted((i for i in offered if spoken[i]), key=lambda i: (-spoken[i], i))[: self.rules.room]

    def _fits(self, team: Team, candidate: str) -> bool:
        fact = self.facts[candidate]
        if candidate in team or (fact.lineage and sum(self.facts[i].lineage for i in team) >= self.rules.lineage):
            return False
        return fact.family is None or all(self.facts[i].family != fact.family for i in team)

    async def _grow(self, team: Team, short: Sequence[str]) -> Team:
        while len(team) < self.rules.room:
            options = [joined(team, [i]) for i in short if self._fits(team, i)]
            best = await self._best([team, *options])
            if best == team:
                break
            team = best
        return team

    async def _best(self, teams: Sequence[Team]) -> Team:
        """Return the best team; a larger or later one must beat the first by something worthwhile."""
        await self._score(teams)
        best = min(teams, key=lambda team: (-self.scores[team], team))
        return best if self.scores[best] > self.scores[teams[0]] + WORTHWHILE else teams[0]

    async def _exchange(self, team: Team, short: Sequence[str]) -> Team:
        """Exchange one support that is not required, then two at a time, until neither helps."""
        for _ in range(8):
            free = [i for i in team if i not in self.kept]
            rests = [tuple(t for t in team if t != gone) for gone in free]
            swaps = [t for rest in rests for t in self._filled(rest, [(s,) for s in short])]
            better = await self._best([team, *swaps])
            if better == team:
                pairs = list(combinations(short[:PAIR_LIST], 2))
                rests = [tuple(t for t in team if t not in gone) for gone in combinations(free, 2)]
                better = await self._best([team, *(t for rest in rests for t in self._filled(rest, pairs))])
            if better == team:
                return team
            team = better
        return team

    def _filled(self, rest: Team, newcomers: Iterable[Sequence[str]]) -> list[Team]:
        teams = []
        for new in newcomers:
            team = rest
            for candidate in new:
                team = joined(team, [candidate]) if self._fits(team, candidate) else team
            if len(team) == len(rest) + len(new):
                teams.append(team)
        return teams
