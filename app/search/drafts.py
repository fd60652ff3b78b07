"""Quick drafts of builds, to see which is worth building: the same plain gear and a small tree for all.

Each rung adds to the draft of the rung before, within a number of evaluations: arms, then supports, then ascendancy and
passives, where an engine estimates. Path of Building begins the builds that are left after arms as construct does,
settles these, and completes the best. Figures of one rung are comparable, and say nothing about a finished build but
which of two becomes better.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.knowledge.gems import is_attack
from app.model.base import changed
from app.model.blueprint import HAND_SLOTS, Blueprint, Change, Equip, GearItem, apply_changes
from app.model.construction import StageNotes
from app.model.names import Effort
from app.model.stats import DPS, EHP
from app.model.sub_problems import AscendancyChoice, DraftFigures
from app.search.base import SearchContext
from app.search.effort import for_trades
from app.search.gear.bases import ARMOUR_SLOTS, JEWELLERY_SLOTS, armour_options, usable
from app.search.gear.pool import GearOption, SlotPool, has_room, plain_item, slot_pool, with_option, wording
from app.search.incumbent import EPSILON, Incumbent
from app.search.objective import LEFT_TO_GEAR, Guard, objective_for
from app.search.passives.attributes import AttributeSearch
from app.search.passives.graph import main_graph
from app.search.passives.tree import TreeLimits
from app.search.sessions import ParallelSession
from app.search.skills.further import without_unpaid
from app.search.skills.gems import by_id, mentions, support_slots
from app.search.skills.supports import SupportSelection
from app.search.stages.foundation import founded
from app.search.stages.passives import ascend, spend, tree_search
from app.search.stages.skills import named_skills, support_rules
from app.search.stages.table import AGAIN, ASCENDING, COMPLETED, FIRST, HELPING, SUPPORTING, in_turn

REACHES, ROUNDS, POINTS = (4, 3, 2), 3, 30
"""Points of a route, the farthest that is affordable; rounds of spending; passive points of an estimated draft."""

ASCENDANCIES = 3
"""Ascendancies tried with each of several skills, where evaluations suffice; estimates try all with one alone."""

SCREENED = 0.6
"""Share of a rung's evaluations that supports are screened with; the rest is for sets of them."""

ATTACKS_GROW = 2.0
"""How many times as much the damage of attacks grows as that of spells from armed drafts to begun builds: some 35 times
against 20 at level 90. Of 120 builds begun for eight prompts, the best of each is among the six that so go on."""

_LIFE, _RESISTANCES = "to maximum life", ("to fire resistance", "to cold resistance", "to lightning resistance")
"""How the lines end that all drafts wear."""

NO_RATE = "the engine calculates no rate of damage for it"


@dataclass(frozen=True)
class DraftResult:
    """A draft after a rung: the build, what it was measured to have, and why it cannot be built (empty: it can).

    `is_whole`: it was begun as construct begins a build; `untraded`: its own figures, where the others are those with
    passives traded. `promise`: an attack's score as builds grow. `notes`: what the stages left that completed it.
    """

    blueprint: Blueprint
    dps: float
    ehp: float
    score: float
    out: str = ""
    by_ascendancy: Mapping[str, DraftFigures] = field(default_factory=dict)
    is_whole: bool = False
    untraded: DraftFigures | None = None
    promise: float | None = None
    notes: StageNotes = field(default_factory=StageNotes)


