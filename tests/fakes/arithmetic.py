"""An engine that adds up numbers written in the facts: a world whose best build is known in advance.

A line reads "<number> <quantity>": inc, more (percent of damage), life, str, dex, int, mana, spirit, cost (percent of
the main skill's cost), need_str, need_dex, need_int, fire, cold, lightning, chaos (percent of resistance, 75 at most).
Damage is 100 x (1 + inc) x product of (1 + more).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from app.engine.base import Outputs
from app.model.blueprint import Blueprint, Change, PassiveNode, apply_changes
from app.model.damage import DamageBreakdown, DamageKind, DamageSource
from app.model.facts import AffixFact, BaseFact, ClassFact, EdgeFact, GemFact, NodeFact, RuneFact, UniqueFact
from app.model.stats import BuildReport, EngineVersion, GemFinding, Inspection, Requirement, Stats

VERSION = EngineVersion(name="arithmetic", version="1", tree_version="toy")
ATTRIBUTE_POINTS = 5.0


def node(id_: int, *neighbours: int, mods: Sequence[str] = (), kind: str = "normal", **more: object) -> NodeFact:
    """Return a passive of the toy tree."""
    data = {"id": id_, "name": f"n{id_}", "kind": kind, "mods": list(mods), "neighbours": list(neighbours), **more}
    return NodeFact.model_validate(data)


def support(name: str, effect: str = "", **more: object) -> GemFact:
    """Return a support gem whose description says what it does."""
    data = {"id": name, "name": name, "kind": "support", "description": effect, "natural_max_level": 1, **more}
    return GemFact.model_validate(data)


def active(name: str, effect: str = "", **more: object) -> GemFact:
    """Return a skill gem whose description says what it does."""
    known = {"id": name, "name": name, "kind": "active", "tier": 1, "description": effect, **more}
    return GemFact.model_validate(known)


@dataclass
class World:
    """The facts: everything an arithmetic engine knows. `synergies`: extra `more` for two gems together."""

    nodes: list[NodeFact] = field(default_factory=list)
    gems: list[GemFact] = field(default_factory=list)
    synergies: dict[frozenset[str], float] = field(default_factory=dict)
    start: int = 1
    base_damage: float = 100.0
    base_life: float = 1000.0
    modelled: bool = True
    attributes: dict[str, float] = field(default_factory=dict)
    regen: float = 1000.0
    pool: float = 0.0
    spirit: float = 0.0
    resistance: float = 75.0
    bases: list[BaseFact] = field(default_factory=list)
    affixes: list[AffixFact] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)
    uniques: list[UniqueFact] = field(default_factory=list)
    runes: list[RuneFact] = field(default_factory=list)


class WorldFacts:
    """Implements `Facts` over a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def classes(self) -> list[ClassFact]:
        return [ClassFact(name="Toy", start_node=self._world.start, ascendancies=["Top"])]

    async def gems(self) -> list[GemFact]:
        return sorted(self._world.gems, key=lambda g: g.id)

    async def nodes(self) -> list[NodeFact]:
        return sorted(self._world.nodes, key=lambda n: n.id)

    async def edges(self) -> list[EdgeFact]:
        return []

    async def bases(self) -> list[BaseFact]:
        return sorted(self._world.bases, key=lambda b: b.name)

    async def affixes(self, base: str) -> list[AffixFact]:
        fitting = (a for a in self._world.affixes if self._world.hosts.get(a.id, base) == base)
        return sorted(fitting, key=lambda a: a.id)

    async def uniques(self) -> list[UniqueFact]:
        return sorted(self._world.uniques, key=lambda u: u.name)

    async def runes(self, base: str) -> list[RuneFact]:
        return sorted(self._world.runes, key=lambda r: r.name)

    async def supports_for(self, gem_id: str) -> list[str]:
        return [g.id for g in await self.gems() if g.kind == "support"]


