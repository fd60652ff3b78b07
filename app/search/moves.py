"""From moves in names to changes of a blueprint; what does not exist or is not allowed is refused with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.errors import UnknownFact
from app.knowledge.gems import brings_cooldown, is_had_each_time
from app.knowledge.named import named_in
from app.model.base import changed
from app.model.blueprint import (
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    GearItem,
    PassiveNode,
    RemoveGroup,
    SetGroup,
    SkillGroup,
    apply_changes,
)
from app.model.facts import GemFact, NodeFact
from app.model.moves import (
    AddSkill,
    AllocatePassive,
    CraftItem,
    DeallocatePassive,
    EquipUnique,
    Move,
    RemoveSkill,
    SetSupports,
)
from app.search.base import SearchContext
from app.search.gear.legality import slot_fits, unobtainable
from app.search.gear.pool import crafted
from app.search.incumbent import Incumbent
from app.search.passives.graph import PassiveGraph, ascendancy_graph, main_graph, passive_points
from app.search.skills.gems import gem, support_slots, usable_level, weapon_types
from app.search.skills.secondary import MOST_GROUPS
from app.search.skills.supports import SupportRules
from app.search.stages.passives import banned_nodes

FARTHEST = 15
"""Points within which a passive is reached."""


@dataclass(frozen=True)
class MoveChanges:
    """The changes that moves come to, and what had to be made for them, in words."""

    changes: tuple[Change, ...] = ()
    made: tuple[str, ...] = ()


class MoveReader:
    """Reads moves for one build; later moves see what earlier ones changed."""

    def __init__(
        self, ctx: SearchContext, incumbent: Incumbent, gems: Sequence[GemFact], graphs: Sequence[PassiveGraph]
    ) -> None:
        self._ctx = ctx
        self._incumbent = incumbent
        self._actives = {g.name.casefold(): g for g in reversed(gems) if g.kind == "active"}
        self._supports = {g.name.casefold(): g for g in reversed(gems) if g.kind == "support"}
        self._graphs = graphs
        self._crafted: dict[tuple[str, str, tuple[str, ...]], tuple[GearItem, list[str]]] = {}

    @classmethod
    async def of(cls, ctx: SearchContext, incumbent: Incumbent) -> MoveReader:
        """Ask the engine for what names mean."""
        special = await ascendancy_graph(ctx)
        return cls(
            ctx, incumbent, await ctx.engine.facts.gems(), [await main_graph(ctx), *([special] if special else [])]
        )

    def forget(self) -> None:
        """Make items anew from now on; until then one that is asked for again is the one that was tried."""
        self._crafted.clear()

    async def read(self, moves: Sequence[Move]) -> MoveChanges:
        """Return what the moves come to.

        Raises:
            UnknownFact: one of them names what does not exist, or is not possible for this build.
        """
        blueprint, read = self._incumbent.blueprint, MoveChanges()
        for move in moves:
            step = await self._step(blueprint, move)
            blueprint = apply_changes(blueprint, step.changes)
            read = MoveChanges((*read.changes, *step.changes), (*read.made, *step.made))
        limits = (await passive_points(self._ctx, blueprint), self._ctx.demands.floors.ascendancy_points)
        for graph, most in zip(self._graphs, limits, strict=False):
            spent = len(_owned(blueprint, graph) & graph.bought)
            now = len(_owned(self._incumbent.blueprint, graph) & graph.bought)
            if spent > max(most, now):
                raise UnknownFact(f"{spent} points would be spent, there are {most}: give passives back as well")
        return read

    async def _step(self, blueprint: Blueprint, move: Move) -> MoveChanges:
        match move:
            case SetSupports():
                return await self._set_supports(blueprint, move)
            case AddSkill():
                return await self._add_skill(blueprint, move)
            case RemoveSkill():
                index = self.group_of(blueprint, move.skill)
                if index == blueprint.main_group:
                    raise UnknownFact("the main skill stays")
                return MoveChanges((RemoveGroup(index=index),))
            case AllocatePassive():
                return await self._allocate(blueprint, move.passive)
            case DeallocatePassive():
                graph, node = self._passive(move.passive)
                owned = _owned(blueprint, graph)
                if node.id not in owned:
                    raise UnknownFact(f"{node.name} is not allocated")
                return MoveChanges((Deallocate(nodes=sorted(graph.branch_of(node.id, owned))),))
            case EquipUnique():
                return await self._equip(blueprint, move)
            case CraftItem():
                return await self._craft(blueprint, move)

    def group_of(self, blueprint: Blueprint, skill: str) -> int:
        """Return the 1-based index of a skill's group.

        Raises:
            UnknownFact: the build has no such skill.
        """
        for index, group in enumerate(blueprint.groups, start=1):
            if group.gems and group.gems[0].name.casefold() == skill.casefold():
                return index
        names = ", ".join(group.gems[0].name for group in blueprint.groups if group.gems)
        raise UnknownFact(f"the build has no skill {skill!r}; it has {names}")

    async def _set_supports(self, blueprint: Blueprint, move: SetSupports) -> MoveChanges:
        index = self.group_of(blueprint, move.skill)
        group = blueprint.groups[index - 1]
        others = {g.gem_id for i, one in enumerate(blueprint.groups, start=1) if i != index for g in one.gems[1:]}
        supports = await self.team(group.gems[0].gem_id, move.supports, others)
        gems = [group.gems[0], *(gem(fact, self._ctx.demands.level) for fact in supports)]
        return MoveChanges((SetGroup(index=index, group=changed(group, gems=gems)),))

    async def team(self, skill_id: str, names: Sequence[str], taken: set[str]) -> list[GemFact]:
        """Return the supports of these names.

        Raises:
            UnknownFact: one does not exist, does not fit the skill, or they cannot be together.
        """
        fitting = set(await self._ctx.engine.facts.supports_for(skill_id))
        named = (await named_in(self._ctx.engine.facts, self._ctx.invariants)).supports
        excluded, level = frozenset(self._ctx.plan.scaling.excluded_gems), self._ctx.demands.level
        rules = SupportRules(level, self._ctx.demands.gear, excluded, required=tuple(fact.id for fact in named))
        found = []
        for name in dict.fromkeys(names):
            known = self._supports.get(name.casefold())
            if known is None:
                raise UnknownFact(f"there is no support called {name!r}")
            found.append(known)
        for fact in found:
            if fact.id not in fitting or not rules.allows(fact):
                why = ""
                if not is_had_each_time(fact):
                    why = ": it does not help at each use, so only who names it has it"
                elif brings_cooldown(fact):
                    why = ": it brings a cooldown, so only who names it has it"
                raise UnknownFact(f"{fact.name} cannot support this skill of this build{why}")
            if fact.id in taken:
                raise UnknownFact(f"{fact.name} is used by another skill already")
        families = [fact.family for fact in found if fact.family is not None]
        if len(found) > support_slots(self._ctx.demands.level) or len(set(families)) < len(families):
            raise UnknownFact(f"at most {support_slots(self._ctx.demands.level)} supports, one of each family")
        return found

    async def _add_skill(self, blueprint: Blueprint, move: AddSkill) -> MoveChanges:
        fact = self._actives.get(move.skill.casefold())
        if fact is None or fact.id in self._ctx.plan.scaling.excluded_gems:
            raise UnknownFact(f"there is no skill called {move.skill!r} for this build")
        held = await weapon_types(replace(self._ctx, blueprint=blueprint))
        if usable_level(fact, self._ctx.demands.level) == 0 or (
            fact.weapon_types and held.isdisjoint(fact.weapon_types)
        ):
            raise UnknownFact(f"{fact.name} cannot be used at this level with these weapons")
        if len(blueprint.groups) >= MOST_GROUPS or any(g.gems[0].gem_id == fact.id for g in blueprint.groups if g.gems):
            raise UnknownFact(f"there is no room for {fact.name}, or the build has it")
        taken = {g.gem_id for one in blueprint.groups for g in one.gems[1:]}
        supports = await self.team(fact.id, move.supports, taken)
        main = blueprint.groups[blueprint.main_group - 1]
        group = SkillGroup(
            label=fact.name,
            gems=[gem(one, self._ctx.demands.level) for one in (fact, *supports)],
            in_full_dps=main.in_full_dps and "Minion" in fact.skill_types,
        )
        return MoveChanges((SetGroup(index=len(blueprint.groups) + 1, group=group),))

    def _passive(self, wanted: str | int) -> tuple[PassiveGraph, NodeFact]:
        """Return the passive of that id, or the first of that name that is worth a name."""
        for graph in self._graphs:
            for node in sorted(graph.nodes.values(), key=lambda n: (n.kind not in ("notable", "keystone"), n.id)):
                if wanted == node.id or str(wanted).casefold() in (node.name.casefold(), str(node.id)):
                    return graph, node
        raise UnknownFact(f"there is no passive {wanted!r} for this character")

    async def _allocate(self, blueprint: Blueprint, wanted: str | int) -> MoveChanges:
        graph, node = self._passive(wanted)
        owned = _owned(blueprint, graph)
        if node.id in owned:
            raise UnknownFact(f"{node.name} is allocated already")
        route = graph.routes(owned, FARTHEST).get(node.id)
        banned = await banned_nodes(self._ctx, graph)
        if route is None or not banned.isdisjoint(route.nodes):
            raise UnknownFact(f"{node.name} cannot be reached within {FARTHEST} points, or is excluded")
        return MoveChanges((Allocate(nodes=[self.passive(graph, blueprint, one) for one in route.nodes]),))

    async def ways(self, blueprint: Blueprint, reach: int) -> list[tuple[str, int, Change]]:
        """Return the notables and keystones of the main tree within reach: name, points, and the change that buys."""
        graph = self._graphs[0]
        banned = await banned_nodes(self._ctx, graph)
        return [
            (
                graph.nodes[route.target].name,
                route.points,
                Allocate(nodes=[self.passive(graph, blueprint, node) for node in route.nodes]),
            )
            for route in graph.routes(_owned(blueprint, graph), reach).values()
            if graph.nodes[route.target].kind in ("notable", "keystone") and banned.isdisjoint(route.nodes)
        ]

    def exchanges(self, blueprint: Blueprint, wanted: int, kept: frozenset[int]) -> list[list[Move]]:
        """Return the ways to an ascendancy passive: as it is, or giving back one notable that is not to be kept.

        What only led to the notable is given back with it.
        """
        add = AllocatePassive(op="allocate", passive=wanted)
        ways: list[list[Move]] = [[add]]
        for graph in self._graphs[1:]:
            owned = _owned(blueprint, graph)
            for notable in sorted(n for n in owned if graph.nodes[n].kind == "notable" and n not in kept):
                gone = graph.branch_of(notable, owned)
                if gone & kept:
                    continue
                left = owned - gone
                small = [n for n in sorted(left & graph.bought) if graph.nodes[n].kind != "notable"]
                stubs = [n for n in small if graph.branch_of(n, left) == {n} != graph.branch_of(n, owned)]
                back = [DeallocatePassive(op="deallocate", passive=node) for node in (notable, *stubs)]
                ways.append([*back, add])
        return ways

    def leaves(self, blueprint: Blueprint) -> list[NodeFact]:
        """Return the passives of the main tree that can be given back without losing another."""
        graph = self._graphs[0]
        owned = _owned(blueprint, graph)
        return [graph.nodes[node] for node in sorted(owned) if graph.branch_of(node, owned) == {node}]

    def passive(self, graph: PassiveGraph, blueprint: Blueprint, node: int) -> PassiveNode:
        """Return the passive as it would be allocated; one that gives an attribute gives what most others give."""
        if graph.nodes[node].kind != "attribute":
            return PassiveNode(id=node)
        given = [one.attribute for one in blueprint.nodes if one.attribute is not None]
        return PassiveNode(id=node, attribute=max(sorted(set(given)), key=given.count, default=None))

    async def _equip(self, blueprint: Blueprint, move: EquipUnique) -> MoveChanges:
        limits = self._ctx.demands.floors.gear
        excluded = self._ctx.exclusions
        if limits.max_uniques == 0 or "unique" in excluded.terms:
            raise UnknownFact("this build takes no uniques")
        found = [u for u in await self._ctx.engine.facts.uniques() if u.name.casefold() == move.unique.casefold()]
        usable = [unique for unique in found if unique.level <= self._ctx.demands.level]
        if not usable:
            raise UnknownFact(f"there is no unique called {move.unique!r} that this character can wear")
        if (barred := unobtainable(usable[0], limits)) is not None:
            raise UnknownFact(f"{usable[0].name} {barred}")
        base = next((b for b in await self._ctx.engine.facts.bases() if b.name == usable[0].base), None)
        if base is not None and excluded.item(usable[0].name, base, unique=True, lines=usable[0].lines):
            raise UnknownFact(f"{usable[0].name} has something that was ruled out")
        slots = [slot for slot in sorted(blueprint.items) if base is not None and slot_fits(base, slot)]
        slots = [slot for slot in slots if move.slot is None or slot.casefold() == move.slot.casefold()]
        if not slots:
            raise UnknownFact(f"{usable[0].base} does not fit a slot that this build uses")
        slot = slots[0]
        worn = [i for i in blueprint.items.values() if i.rarity == "UNIQUE" and i.slot != slot]
        if len(worn) >= limits.max_uniques or any(item.title == usable[0].name for item in worn):
            raise UnknownFact(f"the gear tier allows {limits.max_uniques} uniques, each once")
        item = GearItem(slot=slot, base=usable[0].base, rarity="UNIQUE", title=usable[0].name, text=usable[0].text)
        item = changed(item, anoint=blueprint.items[slot].anoint)
        return MoveChanges((Equip(item=item),), tuple(usable[0].lines))

    async def _craft(self, blueprint: Blueprint, move: CraftItem) -> MoveChanges:
        slot = next((slot for slot in blueprint.items if slot.casefold() == move.slot.casefold()), None)
        if slot is None or slot.startswith(("Flask", "Charm")):
            raise UnknownFact(f"nothing is crafted in {move.slot!r}; there are {', '.join(sorted(blueprint.items))}")
        base = move.base or blueprint.items[slot].base
        key = (slot, base.casefold(), tuple(move.wants))
        if key not in self._crafted:
            self._crafted[key] = await crafted(self._ctx, self._incumbent, slot, base, move.wants)
        item, lines = self._crafted[key]
        return MoveChanges((Equip(item=changed(item, anoint=blueprint.items[slot].anoint)),), (item.base, *lines))


def _owned(blueprint: Blueprint, graph: PassiveGraph) -> frozenset[int]:
    return frozenset(node.id for node in blueprint.nodes if node.id in graph.nodes)
