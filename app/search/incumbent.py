"""The best build so far, the session that holds it and the objective; and which skill's damage counts in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.engine.base import Outputs, Session
from app.model.blueprint import MANA_FLASK, Blueprint, Change, Deallocate, SetMain, apply_changes
from app.model.demands import ATTRIBUTE_PER_SUPPORT
from app.model.names import Attribute
from app.model.stats import DPS, RESISTANCES, Inspection
from app.search.base import SearchContext
from app.search.objective import Objective, objective_for

EPSILON = 1e-6
"""A difference in score below this is noise of floating point, not a gain."""


class Incumbent:
    """The best build so far and the session that holds it: tries, scores and commits changes.

    `score` is that of the committed build, `trials` counts candidates.
    """

    def __init__(self, session: Session, blueprint: Blueprint, objective: Objective) -> None:
        self.session = session
        self.blueprint = blueprint
        self.objective = objective
        self.outputs: Outputs = {}
        self.score = -math.inf
        self.trials = 0

    @classmethod
    async def open(cls, ctx: SearchContext, objective: Objective | None = None) -> Incumbent:
        """Return an incumbent on the context's session, measured once."""
        objective = replace(objective or objective_for(ctx), flask_mana=await flask_mana(ctx))
        incumbent = cls(ctx.session, ctx.blueprint, objective)
        await incumbent.measure()
        return incumbent

    async def measure(self) -> float:
        """Score the committed build again."""
        return self._measured((await self.outputs_of([[]]))[0])

    def _measured(self, outputs: Outputs) -> float:
        self.outputs = outputs
        self.score = self.objective.score(outputs)
        return self.score

    def judge(self, objective: Objective) -> None:
        """Score by another objective of the same metrics from now on."""
        self.objective = objective
        self.score = objective.score(self.outputs)

    async def outputs_of(self, candidates: Sequence[Sequence[Change]]) -> list[Outputs]:
        """Try the candidates and return the objective's metrics for each."""
        if not candidates:
            return []
        self.trials += len(candidates)
        return await self.session.what_if(candidates, self.objective.metrics)

    async def gains(self, candidates: Sequence[Sequence[Change]]) -> list[float]:
        """Return how much each candidate would raise the score; minus infinity when it cannot be tried."""
        return [self.objective.score(outputs) - self.score for outputs in await self.outputs_of(candidates)]

    async def gains_kept(self, candidates: Sequence[Sequence[Change]]) -> list[float]:
        """Return the gains with resistances kept; minus infinity where one would fall, or nothing can be tried."""
        return [
            self.objective.score(found) - self.score if found and self.keeps_resistances(found) else -math.inf
            for found in await self.outputs_of(candidates)
        ]

    def keeps_resistances(self, outputs: Mapping[str, float]) -> bool:
        """Return whether with these figures capped resistances stay capped, and others do not fall."""
        wanted = self.objective.floors.resistance.good
        return all(outputs.get(key, 0.0) >= min(wanted, self.outputs.get(key, 0.0)) for key in RESISTANCES)

    async def commit(self, changes: Sequence[Change]) -> float:
        """Commit the changes and return the gain; passives that the engine drops leave the blueprint too."""
        before = self.score
        report = await self.session.apply(changes, self.objective.metrics)
        self.blueprint = apply_changes(self.blueprint, changes)
        if report.dropped_nodes:
            self.blueprint = apply_changes(self.blueprint, [Deallocate(nodes=sorted(report.dropped_nodes))])
        if report.outputs is None:
            return await self.measure() - before
        self.trials += 1
        return self._measured(report.outputs) - before

    async def rewind(self, blueprint: Blueprint) -> None:
        """Go back to an earlier blueprint of this incumbent."""
        if blueprint != self.blueprint:
            await self.session.build(blueprint)
            self.blueprint = blueprint
            await self.measure()

    async def learn_requirements(self) -> Inspection:
        """Read the attribute requirements of the committed build and score with them from now on."""
        inspection = await self.session.inspect()
        self.judge(self.objective.requiring(required_attributes(inspection)))
        return inspection


def required_attributes(inspection: Inspection) -> Mapping[Attribute, float]:
    """Return the highest requirement per attribute, support colours (5 points each) included."""
    required: dict[Attribute, float] = {}
    for attribute in Attribute:
        asked = [r.required for r in inspection.requirements if r.attribute == attribute.value]
        asked.append(float(ATTRIBUTE_PER_SUPPORT) * inspection.support_counts.get(attribute.value, 0))
        required[attribute] = max(asked)
    return required


async def flask_mana(ctx: SearchContext) -> float:
    """Return the mana that all charges of the worn mana flask recover."""
    item = ctx.blueprint.items.get(MANA_FLASK)
    base = next((b for b in await ctx.engine.facts.bases() if item is not None and b.name == item.base), None)
    if item is None or base is None:
        return 0.0
    return base.mana_in_flask(item.quality)


NEGLIGIBLE = 0.01
"""A main skill below this share of the strongest one's damage is not what the build deals damage with."""


async def strongest_group(session: Session, blueprint: Blueprint) -> int:
    """Return the 1-based group to measure damage with, 0 when no group shows damage.

    That is the main group while it is switched on and its damage is more than negligible, else the strongest one.
    """
    groups = blueprint.groups
    alone: list[list[Change]] = [[SetMain(index=i)] for i in range(1, len(groups) + 1)]
    shown, *each = [outputs.get(DPS, 0.0) for outputs in await session.what_if([[], *alone], [DPS])]
    # Minions of counted groups show in every group's figure, whichever is the main one.
    counted = min(each, default=0.0) if any(group.in_full_dps and group.enabled for group in groups) else 0.0
    dealt = [
        (dps if group.in_full_dps else dps - counted) if group.enabled else 0.0
        for group, dps in zip(groups, each, strict=True)
    ]
    main = blueprint.main_group
    own = dealt[main - 1] if main else shown - counted
    best = max(range(len(dealt)), key=lambda i: (dealt[i], -i), default=None)
    if best is None or max(own, dealt[best]) <= 0:
        return 0
    return main if own >= NEGLIGIBLE * dealt[best] else best + 1


def trial_prefix(strongest: int, blueprint: Blueprint) -> list[Change]:
    """Return the changes under which a trial shows that group's damage; none when it is the main group already."""
    return [] if strongest in (0, blueprint.main_group) else [SetMain(index=strongest)]
