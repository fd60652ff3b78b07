"""A finished build on its way there: at a few levels what its character can use then, and the points in their order.

At each level the skill, plain gear, supports and the next passives are chosen in the engine, and only among what the
finished build takes: every tree is the beginning of the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from app.engine.base import Session
from app.knowledge.exclusions import granting, grants
from app.knowledge.gems import (
    can_be_cut,
    can_be_main,
    comes_as_gem,
    damage_types_of,
    gem_requirement,
    is_minion,
    is_spell,
    level_required,
    stands_alone,
    tags,
)
from app.knowledge.weapons import word_of
from app.model.base import changed
from app.model.blueprint import (
    HAND_SLOTS,
    MAIN_HAND,
    Allocate,
    Blueprint,
    Change,
    Deallocate,
    Equip,
    PassiveNode,
    RemoveGroup,
    SetGroup,
    SkillGroup,
    Unequip,
    apply_changes,
)
from app.model.facts import GemFact
from app.model.names import Attribute
from app.model.stats import ATTRIBUTE_METRICS, DPS
from app.search.base import SearchContext
from app.search.drafts import fill, shared_gear
from app.search.gear.bases import ARMOUR_SLOTS, JEWELLERY_SLOTS, best_first, usable
from app.search.gear.jewels import JewelSockets
from app.search.gear.pool import GearOption, has_room, plain_item, slot_pool, with_option, without_option, wording
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import DRAIN_ON_THE_WAY, Guard, Objective, objective_for
from app.search.passives.ascendancy import AscendancySelection
from app.search.passives.attributes import AttributeSearch
from app.search.passives.graph import (
    PassiveGraph,
    ascendancy_graph,
    levelling_order,
    main_graph,
    needed_passives,
    passive_points,
    reached,
)
from app.search.passives.tree import TreeLimits, TreeSearch
from app.search.skills.gems import by_id, gem, usable_level, with_supports
from app.search.skills.secondary import usable_with
from app.search.skills.supports import SupportSelection
from app.search.stages.foundation import founded
from app.search.stages.skills import support_rules

LEVELS = (12, 30, 50, 70)
"""Levels of the loadouts: the first act, the first ascendancy, the end of the campaign, the first maps."""

SCREENED, SHORT_LIST, LINES_TRIED, CANDIDATES, RELIEFS = 24, 12, 12, 12, 16
"""Bounds per level: supports tried alone and in sets (three tiers of one count thrice; the highest may not be best),
affixes of a weapon, skills instead of the main one, things given up for an attribute."""

WEAK, FEEBLE = 2.0, 5.0
"""A main skill that another one outdoes this many times is not what one levels with yet; nor before it what deals the
damage asked for, outdone so. Both without supports, which make up for much: Frostbolt's half became nine tenths."""

TREE = TreeLimits(reach=10, rounds=2, chain=12, offers=12, corrections=2, studied=4, shakes=(), trials=170)
"""How the points of a level are spent among the passives of the finished tree."""


@dataclass(frozen=True)
class LevelDraft:
    """The build at a level: `order` and `ascendancy` are the passives taken so far in their order; `why` tells the
    skill, `caveats` what does not hold."""

    level: int
    blueprint: Blueprint
    order: Sequence[int]
    ascendancy: Sequence[int]
    is_main_skill: bool
    why: str
    caveats: Sequence[str] = ()


def level_objective(ctx: SearchContext) -> Objective:
    """Return what counts at the context's level: what counts for a build of ours there, resistances left to luck.

    Of what was asked only the type of damage counts, which the skill has to have. Figures, layers of defence and
    styles were asked of the finished build: with plain gear they are out of reach, and working towards them would
    cost damage and effective hit points.
    """
    own = [one for one in ctx.invariants.invariants if one.field == "damage_type"]
    plain = replace(ctx, invariants=changed(ctx.invariants, invariants=own))
    return replace(objective_for(plain).without(Guard.RESISTANCE), drain=DRAIN_ON_THE_WAY)


@dataclass(frozen=True)
class LevelTree:
    """The tree of a level on its character: its passives, what each of them is worth, and the score of all."""

    draft: LevelDraft
    owned: frozenset[int]
    worths: Mapping[int, float]
    score: float


