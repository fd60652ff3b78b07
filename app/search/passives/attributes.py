"""Attribute passives: make them give what requirements and support colours need, with the least loss elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from app.model.base import changed
from app.model.blueprint import Allocate, Change, PassiveNode
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS
from app.search.incumbent import EPSILON, Incumbent
from app.search.passives.graph import PassiveGraph

MOST_SWITCHES = 60

PER_PASSIVE = 5.0
"""Points that an attribute passive gives."""


@dataclass(frozen=True)
class AttributeSearch:
    """Switches the attribute passives of the incumbent's build.

    `at_once`: switch as many as are missing together instead of one by one; coarser, and a commit instead of many.
    """

    incumbent: Incumbent
    graph: PassiveGraph
    at_once: bool = False

    def travel(self) -> list[PassiveNode]:
        """Return the allocated attribute passives in order of id."""
        nodes = [n for n in self.incumbent.blueprint.nodes if n.id in self.graph.nodes]
        return sorted((n for n in nodes if self.graph.nodes[n.id].kind == "attribute"), key=lambda n: n.id)

    async def run(self) -> bool:
        """Meet the requirements, then turn spare passives to what helps most; return whether all are met."""
        await self.incumbent.learn_requirements()
        for _ in range(MOST_SWITCHES):
            short = self._short()
            if not short or not await self._serve(short):
                break
        await self._use_spare()
        return not self._short()

    def _short(self) -> Attribute | None:
        return self.incumbent.objective.short_attribute(self.incumbent.outputs)

    async def _serve(self, attribute: Attribute) -> bool:
        """Switch the passive that costs least to the attribute; False when none can be spared."""
        missing = self._missing(self.incumbent.outputs)
        donors: dict[Attribute | None, list[PassiveNode]] = {}
        for node in self.travel():
            if node.attribute is not attribute:
                donors.setdefault(node.attribute, []).append(node)
        gap = self.incumbent.objective.attribute_gaps(self.incumbent.outputs)[attribute][1]
        count = max(1, math.ceil(gap / PER_PASSIVE)) if self.at_once else 1
        options = [self._switch(nodes[:count], attribute) for nodes in donors.values()]
        outputs = await self.incumbent.outputs_of(options)
        scored = [
            (-self.incumbent.objective.score(found), index)
            for index, found in enumerate(outputs)
            if found and self._missing(found) < missing
        ]
        if not scored:
            return False
        await self.incumbent.commit(options[min(scored)[1]])
        return True

    def _missing(self, outputs: dict[str, float]) -> float:
        return sum(gap for _, gap in self.incumbent.objective.attribute_gaps(outputs).values())

    async def _use_spare(self) -> None:
        """Turn passives whose attribute nobody needs to the one that raises the score most, while that helps."""
        for _ in range(MOST_SWITCHES):
            spare: list[list[PassiveNode]] = []  # per attribute all passives that its surplus can do without, and one
            gaps = self.incumbent.objective.attribute_gaps(self.incumbent.outputs)
            for attribute in Attribute:
                given = [n for n in self.travel() if n.attribute is attribute]
                surplus = self.incumbent.outputs.get(ATTRIBUTE_METRICS[attribute], 0.0) - gaps[attribute][0]
                free = given[: max(0, int(surplus // 6))]
                spare += [group for group in (free, free[:1]) if group]
            options = [self._switch(nodes, a) for nodes in spare for a in Attribute]
            gains = await self.incumbent.gains(options)
            best = max(range(len(options)), key=lambda i: (gains[i], -i), default=None)
            if best is None or gains[best] <= EPSILON:
                return
            await self.incumbent.commit(options[best])

    def _switch(self, nodes: list[PassiveNode], attribute: Attribute) -> list[Change]:
        return [Allocate(nodes=[changed(node, attribute=attribute) for node in nodes])]
