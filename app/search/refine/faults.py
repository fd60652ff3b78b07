"""The ways in which a repair mends what is wrong with gems and Spirit: nothing becomes better, a fault goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.model.base import changed
from app.model.blueprint import Change, SetGroup
from app.model.moves import Part
from app.model.stats import FREE_SPIRIT
from app.search.refine.work import SAME, Candidate, Work


@dataclass(frozen=True)
class SpiritRelease:
    """Switches persistent skills off, the least missed first, until the Spirit there is pays for the others."""

    name: str = "Spirit beyond the pool"
    parts: tuple[Part, ...] = (Part.SPIRIT,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return each persistent skill without which it would be, best first; nothing while Spirit suffices."""
        if work.incumbent.outputs.get(FREE_SPIRIT, 0.0) >= 0:
            return []
        groups = list(enumerate(work.incumbent.blueprint.groups, start=1))
        named: list[tuple[str, Sequence[Change]]] = [
            (f"{index}: {group.gems[0].name}", [SetGroup(index=index, group=changed(group, enabled=False))])
            for index, group in groups
            if index not in (work.strongest, work.incumbent.blueprint.main_group)
            and group.enabled
            and group.gems
            and (fact := work.gems.get(group.gems[0].gem_id)) is not None
            and fact.spirit > 0
        ]
        return [found for found in await work.tried(named) if found.figures]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Switch skills off one by one, each time the one after which the build is best."""
        while left := await self.candidates(work):
            await work.incumbent.commit(left[0].changes)


@dataclass(frozen=True)
class IdleGems:
    """Takes out supports that do nothing where they are, and switches off skills that do nothing."""

    name: str = "gems without effect"
    parts: tuple[Part, ...] = (Part.SUPPORTS,)

    async def candidates(self, work: Work) -> list[Candidate]:
        """Return what would end the idleness, group by group."""
        inspection = await work.incumbent.learn_requirements()
        groups = work.incumbent.blueprint.groups
        idle: dict[int, set[int]] = {}
        for finding in [found for found in inspection.idle_gems if not found.is_unknown]:
            idle.setdefault(finding.group, set()).add(finding.gem)
        named: list[tuple[str, Sequence[Change]]] = []
        for index in sorted(idle):
            group = groups[index - 1]
            kept = [gem for position, gem in enumerate(group.gems, start=1) if position not in idle[index]]
            without = changed(group, gems=kept) if 1 not in idle[index] else changed(group, enabled=False)
            names = ", ".join(group.gems[position - 1].name for position in sorted(idle[index]))
            if without.enabled or index not in (work.strongest, work.incumbent.blueprint.main_group):
                named.append((names, [SetGroup(index=index, group=without)]))
        return [found for found in await work.tried(named) if found.figures]

    async def make(self, work: Work, known: Sequence[Candidate]) -> None:
        """Do it wherever nothing is lost by it."""
        for candidate in await self.candidates(work):
            if candidate.gain > -SAME:
                await work.incumbent.commit(candidate.changes)