@dataclass(frozen=True)
class DraftWork:
    """What a rung works with: a session of its own, the contender's plan, and how many evaluations it may make.

    A draft is cut to its evaluations; what begins a whole build takes as many as it takes.
    """

    panel: ParallelSession
    ctx: SearchContext
    most: int = sys.maxsize
    ascendancies: Sequence[AscendancyChoice] = ()

    @property
    def left(self) -> int:
        """Return how many evaluations are left."""
        return max(0, self.most - self.panel.trials)

    async def reopened(self) -> SearchContext:
        """Load the begun build, and return its context, which says that it wears chosen gear."""
        await self.panel.build(self.ctx.blueprint)
        return replace(self.ctx, notes=changed(self.ctx.notes, gear_made=True))

    async def opened(self, blueprint: Blueprint) -> Incumbent:
        """Return an incumbent on the blueprint; what gear will see to is not judged, the rest from the start.

        Attributes that a base needs are a few points of a hundred in a whole build, and a gap in a draft: judged there,
        a Witch held a focus because its shield asks for Strength.
        """
        ctx = replace(self.ctx, blueprint=blueprint)
        return await Incumbent.open(ctx, objective_for(ctx).without(*LEFT_TO_GEAR))


async def armed(work: DraftWork) -> DraftResult:
    """Found the build, and put on its hands what helps most alone, affix by affix."""
    before = work.panel.trials
    blueprint = await founded(work.ctx)
    if work.ctx.plan.delivery.minion:  # counting an army is to leave as much for arms as others have
        work = replace(work, most=work.most + work.panel.trials - before)
    worn = await shared_gear(work.ctx, blueprint)
    await work.panel.apply(worn)
    incumbent = await work.opened(apply_changes(blueprint, worn))
    if incumbent.outputs.get(DPS, 0.0) <= 0:
        return replace(_measured(incumbent), out=NO_RATE)
    inspection = await work.panel.inspect()
    if inspection.disabled_reason:
        return replace(_measured(incumbent), out=inspection.disabled_reason)
    bases = {base.name: base for base in await work.ctx.engine.facts.bases()}
    held = [slot for slot in HAND_SLOTS if slot in incumbent.blueprint.items]
    for place, slot in enumerate(held):
        item = incumbent.blueprint.items[slot]
        if item.rarity == "RARE" and item.text is None:
            pool = await slot_pool(replace(work.ctx, blueprint=incumbent.blueprint), slot, [bases[item.base]])
            await fill(incumbent, pool, item, work.left // (len(held) - place), work.ctx.plan.scaling.keywords)
    return await _promised(work, incumbent)


async def shared_gear(ctx: SearchContext, blueprint: Blueprint) -> list[Change]:
    """Return changes that give everything worn beside the weapons the same few lines, whoever wears it.

    Life and resistances at the best tier there is: without them every draft would die at once, and a few hit points
    that one ascendancy or class has more would look like much.
    """
    bases = {base.name: base for base in await ctx.engine.facts.bases()}
    changes: list[Change] = []
    worn = [slot for slot in sorted(blueprint.items) if slot in (*ARMOUR_SLOTS, *JEWELLERY_SLOTS)]
    for place, slot in enumerate(worn):
        item = blueprint.items[slot]
        if item.rarity != "RARE" or item.text is not None:
            continue
        pool = await slot_pool(ctx, slot, [bases[item.base]])
        resistances = [_RESISTANCES[(place + step) % len(_RESISTANCES)] for step in range(2)]
        for said in (_LIFE, *resistances):
            affixes = [o for o in pool.options() if o.kind in ("prefix", "suffix")]
            fitting = [o for o in affixes if wording(pool.affixes[o.id].lines).endswith(said)]
            option = next((o for o in fitting if len(pool.affixes[o.id].lines) == 1 and has_room(item, o, pool)), None)
            if option is not None and len(item.prefixes) + len(item.suffixes) < pool.total:
                item = with_option(item, option, pool)
        changes.append(Equip(item=item))
    return changes


async def fill(incumbent: Incumbent, pool: SlotPool, item: GearItem, most: int, words: Sequence[str]) -> None:
    """Put the affixes on the item that help most alone, as many as its tier holds; try those first that speak of it."""
    options = [option for option in pool.options() if option.kind in ("prefix", "suffix")]
    options.sort(key=lambda one: (-mentions(pool.affixes[one.id].lines, words), one))
    tried = options[: max(0, most - 1)]
    gains = await incumbent.gains([[Equip(item=with_option(item, option, pool))] for option in tried])
    worth: dict[GearOption, float] = dict(zip(tried, gains, strict=True))
    made = item
    for option in sorted(tried, key=lambda one: (-worth[one], one)):
        count = len(made.prefixes) + len(made.suffixes)
        if worth[option] > EPSILON and count < pool.total and has_room(made, option, pool):
            made = with_option(made, option, pool)
    if made != item:
        await incumbent.commit([Equip(item=made)])


async def supported(work: DraftWork) -> DraftResult:
    """Give the main skill supports: as many screened as may be, a set grown of the best."""
    await work.panel.build(work.ctx.blueprint)
    incumbent = await work.opened(work.ctx.blueprint)
    facts = by_id(await work.ctx.engine.facts.gems())
    main = incumbent.blueprint.main_group
    rules = await support_rules(replace(work.ctx, blueprint=incumbent.blueprint), incumbent, main, facts)
    offered = [i for i in await work.ctx.engine.facts.supports_for(work.ctx.plan.delivery.skill_id) if i in facts]
    allowed = [i for i in offered if rules.allows(facts[i])]
    allowed.sort(key=lambda i: (i not in rules.required, -rules.spoken(facts[i]), i))
    screened = allowed[: max(1, int(work.left * SCREENED))]
    room = support_slots(work.ctx.demands.level)
    short = max(room, (work.left - len(screened)) // max(1, room))
    rules = replace(rules, exchanges=False, short_list=short)
    await SupportSelection(incumbent, main, rules, facts).run(screened)
    return await _promised(work, incumbent)


async def rooted(work: DraftWork) -> DraftResult:
    """Choose an ascendancy, then spend the first passive points."""
    best, _, by_ascendancy = await _ascended(work, work.ctx.blueprint)
    # looking no farther than every round can be paid for
    points = min(POINTS, work.ctx.demands.floors.passive_points)
    search = await tree_search(replace(work.ctx, blueprint=best.blueprint), best, TreeLimits(trials=0))
    near = {reach: len(search.graph.routes(search.owned, reach)) for reach in REACHES}
    if affordable := [reach for reach in REACHES if ROUNDS * near[reach] + points <= work.left]:
        search = replace(search, limits=TreeLimits(reach=affordable[0], rounds=ROUNDS, trials=0))
        await search.spend(points - search.spent)
    return replace(_measured(best), by_ascendancy=by_ascendancy)


async def _ascended(
    work: DraftWork, blueprint: Blueprint
) -> tuple[Incumbent, AscendancyChoice, Mapping[str, DraftFigures]]:
    """Choose among the ascendancies by what their passives are worth; return the figures with each.

    Passives of another ascendancy are given back first.
    """
    nodes = {node.id: node for node in await work.ctx.engine.facts.nodes()}
    kept = [node for node in blueprint.nodes if node.id not in nodes or nodes[node.id].ascendancy is None]
    tried: list[tuple[Incumbent, AscendancyChoice]] = []
    by_ascendancy: dict[str, DraftFigures] = {}
    dearest = 0
    for choice in work.ascendancies:
        if tried and work.left < dearest:
            break
        before = work.panel.trials
        begun = changed(blueprint, ascendancy=choice.ascendancy, nodes=kept)
        await work.panel.build(begun)
        ctx = replace(work.ctx, blueprint=begun, plan=replace(work.ctx.plan, ascendancy=choice))
        if choice.ascendancy is not None and ctx.demands.floors.ascendancy_points:
            begun = (await ascend(ctx, width=1)).blueprint
        tried.append((await _paid_for(work, await work.opened(begun)), choice))
        dearest = max(dearest, work.panel.trials - before)
        if choice.ascendancy is not None:
            by_ascendancy[choice.ascendancy] = figures_of(_measured(tried[-1][0]), len(RUNGS))
    best = min(tried, key=lambda one: (-one[0].score, one[1].ascendancy or ""))
    if best is not tried[-1]:
        await work.panel.build(best[0].blueprint)
    return (*best, by_ascendancy)


async def begun(work: DraftWork) -> DraftResult:
    """Begin the build as construct would, with the ascendancy that is worth most.

    Before that drafts do not tell: of six bows of level 90 the last with supports, in plain gear, is the first that is
    begun. What the supports cost is not judged: the next rung chooses them again, and it was worth 0.0 to 1.8.
    """
    at = FIRST.index(ASCENDING)
    supported = (await in_turn(work.ctx, FIRST[:at])).blueprint
    bare = await work.opened(supported)
    if bare.outputs.get(DPS, 0.0) <= 0:  # no passive and no item gives a rate to what has none
        return replace(_measured(bare), out=NO_RATE)
    first, choice, _ = await _ascended(work, supported)
    ctx = replace(work.ctx, blueprint=first.blueprint, plan=replace(work.ctx.plan, ascendancy=choice))
    whole = (await in_turn(ctx, FIRST[at + 1 :])).blueprint
    return replace(await _judged(work, whole, Guard.SUSTAIN), is_whole=True)


async def settled(work: DraftWork) -> DraftResult:
    """Give the begun build its curse or mark and supports that it can pay for, and trade its passives to see its worth.

    It is judged as finished builds are, by what it comes to with its passives traded, and stays as it was begun.
    """
    ctx = await work.reopened()
    before = await _judged(work, await _paid(replace(ctx, blueprint=(await HELPING(ctx)).blueprint)))
    after = await traded(replace(work, ctx=replace(ctx, blueprint=before.blueprint)))
    untraded = figures_of(before, RUNGS.index(settled) + 1)
    return replace(after, blueprint=before.blueprint, is_whole=True, untraded=untraded)


async def traded(work: DraftWork) -> DraftResult:
    """Trade passives of the begun build for others that suit the gear which it wears, to see what it comes to.

    What finishing adds differs by more than begun builds do, and most of that is the tree: a Firestorm that was 0.75
    behind an Ember Fusillade is ahead by 0.15 then, as it is when both are finished.
    """
    ctx = await work.reopened()
    search, _ = await spend(ctx, for_trades(ctx.demands.floors.passive_points))
    return await _judged(work, search.incumbent.blueprint)


async def completed(work: DraftWork) -> DraftResult:
    """Complete the begun build as construct would, whatever the effort, to see what it comes to when it is whole.

    What finishing adds differs by 0.1 and more between builds that are equal so far: a Storm Wave that was 0.15 behind
    a Ball Lightning is 0.11 ahead of it then.
    """
    ctx = replace(await work.reopened(), effort=Effort.NORMAL)
    result = await in_turn(ctx, [stage.work for stage in COMPLETED])
    incumbent = await Incumbent.open(replace(ctx, blueprint=result.blueprint))
    return replace(_measured(incumbent), is_whole=True, notes=result.notes)


async def _paid(ctx: SearchContext) -> Blueprint:
    """Return the begun build with supports that it can pay for: it was given them while it wore plain gear.

    An attack that costs more than comes back ranked below spells whose builds have half its damage.
    """
    incumbent = await Incumbent.open(ctx)
    if not incumbent.objective.shortfalls(incumbent.outputs)[Guard.SUSTAIN]:
        return ctx.blueprint
    return (await SUPPORTING(ctx)).blueprint


async def ascended(work: DraftWork) -> DraftResult:
    """Give the begun build the work's ascendancy, spend its passive points anew, choose all gear again.

    On the tree and gear that were chosen for one ascendancy, no other is at its best: a Gemling Legionnaire was 0.23
    behind a Witchhunter there, and 0.12 ahead with his own.
    """
    cleared = await _cleared(work, [])
    best, choice, _ = await _ascended(work, cleared.blueprint)
    ctx = replace(work.ctx, blueprint=best.blueprint, plan=replace(work.ctx.plan, ascendancy=choice))
    return await _judged(work, (await in_turn(ctx, AGAIN)).blueprint)


async def defended(work: DraftWork) -> DraftResult:
    """Give the begun build plain armour of the plan's defence, spend its passive points anew, choose all gear again."""
    bases = usable(await work.ctx.engine.facts.bases(), work.ctx)
    level = work.ctx.demands.floors.gear.max_affix_level
    plain: list[Change] = []
    for slot in ARMOUR_SLOTS:
        item = work.ctx.blueprint.items.get(slot)
        offered = armour_options(bases, slot, work.ctx.plan.survivability.mitigation)
        if item is not None and item.rarity == "RARE" and item.text is None and offered:
            plain.append(Equip(item=plain_item(slot, offered[0], level)))
    cleared = await _cleared(work, plain)
    return await _judged(work, (await in_turn(replace(work.ctx, blueprint=cleared.blueprint), AGAIN)).blueprint)


async def _cleared(work: DraftWork, changes: Sequence[Change]) -> Incumbent:
    """Return the begun build with the changes and without the passives of the tree."""
    await work.panel.build(work.ctx.blueprint)
    incumbent = await work.opened(work.ctx.blueprint)
    await incumbent.commit(changes)
    search = await tree_search(replace(work.ctx, blueprint=incumbent.blueprint), incumbent, TreeLimits(trials=0))
    await search.clear()
    return incumbent


async def _judged(work: DraftWork, blueprint: Blueprint, *left: Guard) -> DraftResult:
    """Return the draft that wears chosen gear, by all that counts for a finished build but what is left for later."""
    ctx = replace(work.ctx, blueprint=blueprint)
    incumbent = await Incumbent.open(ctx, objective_for(ctx).without(*left))
    await AttributeSearch(incumbent, await main_graph(work.ctx), at_once=True).run()
    return _measured(await _paid_for(work, incumbent))


async def _paid_for(work: DraftWork, incumbent: Incumbent) -> Incumbent:
    """Return it without helpers that it can never pay for: a Blood Mage with one life was ahead by a curse."""
    if len(incumbent.blueprint.groups) > 1:
        named = {fact.id for fact in await named_skills(work.ctx)}
        await without_unpaid(incumbent, await work.panel.inspect(), named)
    return incumbent


def _measured(incumbent: Incumbent) -> DraftResult:
    outputs = incumbent.outputs
    return DraftResult(incumbent.blueprint, outputs.get(DPS, 0.0), outputs.get(EHP, 0.0), round(incumbent.score, 6))


async def _promised(work: DraftWork, incumbent: Incumbent) -> DraftResult:
    """Return a draft and, of an attack, the score with what its damage becomes; of estimates that is not known."""
    measured, facts = _measured(incumbent), by_id(await work.ctx.engine.facts.gems())
    fact = facts.get(work.ctx.plan.delivery.skill_id)
    if fact is None or not is_attack(fact) or work.ctx.engine.version.estimate:
        return measured
    grown = {**incumbent.outputs, DPS: ATTACKS_GROW * measured.dps}
    return replace(measured, promise=round(incumbent.objective.score(grown), 6))


def figures_of(draft: DraftResult, rung: int) -> DraftFigures:
    """Return the figures of a draft after a rung (from 1)."""
    return DraftFigures(dps=round(draft.dps, 2), ehp=round(draft.ehp, 2), score=draft.score, rung=rung)


RUNGS: tuple[Callable[[DraftWork], Awaitable[DraftResult]], ...] = (armed, begun, settled)
"""What each rung adds, in order."""

ESTIMATED = (armed, supported, rooted)
"""The rungs where an engine estimates: it knows so little gear that a whole draft tells no more."""