class ArithmeticSession:
    """Implements `Session`: pure arithmetic on the blueprint."""

    def __init__(self, engine: ArithmeticEngine) -> None:
        self._engine = engine
        self.held = Blueprint(class_name="Toy", level=1)

    async def build(self, blueprint: Blueprint) -> BuildReport:
        self.held = blueprint
        return BuildReport(dropped_nodes=self._cut_off(blueprint))

    async def load(self, xml: bytes) -> BuildReport:
        return await self.build(Blueprint.model_validate_json(xml))

    async def apply(self, changes: Sequence[Change], metrics: Sequence[str] = ()) -> BuildReport:
        after = apply_changes(self.held, changes)
        dropped = self._cut_off(after)
        self.held = after.model_copy(update={"nodes": [n for n in after.nodes if n.id not in dropped]})
        outputs = (await self.what_if([[]], metrics))[0] if metrics else None
        return BuildReport(dropped_nodes=dropped, outputs=outputs)

    async def what_if(self, candidates: Sequence[Sequence[Change]], metrics: Sequence[str]) -> list[Outputs]:
        self._engine.trials += len(candidates)
        tried = [self._outputs(apply_changes(self.held, changes)) for changes in candidates]
        return [{key: found[key] for key in metrics if key in found} for found in tried]

    async def stats(self) -> Stats:
        values = self._outputs(self.held)
        source = DamageSource(name="Hits", kind=DamageKind.HIT, dps=values["DPS"])
        return Stats(engine=VERSION, values=values, damage=DamageBreakdown.of([source]))

    async def inspect(self) -> Inspection:
        totals = self._totals(self.held)
        needs = [
            Requirement(attribute=a, required=totals.get(f"need_{a}", 0.0), available=totals.get(a, 0.0), source="toy")
            for a in ("str", "dex", "int")
        ]
        return Inspection(
            requirements=needs,
            idle_gems=self._idle(),
            points={"used": len(self.held.nodes)},
            modelled=self._engine.world.modelled,
        )

    async def blueprint(self) -> Blueprint:
        return self.held

    async def export(self) -> bytes:
        return self.held.model_dump_json().encode()

    def _idle(self) -> list[GemFinding]:
        known = {g.id: g for g in self._engine.world.gems}
        return [
            GemFinding(group=i, gem=j, name=gem.name, reason="says nothing")
            for i, group in enumerate(self.held.groups, start=1)
            for j, gem in enumerate(group.gems, start=1)
            if j > 1 and not known[gem.gem_id].description
        ]

    def _cut_off(self, blueprint: Blueprint) -> list[int]:
        facts = {n.id: n for n in self._engine.world.nodes}
        owned = {n.id for n in blueprint.nodes}
        seen = {self._engine.world.start} & facts.keys() | {
            *(n.id for n in facts.values() if n.kind == "ascendancy_start")
        }
        todo = sorted(seen)
        while todo:
            here = todo.pop()
            around = [n for n, fact in facts.items() if here in fact.neighbours or n in facts[here].neighbours]
            todo += [n for n in around if n in owned and n not in seen]
            seen |= {n for n in around if n in owned}
        return sorted(owned - seen)

    def _lines(self, blueprint: Blueprint) -> list[str]:
        facts = {n.id: n for n in self._engine.world.nodes}
        gems = {g.id: g for g in self._engine.world.gems}
        lines = [line for n in blueprint.nodes for line in (*facts[n.id].mods, *_choice(n))]
        for group in blueprint.groups:
            lines += [part for gem in group.gems for part in gems[gem.gem_id].description.split(", ") if part]
        return lines

    def _item_lines(self, blueprint: Blueprint) -> list[str]:
        """Affixes, runes and uniques do what their lines say, amulets what they are anointed with; bases do nothing."""
        world = self._engine.world
        said = {**{a.id: a.lines for a in world.affixes}, **{r.name: r.lines for r in world.runes}}
        said |= {u.name: u.lines for u in world.uniques if not u.choices}
        chosen = {u.name: u for u in world.uniques if u.choices}
        found: list[str] = []
        for item in blueprint.items.values():
            names = [*(roll.id for roll in (*item.prefixes, *item.suffixes)), *item.runes, item.title]
            found += [line for name in names for line in said.get(name, [])]
            found += chosen[item.title].lines_in(item.text or "") if item.title in chosen else []
            owned = {n.id for n in blueprint.nodes}
            anointed = [n for n in world.nodes if n.name == item.anoint and n.id not in owned]
            found += [line for n in anointed for line in n.mods]
        return found

    def _totals(self, blueprint: Blueprint) -> dict[str, float]:
        totals: dict[str, float] = {"more_factor": 1.0, "cost_factor": 1.0, **self._engine.world.attributes}
        for line in (*self._lines(blueprint), *self._item_lines(blueprint)):
            amount, quantity = line.removeprefix("Grants ").split(" ", 1)
            if quantity in ("more", "cost"):
                totals[f"{quantity}_factor"] *= 1 + float(amount) / 100
            totals[quantity] = totals.get(quantity, 0.0) + float(amount)
        used = {gem.gem_id for group in blueprint.groups for gem in group.gems}
        for pair, bonus in self._engine.world.synergies.items():
            totals["more_factor"] *= 1 + bonus / 100 if pair <= used else 1.0
        return totals

    def _outputs(self, blueprint: Blueprint) -> Outputs:
        world, totals = self._engine.world, self._totals(blueprint)
        damage = world.base_damage * (1 + totals.get("inc", 0.0) / 100) * totals["more_factor"]
        outputs = {
            "CombinedDPS": damage if world.modelled and blueprint.groups else 0.0,
            "TotalEHP": world.base_life + totals.get("life", 0.0),
            "SpiritUnreserved": world.spirit - totals.get("spirit", 0.0),
            "ManaPerSecondCost": 10.0 * totals["cost_factor"],
            "ManaRegenRecovery": world.regen,
            "ManaUnreserved": world.pool,
            "Mana": world.pool + totals.get("mana", 0.0),
            "ChaosResist": min(75.0, totals.get("chaos", 0.0)),
            "ManaCost": 10.0 * totals["cost_factor"],
            **{
                f"{element}Resist": min(75.0, world.resistance + totals.get(element.lower(), 0.0))
                for element in ("Fire", "Cold", "Lightning")
            },
            **{key.title(): totals.get(key, 0.0) for key in ("str", "dex", "int")},
            **{f"Req{key.title()}": totals.get(f"need_{key}", 0.0) for key in ("str", "dex", "int")},
        }
        return {**outputs, "DPS": outputs["CombinedDPS"]}


def _choice(passive: PassiveNode) -> list[str]:
    return [f"{ATTRIBUTE_POINTS} {passive.attribute.value}"] if passive.attribute else []


class ArithmeticEngine:
    """Implements `Engine`; `trials` counts the candidates tried, `opened` the sessions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.trials = 0
        self.opened = 0

    @property
    def version(self) -> EngineVersion:
        return VERSION

    @property
    def facts(self) -> WorldFacts:
        return WorldFacts(self.world)

    def session(self) -> AbstractAsyncContextManager[ArithmeticSession]:
        return self._session()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ArithmeticSession]:
        self.opened += 1
        yield ArithmeticSession(self)

    def new_session(self, blueprint: Blueprint) -> ArithmeticSession:
        """Return a session that holds the blueprint already."""
        session = ArithmeticSession(self)
        session.held = blueprint
        return session

    async def start(self) -> None:
        return None

    async def close(self) -> None:
        return None