@dataclass
class LevelSearch:
    """Makes the build `finished` at the level of the context: the character beside `before`, then its tree."""

    ctx: SearchContext
    finished: Blueprint
    before: LevelDraft | None

    async def run(self) -> bool:
        """Choose skill, gear, supports and ascendancy; False when the character has no skill that deals damage yet."""
        self._facts = by_id(await self.ctx.engine.facts.gems())
        self._bases = {base.name: base for base in await self.ctx.engine.facts.bases()}
        asked = self.ctx.invariants.listed("damage_type") if self.ctx.invariants.is_explicit("damage_type") else ()
        self._due = set(damage_types_of(self._main)).intersection(asked)  # what stands in for the skill is to deal it
        self.graph, self._needed = self._inside(await main_graph(self.ctx)), await needed_passives(self.ctx)
        points, graph = self.ctx.demands.floors.ascendancy_points, await ascendancy_graph(self.ctx)
        ascendancy = self._inside(graph) if graph is not None else None
        chosen = await self._skill(ascendancy)
        if chosen is None:
            return False
        incumbent, why = chosen
        for slot in HAND_SLOTS:  # on the hands what helps most alone
            item = incumbent.blueprint.items.get(slot)
            if item is not None and item.rarity == "RARE":
                pool = await slot_pool(self.ctx, slot, [self._bases[item.base]])
                await fill(incumbent, pool, item, LINES_TRIED, self.ctx.plan.scaling.keywords)
        await self._supported(incumbent)
        await self._others(incumbent)
        ascended = [] if self.before is None else list(self.before.ascendancy)
        if ascendancy is not None and points:
            needed = ascendancy.in_order(self._way(ascendancy, len(ascendancy.bought))[1])
            kept = tuple(frozenset([node]) for node in dict.fromkeys([*ascended, *needed[:points]]))
            owned = await AscendancySelection(incumbent, ascendancy, named=kept).run(points)
            ascended = levelling_order(ascendancy, owned, ascendancy.is_large, ascended)
        main = self.ctx.plan.delivery.skill_id == self._main.id
        self.draft = LevelDraft(self.ctx.demands.level, incumbent.blueprint, [], ascended, main, why)
        return True

    def on(self, session: Session) -> LevelSearch:
        """Return the search, its character made, for a session of its own."""
        found = copy(self)
        found.ctx = replace(self.ctx, session=session)
        return found

    async def tree(self, inner: frozenset[int], outer: frozenset[int] | None) -> LevelTree:
        """Spend the points of the level on its character: on `inner` and more, among `outer` (None: all there are)."""
        begun = self.draft.blueprint
        graph = self.graph if outer is None else self.graph.only(outer)
        await self.ctx.session.build(begun)
        incumbent = await Incumbent.open(replace(self.ctx, blueprint=begun), level_objective(self.ctx))
        await incumbent.commit([Deallocate(nodes=[node.id for node in begun.nodes if node.id in self.graph.nodes])])
        await incumbent.learn_requirements()
        points = min(await passive_points(self.ctx, begun), len(graph.bought))
        search = self._search(incumbent, graph, inner | self._way(graph, points)[0])
        await search.fit(points)
        await search.improve()
        owned, worths, score = search.owned, await search.worths(), incumbent.score
        await self._affordable(incumbent)
        draft = replace(self.draft, blueprint=incumbent.blueprint, caveats=tuple(self._caveats))
        return LevelTree(draft, owned, worths, score)

    def _search(self, incumbent: Incumbent, graph: PassiveGraph, fixed: frozenset[int]) -> TreeSearch:
        sockets, words = JewelSockets(incumbent, None), self.ctx.plan.scaling.keywords
        return TreeSearch(incumbent, graph, words, fixed=fixed, limits=TREE, sockets=sockets)

    @property
    def _main(self) -> GemFact:
        assert self.finished.main is not None
        return self._facts[self.finished.main.gems[0].gem_id]

    # -- skill

    async def _had(self, ascendancy: PassiveGraph | None) -> tuple[bool, str]:
        """Say whether the character has the main skill, as a gem or by what grants it, and since when."""
        main, floors = self._main, self.ctx.demands.floors
        if comes_as_gem(main):
            return level_required(main) <= self.ctx.demands.level, f"from level {level_required(main)} on"
        worn = grants(main, usable(list(self._bases.values()), self.ctx))
        taken = [n for n in granting(await self.ctx.engine.facts.nodes(), main.name) if n.id in self.finished.passives]
        trees = [(self.graph, floors.passive_points), (ascendancy, floors.ascendancy_points)]
        near = any(reached(g, [frozenset(n.id for n in taken)], points)[0] for g, points in trees if g is not None)
        return bool(worn) or near, f"once {' or '.join(node.name for node in taken) or 'what grants it'} is there"

    async def _skill(self, ascendancy: PassiveGraph | None) -> tuple[Incumbent, str] | None:
        """Return the build founded on the main skill, or on the best measured of its kind, and why it is that."""
        level, name = self.ctx.demands.level, self._main.name
        is_had, since = await self._had(ascendancy)
        skills = [*([self._main] if is_had else []), *self._instead()]
        if not skills:
            return None
        incumbent = await self._founded(skills[0])
        groups = [SkillGroup(label=one.name, gems=[gem(one, level)], in_full_dps=is_minion(one)) for one in skills[1:]]
        changes: list[list[Change]] = [[SetGroup(index=incumbent.blueprint.main_group, group=one)] for one in groups]
        outputs = [incumbent.outputs, *await incumbent.outputs_of(changes)]
        rates = [found.get(DPS, 0.0) for found in outputs]
        scores = [incumbent.objective.score(found) for found in outputs]
        ranked = sorted((i for i, rate in enumerate(rates) if rate > 0), key=lambda i: (-scores[i], i))
        fitting = [i for i in ranked if self._due <= set(damage_types_of(skills[i]))]
        is_enough = bool(fitting) and (is_had or rates[ranked[0]] <= FEEBLE * rates[fitting[0]])
        due, among = " and ".join(sorted(self._due)), fitting if is_enough else ranked
        best = next(iter(among), 0)
        if is_had and (not rates[0] or rates[best] <= WEAK * rates[0]):
            return incumbent, f"{name} is the build's main skill, to be had {since}"
        if not ranked:
            return None
        if best:
            incumbent = await self._founded(skills[best])
        kind = f"{due} skill" if due and is_enough else "skill"
        weak = f"; no {due} skill deals {1 / FEEBLE:.0%} of that" if due and not is_enough else ""
        measured = f"the best measured {kind} with the same weapon (of {len(among)}){weak}"
        deals = f", but alone deals {rates[0]:,.0f} a second at this level, {skills[best].name} {rates[best]:,.0f}: "
        return incumbent, f"{name} can be used {since}{deals if is_had else '; until then '}{measured}"

    def _instead(self) -> list[GemFact]:
        """Return what could stand in for the main skill, what deals the damage asked and is most alike first."""
        weapon = self.finished.items.get(MAIN_HAND)
        base = self._bases.get(weapon.base) if weapon is not None else None
        held = frozenset({word_of(base)} if base is not None else ())
        main, excluded, due = self._main, self.ctx.exclusions, self._due
        own, types = tags(main), set(damage_types_of(main))

        def is_open(fact: GemFact) -> bool:
            early = can_be_cut(fact) and usable_level(fact, self.ctx.demands.level) > 0
            fits = not fact.weapon_types or any(usable_with(words, held) for words in fact.weapon_types)
            kind = is_minion(fact) if is_minion(main) else not is_minion(fact) and is_spell(fact) == is_spell(main)
            plain = can_be_main(fact) and not fact.monsters and (is_minion(fact) or fact.spirit == 0)
            alone = stands_alone(fact) and fact.id != main.id and not excluded.gem(fact)
            return early and fits and kind and plain and alone

        found = [fact for fact in self._facts.values() if is_open(fact)]
        deals = {fact.id: set(damage_types_of(fact)) for fact in found}
        found.sort(key=lambda o: (not due <= deals[o.id], types.isdisjoint(deals[o.id]), -len(own & tags(o)), o.id))
        return found[:CANDIDATES]

    async def _founded(self, fact: GemFact) -> Incumbent:
        """Return the build with bare class, skill and plain gear, and the passives that are taken already."""
        delivery = self.ctx.plan.delivery
        if fact.id != delivery.skill_id:
            delivery = changed(delivery, skill_id=fact.id, skill_name=fact.name, minion=is_minion(fact), supports=[])
        demands = self.ctx.demands
        own = self.ctx.plan.ascendancy if demands.floors.ascendancy_points else None
        plan = replace(self.ctx.plan, delivery=delivery, constraints=())
        if own is None:
            plan = replace(plan, ascendancy=changed(plan.ascendancy, ascendancy=None))
        self.ctx = replace(self.ctx, plan=plan)
        blueprint = await founded(self.ctx)
        changes: list[Change] = [Deallocate(nodes=sorted(blueprint.passives))] if blueprint.nodes else []
        changes += await shared_gear(self.ctx, blueprint)
        changes.append(Allocate(nodes=self._taken_first()))
        await self.ctx.session.apply(changes)
        here = replace(self.ctx, blueprint=apply_changes(blueprint, changes))
        incumbent = await Incumbent.open(here, level_objective(here))
        await incumbent.learn_requirements()
        return incumbent

    # -- gear, supports and further skills

    async def _supported(self, incumbent: Incumbent) -> None:
        """Choose supports: those of the finished build that are there, and those that speak of the plan."""
        ctx, main = replace(self.ctx, blueprint=incumbent.blueprint), incumbent.blueprint.main_group
        rules = await support_rules(ctx, incumbent, main, self._facts)
        fact, skill = self._facts, ctx.plan.delivery.skill_id
        allowed = [i for i in await ctx.engine.facts.supports_for(skill) if i in fact and rules.allows(fact[i])]
        final = {one.gem_id for one in (self.finished.main.gems[1:] if self.finished.main else [])}
        families = {fact[i].family for i in final if i in fact} - {None}
        allowed.sort(key=lambda i: (i not in final, fact[i].family not in families, -rules.spoken(fact[i]), i))
        rules = replace(rules, exchanges=False, short_list=SHORT_LIST, required=())
        await SupportSelection(incumbent, main, rules, self._facts).run(allowed[:SCREENED])

    async def _others(self, incumbent: Incumbent) -> None:
        """Add the finished build's further skills that exist already and cost nothing else."""
        level = self.ctx.demands.level
        for group in self.finished.groups:
            fact = self._facts.get(group.gems[0].gem_id) if group.gems else None
            if fact is None or fact.kind != "active" or group is self.finished.main or group.slot or not group.enabled:
                continue
            if not usable_level(fact, level) or fact.id in {g.gems[0].gem_id for g in incumbent.blueprint.groups}:
                continue
            bare = changed(group, gems=[changed(group.gems[0], level=usable_level(fact, level), quality=0)])
            change = SetGroup(index=len(incumbent.blueprint.groups) + 1, group=bare)
            if (await incumbent.gains([[change]]))[0] > -EPSILON:
                await incumbent.commit([change])

    # -- passives

    def _inside(self, graph: PassiveGraph) -> PassiveGraph:
        """Return the graph of what the finished build takes, for the weapon set in use or both."""
        return graph.only({n.id for n in self.finished.nodes if n.weapon_set in (0, self.finished.weapon_set)})

    def _taken_first(self) -> list[PassiveNode]:
        """Return the passives that the finished build takes first, as many as there are points, with those of before.

        They are what skill and supports are measured on until the level has a tree of its own.
        """
        own = [node.id for node in self.finished.nodes if node.id in self.graph.bought]
        points = self.ctx.demands.floors.passive_points
        _, needed = self._way(self.graph, points)
        others = [node for node in own if node not in needed]
        first = self.graph.connected(needed | set(others[: points - len(needed)]))
        taken = first | set(self.before.ascendancy if self.before is not None else ())
        return [changed(node, weapon_set=0) for node in self.finished.nodes if node.id in taken]

    def _way(self, graph: PassiveGraph, points: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return what the main skill cannot do without, as far as the points reach, and the way to it."""
        return reached(graph, self._needed, points)

    # -- attributes

    async def _affordable(self, incumbent: Incumbent) -> None:
        """Meet what gems, supports and items ask for: attribute passives first, then lines, then less of everything."""
        self._caveats: list[str] = []
        await incumbent.learn_requirements()
        if not self._short(incumbent):
            return
        await AttributeSearch(incumbent, self.graph, at_once=True).run()
        for slot in ("Amulet", "Ring 1", "Ring 2", "Belt", "Gloves", "Helmet"):
            if (short := self._short(incumbent)) is None:
                return
            await self._line_for(incumbent, slot, short)
        for _ in range(RELIEFS):
            if (short := self._short(incumbent)) is None:
                return
            await incumbent.commit(self._relief(incumbent, short))
            await incumbent.learn_requirements()

    def _short(self, incumbent: Incumbent) -> Attribute | None:
        return incumbent.objective.short_attribute(incumbent.outputs)

    async def _line_for(self, incumbent: Incumbent, slot: str, attribute: Attribute) -> None:
        """Put a line of the attribute on the item, in place of its last suffix where there is no room."""
        item = incumbent.blueprint.items.get(slot)
        if item is None or item.rarity != "RARE":
            return
        pool = await slot_pool(self.ctx, slot, [self._bases[item.base]])
        said = f"# to {attribute.word}"
        option = next(
            (o for o in pool.options() if o.kind == "suffix" and wording(pool.affixes[o.id].lines) == said), None
        )
        if option is None:
            return
        if item.suffixes and (
            len(item.prefixes) + len(item.suffixes) >= pool.total or not has_room(item, option, pool)
        ):
            item = without_option(item, GearOption(slot, "suffix", item.suffixes[-1].id))
        if has_room(item, option, pool):
            await incumbent.commit([Equip(item=with_option(item, option, pool))])

    def _relief(self, incumbent: Incumbent, attribute: Attribute) -> list[Change]:
        """Return a change that asks for less of the attribute: a support less, a weaker base, a lower gem level."""
        there, blueprint = incumbent.outputs.get(ATTRIBUTE_METRICS[attribute], 0.0), incumbent.blueprint
        for slot in (*ARMOUR_SLOTS, *JEWELLERY_SLOTS, *HAND_SLOTS):
            item = blueprint.items.get(slot)
            if item is not None and self._bases[item.base].requirements.get(attribute.value, 0) > there:
                base, known = self._bases[item.base], usable(list(self._bases.values()), self.ctx)
                alike = [b for b in known if slot in b.slots and (b.type, b.sub_type) == (base.type, base.sub_type)]
                light = (b for b in best_first(alike) if b.requirements.get(attribute.value, 0) <= there)
                weaker = next(light, None)
                told = f"{item.base} asks for more {attribute.word} than there is, so something weaker is worn"
                self._caveats.append(told)
                level = self.ctx.demands.floors.gear.max_affix_level
                return [Equip(item=plain_item(slot, weaker, level)) if weaker is not None else Unequip(slot=slot)]
        for index, group in reversed(list(enumerate(blueprint.groups, start=1))):
            fact = self._facts[group.gems[0].gem_id]
            levels = fact.level_requirements
            at = levels[min(group.gems[0].level, len(levels)) - 1] if levels else self.ctx.demands.level
            if gem_requirement(fact, at).get(attribute.value, 0) > there:
                if index != blueprint.main_group:
                    return [RemoveGroup(index=index)]
                lower = changed(group.gems[0], level=max(1, group.gems[0].level - 1))
                return [SetGroup(index=index, group=changed(group, gems=[lower, *group.gems[1:]]))]
        main = blueprint.main
        assert main is not None
        kept = list(main.gems[1:])
        dropped = next((g for g in reversed(kept) if self._facts[g.gem_id].colour == attribute.value), None)
        kept = [g for g in kept if g is not dropped] if dropped is not None else kept[:-1]
        return [SetGroup(index=blueprint.main_group, group=with_supports(main, kept))]
